"""Where a traced model moves values along edges: gathers, scatters, and the edge sets they speak of."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import torch

from gnnc.dialects.gnn import End, Reduction
from gnnc.frontend.aggregation_operators import NAMESPACE
from gnnc.frontend.rowwise_rules import keeps_rows
from gnnc.frontend.traced_values import Shape, Size, TracedValue

# Operators that lay the entries of an index tensor out along new axes. A reshape does only if it keeps the rows.
SPREADS = frozenset({"aten.expand.default", "aten.unsqueeze.default", "aten.repeat.default", "aten.t.default"})
RESHAPES = frozenset({"aten.view.default", "aten._unsafe_view.default"})

REDUCTIONS = {
    "sum": Reduction.SUM,
    "mean": Reduction.MEAN,
    "amax": Reduction.MAX,
    "amin": Reduction.MIN,
    "prod": Reduction.MUL,
    # What torch.scatter calls them.
    "add": Reduction.SUM,
    "multiply": Reduction.MUL,
}


@dataclass(frozen=True)
class Gather:
    """The rows of `nodes` at `index`, one for each entry of the index."""

    nodes: TracedValue
    index: TracedValue


@dataclass(frozen=True)
class Scatter:
    """The rows of `messages` reduced into the rows of `init` at `index`."""

    messages: TracedValue
    init: TracedValue
    index: TracedValue
    reduction: Reduction
    with_init: bool


def match_gather(value: TracedValue) -> Gather | None:
    """`value` as a gather along the domain axis of its operand, or None."""
    match value.op:
        case "aten.index_select.default":
            nodes, dim, index = value.args
        case "aten.index.Tensor":
            nodes, indices = value.args
            dim, index = only_index(indices)
        case "aten.gather.default":
            nodes, dim, index = value.args[:3]
        case "aten.embedding.default":
            nodes, index = value.args[:2]
            dim = 0
        case _:
            return None
    if nodes.domain is None or value.domain is None or index is None or dim % len(nodes.shape) != nodes.domain_axis:
        return None
    if value.domain_axis != nodes.domain_axis or rows(value) != rows(nodes):
        return None
    peeled = peel_index(index, dim % len(index.shape) if value.op == "aten.gather.default" else 0)
    return Gather(nodes, peeled) if peeled is not None else None


def only_index(indices: Sequence[TracedValue | None]) -> tuple[int, TracedValue | None]:
    """The axis that is indexed and its index, which is None if there are several."""
    used = [axis for axis, index in enumerate(indices) if index is not None]
    return used[0], indices[used[0]] if len(used) == 1 else None


def match_scatter(value: TracedValue) -> Scatter | None:
    """`value` as a scatter along the domain axis of its first operand, or None."""
    scatter = scatter_along_rows(value)
    if scatter is None or scatter.init.domain is None or scatter.init.domain_axis != scatter.messages.domain_axis:
        return None
    return scatter


def match_pooling(value: TracedValue) -> Scatter | None:
    """`value` as a scatter of all rows into the one row of its first operand, or None."""
    scatter = scatter_along_rows(value)
    if scatter is None or scatter.init.sizes or scatter.init.shape[scatter.messages.domain_axis] != 1:
        return None
    # a row that exists is the first: the index can be nothing else
    return scatter


def scatter_along_rows(value: TracedValue) -> Scatter | None:
    """`value` as a scatter of rows on nodes or edges by an index with an entry for each, or None."""
    reduction, with_init = "sum", value.kwargs.get("include_self", True)
    match value.op:
        case "aten.scatter_add.default":
            init, dim, index, messages = value.args
        case "aten.scatter_reduce.two":
            init, dim, index, messages, reduction = value.args
        case "aten.scatter.reduce":
            init, dim, index, messages = value.args
            reduction = value.kwargs["reduce"]
        case "aten.index_add.default" if value.kwargs.get("alpha", 1) == 1:
            init, dim, index, messages = value.args
        case "aten.index_reduce.default":
            init, dim, index, messages, reduction = value.args
        case "aten.index_put.default" if value.args[3:] == (True,):
            init, indices, messages = value.args[:3]
            dim, index = only_index(indices)
        case _:
            return None
    if messages.domain is None or index is None or reduction not in REDUCTIONS:
        return None
    axis = dim % len(init.shape)
    if axis != messages.domain_axis or others(init.shape, axis) != others(messages.shape, axis):
        return None
    # torch takes an index that is smaller than the messages, and leaves the rest of them out
    if index.domain != messages.domain or (len(index.shape) > 1 and index.shape != messages.shape):
        return None
    peeled = peel_index(index, axis if len(index.shape) > 1 else 0)
    return Scatter(messages, init, peeled, REDUCTIONS[reduction], with_init) if peeled is not None else None


def others(shape: Shape, axis: int) -> Shape:
    return (*shape[:axis], *shape[axis + 1 :])


@dataclass(frozen=True)
class AggregationCall:
    """The rows of `messages` made into one row for each node in `index`, by an operator that is no scatter."""

    messages: TracedValue
    index: TracedValue


def match_aggregation(value: TracedValue) -> AggregationCall | None:
    """`value` as an aggregation by one of our own operators, or None."""
    if not value.op.startswith(f"{NAMESPACE}."):
        return None
    messages, index = value.args[:2]
    peeled = peel_index(index, 0)
    return None if peeled is None or value.domain is None else AggregationCall(messages, peeled)


def rows(value: TracedValue) -> Shape:
    return others(value.shape, value.domain_axis)


def peel_index(index: TracedValue, axis: int) -> TracedValue | None:
    """The one-dimensional integer tensor whose entries an index repeats along all axes but `axis`, or None."""
    if index.domain is None or index.domain_axis != axis or index.dtype not in (torch.int64, torch.int32):
        return None
    domain = index.domain
    while len(index.shape) > 1:
        if index.op not in SPREADS | RESHAPES or index.args[0].domain != domain:
            return None
        if index.op in RESHAPES and not keeps_rows(index.args[0], index):
            return None
        index = index.args[0]
    return index


@dataclass(frozen=True)
class EdgeSet:
    """Edges between two node domains, given by two index tensors of one length."""

    domain: Size
    sources: TracedValue
    targets: TracedValue
    source_nodes: Size
    target_nodes: Size


@dataclass(frozen=True)
class EdgeSets:
    """The edge sets of a model, and where each index tensor is an end."""

    ends: dict[TracedValue, tuple[EdgeSet, End]]

    def end_of(self, index: TracedValue) -> tuple[EdgeSet, End]:
        return self.ends[index]

    def has(self, index: TracedValue) -> bool:
        """Whether an index tensor is an end of edges; one that puts edges into another order is none."""
        return index in self.ends


def find_edge_sets(values: Iterable[TracedValue], is_nodes: Callable[[Size], bool]) -> EdgeSets:
    """Pairs up the index tensors that gathers from nodes and scatters to nodes use; `is_nodes` tells nodes from edges.

    All index tensors of one length that messages are gathered by belong to the edges that a scatter of that length
    reduces: the scatter's index is the targets, each other one the sources of a set.
    """
    nodes_of: dict[TracedValue, Size] = {}
    scattered: list[TracedValue] = []
    for value in values:
        gather, scatter = match_gather(value), match_scatter(value)
        if gather is not None and gather.nodes.domain is not None and is_nodes(gather.nodes.domain):
            nodes_of.setdefault(gather.index, gather.nodes.domain)
        if scatter is not None and scatter.init.domain is not None and is_nodes(scatter.init.domain):
            nodes_of.setdefault(scatter.index, scatter.init.domain)
            scattered.append(scatter.index)
        aggregation = match_aggregation(value)
        if aggregation is not None and value.domain is not None and is_nodes(value.domain):
            nodes_of.setdefault(aggregation.index, value.domain)
            scattered.append(aggregation.index)
    ends: dict[TracedValue, tuple[EdgeSet, End]] = {}
    for domain in dict.fromkeys(index.domain for index in nodes_of if index.domain is not None):
        pair_up(domain, [index for index in nodes_of if index.domain == domain], scattered, nodes_of, ends)
    return EdgeSets(ends)


def pair_up(
    domain: Size,
    indices: Sequence[TracedValue],
    scattered: Sequence[TracedValue],
    nodes_of: dict[TracedValue, Size],
    ends: dict[TracedValue, tuple[EdgeSet, End]],
) -> None:
    target = next((index for index in scattered if index.domain == domain), indices[-1])
    others = [index for index in indices if index is not target] or [target]
    for source in others:
        edges = EdgeSet(domain, source, target, nodes_of[source], nodes_of[target])
        ends.setdefault(target, (edges, End.TARGET))
        ends.setdefault(source, (edges, End.SOURCE))
