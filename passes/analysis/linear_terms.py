"""What a linear layer is applied to, taken apart as far as it can be applied earlier.

linear(a + b) = linear(a) + linear(b); linear(s a) = s linear(a) for one number s a row; linear(sum of messages) is the
sum of linear(message); linear(gather(x)) = gather(linear(x)); linear(cat(a, b)) is a sum of products with parts of the
weight. Never across a nonlinearity, a maximum or a minimum. Prices decide which form to take; bias is not part of it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from gnnc.dialects.gnn import AddOp, AggregateOp, ConcatOp, DivOp, GatherOp, MulOp, Reduction, ReshapeOp
from gnnc.dialects.gnn.attributes import domain_axis, domain_of, row_shape
from gnnc.passes.analysis.conv_layers import is_on_edges
from gnnc.passes.analysis.cost_model import (
    ELEMENTWISE_PS_PER_BYTE,
    GATHER_PS_PER_BYTE,
    MATMUL_PS_PER_FLOP,
    WRITE_PS_PER_BYTE,
)

LINE = 64


@dataclass(frozen=True)
class Leaf:
    """A value that the weight's columns `start` to `stop` are applied to as it is."""

    value: SSAValue
    start: int
    stop: int


@dataclass(frozen=True)
class Gathered:
    """Rows of nodes at the ends of edges."""

    gather: GatherOp
    leaf: Leaf


@dataclass(frozen=True)
class Reduced:
    """A sum or a mean over edges."""

    aggregate: AggregateOp
    messages: Term


@dataclass(frozen=True)
class Scaled:
    """A value times, or divided by, one number a row: operand `place` of the operation is the value."""

    op: MulOp | DivOp
    place: int
    value: Term


@dataclass(frozen=True)
class Sum:
    """Several values added up, or parts of the columns side by side."""

    terms: tuple[Term, ...]


Term: TypeAlias = "Leaf | Gathered | Reduced | Scaled | Sum"


def is_flat(value: SSAValue) -> bool:
    """Whether rows come first and have one axis, but for axes of size 1."""
    shape = row_shape(value.type)
    if domain_of(value.type) is None or domain_axis(value.type) != 0:
        return False
    return bool(shape) and shape[-1] == math.prod(shape)


def term_of(value: SSAValue, start: int, stop: int, *, outermost: bool = True) -> Term:
    """The value, which the weight's columns `start` to `stop` are applied to, taken apart as far as possible. Values
    that something else needs, too, are not."""
    op = value.owner
    leaf = Leaf(value, start, stop)
    if not isinstance(op, Operation) or not is_flat(value) or (len(set(uses_of(value))) > 1 and not is_gather(op)):
        return leaf
    match op:
        case ReshapeOp() if is_flat(op.input):
            return term_of(op.input, start, stop, outermost=False)
        case ConcatOp() if all(is_flat(v) for v in op.inputs) and op.axis.value.data == rank(value) - 1:
            return concat_term(op, start)
        case AddOp() if op.lhs.type == op.rhs.type == value.type:
            return Sum(tuple(term_of(v, start, stop, outermost=False) for v in op.operands))
        case MulOp() | DivOp():
            return scaled_term(op, start, stop) or leaf
        case AggregateOp() if op.reduction.data in (Reduction.SUM, Reduction.MEAN):
            return Reduced(op, term_of(op.messages, start, stop, outermost=False))
        case GatherOp():
            return Gathered(op, Leaf(op.nodes, start, stop))
        case _:
            return leaf


def is_gather(op: Operation) -> bool:
    return isinstance(op, GatherOp)


def uses_of(value: SSAValue) -> list[Operation]:
    return [use.operation for use in value.uses]


def rank(value: SSAValue) -> int:
    assert isinstance(value.type, TensorType)
    return len(value.type.get_shape())


def concat_term(op: ConcatOp, start: int) -> Sum:
    parts: list[Term] = []
    for value in op.inputs:
        width = row_shape(value.type)[-1]
        parts.append(term_of(value, start, start + width, outermost=False))
        start += width
    return Sum(tuple(parts))


def scaled_term(op: MulOp | DivOp, start: int, stop: int) -> Scaled | None:
    places = (0, 1) if isinstance(op, MulOp) else (0,)
    for place in places:
        value, factor = op.operands[place], op.operands[1 - place]
        if value.type == op.result.type and math.prod(row_shape(factor.type)) == 1:
            return Scaled(op, place, term_of(value, start, stop, outermost=False))
    return None


def price_applied_early(term: Term, width: int, degree: int) -> int:
    """Picoseconds a node for the term if the linear layer of `width` outputs is applied to its leaves."""
    match term:
        case Leaf():
            return linear_price(term.value, term.stop - term.start, width, degree)
        case Gathered():
            nodes = linear_price(term.leaf.value, term.leaf.stop - term.leaf.start, width, degree)
            return nodes + kept_price(term.leaf.value, width) + degree * gather_price(width)
        case Reduced():
            return price_applied_early(term.messages, width, degree)
        case Scaled():
            return price_applied_early(term.value, width, degree)
        case Sum():
            # a linear layer of the same nodes is computed once
            once = {(t.leaf if isinstance(t, Gathered) else t) for t in leaves(term)}
            shared = sum(linear_price(t.value, t.stop - t.start, width, degree) for t in once)
            gathered = [t for t in leaves(term) if isinstance(t, Gathered)]
            kept = sum(kept_price(value, width) for value in {t.leaf.value for t in gathered})
            return shared + kept + len(gathered) * degree * gather_price(width)


def price_applied_last(term: Term, value: SSAValue, columns: int, width: int, degree: int) -> int:
    """Picoseconds a node for the term as it is, and the linear layer of `width` outputs after it."""
    gathers = sum(degree * gather_price(t.leaf.stop - t.leaf.start) for t in leaves(term) if isinstance(t, Gathered))
    rows = degree if is_on_edges(value) else 1
    written = rows * columns * 4 * ELEMENTWISE_PS_PER_BYTE
    return gathers + written + linear_price(value, columns, width, degree)


def leaves(term: Term) -> list[Leaf | Gathered]:
    match term:
        case Leaf() | Gathered():
            return [term]
        case Reduced():
            return leaves(term.messages)
        case Scaled():
            return leaves(term.value)
        case Sum():
            return [leaf for t in term.terms for leaf in leaves(t)]


def linear_price(value: SSAValue, columns: int, width: int, degree: int) -> int:
    rows = degree if is_on_edges(value) else 1
    return rows * 2 * columns * width * MATMUL_PS_PER_FLOP


def kept_price(value: SSAValue, width: int) -> int:
    """What a linear layer's result adds to what is kept for neighbors: nothing if it takes the place of its operand,
    but that stays where something else needs it."""
    others = [op for op in uses_of(value) if not isinstance(op, GatherOp)]
    return width * 4 * WRITE_PS_PER_BYTE if others or len(gathers_of(value)) > 1 else 0


def gathers_of(value: SSAValue) -> set[SSAValue]:
    """The edge sets that a value is gathered by."""
    return {op.edges for op in uses_of(value) if isinstance(op, GatherOp)}


def gather_price(width: int) -> int:
    """One row at a random place, in whole cache lines."""
    return -(-width * 4 // LINE) * LINE * GATHER_PS_PER_BYTE
