"""Batches in order, of which a small budget has tens of thousands: a few numbers each, and an object when asked."""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, TypeAlias, overload

import numpy as np
import torch
from numpy.typing import NDArray

NodeSet: TypeAlias = range | torch.Tensor

NUMBERS = 6
"""Of a batch: the place of its last node and one, and what PlannedBatch has beside nodes."""

TOGETHER = 1024
"""Batches that are written to a file together."""


@dataclass(frozen=True)
class PlannedBatch:
    """A batch, and what it is expected to take: edges, distinct neighbors, bytes of memory. A node that takes more than
    the budget by itself is a batch of its own."""

    nodes: NodeSet
    edges: int
    neighbors: int
    bytes: int
    is_hub: bool = False
    moved: int = 0
    """Bytes of edges and distinct neighbors that it reads, and of results that it writes."""


class PlannedBatches(Sequence[PlannedBatch]):
    """Batches that follow each other in `nodes`, from the first one on. Their numbers lie in memory or, as many as they
    are, in a file that is mapped."""

    def __init__(self, nodes: NodeSet, batches: Iterable[PlannedBatch] = ()):
        self.nodes = nodes
        self.numbers: array[int] | NDArray[np.int64] = array("q")
        for batch in batches:
            self.numbers.extend(numbers_of(batch, self.first_of(len(self))))

    @staticmethod
    def to_file(path: Path, nodes: NodeSet, batches: Iterable[PlannedBatch]) -> PlannedBatches:
        """Writes batches to a file, which is on disk when this returns, as they come. Raises OSError."""
        with path.open("wb") as stream:
            write_numbers(stream, batches)
            os.fsync(stream.fileno())
        return PlannedBatches.of_file(path, nodes)

    @staticmethod
    def of_file(path: Path, nodes: NodeSet) -> PlannedBatches:
        """What `to_file` has written. Raises OSError."""
        batches = PlannedBatches(nodes)
        if path.stat().st_size:
            batches.numbers = np.asarray(np.memmap(path, np.int64, "r"))
        return batches

    def first_of(self, place: int) -> int:
        """The place of the first node of a batch, which is the one behind the last node of the batch before."""
        return int(self.numbers[(place - 1) * NUMBERS]) if place > 0 else 0

    def __len__(self) -> int:
        return len(self.numbers) // NUMBERS

    @overload
    def __getitem__(self, place: int) -> PlannedBatch: ...
    @overload
    def __getitem__(self, place: slice) -> list[PlannedBatch]: ...
    def __getitem__(self, place: int | slice) -> PlannedBatch | list[PlannedBatch]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        place = range(len(self))[place]
        stop, edges, neighbors, size, is_hub, moved = self.numbers[place * NUMBERS : (place + 1) * NUMBERS].tolist()
        return PlannedBatch(self.nodes[self.first_of(place) : stop], edges, neighbors, size, bool(is_hub), moved)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, PlannedBatches):
            return False
        return self.nodes is other.nodes and np.array_equal(self.numbers, other.numbers)

    __hash__ = None  # pyright: ignore[reportAssignmentType]


def numbers_of(batch: PlannedBatch, first: int) -> tuple[int, ...]:
    """Those of a batch whose first node is at a place."""
    return first + len(batch.nodes), batch.edges, batch.neighbors, batch.bytes, batch.is_hub, batch.moved


def write_numbers(stream: BinaryIO, batches: Iterable[PlannedBatch]) -> None:
    waiting, first = array("q"), 0
    for batch in batches:
        waiting.extend(numbers_of(batch, first))
        first += len(batch.nodes)
        if len(waiting) >= TOGETHER * NUMBERS:
            stream.write(waiting)
            del waiting[:]
    stream.write(waiting)
