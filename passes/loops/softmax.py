"""Attention: which operations of a fused Conv are a softmax over the edges of a row and the sum that it weighs."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import SSAValue

from gnnc.dialects.gnn import AggregateOp, BroadcastOp, EdgeSoftmaxOp, FusedConvOp, MulOp, Reduction, ReshapeOp
from gnnc.dialects.gnn.attributes import row_shape
from gnnc.passes.loops.lanes import Lanes, NoKernelError, lie_side_by_side, operand_lanes


@dataclass(frozen=True)
class Attention:
    """aggregate sum of (softmax of scores) * values: the softmax, the product, and which operand is the weight."""

    softmax: EdgeSoftmaxOp
    product: MulOp
    weight: int

    @property
    def values(self) -> SSAValue:
        return self.product.operands[1 - self.weight]

    def has_values(self, lanes: Lanes, vector: int) -> bool:
        """Whether the values that are weighed for some lanes of a message lie side by side."""
        try:
            (found,) = operand_lanes(self.product, 1 - self.weight, lanes, vector)
        except NoKernelError:
            return False
        return lie_side_by_side(self.values, found, vector)

    @property
    def head_size(self) -> int:
        """How many numbers of a message, one after the other, have the same weight."""
        shape = row_shape(self.product.result.type)
        return shape[-1] if shape else 1

    def heads_of(self, lanes: Lanes, vector: int) -> tuple[Lanes, ...]:
        """Which scores weigh some lanes of a message: one for each head that they are of."""
        size = self.head_size
        numbers = range(lanes.start // size, (lanes.stop - 1) // size + 1)
        return tuple(self.head_of(lanes.within(n * size, (n + 1) * size), vector) for n in numbers)

    def head_of(self, lanes: Lanes, vector: int) -> Lanes:
        """Which score weighs some lanes of one head."""
        value, op = self.product.operands[self.weight], self.product
        (found,) = operand_lanes(op, self.weight, lanes, vector)
        while value is not self.softmax.result:
            layout = value.owner
            assert isinstance(layout, ReshapeOp | BroadcastOp)
            (found,) = operand_lanes(layout, 0, found, vector)
            value = layout.input
        if not found.is_scalar:
            raise NoKernelError("a vector of a message has several attention weights")
        return found


def attention_of(op: FusedConvOp) -> Attention | None:
    """The attention that a fused Conv is, None without a softmax. Raises NoKernelError for other uses of one."""
    softmaxes = [o for o in op.reductions if isinstance(o, EdgeSoftmaxOp)]
    if not softmaxes:
        return None
    aggregates = [o for o in op.reductions if isinstance(o, AggregateOp)]
    if len(softmaxes) != 1 or len(aggregates) != 1 or aggregates[0].reduction.data is not Reduction.SUM:
        raise NoKernelError("attention has a form in loops for one softmax and one sum only")
    product = aggregates[0].messages.owner
    if not isinstance(product, MulOp):
        raise NoKernelError("the messages of attention are no product")
    weights = [i for i in (0, 1) if behind_layout(product.operands[i]) is softmaxes[0].result]
    if len(weights) != 1 or depends_on(product.operands[1 - weights[0]], softmaxes[0].result):
        raise NoKernelError("the messages of attention are not linear in the weights")
    return Attention(softmaxes[0], product, weights[0])


def behind_layout(value: SSAValue) -> SSAValue:
    while isinstance(value.owner, ReshapeOp | BroadcastOp):
        value = value.owner.input
    return value


def depends_on(value: SSAValue, other: SSAValue) -> bool:
    stack = [value]
    while stack:
        item = stack.pop()
        if item is other:
            return True
        stack.extend(getattr(item.owner, "operands", ()))
    return False
