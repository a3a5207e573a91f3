"""Two graph convolutions and nothing else."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GCNConv


class Gcn(nn.Module):
    """Kipf and Welling, Semi-Supervised Classification with Graph Convolutional Networks (2017), with edge
    weights or without."""

    def __init__(self, width: int, hidden: int, classes: int):
        super().__init__()
        self.first = GCNConv(width, hidden)
        self.second = GCNConv(hidden, classes)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        h = F.dropout(x, 0.5, self.training)
        h = self.first(h, edge_index, edge_weight).relu()
        h = F.dropout(h, 0.5, self.training)
        return F.log_softmax(self.second(h, edge_index, edge_weight), dim=-1)
