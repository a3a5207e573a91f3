"""Attention over neighbours with several heads."""

from __future__ import annotations

import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GATConv


class Gat(nn.Module):
    """Veličković et al., Graph Attention Networks (2018): heads side by side, then averaged; nodes see themselves."""

    def __init__(self, width: int, hidden: int, classes: int, heads: int):
        super().__init__()
        self.first = GATConv(width, hidden, heads, dropout=0.6)
        self.second = GATConv(heads * hidden, classes, heads, concat=False, dropout=0.6)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = F.elu(self.first(F.dropout(x, 0.6, self.training), edge_index))
        return self.second(F.dropout(h, 0.6, self.training), edge_index)
