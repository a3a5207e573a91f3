"""Convolutions that keep their normalised adjacency matrix."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch_geometric.nn import GCNConv


class CachedGcn(nn.Module):
    """The full-batch GCN of the leaderboards for node properties (Hu et al., Open Graph Benchmark, 2020): a transposed
    adjacency matrix, normalised once, and batch norm between layers."""

    def __init__(self, width: int, hidden: int, classes: int, layers: int):
        super().__init__()
        widths = [width, *[hidden] * (layers - 1), classes]
        self.convs = nn.ModuleList(GCNConv(a, b, cached=True) for a, b in zip(widths, widths[1:], strict=False))
        self.norms = nn.ModuleList(nn.BatchNorm1d(w) for w in widths[1:-1])

    def forward(self, x: Tensor, adj_t: Any) -> Tensor:
        for place, conv in enumerate(self.convs):
            x = conv(x, adj_t)
            if place < len(self.norms):
                x = nn.functional.dropout(self.norms[place](x).relu(), 0.5, self.training)
        return x.log_softmax(dim=-1)
