"""The loop over the edges of a row: accumulators in registers, coming rows prefetched."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects import arith, llvm, memref
from xdsl.dialects.builtin import FixedBitwidthType, i64
from xdsl.ir import SSAValue

from gnnc.dialects.gnn import AggregateOp, FusedConvOp, Reduction
from gnnc.passes.loops.arguments import PADDING, KernelInput
from gnnc.passes.loops.builder import LoopBuilder, element_of
from gnnc.passes.loops.expressions import Expressions
from gnnc.passes.loops.lanes import Lanes

PREFETCH_LINES = 160
"""How many cache lines of coming rows are on their way."""

LEAST_AHEAD = 16
L2 = 2
"""Locality of a prefetch: into the second-level cache. The first is too small for rows that come that much later."""


@dataclass(frozen=True)
class Accumulated:
    """Some lanes of what an aggregation gives."""

    value: SSAValue
    lanes: Lanes


@dataclass(frozen=True)
class Carried:
    """Some numbers that go from edge to edge, all the same before the first one."""

    count: int
    start: float


RowLeaf: TypeAlias = Callable[[SSAValue, Lanes, SSAValue, SSAValue | None, SSAValue | None], SSAValue | None]


class EdgeLoop:
    """Emits loops over edges. `leaf` loads inputs for a row, an edge and its neighbor."""

    def __init__(
        self,
        b: LoopBuilder,
        op: FusedConvOp,
        neighbors: SSAValue,
        leaf: RowLeaf,
        arrays: Mapping[KernelInput, SSAValue],
    ):
        self.b = b
        self.op = op
        self.neighbors = neighbors
        self.leaf = leaf
        self.arrays = arrays
        self.gathered: dict[tuple[SSAValue, int], SSAValue] = {}
        self.layouts: dict[SSAValue, tuple[SSAValue, SSAValue]] = {}

    def prepare(self) -> None:
        """What stands before the loop over rows: where the arrays lie, for prefetching."""
        for source, array in self.arrays.items():
            if source.role.value == "neighbor":
                address = self.b.add(memref.ExtractAlignedPointerAsIndexOp.get(array))
                layout = memref.ExtractStridedMetaDataOp(array)
                self.b.insert(layout)
                self.layouts[array] = (address, layout.strides[0])

    def note_gather(self, array: SSAValue, lanes: Lanes, column: SSAValue) -> None:
        self.gathered[array, lanes.start] = column

    def add_up(
        self, row: SSAValue, first: SSAValue, last: SSAValue, wanted: Sequence[Accumulated], carried: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """What is carried once edges `first` to `last` of a row are added."""
        self.gathered = {}

        def body(edge: SSAValue, so_far: list[SSAValue]) -> list[SSAValue]:
            messages = self.expressions(row, edge)
            combined = [
                self.combine(a, total, messages.value(aggregate_of(a).messages, a.lanes))
                for a, total in zip(wanted, so_far, strict=True)
            ]
            self.prefetch(edge)
            return combined

        return self.b.loop(first, last, self.b.index(1), carried, body)

    def merged(
        self, wanted: Sequence[Accumulated], some: Sequence[SSAValue], others: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """What is carried once both some edges and others are added."""
        return [self.combine(a, one, other) for a, one, other in zip(wanted, some, others, strict=True)]

    def finish(
        self, first: SSAValue, last: SSAValue, wanted: Sequence[Accumulated], carried: Sequence[SSAValue]
    ) -> dict[Accumulated, SSAValue]:
        """What the aggregations of a row give whose edges are `first` to `last`."""
        return {a: self.finished(a, total, first, last) for a, total in zip(wanted, carried, strict=True)}

    def expressions(self, row: SSAValue, edge: SSAValue) -> Expressions:
        """Values on one edge."""
        neighbor = self.b.load_index(self.neighbors, edge)
        return Expressions(self.b, lambda value, lanes: self.leaf(value, lanes, row, edge, neighbor))

    def combine(self, accumulated: Accumulated, total: SSAValue, message: SSAValue) -> SSAValue:
        match aggregate_of(accumulated).reduction.data:
            case Reduction.SUM | Reduction.MEAN:
                return self.b.plus(total, message)
            case Reduction.MAX:
                return self.b.maximum(total, message)
            case Reduction.MIN:
                return self.b.minimum(total, message)
            case Reduction.MUL:
                return self.b.times(total, message)

    def finished(self, accumulated: Accumulated, total: SSAValue, first: SSAValue, last: SSAValue) -> SSAValue:
        """A row without edges gets 0; a mean is divided."""
        match aggregate_of(accumulated).reduction.data:
            case Reduction.MEAN:
                return self.b.over(total, self.edge_count(first, last))
            case Reduction.MAX | Reduction.MIN:
                some = self.b.add(arith.CmpiOp(first, last, "slt"))
                return self.b.select(some, total, self.b.number(0.0))
            case _:
                return total

    def edge_count(self, first: SSAValue, last: SSAValue) -> SSAValue:
        """The number of edges, 1 at least."""
        count = self.b.add(arith.MaxSIOp(self.b.add(arith.SubiOp(last, first)), self.b.index(1)))
        return self.b.add(arith.SIToFPOp(self.b.add(arith.IndexCastOp(count, i64)), self.b.element))

    def prefetch(self, edge: SSAValue) -> None:
        """Fetches the lines of a coming row that this loop will read."""
        if not self.gathered:
            return
        ahead = min(PADDING, max(LEAST_AHEAD, PREFETCH_LINES // len(self.gathered)))
        coming = self.b.load_index(self.neighbors, self.b.offset(edge, ahead))
        flags = [self.b.i32(0), self.b.i32(L2), self.b.i32(1)]
        rows: dict[SSAValue, tuple[SSAValue, int]] = {}
        for (array, start), column in self.gathered.items():
            if array not in rows:
                rows[array] = self.place_in(array, coming, column), start
            pointer, first = rows[array]
            if start != first:
                pointer = self.b.add(llvm.GEPOp(pointer, [start - first], element_of(array)))
            self.b.insert(llvm.CallIntrinsicOp("llvm.prefetch.p0", [pointer, *flags], []))

    def place_in(self, array: SSAValue, row: SSAValue, column: SSAValue) -> SSAValue:
        """A pointer to a number of an array."""
        (address, stride), element = self.layouts[array], element_of(array)
        assert isinstance(element, FixedBitwidthType)
        place = self.b.index_plus(self.b.add(arith.MuliOp(row, stride)), column)
        at = self.b.index_plus(address, self.b.add(arith.MuliOp(place, self.b.index(element.size))))
        return self.b.add(llvm.IntToPtrOp(self.b.add(arith.IndexCastOp(at, i64))))


def carried_sums(wanted: Sequence[Accumulated]) -> list[Carried]:
    """What a loop over edges carries."""
    return [Carried(a.lanes.count, neutral(a)) for a in wanted]


def aggregate_of(accumulated: Accumulated) -> AggregateOp:
    op = accumulated.value.owner
    assert isinstance(op, AggregateOp)
    return op


def neutral(accumulated: Accumulated) -> float:
    match aggregate_of(accumulated).reduction.data:
        case Reduction.MAX:
            return float("-inf")
        case Reduction.MIN:
            return float("inf")
        case Reduction.MUL:
            return 1.0
        case _:
            return 0.0
