"""A model whose messages go both ways."""

from __future__ import annotations

import torch
from torch_geometric.nn import GATConv, GCNConv, SAGEConv


class Backwards(torch.nn.Module):
    """Messages go against the edges in one layer and with them in the next."""

    def __init__(self, width: int, second: type[GCNConv] | type[GATConv] = GCNConv) -> None:
        super().__init__()
        self.first, self.second = SAGEConv(width, 16, flow="target_to_source"), second(16, 7)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x, edge_index).relu(), edge_index)
