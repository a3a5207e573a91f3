"""Counting distinct nodes as edges are added, in one pass and without sorting where a table over all nodes fits."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray

BYTES_PER_NODE = 8
SHARE = 8
"""A table may take this part of the budget, one in so many."""


class DistinctCounter(ABC):
    """Counts the distinct nodes among those that were added since it was cleared."""

    @abstractmethod
    def clear(self) -> None: ...

    @abstractmethod
    def first_places(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Adds nodes; gives the places of those that are new, ascending, each the first of its node."""

    def add(self, nodes: NDArray[np.int64], ends: NDArray[np.int64]) -> NDArray[np.int64]:
        """Adds nodes, and says how many of them are new before each of some places, ascending."""
        return np.searchsorted(self.first_places(nodes), ends, side="left")


class TableCounter(DistinctCounter):
    """Two tables over all nodes: in which batch a node was seen last, and where it stands in what is being added."""

    def __init__(self, nodes: int) -> None:
        self.seen = np.zeros(nodes, np.int32)
        self.place = np.empty(nodes, np.int32)
        self.batch = 0

    def clear(self) -> None:
        self.batch += 1

    def first_places(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        places = np.arange(len(nodes), dtype=np.int32)
        # of a node that comes several times the last assignment counts, which is the first in order
        self.place[nodes[::-1]] = places[::-1]
        new = (self.place[nodes] == places) & (self.seen[nodes] != self.batch)
        self.seen[nodes] = self.batch
        return new.nonzero()[0]


class SortedCounter(DistinctCounter):
    """The nodes seen so far, sorted: for batches that are small beside the graph."""

    def __init__(self) -> None:
        self.seen = np.empty(0, np.int64)

    def clear(self) -> None:
        self.seen = np.empty(0, np.int64)

    def first_places(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        distinct, places = np.unique(nodes, return_index=True)
        new = ~np.isin(distinct, self.seen, assume_unique=True)
        self.seen = np.union1d(self.seen, distinct[new])
        return np.sort(places[new])


def counter_for(nodes: int, budget: int) -> DistinctCounter:
    """The faster counter that a budget allows, for ids below `nodes`."""
    return TableCounter(nodes) if BYTES_PER_NODE * nodes * SHARE <= budget else SortedCounter()
