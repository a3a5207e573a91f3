"""A batch of target nodes, the edges that meet them, and the nodes at the other ends."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import torch

from gnnc.dialects.gnn import End
from gnnc.targets.aggregations import Neighborhoods
from gnnc.targets.edge_sets import EdgeSet, Incidence
from gnnc.targets.gpu.arena import Arena, RowsOf
from gnnc.targets.gpu.csr import Csr, padded, whole_csr
from gnnc.targets.gpu.device_csr import DeviceCsr, whole_device_csr
from gnnc.targets.gpu.kept_features import NOTHING_KEPT, KeptFeatures
from gnnc.targets.gpu.sparse_rows import SparseRows
from gnnc.targets.neighbor_sampling import Sample, draw


@dataclass(frozen=True)
class Batch:
    """Some nodes of one node set: a range, or ascending distinct ids (int64, on the host).

    Tensors come from host memory and go to `device`.
    """

    nodes: range | torch.Tensor
    device: str
    kept: KeptFeatures = field(default=NOTHING_KEPT, repr=False)
    """In which other forms arrays of all nodes are there."""
    is_hub: bool = False
    """Whether this is one node with more edges than there is room for at once."""
    first: int = 0
    """The place of its first node among all that the block computes."""
    sums: tuple[torch.Tensor, ...] = field(default=(), repr=False)
    """What has been added up for its nodes before, an array a Conv."""
    resident: bool = False
    """Whether what is made of the whole graph on the device stays there."""

    @property
    def rows(self) -> int:
        return len(self.nodes)

    def part(self, start: int, stop: int) -> Batch:
        """Some of its nodes."""
        sums = tuple(array[start:stop] for array in self.sums)
        return replace(self, nodes=self.nodes[start:stop], first=self.first + start, sums=sums)

    def factor(self, values: torch.Tensor, rows: torch.Tensor, crossover: float) -> torch.Tensor | SparseRows:
        """The batch's rows of an array for a product: sparse ones where the array is there as such and less dense than
        the crossover."""
        sparse = self.kept.sparse.get(values.data_ptr())
        if sparse is None or sparse.density >= crossover or not isinstance(self.nodes, range):
            return rows
        return sparse.rows(self.nodes.start, self.nodes.stop)

    def in_lines(self, values: torch.Tensor) -> torch.Tensor:
        """The array of all nodes whose rows a kernel reads."""
        return self.kept.in_lines.get(values.data_ptr(), values)

    def whole(self, values: torch.Tensor) -> torch.Tensor:
        """A value without rows."""
        return values.to(self.device)

    def targets(self, values: torch.Tensor, axis: int) -> torch.Tensor:
        """The rows of the batch's own nodes."""
        rows = self.part_of(values, axis) if isinstance(self.nodes, range) else taken(values, axis, self.nodes)
        return rows if self.device == "cpu" else rows.to(self.device)

    def part_of(self, values: torch.Tensor, axis: int) -> torch.Tensor:
        """The rows of a batch that is a range, where they lie."""
        assert isinstance(self.nodes, range)
        if self.rows == values.shape[axis]:
            return values
        return values.narrow(axis, self.nodes.start, self.rows)

    def store(self, rows: torch.Tensor, values: torch.Tensor, axis: int) -> None:
        """Writes the rows of the batch into the array of all nodes."""
        if isinstance(self.nodes, range):
            place = self.part_of(values, axis)
            # on the host, rows may have been computed where they belong
            if self.device != "cpu" or place.data_ptr() != rows.data_ptr():
                place.copy_(rows)
        else:
            values.index_copy_(axis, self.nodes.to(values.device), rows.to(values.device))

    def has_any(self, nodes: Collection[int]) -> bool:
        """Whether some of these nodes are in it."""
        own = self.nodes if isinstance(self.nodes, range) else set(self.nodes.tolist())
        return any(node in own for node in nodes)

    def covers(self, count: int) -> bool:
        """Whether the batch is all nodes of a set of `count`."""
        return isinstance(self.nodes, range) and self.nodes.start == 0 and self.rows == count

    def edges(self, edges: EdgeSet, end: End, sample: Sample | None = None) -> EdgeSlice:
        """The edges that meet the batch's nodes with one end, or a sample of them."""
        return EdgeSlice(self, edges, end, sample)


