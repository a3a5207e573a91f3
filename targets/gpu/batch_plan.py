"""Where batches end so that each stays within a budget: exact, before any of them runs.

The limits on targets and on their summed in-degrees of DGI are one limit here, on the bytes that `memory_model` says:
prefix sums of degrees in processing order, and a binary search in them. Distinct neighbors, which no prefix sum can
give, are counted in one pass over the edges. A plan depends on the graph, the block and the budget alone, so that a run
that is resumed has the batches it had before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from gnnc.targets.edge_sets import EdgeSet
from gnnc.targets.gpu.batch import edges_of
from gnnc.targets.gpu.block_rows import TARGETS, Edges, NeighborNodes, Rows, place_of
from gnnc.targets.gpu.distinct import DistinctCounter, counter_for
from gnnc.targets.gpu.memory_model import Point
from gnnc.targets.gpu.planned_batches import NodeSet, PlannedBatch

WINDOW = 2**16
"""Rows that are looked at together."""

MIN_WINDOW_EDGES = 2**12
WINDOW_BYTES_PER_EDGE = 128
"""What counting distinct neighbors takes, twice over."""

SORTED_BYTES_PER_EDGE = 40
TABLE_BYTES_PER_NODE = 9
"""What `Neighbors.of` takes to number the distinct nodes anew: by sorting, and with a table over all nodes."""


@dataclass(frozen=True)
class Task:
    """What a planner looks at: the memory of a block at its points, its edge sets by the place of the operand, the
    nodes in the order of processing, bytes for a batch, and the most targets in one."""

    points: Sequence[Point]
    edge_sets: Mapping[int, EdgeSet]
    nodes: NodeSet
    budget: int
    size: int


class Planner:
    """Cuts the nodes of one block into batches."""

    def __init__(self, task: Task):
        self.task = task
        kinds = {rows: None for point in task.points for rows in point}
        self.neighbors = [rows for rows in kinds if isinstance(rows, NeighborNodes)]
        met = [*(rows for rows in kinds if isinstance(rows, Edges)), *(rows.at for rows in self.neighbors)]
        self.edges = list(dict.fromkeys(met))
        self.counters: dict[NeighborNodes, DistinctCounter] = {
            rows: counter_for(self.set_of(rows).node_count(rows.end), task.budget) for rows in self.neighbors
        }

    @property
    def most_edges(self) -> int:
        """So many edges are looked at together."""
        return max(MIN_WINDOW_EDGES, self.task.budget // WINDOW_BYTES_PER_EDGE)

    def set_of(self, rows: Edges | NeighborNodes) -> EdgeSet:
        return self.task.edge_sets[place_of(rows.edges)]

    def batches(self) -> Iterator[PlannedBatch]:
        """All batches in order."""
        start, last = 0, min(self.task.size, WINDOW)
        while start < len(self.task.nodes):
            batch = self.batch_at(start, last)
            last = len(batch.nodes)
            start += last
            yield batch

    def batch_at(self, start: int, guess: int) -> PlannedBatch:
        """The batch that begins at `start`. `guess` says how long it may be."""
        limit = min(len(self.task.nodes), start + self.task.size)
        for counter in self.counters.values():
            counter.clear()
        done, before, taken = start, dict[Rows, int](), 0
        while done < limit:
            stop = self.window_end(done, min(limit, done + max(64, min(WINDOW, guess))))
            counts = self.counts(done, stop, before)
            needed = self.bytes_of(counts)
            fitting = int(np.searchsorted(needed, self.task.budget, side="right"))
            if fitting == 0 and done == start:
                return self.planned(start, start + 1, at(counts, 0), int(needed[0]), is_hub=True)
            if fitting:
                before, taken = at(counts, fitting - 1), int(needed[fitting - 1])
            if fitting < stop - done:
                return self.planned(start, done + fitting, before, taken)
            done = stop
        return self.planned(start, limit, before, taken)

    def batch_behind_hubs(self, start: int) -> PlannedBatch:
        """The first batch from `start` on that is not a node by itself; an empty one where there is none."""
        while start < len(self.task.nodes):
            batch = self.batch_at(start, len(self.task.nodes))
            if not batch.is_hub:
                return batch
            start += 1
        return PlannedBatch(self.task.nodes[:0], 0, 0, 0)

    def crowded(self, limit: int) -> tuple[int, int]:
        """How many nodes have more than `limit` edges, and the edges of all of them."""
        nodes = edges = 0
        for rows in {rows.at: None for rows in self.neighbors}:
            for start in range(0, len(self.task.nodes), WINDOW):
                found = degrees(self.set_of(rows), rows, self.task.nodes[start : start + WINDOW])
                found = found[found > limit]
                nodes, edges = nodes + len(found), edges + int(found.sum())
        return nodes, edges

    def window_end(self, start: int, stop: int) -> int:
        """Where to stop so that looking at the edges of the targets takes a part of the budget only."""
        for rows in {rows.at: None for rows in self.neighbors}:
            edges = degrees(self.set_of(rows), rows, self.task.nodes[start:stop]).cumsum(0).numpy()
            stop = min(stop, start + max(1, int(np.searchsorted(edges, self.most_edges, side="right"))))
        return stop

    def planned(
        self, start: int, stop: int, counts: Mapping[Rows, int], needed: int, *, is_hub: bool = False
    ) -> PlannedBatch:
        edges, neighbors = (sum(counts[rows] for rows in kinds) for kinds in (self.edges, self.neighbors))
        return PlannedBatch(self.task.nodes[start:stop], edges, neighbors, needed, is_hub)

    def counts(self, start: int, stop: int, before: Mapping[Rows, int]) -> dict[Rows, NDArray[np.int64]]:
        """The rows of each kind in the batch once each of the targets `start` to `stop` is in it."""
        part = self.task.nodes[start:stop]
        added: dict[Rows, NDArray[np.int64]] = {TARGETS: np.arange(1, stop - start + 1)}
        for rows in self.edges:
            added[rows] = degrees(self.set_of(rows), rows, part).cumsum(0).numpy()
        for rows in self.neighbors:
            if stop == start + 1 and added[rows.at][0] > self.most_edges:
                # looking at the edges of a hub would take more than a batch may: they may all have another neighbor
                added[rows] = np.minimum(added[rows.at], self.set_of(rows).node_count(rows.end))
                continue
            nodes = others_of(self.set_of(rows.at), self.set_of(rows), rows, part)
            added[rows] = self.counters[rows].add(nodes, added[rows.at])
        return {rows: count + before.get(rows, 0) for rows, count in added.items()}

    def bytes_of(self, counts: Mapping[Rows, NDArray[np.int64]]) -> NDArray[np.int64]:
        """The most bytes at any point, for each count."""
        most = np.zeros(len(counts[TARGETS]), np.int64)
        for point in self.task.points:
            for_point = np.zeros_like(most)
            for rows, size in point.items():
                for_point += counts[rows] * size
            most = np.maximum(most, for_point)
        for rows in self.neighbors:
            nodes, edges = self.set_of(rows).node_count(rows.end), counts[rows.at]
            table = TABLE_BYTES_PER_NODE * nodes
            most += np.where(edges * 8 < nodes, np.minimum(edges * SORTED_BYTES_PER_EDGE, table), table)
        return most


def at(counts: Mapping[Rows, NDArray[np.int64]], place: int) -> dict[Rows, int]:
    return {rows: int(count[place]) for rows, count in counts.items()}


def degrees(edges: EdgeSet, rows: Edges, nodes: NodeSet) -> torch.Tensor:
    """How many edges each of some nodes has; a sample has no more."""
    offsets = edges.incidence(rows.end).offsets
    if isinstance(nodes, range):
        return offsets[nodes.start : nodes.stop + 1].diff()
    return offsets[nodes + 1] - offsets[nodes]


def others_of(edges: EdgeSet, others: EdgeSet, rows: NeighborNodes, nodes: NodeSet) -> NDArray[np.int64]:
    """The node at the other end of every edge, target by target."""
    _, ids = edges_of(edges.incidence(rows.at.end), nodes)
    return others.index(rows.end).index_select(0, ids).numpy()
