"""A batch of target nodes, the edges that meet them, and the nodes at the other ends."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch

from gnnc.dialects.gnn import End
from gnnc.targets.edge_sets import EdgeSet


@dataclass(frozen=True)
class Batch:
    """The nodes `start` to `stop` of one node set. Tensors come from host memory and go to `device`."""

    start: int
    stop: int
    device: str

    @property
    def rows(self) -> int:
        return self.stop - self.start

    def targets(self, values: torch.Tensor, axis: int) -> torch.Tensor:
        """The rows of the batch's own nodes."""
        return values.narrow(axis, self.start, self.rows).to(self.device)

    def edges(self, edges: EdgeSet, end: End) -> EdgeSlice:
        """The edges that meet the batch's nodes with one end."""
        return EdgeSlice(self, edges, end)


@dataclass(frozen=True)
class EdgeSlice:
    """The edges of a set that meet a batch, grouped by target, in the set's order within a target.

    `targets` holds, for every edge, the place in the batch of the node it meets, on the device.
    """

    batch: Batch
    edge_set: EdgeSet
    end: End

    @cached_property
    def _offsets(self) -> torch.Tensor:
        return self.edge_set.incidence(self.end).offsets[self.batch.start : self.batch.stop + 1]

    @cached_property
    def edge_ids(self) -> torch.Tensor:
        """The edges' places in the set, int64, on the host."""
        return self.edge_set.incidence(self.end).edges[int(self._offsets[0]) : int(self._offsets[-1])]

    @property
    def rows(self) -> int:
        return self.edge_ids.shape[0]

    @cached_property
    def targets(self) -> torch.Tensor:
        places = torch.arange(self.batch.rows)
        return torch.repeat_interleave(places, self._offsets.diff(), output_size=self.rows).to(self.batch.device)

    def load(self, values: torch.Tensor, axis: int) -> torch.Tensor:
        """The rows of an edge value."""
        return values.index_select(axis, self.edge_ids).to(self.batch.device)

    def neighbors(self, edges: EdgeSet, end: End) -> Neighbors:
        """The nodes at one end of these edges; `edges` may be another set with the same edges."""
        return Neighbors.of(edges.index(end).index_select(0, self.edge_ids), edges.node_count(end), self.batch.device)


@dataclass(frozen=True)
class Neighbors:
    """The distinct nodes at an end of some edges, ascending, and for every edge the place of its node among them."""

    nodes: torch.Tensor
    places: torch.Tensor
    device: str

    @staticmethod
    def of(nodes: torch.Tensor, count: int, device: str) -> Neighbors:
        """From the node of every edge, out of `count` nodes."""
        # A table over all nodes beats sorting as soon as the edges are not few.
        if nodes.shape[0] * 8 < count:
            distinct, places = torch.unique(nodes, return_inverse=True)
            return Neighbors(distinct, places.to(device), device)
        present = torch.zeros(count, dtype=torch.bool)
        present[nodes] = True
        distinct = present.nonzero().squeeze(1)
        table = torch.empty(count, dtype=torch.int64)
        table[distinct] = torch.arange(distinct.shape[0])
        return Neighbors(distinct, table.index_select(0, nodes).to(device), device)

    @property
    def rows(self) -> int:
        return self.nodes.shape[0]

    def load(self, values: torch.Tensor, axis: int) -> torch.Tensor:
        """The rows of a node value, one for each distinct node."""
        return values.index_select(axis, self.nodes).to(self.device)
