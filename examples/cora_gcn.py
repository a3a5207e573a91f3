"""Compile a trained GCN for Cora, run it in batches, and check it against the model itself.

python examples/cora_gcn.py
"""

from __future__ import annotations

import resource
import sys
import time
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import load_file
from torch_geometric.nn.models import GCN

import gnnc

DATA = Path(__file__).resolve().parent / "data"
OUTPUT = Path("build") / "demo" / "cora_gcn.npy"
BATCH_SIZE = 256


class NormalizedGCN(torch.nn.Module):
    """A two-layer GCN on row-normalised features, as the weights were trained."""

    def __init__(self) -> None:
        super().__init__()
        self.gcn = GCN(in_channels=1433, hidden_channels=16, num_layers=2, out_channels=7, dropout=0.5)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        x = x / x.sum(1, keepdim=True).clamp(min=1)
        return self.gcn(x, edge_index)


def trained_model() -> NormalizedGCN:
    """The model with its weights, ready for inference."""
    model = NormalizedGCN()
    model.gcn.load_state_dict(load_file(DATA / "weights" / "cora-gcn.safetensors"))
    return model.eval()


def main() -> int:
    graph = gnnc.Graph.load(DATA / "graphs" / "cora.npz")
    model = trained_model()

    start = time.perf_counter()
    program = gnnc.compile(model, graph)
    compiled = time.perf_counter()
    embeddings = program.run(graph.x, batch_size=BATCH_SIZE)
    finished = time.perf_counter()

    with torch.no_grad():
        expected = model(torch.as_tensor(graph.x), torch.as_tensor(graph.edge_index)).numpy()
    error = float(np.abs(embeddings - expected).max() / np.abs(expected).max())
    correct = embeddings.argmax(1) == graph.y
    accuracy = correct[graph.test_mask].mean()

    OUTPUT.parent.mkdir(parents=True, exist_ok=True)
    np.save(OUTPUT, embeddings)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"graph        Cora, {graph.num_nodes:,} nodes, {graph.num_edges:,} edges")
    print(f"compiled in  {compiled - start:.2f} s")
    print(f"ran in       {(finished - compiled) * 1000:.0f} ms, batches of {BATCH_SIZE} nodes")
    print(f"accuracy     {accuracy:.3f} on the test nodes")
    print(f"error        {error:.1e} of the largest value, against the model itself")
    print(f"peak memory  {peak:,.0f} MiB, torch included")
    print(f"embeddings   {OUTPUT.resolve()} {list(embeddings.shape)}")
    return 0 if error < 1e-4 else 1


if __name__ == "__main__":
    sys.exit(main())
