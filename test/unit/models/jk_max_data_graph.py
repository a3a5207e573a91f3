"""A model that takes a data set whose graph is a dict."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv


class JkMaxDataGraph(nn.Module):
    """Xu et al., Representation Learning on Graphs with Jumping Knowledge Networks (2018), the maximum over layers, in
    the form of the benchmarks for graphs without homophily (Lim et al., 2021): forward takes the data set."""

    def __init__(self, width: int, hidden: int, classes: int, layers: int):
        super().__init__()
        widths = [width, *[hidden] * layers]
        self.convs = nn.ModuleList(GCNConv(a, b) for a, b in zip(widths, widths[1:], strict=False))
        self.norms = nn.ModuleList(nn.BatchNorm1d(hidden) for _ in range(layers - 1))
        self.out = nn.Linear(hidden, classes)

    def forward(self, data: Any) -> Tensor:
        h = data.graph["node_feat"]
        edge_index = data.graph["edge_index"]
        made: list[Tensor] = []
        for conv, norm in zip(self.convs, [*self.norms, None], strict=True):
            h = conv(h, edge_index)
            if norm is not None:
                h = norm(h).relu()
            made.append(h)
        return self.out(torch.stack(made, dim=-1).max(dim=-1).values)
