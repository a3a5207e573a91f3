"""What the row-wise operations of a fused Conv compute, on a few numbers of a row."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from xdsl.dialects.builtin import BFloat16Type, Float16Type, TensorType
from xdsl.ir import Attribute, Operation, SSAValue

from gnnc.dialects.gnn import (
    AddOp,
    BroadcastOp,
    CastOp,
    ConcatOp,
    ConstantOp,
    DivOp,
    EluOp,
    ExpOp,
    FillOp,
    LeakyReluOp,
    MulOp,
    ReluOp,
    ReshapeOp,
    RowwiseOp,
    SigmoidOp,
    SubOp,
)
from gnnc.dialects.gnn.attributes import domain_axis, domain_of
from gnnc.passes.analysis.matching import aten_call, number_of
from gnnc.passes.loops.builder import LoopBuilder
from gnnc.passes.loops.exponential import exponential
from gnnc.passes.loops.lanes import Lanes, NoKernelError, operand_lanes, reduced_axes

HALF = (BFloat16Type, Float16Type)
"""Numbers of 16 bits are loaded and stored, and computed with in 32."""

Leaf: TypeAlias = Callable[[SSAValue, Lanes], SSAValue | None]
"""The numbers of a value that is there already: loaded, or accumulated; None for one that has to be computed."""


class Expressions:
    """Emits what values are on some lanes, each once in a scope."""

    def __init__(self, b: LoopBuilder, leaf: Leaf):
        self.b = b
        self.leaf = leaf
        self.known: dict[tuple[SSAValue, Lanes], SSAValue] = {}

    def value(self, value: SSAValue, lanes: Lanes) -> SSAValue:
        """A scalar for one lane or where all lanes are equal, else a vector."""
        key = (value, lanes)
        if key not in self.known:
            found = self.leaf(value, lanes)
            self.known[key] = found if found is not None else self.computed(value, lanes)
        return self.known[key]

    def computed(self, value: SSAValue, lanes: Lanes) -> SSAValue:
        op = value.owner
        number = number_of(value)
        if number is not None:
            return self.b.number(float(number))
        if not isinstance(op, Operation) or type(op) not in RULES:
            raise NoKernelError(f"{getattr(op, 'name', 'a value')} has no form in loops")
        return RULES[type(op)](self, op, lanes)

    def operand(self, op: Operation, place: int, lanes: Lanes) -> SSAValue:
        (only,) = operand_lanes(op, place, lanes, self.b.width)
        return self.value(op.operands[place], only)


def binary(emit: Callable[[LoopBuilder, SSAValue, SSAValue], SSAValue]) -> Rule:
    def rule(e: Expressions, op: Operation, lanes: Lanes) -> SSAValue:
        return emit(e.b, e.operand(op, 0, lanes), e.operand(op, 1, lanes))

    return rule


def same(e: Expressions, op: Operation, lanes: Lanes) -> SSAValue:
    return e.operand(op, 0, lanes)


def cast(e: Expressions, op: Operation, lanes: Lanes) -> SSAValue:
    """Fewer bits are rounded to at once; more are what numbers are computed in anyway."""
    assert isinstance(op, CastOp) and isinstance(op.result.type, TensorType)
    return e.b.extended(e.b.narrowed(e.operand(op, 0, lanes), op.result.type.element_type))


def relu(e: Expressions, op: Operation, lanes: Lanes) -> SSAValue:
    return e.b.maximum(e.operand(op, 0, lanes), e.b.number(0.0))


def leaky_relu(e: Expressions, op: Operation, lanes: Lanes) -> SSAValue:
    assert isinstance(op, LeakyReluOp)
    above, below = parts(e, op, lanes)
    return e.b.plus(above, e.b.times(below, e.b.number(op.slope.value.data)))


def parts(e: Expressions, op: Operation, lanes: Lanes) -> tuple[SSAValue, SSAValue]:
    """max(x, 0) and min(x, 0): one of them is 0, so that functions in two pieces are sums, to the bit."""
    x, zero = e.operand(op, 0, lanes), e.b.number(0.0)
    return e.b.maximum(x, zero), e.b.minimum(x, zero)


def exp(e: Expressions, op: Operation, lanes: Lanes) -> SSAValue:
    return exponential(e.b, e.operand(op, 0, lanes))


def elu(e: Expressions, op: Operation, lanes: Lanes) -> SSAValue:
    assert isinstance(op, EluOp)
    above, below = parts(e, op, lanes)
    negative = e.b.minus(exponential(e.b, below), e.b.number(1.0))
    return e.b.plus(above, e.b.times(negative, e.b.number(op.alpha.value.data)))


def sigmoid(e: Expressions, op: Operation, lanes: Lanes) -> SSAValue:
    b, one = e.b, e.b.number(1.0)
    return b.over(one, b.plus(one, exponential(b, b.minus(b.number(0.0), e.operand(op, 0, lanes)))))


def concat(e: Expressions, op: Operation, lanes: Lanes) -> SSAValue:
    for place in range(len(op.operands)):
        found = operand_lanes(op, place, lanes, e.b.width)
        if found:
            return e.value(op.operands[place], found[0])
    raise NoKernelError("a concatenation of nothing")


def summed(e: Expressions, op: RowwiseOp, lanes: Lanes) -> SSAValue:
    """A sum over row axes: several lanes of the result are sums of vectors, one is a sum of all lanes of vectors."""
    pieces = operand_lanes(op, 0, lanes, e.b.width)
    values = [e.value(op.inputs[0], piece) for piece in pieces]
    if not lanes.is_scalar:
        return added(e.b, values)
    full = [v if p.is_scalar else cut_off(e.b, e.b.widened(v), p) for v, p in zip(values, pieces, strict=True)]
    vectors, scalars = [v for v in full if e.b.is_vector(v)], [v for v in full if not e.b.is_vector(v)]
    return added(e.b, [*([e.b.horizontal_sum(added(e.b, vectors))] if vectors else []), *scalars])


def cut_off(b: LoopBuilder, value: SSAValue, lanes: Lanes) -> SSAValue:
    """0 in the lanes beyond those that are meant."""
    return value if lanes.count == b.width else b.select(b.mask(lanes.count), value, b.splat(0.0))


def added(b: LoopBuilder, values: list[SSAValue]) -> SSAValue:
    total = values[0]
    for value in values[1:]:
        total = b.plus(total, value)
    return total


def mean(e: Expressions, op: RowwiseOp, lanes: Lanes) -> SSAValue:
    assert isinstance(op.inputs[0].type, TensorType)
    shape = op.inputs[0].type.get_shape()
    count = 1
    for axis in reduced_axes(op, len(shape)):
        count *= shape[axis]
    return e.b.over(summed(e, op, lanes), e.b.number(float(count)))


def comparison(e: Expressions, op: RowwiseOp, lanes: Lanes) -> SSAValue:
    raise NoKernelError("a comparison by itself has no form in loops")


def negated(e: Expressions, op: RowwiseOp, lanes: Lanes) -> SSAValue:
    return e.b.minus(e.b.number(-0.0), e.operand(op, 0, lanes))


def square_root(e: Expressions, op: RowwiseOp, lanes: Lanes) -> SSAValue:
    return e.b.sqrt(e.operand(op, 0, lanes))


def clamped(e: Expressions, op: RowwiseOp, lanes: Lanes) -> SSAValue:
    low, high = [*(bounds_of(op) or []), None, None][:2]
    x = e.operand(op, 0, lanes)
    x = x if low is None else e.b.maximum(x, e.b.number(low))
    return x if high is None else e.b.minimum(x, e.b.number(high))


def bounds_of(op: RowwiseOp) -> list[float | None] | None:
    """The bounds of a clamp, None where they are no numbers."""
    arguments = (aten_call(op.outputs[0], op.op.data) or [])[1:]
    if not all(isinstance(a, int | float | None) for a in arguments):
        return None
    return [None if a is None else float(a) for a in arguments if isinstance(a, int | float | None)]


def masked_fill(e: Expressions, op: RowwiseOp, lanes: Lanes) -> SSAValue:
    """masked_fill(x, y <= c, 0): the mask itself is no number, so the two go together."""
    threshold = threshold_of(op)
    assert threshold is not None
    y, limit = e.value(threshold[0], lanes), e.b.number(threshold[1])
    kept = e.b.where_negative(e.b.minus(limit, y), e.operand(op, 0, lanes))
    # a sign says nothing about NaN, which stays: 0 * clamp(y, -1, 0) is 0 or NaN
    bounded = e.b.maximum(e.b.minimum(y, e.b.number(0.0)), e.b.number(-1.0))
    return e.b.plus(kept, e.b.times(bounded, e.b.number(0.0)))


def threshold_of(op: RowwiseOp) -> tuple[SSAValue, float] | None:
    """(y, c) of masked_fill(x, y <= c, 0) where all three have one shape."""
    arguments = aten_call(op.outputs[0], "aten.masked_fill.Scalar")
    if arguments is None or not isinstance(arguments[1], SSAValue) or arguments[2] != 0:
        return None
    compared = aten_call(arguments[1], "aten.le.Scalar")
    if compared is None or not isinstance(compared[0], SSAValue) or not isinstance(compared[1], int | float):
        return None
    same_shape = compared[0].type == op.outputs[0].type == op.inputs[0].type
    return (compared[0], float(compared[1])) if same_shape else None


Rule: TypeAlias = "Callable[[Expressions, Operation, Lanes], SSAValue]"

ATEN_RULES: dict[str, Callable[[Expressions, RowwiseOp, Lanes], SSAValue]] = {
    "aten.sum.dim_IntList": summed,
    "aten.mean.dim": mean,
    "aten.neg.default": negated,
    "aten.sqrt.default": square_root,
    "aten.clamp.default": clamped,
    "aten.masked_fill.Scalar": masked_fill,
    "aten.le.Scalar": comparison,
}


def generic(e: Expressions, op: Operation, lanes: Lanes) -> SSAValue:
    assert isinstance(op, RowwiseOp)
    return ATEN_RULES[op.op.data](e, op, lanes)


RULES: dict[type[Operation], Rule] = {
    AddOp: binary(LoopBuilder.plus),
    SubOp: binary(LoopBuilder.minus),
    MulOp: binary(LoopBuilder.times),
    DivOp: binary(LoopBuilder.over),
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


def has_form_in_loops(op: Operation) -> bool:
    """Whether a row-wise operation can be part of a fused Conv: a rule, rows first, numbers of one float type."""
    if isinstance(op, ConstantOp | FillOp):
        return True
    if type(op) not in RULES:
        return False
    if isinstance(op, RowwiseOp) and not generic_is_known(op):
        return False
    if not isinstance(op, CastOp) and any(isinstance(element_of_tensor(v), HALF) for v in (*op.operands, *op.results)):
        return False
    return all(rows_come_first(value) for value in (*op.operands, *op.results))


def generic_is_known(op: RowwiseOp) -> bool:
    if op.op.data not in ATEN_RULES or op.keywords.data:
        return False
    if op.op.data == "aten.masked_fill.Scalar":
        return threshold_of(op) is not None
    if op.op.data == "aten.le.Scalar":
        return all(is_thresholding(use.operation) for use in op.outputs[0].uses)
    if op.op.data == "aten.clamp.default":
        return bounds_of(op) is not None
    if op.op.data in ("aten.sum.dim_IntList", "aten.mean.dim"):
        return reduces_row_axes(op)
    return True


def is_thresholding(user: Operation) -> bool:
    return isinstance(user, RowwiseOp) and threshold_of(user) is not None


def reduces_row_axes(op: RowwiseOp) -> bool:
    assert isinstance(op.inputs[0].type, TensorType)
    try:
        return bool(reduced_axes(op, len(op.inputs[0].type.get_shape())))
    except NoKernelError:
        return False


def element_of_tensor(value: SSAValue) -> Attribute | None:
    """The type of a tensor's numbers; None for an edge set."""
    return value.type.element_type if isinstance(value.type, TensorType) else None


def rows_come_first(value: SSAValue) -> bool:
    return domain_of(value.type) is None or domain_axis(value.type) == 0
