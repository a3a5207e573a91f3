"""How an argument of forward is put together from the tensors of a graph, which are known by key."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

import torch

Tensors: TypeAlias = Mapping[str, torch.Tensor]


class Recipe(Protocol):
    """`keys` are those of the tensors that the argument is made of. It is built for a trace, where sizes are symbols,
    or to run the model as it is (`eager`): the two differ where torch can't trace what people pass."""

    @property
    def keys(self) -> tuple[str, ...]: ...

    def build(self, tensors: Tensors, eager: bool = False) -> Any: ...


def parts_of(recipe: Recipe) -> Iterator[Recipe]:
    """The recipe and all that it is made of."""
    yield recipe
    for part in getattr(recipe, "children", ()):
        yield from parts_of(part)


@dataclass(frozen=True)
class Leaf:
    """A tensor of the graph."""

    key: str

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.key,)

    def build(self, tensors: Tensors, eager: bool = False) -> Any:
        return tensors[self.key]


@dataclass(frozen=True)
class RowCount:
    """The number of nodes, as that of the rows of one of their tensors."""

    key: str

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.key,)

    def build(self, tensors: Tensors, eager: bool = False) -> Any:
        return tensors[self.key].shape[0]


@dataclass(frozen=True)
class ByType:
    """A dict by node type or edge type."""

    parts: Mapping[Any, Recipe]

    @property
    def children(self) -> tuple[Recipe, ...]:
        return tuple(self.parts.values())

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(key for part in self.children for key in part.keys)

    def build(self, tensors: Tensors, eager: bool = False) -> Any:
        return {type_: part.build(tensors, eager) for type_, part in self.parts.items()}