@dataclass(frozen=True)
class EdgeSlice:
    """The edges of a set that meet a batch, grouped by target, in the set's order within a target."""

    batch: Batch
    edge_set: EdgeSet
    end: End
    sample: Sample | None = None

    @cached_property
    def _counts_and_edges(self) -> tuple[torch.Tensor, torch.Tensor]:
        return sampled_edges_of(self.edge_set, self.end, self.batch.nodes, self.sample)

    @property
    def edge_ids(self) -> torch.Tensor:
        """The edges' places in the set, int64, on the host."""
        return self._counts_and_edges[1]

    @property
    def rows(self) -> int:
        return self.edge_ids.shape[0]

    @cached_property
    def targets(self) -> torch.Tensor:
        """For every edge, the place in the batch of the node it meets, on the device."""
        places = torch.arange(self.batch.rows)
        counts = self._counts_and_edges[0]
        return torch.repeat_interleave(places, counts, output_size=self.rows).to(self.batch.device)

    @cached_property
    def neighborhoods(self) -> Neighborhoods:
        """Which of the batch's nodes each edge meets."""
        first = self.edge_set.incidence(self.end).offsets
        nodes = self.batch.nodes
        firsts = first[nodes.start : nodes.stop] if isinstance(nodes, range) else first[nodes]
        return Neighborhoods(self.targets, self.batch.rows, firsts.to(self.batch.device))

    @property
    def covers_all_edges(self) -> bool:
        return self.sample is None and self.batch.covers(self.edge_set.node_count(self.end))

    @property
    def csr(self) -> Csr:
        """The edges by target, with the nodes of the whole set for neighbors: nothing is gathered or numbered anew."""
        whole, nodes = whole_csr(self.edge_set, self.end), self.batch.nodes
        if self.covers_all_edges:
            return whole
        if isinstance(nodes, range) and self.sample is None:
            # values on these edges are counted from the first of them, and so are their neighbors
            offsets = whole.offsets[nodes.start : nodes.stop + 1]
            return Csr(offsets - offsets[0], whole.neighbors[int(offsets[0]) :])
        other = End.SOURCE if self.end is End.TARGET else End.TARGET
        return Csr(self.offsets, padded(self.edge_set.index(other)[self.edge_ids]))

    @cached_property
    def offsets(self) -> torch.Tensor:
        """Where the edges of each target begin among these, int64 [targets + 1]."""
        counts = self._counts_and_edges[0]
        offsets = torch.zeros(counts.shape[0] + 1, dtype=torch.int64)
        torch.cumsum(counts, 0, out=offsets[1:])
        return offsets

    def csr_of(self, neighbors: Neighbors) -> Csr:
        """The edges by target, with places among some neighbors."""
        return self.csr if isinstance(neighbors.nodes, range) else Csr(self.offsets, padded(neighbors.places))

    @property
    def device_csr(self) -> DeviceCsr:
        """As `csr`, on the batch's device. That of all edges stays there."""
        device, nodes = self.batch.device, self.batch.nodes
        if isinstance(nodes, range) and self.sample is None:
            whole = whole_device_csr(self.edge_set, self.end, device)
            return whole if self.covers_all_edges else whole.rows_of(self.offsets, nodes, device)
        other = self.edge_set.index(self.end.opposite)
        return DeviceCsr.of(self.offsets, other[self.edge_ids], device)

    def device_csr_of(self, neighbors: Neighbors) -> DeviceCsr:
        """As `csr_of`, on the batch's device."""
        if self.batch.resident and isinstance(neighbors.nodes, range):
            return self.device_csr
        return DeviceCsr.of(self.offsets, neighbors.places, self.batch.device)

    def load(self, values: torch.Tensor, axis: int) -> torch.Tensor:
        """The rows of an edge value."""
        return taken(values, axis, self.edge_ids).to(self.batch.device)

    def store(self, rows: torch.Tensor, values: torch.Tensor, axis: int) -> None:
        """Writes the rows of these edges into the array of all edges."""
        values.index_copy_(axis, self.edge_ids.to(values.device), rows.to(values.device))

    def neighbors(self, edges: EdgeSet, end: End) -> Neighbors:
        """The nodes at one end of these edges; `edges` may be another set with the same edges."""
        if edges is self.edge_set and end is not self.end and self.covers_all_edges:
            return Neighbors.all(edges, end, self.batch.device)
        return Neighbors.of(edges.index(end).index_select(0, self.edge_ids), edges.node_count(end), self.batch.device)


def taken(values: torch.Tensor, axis: int, ids: torch.Tensor) -> torch.Tensor:
    """Rows of an array, by ids on the host, wherever the array lies."""
    return values.index_select(axis, ids.to(values.device))


