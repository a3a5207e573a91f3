"""Which numbers of a row an operation needs from its operands for some numbers of its result.

A row is flat: `Lanes(start, count)` are neighbouring numbers of it, as many as a vector register holds at most. One
number alone is computed as a scalar and broadcast where it meets a vector.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xdsl.ir import Attribute, Operation, SSAValue

from gnnc.dialects.gnn import ConcatOp, GatherOp, ReshapeOp, RowwiseOp
from gnnc.dialects.gnn.attributes import AnyTensor, domain_axis, domain_of, row_shape


class NoKernelError(Exception):
    """A fused Conv has no form in loops yet; says which part of it."""


@dataclass(frozen=True)
class Lanes:
    """Numbers `start` to `start + count` of a flat row."""

    start: int
    count: int

    @property
    def is_scalar(self) -> bool:
        return self.count == 1

    @property
    def stop(self) -> int:
        return self.start + self.count

    def within(self, start: int, stop: int) -> Lanes:
        """Those of them from `start` on and before `stop`."""
        first = max(self.start, start)
        return Lanes(first, min(self.stop, stop) - first)

    def covers(self, other: Lanes) -> bool:
        """Whether all of some other lanes are among these, and both are vectors or neither is."""
        inside = self.start <= other.start and other.stop <= self.stop
        return inside and self.is_scalar == other.is_scalar

    def meets(self, other: Lanes) -> bool:
        """Whether some of some other lanes are among these."""
        return self.start < other.stop and other.start < self.stop


def row_size(value: SSAValue) -> int:
    """How many numbers a row has; a value without rows is one row."""
    return math.prod(row_shape(value.type))


def partition(size: int, group: int, vector: int) -> list[Lanes]:
    """A row of `size` numbers in pieces of at most `vector`, none of which crosses a multiple of `group`."""
    groups = [(base, min(size, base + group)) for base in range(0, size, group)]
    return [Lanes(start, min(vector, stop - start)) for base, stop in groups for start in range(base, stop, vector)]


def as_lanes(indices: Sequence[int], what: str) -> Lanes:
    """Some places in a row as lanes: all the same, or one after the other."""
    first = int(indices[0])
    if all(i == first for i in indices):
        return Lanes(first, 1)
    if all(i == first + place for place, i in enumerate(indices)):
        return Lanes(first, len(indices))
    raise NoKernelError(f"{what} needs numbers of a row that don't lie side by side")


def aligned_row_shape(type_: Attribute, rank: int) -> tuple[int, ...]:
    """The shape of a row with as many axes as the result has, ones in front and for the domain axis."""
    tensor: AnyTensor = type_  # pyright: ignore[reportAssignmentType]
    shape = [1 if size < 0 else size for size in tensor.get_shape()]
    return (*[1] * (rank - len(shape)), *shape)


def require_rows_first(value: SSAValue) -> None:
    if domain_of(value.type) is not None and domain_axis(value.type) != 0:
        raise NoKernelError(f"the rows of {value.type} don't lie one after the other")


def broadcast_lanes(operand: SSAValue, result: SSAValue, lanes: Lanes) -> Lanes:
    """The lanes of an operand that NumPy's broadcasting brings to some lanes of the result."""
    tensor: AnyTensor = result.type  # pyright: ignore[reportAssignmentType]
    rank = len(tensor.get_shape())
    target = aligned_row_shape(result.type, rank)
    source = aligned_row_shape(operand.type, rank)
    if source == target:
        return lanes
    places = np.broadcast_to(np.arange(math.prod(source)).reshape(source), target).ravel()
    return as_lanes(places[lanes.start : lanes.start + lanes.count].tolist(), "broadcasting")


