"""Residual layers, of which the sum is read."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.nn import SAGEConv


class ResidualLayerNorm(nn.Module):
    """Xu et al., Representation Learning on Graphs with Jumping Knowledge Networks (2018), with residual connections,
    layer norm, and the sum of all layers as the result."""

    def __init__(self, width: int, hidden: int, classes: int, layers: int):
        super().__init__()
        self.into = nn.Linear(width, hidden)
        self.convs = nn.ModuleList(SAGEConv(hidden, hidden, aggr="mean", normalize=True) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(hidden) for _ in range(layers))
        self.out = nn.Linear(hidden, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.into(x)
        made: list[Tensor] = []
        for conv, norm in zip(self.convs, self.norms, strict=True):
            h = h + norm(conv(h, edge_index)).relu()
            made.append(h)
        return self.out(torch.stack(made).sum(dim=0))
