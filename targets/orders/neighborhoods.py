"""The edges of a graph by target, in memory or mapped."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Neighborhoods:
    """Node v is met by edges from `neighbors[offsets[v]:offsets[v + 1]]`; offsets are int64 [nodes + 1]."""

    offsets: NDArray[np.int64]
    neighbors: NDArray[np.int32]

    @property
    def nodes(self) -> int:
        return len(self.offsets) - 1

    @property
    def edges(self) -> int:
        return int(self.offsets[-1])

    def of(self, nodes: NDArray[np.int64]) -> NDArray[np.int32]:
        """The neighbors of some nodes, node by node."""
        first = self.offsets[nodes]
        counts = self.offsets[nodes + 1] - first
        starts = counts.cumsum() - counts
        return self.neighbors[np.arange(counts.sum()) + np.repeat(first - starts, counts)]

    def pieces(self, edges: int) -> Iterator[tuple[int, int]]:
        """Ranges of nodes, in order, with about so many edges each."""
        bounds = np.searchsorted(self.offsets, np.arange(0, self.edges, edges))
        bounds = np.unique(np.concatenate([[0], np.minimum(bounds, self.nodes), [self.nodes]]))
        for first, last in zip(bounds, bounds[1:], strict=False):
            yield int(first), int(last)
