"""A convolution of its own kind for every relation, whose widths are found when it first runs."""

from __future__ import annotations

from collections.abc import Mapping

from torch import Tensor, nn
from torch_geometric.nn import GATConv, HeteroConv, Linear, MessagePassing, SAGEConv

Relation = tuple[str, str, str]


class HeteroLazy(nn.Module):
    """Relation-wise convolutions after Schlichtkrull et al., Modeling Relational Data with Graph Convolutional Networks
    (2018), with attention (Veličković et al., 2018) in one relation."""

    def __init__(self, relations: list[Relation], attended: Relation, hidden: int, classes: int, layers: int):
        super().__init__()

        def conv(relation: Relation) -> MessagePassing:
            if relation == attended:
                return GATConv((-1, -1), hidden, add_self_loops=False)
            return SAGEConv((-1, -1), hidden)

        self.convs = nn.ModuleList(HeteroConv({r: conv(r) for r in relations}, aggr="sum") for _ in range(layers))
        self.out = Linear(-1, classes)

    def forward(self, x_dict: Mapping[str, Tensor], edge_index_dict: Mapping[Relation, Tensor]) -> Tensor:
        h = dict(x_dict)
        for conv in self.convs:
            h = {type_: rows.relu() for type_, rows in conv(h, edge_index_dict).items()}
        return self.out(h["paper"])
