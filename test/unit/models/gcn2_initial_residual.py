"""Deep convolutions that never lose the first representation."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch_geometric.nn import GCN2Conv


class Gcn2(nn.Module):
    """Chen et al., Simple and Deep Graph Convolutional Networks (2020), on a transposed adjacency matrix."""

    def __init__(self, width: int, hidden: int, classes: int, layers: int):
        super().__init__()
        self.into = nn.Linear(width, hidden)
        self.convs = nn.ModuleList(
            GCN2Conv(hidden, alpha=0.1, theta=0.5, layer=layer + 1, normalize=False) for layer in range(layers)
        )
        self.out = nn.Linear(hidden, classes)

    def forward(self, x: Tensor, adj_t: Any) -> Tensor:
        first = h = self.into(x).relu()
        for conv in self.convs:
            h = conv(nn.functional.dropout(h, 0.5, self.training), first, adj_t).relu()
        return self.out(h).log_softmax(dim=-1)
