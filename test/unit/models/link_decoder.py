"""Scores of pairs that need not be edges."""

from __future__ import annotations

from torch import Tensor, nn
from torch_geometric.nn import GCNConv


class LinkDecoder(nn.Module):
    """Kipf and Welling, Variational Graph Auto-Encoders (2016), without the variation: an encoder of nodes and the
    inner product of two of them."""

    def __init__(self, width: int, hidden: int, out: int):
        super().__init__()
        self.first = GCNConv(width, hidden)
        self.second = GCNConv(hidden, out)

    def forward(self, x: Tensor, edge_index: Tensor, edge_label_index: Tensor) -> Tensor:
        z = self.second(self.first(x, edge_index).relu(), edge_index)
        return (z[edge_label_index[0]] * z[edge_label_index[1]]).sum(-1)
