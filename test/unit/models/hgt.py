"""A transformer for graphs with several types."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn
from torch_geometric.nn import HGTConv, Linear

Relation = tuple[str, str, str]


class Hgt(nn.Module):
    """Hu et al., Heterogeneous Graph Transformer (2020)."""

    def __init__(
        self,
        widths: Mapping[str, int],
        metadata: tuple[list[str], list[Relation]],
        hidden: int,
        classes: int,
        layers: int,
    ):
        super().__init__()
        self.into = nn.ModuleDict({type_: Linear(width, hidden) for type_, width in widths.items()})
        self.convs = nn.ModuleList(HGTConv(hidden, hidden, metadata, heads=2) for _ in range(layers))
        self.out = Linear(hidden, classes)

    def forward(self, x_dict: Mapping[str, Tensor], edge_index_dict: Mapping[Relation, Tensor]) -> Tensor:
        h = {type_: self.into[type_](x).relu() for type_, x in x_dict.items()}
        for conv in self.convs:
            h = conv(h, edge_index_dict)
        return self.out(h["paper"])
