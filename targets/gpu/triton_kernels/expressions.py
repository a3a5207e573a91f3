"""What the row-wise operations of a fused Conv compute, as Triton on a tile: edges along its first axis, numbers of a
row along the second. What is the same for all of either has size 1 there."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

from xdsl.dialects.builtin import BFloat16Type, Float16Type, Float64Type, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from gnnc.dialects.gnn import (
    AddOp,
    BroadcastOp,
    CastOp,
    ConcatOp,
    DivOp,
    EluOp,
    ExpOp,
    LeakyReluOp,
    MulOp,
    ReluOp,
    ReshapeOp,
    RowwiseOp,
    SigmoidOp,
    SubOp,
)
from gnnc.passes.analysis.matching import aten_call, number_of
from gnnc.passes.loops.expressions import bounds_of
from gnnc.passes.loops.lanes import NoKernelError, aligned_row_shape, reduced_axes
from gnnc.targets.gpu.triton_kernels.places import Place, Places, width_of

MOST_UNROLLED = 64
"""Summands that are written out one by one, where a result is a vector itself."""

Leaf: TypeAlias = Callable[[SSAValue, Place], str | None]
"""The text of a value that is loaded or accumulated; None for one that has to be computed."""


def type_text(element: Attribute) -> str:
    """A type of numbers in Triton."""
    match element:
        case BFloat16Type():
            return "tl.bfloat16"
        case Float16Type():
            return "tl.float16"
        case Float64Type():
            return "tl.float64"
        case _:
            return "tl.float32"


class Names:
    """Names for values, distinct in a whole kernel."""

    def __init__(self) -> None:
        self.count = 0

    def new(self, letter: str) -> str:
        self.count += 1
        return f"{letter}{self.count - 1}"


class Expressions:
    """Writes what values are at some places, each once. `lines_for` says where a value's line belongs."""

    def __init__(
        self, places: Places, names: Names, element: Attribute, lines_for: Callable[[SSAValue], list[str]], leaf: Leaf
    ):
        self.places = places
        self.names = names
        self.element = type_text(element)
        self.lines_for = lines_for
        self.leaf = leaf
        self.known: dict[tuple[SSAValue, Place], str] = {}

    def value(self, value: SSAValue, place: Place) -> str:
        """A name, or a number, for a value at a place."""
        key = (value, place)
        if key not in self.known:
            text = self.leaf(value, place) or self.computed(value, place)
            if not text.isidentifier():
                name = self.names.new("v")
                self.lines_for(value).append(f"{name} = {text}")
                text = name
            self.known[key] = text
        return self.known[key]

    def computed(self, value: SSAValue, place: Place) -> str:
        op, number = value.owner, number_of(value)
        if number is not None:
            return f"tl.full([1, 1], {number_text(float(number))}, {self.element})"
        if not isinstance(op, Operation) or type(op) not in RULES:
            raise NoKernelError(f"{getattr(op, 'name', 'a value')} has no form in Triton")
        return RULES[type(op)](self, op, place)

    def operand(self, op: Operation, index: int, place: Place) -> str:
        return self.value(op.operands[index], self.operand_place(op, index, place))

    def operand_place(self, op: Operation, index: int, place: Place) -> Place:
        """Where NumPy's broadcasting takes an operand from for a place of the result."""
        operand, result = op.operands[index], op.results[0]
        if isinstance(op, ReshapeOp):
            return place
        rank = rank_of(result)
        source, target = aligned_row_shape(operand.type, rank), aligned_row_shape(result.type, rank)
        if source == target:
            return place
        axes = self.places.axes(place, target)
        return tuple(digit for part, size in zip(axes, source, strict=True) if size > 1 for digit in part)


def rank_of(value: SSAValue) -> int:
    assert isinstance(value.type, TensorType)
    return len(value.type.get_shape())


def number_text(number: float) -> str:
    return repr(number) if math.isfinite(number) else f'float("{number}")'


def binary(sign: str) -> Rule:
    def rule(e: Expressions, op: Operation, place: Place) -> str:
        return f"{e.operand(op, 0, place)} {sign} {e.operand(op, 1, place)}"

    return rule


def same(e: Expressions, op: Operation, place: Place) -> str:
    return e.operand(op, 0, place)


def cast(e: Expressions, op: Operation, place: Place) -> str:
    """Fewer bits are rounded to at once; more are what numbers are computed in anyway."""
    assert isinstance(op, CastOp) and isinstance(op.result.type, TensorType)
    text, after = e.operand(op, 0, place), type_text(op.result.type.element_type)
    return text if after == e.element else f"{text}.to({after}).to({e.element})"


def relu(e: Expressions, op: Operation, place: Place) -> str:
    x = e.operand(op, 0, place)
    return f"tl.where({x} <= 0.0, 0.0, {x})"


def leaky_relu(e: Expressions, op: Operation, place: Place) -> str:
    assert isinstance(op, LeakyReluOp)
    x = e.operand(op, 0, place)
    return f"tl.where({x} > 0.0, {x}, {x} * {number_text(op.slope.value.data)})"


def exp(e: Expressions, op: Operation, place: Place) -> str:
    return f"tl.exp({e.operand(op, 0, place)})"


def elu(e: Expressions, op: Operation, place: Place) -> str:
    assert isinstance(op, EluOp)
    x = e.operand(op, 0, place)
    return f"tl.where({x} > 0.0, {x}, (tl.exp({x}) - 1.0) * {number_text(op.alpha.value.data)})"


