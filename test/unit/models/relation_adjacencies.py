"""A matrix for every relation, and tables where nodes have no features."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from torch import Tensor, nn

Relation = tuple[str, str, str]


class RelationAdjacencies(nn.Module):
    """Schlichtkrull et al., Modeling Relational Data with Graph Convolutional Networks (2018), as it is run on large
    academic graphs: a sparse matrix a relation, its mean by `matmul`, an embedding for every node without features."""

    def __init__(
        self, widths: Mapping[str, int], counts: Mapping[str, int], relations: list[Relation], hidden: int, classes: int
    ):
        super().__init__()
        self.relations = relations
        self.tables = nn.ParameterDict({type_: torch.randn(count, hidden) for type_, count in counts.items()})
        self.into = nn.ModuleDict({type_: nn.Linear(width, hidden) for type_, width in widths.items()})
        self.layers = nn.ModuleList(
            nn.ModuleDict({"__".join(r): nn.Linear(hidden, out, bias=False) for r in relations})
            for out in (hidden, classes)
        )
        self.own = nn.ModuleList(nn.Linear(hidden, out) for out in (hidden, classes))

    def forward(self, x_dict: Mapping[str, Tensor], adj_t_dict: Mapping[Relation, Any]) -> Tensor:
        layers: Any = self.layers
        h = {**self.tables, **{type_: linear(x_dict[type_]) for type_, linear in self.into.items()}}
        for place, (layer, own) in enumerate(zip(layers, self.own, strict=True)):
            new = {type_: own(rows) for type_, rows in h.items()}
            for relation in self.relations:
                source, _, target = relation
                mean = adj_t_dict[relation].matmul(h[source], reduce="mean")
                new[target] = new[target] + layer["__".join(relation)](mean)
            h = {type_: rows.relu() for type_, rows in new.items()} if place == 0 else new
        return h["paper"]
