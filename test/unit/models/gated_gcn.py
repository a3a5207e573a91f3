"""Edges with a state that every layer updates."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class GatedLayer(nn.Module):
    def __init__(self, width: int):
        super().__init__()
        self.own, self.sent, self.at_target, self.at_source, self.edge = (nn.Linear(width, width) for _ in range(5))
        self.node_norm, self.edge_norm = nn.BatchNorm1d(width), nn.BatchNorm1d(width)

    def forward(self, h: Tensor, e: Tensor, edge_index: Tensor) -> tuple[Tensor, Tensor]:
        source, target = edge_index
        new = self.at_target(h)[target] + self.at_source(h)[source] + self.edge(e)
        gate = torch.sigmoid(new)
        total = torch.zeros_like(h).index_add(0, target, gate * self.sent(h)[source])
        gates = torch.zeros_like(h).index_add(0, target, gate)
        updated = self.own(h) + total / (gates + 1e-6)
        return h + self.node_norm(updated).relu(), e + self.edge_norm(new).relu()


class GatedGcn(nn.Module):
    """Bresson and Laurent, Residual Gated Graph ConvNets (2017), with edge states as in Dwivedi et al., Benchmarking
    Graph Neural Networks (2020)."""

    def __init__(self, width: int, edge_width: int, hidden: int, classes: int, layers: int):
        super().__init__()
        self.nodes, self.edges = nn.Linear(width, hidden), nn.Linear(edge_width, hidden)
        self.layers = nn.ModuleList(GatedLayer(hidden) for _ in range(layers))
        self.out = nn.Sequential(nn.Linear(hidden, hidden), nn.ReLU(), nn.Linear(hidden, classes))

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        h, e = self.nodes(x), self.edges(edge_attr)
        for layer in self.layers:
            h, e = layer(h, e, edge_index)
        return self.out(h)