def sampled_edges_of(
    edges: EdgeSet, end: End, nodes: range | torch.Tensor, sample: Sample | None
) -> tuple[torch.Tensor, torch.Tensor]:
    """How many edges of a sample each of some nodes has, and the edges' places in the set, node by node."""
    kept = edges.samples.get((end, sample))
    if kept is not None:
        return edges_of(kept, nodes)
    counts, edge_ids = edges_of(edges.incidence(end), nodes)
    return (counts, edge_ids) if sample is None else draw(sample, edges, end, counts, edge_ids)


def edges_of(incidence: Incidence, nodes: range | torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """How many edges each of some nodes has, and the edges' places in the set, node by node."""
    offsets = incidence.offsets
    if isinstance(nodes, range):
        slice_ = offsets[nodes.start : nodes.stop + 1]
        return slice_.diff(), incidence.part(int(slice_[0]), int(slice_[-1]))
    first = offsets[nodes]
    counts = offsets[nodes + 1] - first
    # Edge i of the result belongs to a node whose edges begin at `first`; before it, `starts` edges are in the result.
    starts = counts.cumsum(0) - counts
    places = torch.arange(int(counts.sum())) + torch.repeat_interleave(first - starts, counts)
    return counts, incidence.at(places)


@dataclass(frozen=True)
class Neighbors:
    """The distinct nodes at an end of some edges, ascending, or all nodes of the set."""

    nodes: range | torch.Tensor
    place_of_edge: Callable[[], torch.Tensor]
    device: str

    @staticmethod
    def all(edges: EdgeSet, end: End, device: str) -> Neighbors:
        """All nodes at one end: nothing has to be looked for, gathered or numbered anew."""

        def places() -> torch.Tensor:
            return edges.others(end.opposite)

        return Neighbors(range(edges.node_count(end)), places, device)

    @staticmethod
    def of(nodes: torch.Tensor, count: int, device: str) -> Neighbors:
        """From the node of every edge, out of `count` nodes."""
        # A table over all nodes beats sorting as soon as the edges are not few.
        if nodes.shape[0] * 8 < count:
            distinct, inverse = torch.unique(nodes, return_inverse=True)

            def found() -> torch.Tensor:
                return inverse

            return Neighbors(distinct, found, device)
        present = torch.zeros(count, dtype=torch.bool)
        present[nodes] = True
        distinct = present.nonzero().squeeze(1)
        table = torch.empty(count, dtype=torch.int64)
        table[distinct] = torch.arange(distinct.shape[0])

        def looked_up() -> torch.Tensor:
            return table.index_select(0, nodes)

        return Neighbors(distinct, looked_up, device)

    @cached_property
    def places(self) -> torch.Tensor:
        """For every edge, the place of its node among these, on the device."""
        return self.place_of_edge().to(self.device)

    @property
    def rows(self) -> int:
        return len(self.nodes)

    def load(self, values: torch.Tensor, axis: int, arena: Arena) -> torch.Tensor:
        """The rows of a node value, one for each of these nodes: where they lie, or on the host in memory of an
        arena."""
        if isinstance(self.nodes, range):
            return values.to(self.device)
        if self.device != "cpu" or axis != 0:
            return taken(values, axis, self.nodes).to(self.device)
        rows = arena.packed(RowsOf(tuple(values.shape[1:]), values.dtype), self.rows)
        return torch.index_select(values, 0, self.nodes, out=rows)


@dataclass(frozen=True)
class Union:
    """The distinct nodes of several neighborhoods in one set of nodes, ascending, or all nodes of the set."""

    nodes: range | torch.Tensor
    device: str

    @staticmethod
    def of(parts: Sequence[Neighbors]) -> Union:
        ids = [part.nodes for part in parts]
        whole = next((nodes for nodes in ids if isinstance(nodes, range)), None)
        nodes = torch.unique(torch.cat([n for n in ids if isinstance(n, torch.Tensor)])) if whole is None else whole
        return Union(nodes, parts[0].device)

    def load(self, values: torch.Tensor, axis: int) -> torch.Tensor:
        """The rows of a node value, one for each of these nodes."""
        if isinstance(self.nodes, range):
            return values.to(self.device)
        return taken(values, axis, self.nodes).to(self.device)

    def select(self, rows: torch.Tensor, part: Neighbors, axis: int) -> torch.Tensor:
        """Of the rows of these nodes those of one of the neighborhoods."""
        if isinstance(part.nodes, range):
            return rows
        places = part.nodes if isinstance(self.nodes, range) else torch.searchsorted(self.nodes, part.nodes)
        return rows.index_select(axis, places.to(self.device))
