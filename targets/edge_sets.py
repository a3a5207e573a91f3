"""Edge sets at run time, and the reductions over them."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import torch

from gnnc.dialects.gnn import End, Reduction
from gnnc.targets.edge_order import ordered_by
from gnnc.targets.edge_origins import Part, parts_where


@dataclass(frozen=True)
class Incidence:
    """The edges of a set by the node at one end, in the set's order within a node (a stable sort).

    `offsets` has shape [nodes + 1]; the edges of node v are `edges[offsets[v]:offsets[v + 1]]`, int64. Where edges are
    numbered in this order already, `order` is None.
    """

    offsets: torch.Tensor
    order: torch.Tensor | None

    @property
    def edges(self) -> torch.Tensor:
        return torch.arange(int(self.offsets[-1])) if self.order is None else self.order

    def part(self, start: int, stop: int) -> torch.Tensor:
        """The edges at some places of the order."""
        return torch.arange(start, stop) if self.order is None else self.order[start:stop]

    def at(self, places: torch.Tensor) -> torch.Tensor:
        return places if self.order is None else self.order[places]


@dataclass
class EdgeSet:
    """Directed edges: `sources` and `targets` are int64 tensors of shape [E], with node counts of both ends.

    `parts` say which of the graph's edges these are, in order; empty where that is not known.
    """

    sources: torch.Tensor
    targets: torch.Tensor
    source_count: int
    target_count: int
    parts: tuple[Part, ...] = field(default=(), repr=False)
    _incidences: dict[End, Incidence] = field(default_factory=dict[End, Incidence], repr=False)
    _numbers: torch.Tensor | None = field(default=None, repr=False)
    csrs: dict[tuple[End, str], Any] = field(default_factory=dict[tuple[End, str], Any], repr=False)
    """What kernels read on a device, kept by `targets/gpu/csr.py` and `targets/gpu/device_csr.py`."""
    samples: dict[tuple[End, Any], Incidence] = field(default_factory=dict[tuple[End, Any], Incidence], repr=False)
    """Samples that have been drawn for all nodes, kept by `targets/gpu/kept_samples.py`."""

    @property
    def edge_count(self) -> int:
        return self.sources.shape[0]

    @property
    def is_ordered(self) -> bool:
        """Whether the edges have been put in order by one of their ends."""
        return bool(self._incidences)

    def index(self, end: End) -> torch.Tensor:
        """The node at one end of every edge."""
        return self.sources if end is End.SOURCE else self.targets

    def node_count(self, end: End) -> int:
        return self.source_count if end is End.SOURCE else self.target_count

    def incidence(self, end: End) -> Incidence:
        """The edges by the node at one end; computed once."""
        if end not in self._incidences:
            self._incidences[end] = Incidence(*ordered_by(self.index(end), self.node_count(end)))
        return self._incidences[end]

    def others(self, end: End) -> torch.Tensor:
        """The node at the other end of every edge, in the order of the incidence at `end`."""
        return self.index(end.opposite)[self.incidence(end).edges]

    def numbers(self) -> torch.Tensor:
        """For every edge its place in the relation that it is of, int64; computed once."""
        if self._numbers is None:
            self._numbers = torch.cat([part.numbers() for part in self.parts])
        return self._numbers

    def reverse(self) -> EdgeSet:
        return EdgeSet(self.targets, self.sources, self.target_count, self.source_count, self.parts)

    def where(self, mask: torch.Tensor) -> EdgeSet:
        """The edges for which a boolean tensor of shape [E] is true."""
        kept = parts_where(self.parts, mask)
        return EdgeSet(self.sources[mask], self.targets[mask], self.source_count, self.target_count, kept)

    def without_loops(self) -> EdgeSet:
        return self.where(self.sources != self.targets)

    def with_loops(self) -> EdgeSet:
        """The edges and, after them, one loop a node."""
        loops = torch.arange(self.source_count)
        sources, targets = torch.cat([self.sources, loops]), torch.cat([self.targets, loops])
        parts = (*self.parts, Part(None, self.source_count)) if self.parts else ()
        return EdgeSet(sources, targets, self.source_count, self.target_count, parts)

    def union(self, other: EdgeSet) -> EdgeSet:
        sources, targets = torch.cat([self.sources, other.sources]), torch.cat([self.targets, other.targets])
        parts = (*self.parts, *other.parts) if self.parts and other.parts else ()
        return EdgeSet(sources, targets, self.source_count, self.target_count, parts)


def reduce_rows(
    reduction: Reduction, messages: torch.Tensor, index: torch.Tensor, init: torch.Tensor, axis: int, *, with_init: bool
) -> torch.Tensor:
    """The rows of `messages`, one for each entry of `index` along `axis`, reduced into a copy of `init`."""
    return reduce_into(init.clone(), reduction, messages, index, axis, with_init=with_init)


def reduce_into(
    rows: torch.Tensor, reduction: Reduction, messages: torch.Tensor, index: torch.Tensor, axis: int, *, with_init: bool
) -> torch.Tensor:
    """As `reduce_rows`, into `rows` themselves."""
    if reduction is Reduction.SUM and with_init:
        return rows.index_add_(axis, index, messages)
    names = {Reduction.MEAN: "mean", Reduction.MAX: "amax", Reduction.MIN: "amin", Reduction.MUL: "prod"}
    spread = index.reshape([-1 if a == axis else 1 for a in range(messages.dim())]).expand_as(messages)
    name = names.get(reduction, "sum")
    return rows.scatter_reduce_(axis, spread, messages, name, include_self=with_init)


def aggregate(
    reduction: Reduction,
    messages: torch.Tensor,
    index: torch.Tensor,
    count: int,
    axis: int,
    out: torch.Tensor | None = None,
) -> torch.Tensor:
    """The messages of each of `count` nodes reduced; 0 for a node without messages, 1 for a product."""
    shape = [count if a == axis else size for a, size in enumerate(messages.shape)]
    rows = messages.new_empty(shape) if out is None else out
    rows.fill_(1 if reduction is Reduction.MUL else 0)
    if reduction is Reduction.MEAN:
        edges = torch.bincount(index, minlength=count).clamp(min=1).to(messages.dtype)
        column = [-1 if a == axis else 1 for a in range(messages.dim())]
        return rows.index_add_(axis, index, messages).div_(edges.reshape(column))
    counted = reduction in (Reduction.SUM, Reduction.MUL)
    return reduce_into(rows, reduction, messages, index, axis, with_init=counted)


def edge_softmax(scores: torch.Tensor, index: torch.Tensor, count: int, axis: int, eps: float) -> torch.Tensor:
    """exp(s - max) / (sum + eps) over the scores with one entry of `index`."""
    largest = aggregate(Reduction.MAX, scores, index, count, axis)
    exponential = (scores - largest.index_select(axis, index)).exp()
    total = aggregate(Reduction.SUM, exponential, index, count, axis) + eps
    return exponential / total.index_select(axis, index)