def operand_lanes(op: Operation, place: int, lanes: Lanes, vector: int) -> list[Lanes]:
    """The lanes of operand `place`, at most `vector` at a time, that some lanes of the first result need: one entry, or
    one a summand, or none."""
    operand, result = op.operands[place], op.results[0]
    if isinstance(op, ReshapeOp):
        return [lanes]
    if isinstance(op, ConcatOp):
        return concat_lanes(op, place, lanes)
    if isinstance(op, RowwiseOp) and op.op.data in REDUCTIONS:
        return reduced_lanes(op, lanes, vector)
    return [broadcast_lanes(operand, result, lanes)]


def lie_side_by_side(value: SSAValue, lanes: Lanes, vector: int) -> bool:
    """Whether some lanes of a value come from lanes of what is loaded: of arguments and gathered rows."""
    stack, seen = [(value, lanes)], set[tuple[SSAValue, Lanes]]()
    while stack:
        item = stack.pop()
        op = item[0].owner
        if item in seen or not isinstance(op, Operation) or isinstance(op, GatherOp):
            continue
        seen.add(item)
        try:
            needed = [operand_lanes(op, place, item[1], vector) for place in range(len(op.operands))]
        except NoKernelError:
            return False
        stack += [(operand, found) for operand, many in zip(op.operands, needed, strict=True) for found in many]
    return True


REDUCTIONS = ("aten.sum.dim_IntList", "aten.mean.dim")
"""Generic operators that reduce over axes of a row."""


def concat_lanes(op: ConcatOp, place: int, lanes: Lanes) -> list[Lanes]:
    result = op.result
    shape = aligned_row_shape(result.type, len(op.result.type.get_shape()))
    axis = op.axis.value.data
    sources = np.empty(shape, dtype=np.int64)
    places = np.empty(shape, dtype=np.int64)
    start = 0
    for index, value in enumerate(op.inputs):
        part = aligned_row_shape(value.type, len(shape))
        where = tuple(slice(None) if a != axis else slice(start, start + part[axis]) for a in range(len(shape)))
        sources[where] = index
        places[where] = np.arange(math.prod(part)).reshape(part)
        start += part[axis]
    span = slice(lanes.start, lanes.start + lanes.count)
    if len(set(sources.ravel()[span].tolist())) != 1:
        raise NoKernelError("a concatenation puts numbers of two values into one vector")
    return [as_lanes(places.ravel()[span].tolist(), "concatenation")] if sources.ravel()[lanes.start] == place else []


def reduced_lanes(op: RowwiseOp, lanes: Lanes, vector: int) -> list[Lanes]:
    """For a sum over row axes: for several lanes of the result the same lanes of every summand; for one, all of its
    summands in a row."""
    shape = aligned_row_shape(op.inputs[0].type, 0)
    axes = reduced_axes(op, len(shape))
    order = [a for a in range(len(shape)) if a not in axes] + axes
    places = np.arange(math.prod(shape)).reshape(shape).transpose(order)
    summands = places.reshape(-1, math.prod(shape[a] for a in axes))[lanes.start : lanes.start + lanes.count]
    if lanes.is_scalar:
        return pieces_of(summands[0].tolist(), vector)
    return [as_lanes(column.tolist(), "a sum over an axis") for column in summands.T]


def pieces_of(indices: list[int], vector: int) -> list[Lanes]:
    """Places in a row in pieces of at most a vector, or one by one where they don't lie side by side."""
    first, count = indices[0], len(indices)
    if indices != list(range(first, first + count)):
        return [Lanes(place, 1) for place in indices]
    return [Lanes(first + s, min(vector, count - s)) for s in range(0, count, vector)]


def reduced_axes(op: RowwiseOp, rank: int) -> list[int]:
    """The axes that a sum or a mean is over."""
    from gnnc.passes.analysis.matching import aten_call

    arguments = aten_call(op.outputs[0], op.op.data)
    assert arguments is not None
    given = arguments[1] if len(arguments) > 1 else None
    axes = given if isinstance(given, list) else [given]
    found = sorted(int(a) % rank for a in axes if isinstance(a, int))
    if len(found) != len(axes) or not found or 0 in found:
        raise NoKernelError(f"{op.op.data} is not over axes of a row")
    return found
