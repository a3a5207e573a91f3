"""Makes the files of this folder: two CSV files with string ids, and trained weights as a state dict.

python examples/club/make_files.py
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

import networkx as nx
import numpy as np
import torch
import torch.nn.functional as F

import gnnc

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from model import build  # noqa: E402


def main() -> None:
    graph = gnnc.Graph.load(HERE.parent / "data" / "graphs" / "karate.npz")
    edges, labels = np.asarray(graph.edge_index), np.asarray(graph.y)
    names = [f"member-{number:02}" for number in range(graph.num_nodes)]
    club = nx.Graph(edges.T.tolist())
    features = np.array([[club.degree[n], nx.triangles(club, n)] for n in range(graph.num_nodes)], dtype=np.float32)

    with (HERE / "edges.csv").open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["source", "target"])
        writer.writerows([names[a], names[b]] for a, b in edges.T.tolist())
    with (HERE / "nodes.csv").open("w", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        writer.writerow(["id", "label", "friends", "triangles"])
        rows = zip(names, labels.tolist(), features.astype(int).tolist(), strict=True)
        writer.writerows([name, f"community-{label}", *row] for name, label, row in rows)

    torch.manual_seed(0)
    model = build()
    x, edge_index, y = torch.tensor(features), torch.tensor(edges), torch.tensor(labels, dtype=torch.int64)
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(300):
        optimizer.zero_grad()
        F.cross_entropy(model(x, edge_index), y).backward()
        optimizer.step()
    torch.save(model.state_dict(), HERE / "weights.pt")


if __name__ == "__main__":
    main()
