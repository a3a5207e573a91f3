"""A node whose neighbourhood is too large for one batch: its edges are looked at in chunks.

Sums, means, products, largest and smallest are folded over chunks; a softmax takes three passes: the largest score, the
sum of exponentials, the weights. What is needed on edges is computed anew for each pass.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import torch
from xdsl.ir import BlockArgument, Operation, SSAValue

from gnnc.dialects.gnn import (
    AggregateOp,
    ConstantOp,
    ConvBlockOp,
    ConvOperation,
    EdgeSoftmaxOp,
    End,
    EndAttr,
    FillOp,
    FusedOperation,
    GatherOp,
    LoadWeightOp,
    Reduction,
    YieldOp,
)
from gnnc.dialects.gnn.attributes import domain_axis, domain_of
from gnnc.passes.analysis.cost_model import row_bytes
from gnnc.targets.edge_sets import EdgeSet, aggregate
from gnnc.targets.gpu.batch import sampled_edges_of, taken
from gnnc.targets.gpu.memory_model import BYTES_PER_EDGE
from gnnc.targets.neighbor_sampling import Sample, sample_of
from gnnc.targets.torch_functions import constant, filled, function_of


class NotDecomposableError(Exception):
    """A reduction can't be put together from those of parts."""


@dataclass(frozen=True)
class Target:
    """The row of the node itself."""


@dataclass(frozen=True, eq=False)
class Chunk:
    """Some of the edges that meet the node with one end: ids in the edge set."""

    edges: SSAValue
    end: End
    ids: torch.Tensor


@dataclass(frozen=True, eq=False)
class Nodes:
    """The nodes at other ends of a chunk, one an edge."""

    ids: torch.Tensor


Place: TypeAlias = Target | Chunk | Nodes

TARGET = Target()

COMBINE: Mapping[Reduction, Callable[[torch.Tensor, torch.Tensor], torch.Tensor]] = {
    Reduction.SUM: torch.add,
    Reduction.MEAN: torch.add,
    Reduction.MUL: torch.mul,
    Reduction.MAX: torch.maximum,
    Reduction.MIN: torch.minimum,
}


def bytes_per_edge(op: ConvBlockOp) -> int:
    """What an edge of a chunk takes: all values on edges and on the nodes at other ends, once each."""
    values = [result for inner in op.walk() for result in inner.results if inner is not op]
    inputs = [argument for argument in op.body.block.args if domain_of(argument.type) is not None]
    return BYTES_PER_EDGE + sum(row_bytes(v.type) for v in (*values, *inputs) if domain_of(v.type) is not None)


