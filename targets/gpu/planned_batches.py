"""Batches in order, of which a small budget has tens of thousands: a few numbers each, and an object when asked."""

from __future__ import annotations

from array import array
from base64 import b64decode, b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, overload
from zlib import compress, decompress

import numpy as np
import torch

NodeSet: TypeAlias = range | torch.Tensor

NUMBERS = 6
"""Of a batch: the place of its last node and one, and what PlannedBatch has beside nodes."""

BYTES_PER_BATCH = 100
"""What a batch leaves in plan and report, and what is left to do of it."""


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
    """Batches that follow each other in `nodes`, from the first one on."""

    def __init__(self, nodes: NodeSet, batches: Iterable[PlannedBatch] = ()):
        self.nodes = nodes
        self.numbers = array("q")
        for batch in batches:
            self.append(batch)

    def append(self, batch: PlannedBatch) -> None:
        stop = self.stop_of(len(self) - 1) + len(batch.nodes)
        self.numbers.extend((stop, batch.edges, batch.neighbors, batch.bytes, batch.is_hub, batch.moved))

    def stop_of(self, place: int) -> int:
        """The place behind the last node of a batch, and so that of the first node of the next one."""
        return self.numbers[place * NUMBERS] if place >= 0 else 0

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
        stop, edges, neighbors, size, is_hub, moved = self.numbers[place * NUMBERS : (place + 1) * NUMBERS]
        return PlannedBatch(self.nodes[self.stop_of(place - 1) : stop], edges, neighbors, size, bool(is_hub), moved)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, PlannedBatches) and self.numbers == other.numbers and self.nodes is other.nodes

    __hash__ = None  # pyright: ignore[reportAssignmentType]

    def as_text(self) -> str:
        """All numbers, for a journal."""
        numbers = np.frombuffer(self.numbers, np.int64).astype("<i8", copy=False)
        return b64encode(compress(numbers.data)).decode()

    @staticmethod
    def of_text(nodes: NodeSet, text: str) -> PlannedBatches:
        batches = PlannedBatches(nodes)
        numbers = np.frombuffer(decompress(b64decode(text)), "<i8").astype(np.int64, copy=False)
        batches.numbers.frombytes(numbers.data.cast("B"))
        return batches
