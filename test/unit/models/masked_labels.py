"""Known labels as an input, of the nodes that a mask picks."""

from __future__ import annotations

from torch import Tensor, nn
from torch_geometric.nn import TransformerConv


class MaskedLabels(nn.Module):
    """Shi et al., Masked Label Prediction: Unified Message Passing Model for Semi-Supervised Classification (2021)."""

    def __init__(self, width: int, hidden: int, classes: int):
        super().__init__()
        self.label = nn.Embedding(classes, width)
        self.first = TransformerConv(width, hidden, heads=2, concat=False, beta=True)
        self.norm = nn.LayerNorm(hidden)
        self.second = TransformerConv(hidden, classes, heads=2, concat=False, beta=True)

    def forward(self, x: Tensor, y: Tensor, edge_index: Tensor, train_mask: Tensor) -> Tensor:
        h = x.clone()
        h[train_mask] = h[train_mask] + self.label(y[train_mask])
        h = self.norm(self.first(h, edge_index)).relu()
        return self.second(h, edge_index)
