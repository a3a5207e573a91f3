"""The edges of a set in pieces: a term over the graph's relations that is never in memory as a whole."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

Ids: TypeAlias = NDArray[np.int32]
Piece: TypeAlias = tuple[Ids, Ids, NDArray[np.int64]]
"""Sources, targets and origins of some edges that follow each other. The origin of an edge is its place among the edges
of all relations of the stream, one relation after the other; that of a self-loop that was added is ADDED."""

ADDED = -1


class EdgeStream(ABC):
    """Directed edges in an order, between so many nodes."""

    source_count: int
    target_count: int

    @abstractmethod
    def pieces(self, size: int) -> Iterator[Piece]:
        """All edges in order, in pieces of about `size`."""

    @property
    @abstractmethod
    def relations(self) -> Sequence[tuple[str, int]]:
        """Names of the relations that edges come from, with their edges; a name as often as it is used."""

    @property
    @abstractmethod
    def term(self) -> str:
        """What tells the stream from others of the same graph."""


@dataclass(frozen=True)
class Relation(EdgeStream):
    """Edges as the graph has them: `edge_index` of shape [2, E]."""

    edge_index: torch.Tensor
    source_count: int
    target_count: int
    name: str = "edges"

    def pieces(self, size: int) -> Iterator[Piece]:
        rows = self.edge_index.numpy()
        for start in range(0, rows.shape[1], size):
            part = rows[:, start : start + size].astype(np.int32)
            yield part[0], part[1], np.arange(start, start + part.shape[1])

    @property
    def relations(self) -> Sequence[tuple[str, int]]:
        return [(self.name, self.edge_index.shape[1])]

    @property
    def term(self) -> str:
        return self.name


class OfOneStream(EdgeStream):
    """What is made of one stream, with edges of its relations."""

    base: EdgeStream

    @property
    def relations(self) -> Sequence[tuple[str, int]]:
        return self.base.relations

    @property
    def term(self) -> str:
        return f"{type(self).__name__}({self.base.term})"


@dataclass(frozen=True)
class WithoutLoops(OfOneStream):
    base: EdgeStream
    source_count: int
    target_count: int

    def pieces(self, size: int) -> Iterator[Piece]:
        for sources, targets, origins in self.base.pieces(size):
            kept = sources != targets
            yield sources[kept], targets[kept], origins[kept]


@dataclass(frozen=True)
class WithLoops(OfOneStream):
    """Edges and, after them, one loop a node."""

    base: EdgeStream
    source_count: int
    target_count: int

    def pieces(self, size: int) -> Iterator[Piece]:
        yield from self.base.pieces(size)
        for start in range(0, self.source_count, size):
            loops = np.arange(start, min(self.source_count, start + size), dtype=np.int32)
            yield loops, loops, np.full(len(loops), ADDED, np.int64)


@dataclass(frozen=True)
class Reversed(OfOneStream):
    base: EdgeStream
    source_count: int
    target_count: int

    def pieces(self, size: int) -> Iterator[Piece]:
        for sources, targets, origins in self.base.pieces(size):
            yield targets, sources, origins


@dataclass(frozen=True)
class Union(EdgeStream):
    first: EdgeStream
    second: EdgeStream
    source_count: int
    target_count: int

    def pieces(self, size: int) -> Iterator[Piece]:
        yield from self.first.pieces(size)
        before = sum(edges for _, edges in self.first.relations)
        for sources, targets, origins in self.second.pieces(size):
            yield sources, targets, np.where(origins == ADDED, ADDED, origins + before)

    @property
    def relations(self) -> Sequence[tuple[str, int]]:
        return [*self.first.relations, *self.second.relations]

    @property
    def term(self) -> str:
        return f"Union({self.first.term}, {self.second.term})"
