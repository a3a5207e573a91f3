"""A graph of 10 million edges and a model for it.

python examples/large_graph.py FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import torch
from torch_geometric.nn.models import GraphSAGE

NODES, EDGES, FEATURES, CLASSES = 500_000, 10_000_000, 64, 16
COMMUNITY = 500


def build() -> torch.nn.Module:
    """Three layers, with weights of a fixed seed."""
    torch.manual_seed(0)
    return GraphSAGE(FEATURES, 64, 3, CLASSES).eval()


def write(folder: Path) -> None:
    """Writes edge_index.npy and x.npy. Two of three edges stay within a community; ids are in no order."""
    folder.mkdir(parents=True, exist_ok=True)
    random = np.random.default_rng(0)
    ids = random.permutation(NODES)
    first = random.integers(0, NODES, EDGES)
    near = first // COMMUNITY * COMMUNITY + random.integers(0, COMMUNITY, EDGES)
    second = np.where(random.random(EDGES) < 2 / 3, near, random.integers(0, NODES, EDGES))
    np.save(folder / "edge_index.npy", np.stack([ids[first], ids[second]]))
    np.save(folder / "x.npy", random.standard_normal((NODES, FEATURES), dtype=np.float32))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