def sigmoid(e: Expressions, op: Operation, place: Place) -> str:
    return f"1.0 / (1.0 + tl.exp(-{e.operand(op, 0, place)}))"


def concat(e: Expressions, op: Operation, place: Place) -> str:
    """A number is that of the one operand whose part of the axis its place is in."""
    assert isinstance(op, ConcatOp)
    rank = rank_of(op.result)
    axis = op.axis.value.data % rank
    axes = e.places.axes(place, aligned_row_shape(op.result.type, rank))
    along = e.places.flat(axes[axis])
    text, start = "", 0
    for operand in op.inputs:
        size = aligned_row_shape(operand.type, rank)[axis]
        if along.constant is not None and not start <= along.constant < start + size:
            start += size
            continue
        part = e.places.part(along, start, size)
        whole = [(part,) if a == axis and size > 1 else () if a == axis else axes[a] for a in range(rank)]
        found = e.value(operand, tuple(digit for digits in whole for digit in digits))
        text = found if not text else f"tl.where({along.text} < {start}, {text}, {found})"
        start += size
    return text


def summed(e: Expressions, op: RowwiseOp, place: Place) -> str:
    """A sum over axes of a row: along the tile where the result is one number an edge, else summand by summand."""
    shape = aligned_row_shape(op.inputs[0].type, 0)
    axes = reduced_axes(op, len(shape))
    kept = iter(e.places.axes(place, [size for axis, size in enumerate(shape) if axis not in axes]))
    by_axis = [() if axis in axes else next(kept) for axis in range(len(shape))]
    count = math.prod(shape[axis] for axis in axes)

    def summand(digits: Place) -> str:
        reduced = iter(e.places.axes(digits, [shape[axis] for axis in axes]))
        parts = [next(reduced) if axis in axes else part for axis, part in enumerate(by_axis)]
        return e.value(op.inputs[0], tuple(digit for part in parts for digit in part))

    if count == 1:
        return summand(())
    if width_of(place) > 1:
        if count > MOST_UNROLLED:
            raise NoKernelError(f"a sum over {count} numbers for each of several has no form in Triton")
        return " + ".join(summand((e.places.constant(i, count),)) for i in range(count))
    lanes = e.places.vector(count)
    text = summand((lanes,))
    return f"tl.sum(tl.where({lanes.text} < {count}, {text}, 0.0), axis=1, keep_dims=True)"


def mean(e: Expressions, op: RowwiseOp, place: Place) -> str:
    shape = aligned_row_shape(op.inputs[0].type, 0)
    count = math.prod(shape[axis] for axis in reduced_axes(op, len(shape)))
    return f"({summed(e, op, place)}) / {float(count)!r}"


def negated(e: Expressions, op: RowwiseOp, place: Place) -> str:
    return f"-{e.operand(op, 0, place)}"


def square_root(e: Expressions, op: RowwiseOp, place: Place) -> str:
    return f"tl.sqrt({e.operand(op, 0, place)})"


def clamped(e: Expressions, op: RowwiseOp, place: Place) -> str:
    """NaN stays."""
    low, high = [*(bounds_of(op) or []), None, None][:2]
    text = e.operand(op, 0, place)
    if low is not None:
        text = f"tl.where({text} < {number_text(low)}, {number_text(low)}, {text})"
    if high is not None:
        text = f"tl.where({text} > {number_text(high)}, {number_text(high)}, {text})"
    return text


def at_most(e: Expressions, op: RowwiseOp, place: Place) -> str:
    arguments = aten_call(op.outputs[0], "aten.le.Scalar")
    assert arguments is not None and isinstance(arguments[1], int | float)
    return f"{e.operand(op, 0, place)} <= {number_text(float(arguments[1]))}"


def masked_fill(e: Expressions, op: RowwiseOp, place: Place) -> str:
    arguments = aten_call(op.outputs[0], "aten.masked_fill.Scalar")
    assert arguments is not None and isinstance(arguments[2], int | float)
    return f"tl.where({e.operand(op, 1, place)}, {number_text(float(arguments[2]))}, {e.operand(op, 0, place)})"


Rule: TypeAlias = "Callable[[Expressions, Operation, Place], str]"

ATEN_RULES: dict[str, Callable[[Expressions, RowwiseOp, Place], str]] = {
    "aten.sum.dim_IntList": summed,
    "aten.mean.dim": mean,
    "aten.neg.default": negated,
    "aten.sqrt.default": square_root,
    "aten.clamp.default": clamped,
    "aten.masked_fill.Scalar": masked_fill,
    "aten.le.Scalar": at_most,
}


def generic(e: Expressions, op: Operation, place: Place) -> str:
    assert isinstance(op, RowwiseOp)
    return ATEN_RULES[op.op.data](e, op, place)


RULES: dict[type[Operation], Rule] = {
    AddOp: binary("+"),
    SubOp: binary("-"),
    MulOp: binary("*"),
    DivOp: binary("/"),
    ReluOp: relu,
    LeakyReluOp: leaky_relu,
    EluOp: elu,
    ExpOp: exp,
    SigmoidOp: sigmoid,
    ReshapeOp: same,
    BroadcastOp: same,
    CastOp: cast,
    ConcatOp: concat,
    RowwiseOp: generic,
}
