"""The edges of a set in pieces: a term over the graph's relations that is never in memory as a whole."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

Ids: TypeAlias = NDArray[np.int32]
Piece: TypeAlias = tuple[Ids, Ids]
"""Sources and targets of some edges that follow each other."""


class EdgeStream(ABC):
    """Directed edges in an order, between so many nodes."""

    source_count: int
    target_count: int

    @abstractmethod
    def pieces(self, size: int) -> Iterator[Piece]:
        """All edges in order, in pieces of about `size`."""


@dataclass(frozen=True)
class Relation(EdgeStream):
    """Edges as the graph has them: `edge_index` of shape [2, E]."""

    edge_index: torch.Tensor
    source_count: int
    target_count: int

    def pieces(self, size: int) -> Iterator[Piece]:
        rows = self.edge_index.numpy()
        for start in range(0, rows.shape[1], size):
            part = rows[:, start : start + size].astype(np.int32)
            yield part[0], part[1]


@dataclass(frozen=True)
class WithoutLoops(EdgeStream):
    base: EdgeStream
    source_count: int
    target_count: int

    def pieces(self, size: int) -> Iterator[Piece]:
        for sources, targets in self.base.pieces(size):
            kept = sources != targets
            yield sources[kept], targets[kept]


@dataclass(frozen=True)
class WithLoops(EdgeStream):
    """Edges and, after them, one loop a node."""

    base: EdgeStream
    source_count: int
    target_count: int

    def pieces(self, size: int) -> Iterator[Piece]:
        yield from self.base.pieces(size)
        for start in range(0, self.source_count, size):
            loops = np.arange(start, min(self.source_count, start + size), dtype=np.int32)
            yield loops, loops


@dataclass(frozen=True)
class Reversed(EdgeStream):
    base: EdgeStream
    source_count: int
    target_count: int

    def pieces(self, size: int) -> Iterator[Piece]:
        for sources, targets in self.base.pieces(size):
            yield targets, sources


@dataclass(frozen=True)
class Union(EdgeStream):
    first: EdgeStream
    second: EdgeStream
    source_count: int
    target_count: int

    def pieces(self, size: int) -> Iterator[Piece]:
        yield from self.first.pieces(size)
        yield from self.second.pieces(size)