class HubRow:
    """One row of a block's results. `operands` are the block's, on the host; arithmetic is on `device`."""

    def __init__(
        self,
        op: ConvBlockOp,
        operands: Sequence[Any],
        weights: Mapping[str, torch.Tensor],
        node: int,
        chunk_edges: int,
        device: str,
    ):
        self.op = op
        self.operands = operands
        self.weights = weights
        self.nodes = range(node, node + 1)
        self.chunk_edges = chunk_edges
        self.device = device
        self.known: dict[tuple[SSAValue, Place], torch.Tensor] = {}
        self.statistics: dict[EdgeSoftmaxOp, tuple[torch.Tensor, torch.Tensor]] = {}

    def results(self, places: Sequence[int]) -> list[torch.Tensor]:
        """The node's row of some results. Raises NotDecomposableError."""
        terminator = self.op.body.block.last_op
        assert isinstance(terminator, YieldOp)
        return [self.value(terminator.values[place], TARGET) for place in places]

    def value(self, value: SSAValue, place: Place) -> torch.Tensor:
        value = resolved(value)
        key = value, place
        if key not in self.known:
            self.known[key] = self.computed(value, place)
        return self.known[key]

    def computed(self, value: SSAValue, place: Place) -> torch.Tensor:
        op = value.owner
        if not isinstance(op, Operation):
            return self.argument(value, place)
        if isinstance(op, LoadWeightOp):
            return self.weights[op.weight.string_value()].to(self.device)
        if isinstance(op, ConstantOp):
            return constant(op).to(self.device)
        if isinstance(op, FillOp):
            return filled(value.type, op.value.value.data, self.row_count(place), self.device)
        if isinstance(op, GatherOp):
            return self.gathered(op, place)
        if isinstance(op, AggregateOp):
            return self.folded(op)
        if isinstance(op, EdgeSoftmaxOp):
            return self.weighted(op, place)
        if isinstance(op, ConvOperation):
            raise NotDecomposableError(op.name)
        result = function_of(op)(*(self.value(operand, place) for operand in op.operands))
        return result[op.results.index(value)] if isinstance(result, tuple) else result

    def argument(self, value: SSAValue, place: Place) -> torch.Tensor:
        assert isinstance(value, BlockArgument)
        array = self.operands[value.index]
        if domain_of(value.type) is None:
            return array.to(self.device)
        ids = torch.tensor(self.nodes) if isinstance(place, Target) else place.ids
        return taken(array, domain_axis(value.type), ids).to(self.device)

    def row_count(self, place: Place) -> int:
        return 1 if isinstance(place, Target) else place.ids.shape[0]

    def edge_set(self, value: SSAValue) -> EdgeSet:
        argument = resolved(value)
        assert isinstance(argument, BlockArgument)
        return self.operands[argument.index]

    def gathered(self, op: GatherOp, place: Place) -> torch.Tensor:
        assert isinstance(place, Chunk)
        axis = domain_axis(op.nodes.type)
        if op.end.data is place.end and resolved(op.edges) is place.edges:
            row = self.value(op.nodes, TARGET)
            return row.index_select(axis, torch.zeros(place.ids.shape[0], dtype=torch.int64, device=self.device))
        ids = self.edge_set(op.edges).index(op.end.data).index_select(0, place.ids)
        return self.value(op.nodes, Nodes(ids))

    def chunks(self, op: ConvOperation) -> Iterator[Chunk]:
        """All edges of the node, in pieces. What was computed on a piece is forgotten after it."""
        edges = resolved(op.operands[-1])
        end = op.properties["end"]
        assert isinstance(end, EndAttr)
        for ids in self.ids_of_chunks(self.edge_set(edges), end.data, sample_of(op)):
            kept = dict(self.known)
            yield Chunk(edges, end.data, ids)
            self.known = {k: v for k, v in self.known.items() if k in kept or isinstance(k[1], Target)}

    def ids_of_chunks(self, edges: EdgeSet, end: End, sample: Sample | None) -> Iterator[torch.Tensor]:
        """The node's edges, so many at a time; only those of a sample are ever together in memory."""
        if sample is not None:
            yield from sampled_edges_of(edges, end, self.nodes, sample)[1].split(self.chunk_edges)
            return
        incidence = edges.incidence(end)
        first, stop = incidence.offsets[self.nodes.start : self.nodes.stop + 1].tolist()
        for start in range(first, stop, self.chunk_edges):
            yield incidence.part(start, min(stop, start + self.chunk_edges))

    def folded(self, op: AggregateOp) -> torch.Tensor:
        axis, reduction = domain_axis(op.messages.type), op.reduction.data
        partial = Reduction.SUM if reduction is Reduction.MEAN else reduction
        total: torch.Tensor | None = None
        edges = 0
        for chunk in self.chunks(op):
            messages = self.value(op.messages, chunk)
            part = reduced(partial, messages, axis)
            total = part if total is None else COMBINE[reduction](total, part)
            edges += chunk.ids.shape[0]
        if total is None:
            return filled(op.result.type, 1 if reduction is Reduction.MUL else 0, 1, self.device)
        return total / edges if reduction is Reduction.MEAN else total

    def weighted(self, op: EdgeSoftmaxOp, place: Place) -> torch.Tensor:
        assert isinstance(place, Chunk)
        if op not in self.statistics:
            self.statistics[op] = self.softmax_statistics(op)
        largest, divisor = self.statistics[op]
        return (self.value(op.scores, place) - largest).exp() / divisor

    def softmax_statistics(self, op: EdgeSoftmaxOp) -> tuple[torch.Tensor, torch.Tensor]:
        """The largest score, and the sum of exponentials with eps."""
        axis = domain_axis(op.scores.type)
        largest: torch.Tensor | None = None
        for chunk in self.chunks(op):
            part = reduced(Reduction.MAX, self.value(op.scores, chunk), axis)
            largest = part if largest is None else torch.maximum(largest, part)
        assert largest is not None, "a softmax is asked for on edges, so there are some"
        divisor = torch.zeros_like(largest)
        for chunk in self.chunks(op):
            divisor += reduced(Reduction.SUM, (self.value(op.scores, chunk) - largest).exp(), axis)
        return largest, divisor + op.eps.value.data


def reduced(reduction: Reduction, values: torch.Tensor, axis: int) -> torch.Tensor:
    """All rows reduced to one; a sum of many is taken in pairs."""
    if reduction is Reduction.SUM:
        return values.sum(axis, keepdim=True)
    index = torch.zeros(values.shape[axis], dtype=torch.int64, device=values.device)
    return aggregate(reduction, values, index, 1, axis)


def resolved(value: SSAValue) -> SSAValue:
    """A value of the block's own body: what the body of a fused operation takes and gives are values outside of it."""
    while True:
        if isinstance(value, BlockArgument) and isinstance(parent := value.block.parent_op(), FusedOperation):
            value = parent.inputs[value.index]
        elif isinstance(op := value.owner, FusedOperation):
            value = op.results_inside[op.outputs.index(value)]
        else:
            return value
