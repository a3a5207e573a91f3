"""Every layer sees what all layers before it made."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.nn import GraphConv


class DenseConcatenation(nn.Module):
    """Li et al., DeepGCNs: Can GCNs Go as Deep as CNNs? (2019), the densely connected kind."""

    def __init__(self, width: int, growth: int, classes: int, layers: int):
        super().__init__()
        self.convs = nn.ModuleList(GraphConv(width + place * growth, growth, aggr="max") for place in range(layers))
        self.norms = nn.ModuleList(nn.BatchNorm1d(growth) for _ in range(layers))
        self.out = nn.Linear(width + layers * growth, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        made = [x]
        for conv, norm in zip(self.convs, self.norms, strict=True):
            made.append(norm(conv(torch.cat(made, dim=-1), edge_index)).relu())
        return self.out(torch.cat(made, dim=-1))
