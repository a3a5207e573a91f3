"""Deep residual blocks whose edges have features of their own."""

from __future__ import annotations

from typing import Any

from torch import Tensor, nn
from torch_geometric.nn import DeepGCNLayer, GENConv


class DeeperGcn(nn.Module):
    """Li et al., DeeperGCN: All You Need to Train Deeper GCNs (2020): softmax aggregation with a learned temperature in
    res+ blocks, where norm and activation come before the convolution."""

    def __init__(self, width: int, edge_width: int, hidden: int, classes: int, layers: int):
        super().__init__()
        self.nodes, self.edges = nn.Linear(width, hidden), nn.Linear(edge_width, hidden)
        self.layers = nn.ModuleList(
            DeepGCNLayer(
                GENConv(hidden, hidden, aggr="softmax", t=0.7, learn_t=True, num_layers=2, norm="layer"),
                nn.LayerNorm(hidden),
                nn.ReLU(),
                block="res+",
                dropout=0.1,
            )
            for _ in range(layers)
        )
        self.out = nn.Linear(hidden, classes)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        h, e = self.nodes(x), self.edges(edge_attr)
        first: Any = self.layers[0]
        h = first.conv(h, edge_index, e)
        for layer in list(self.layers)[1:]:
            h = layer(h, edge_index, e)
        h = first.act(first.norm(h))
        return self.out(nn.functional.dropout(h, 0.1, self.training))
