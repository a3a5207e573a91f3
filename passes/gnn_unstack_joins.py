"""gnn-unstack-joins: a sum or a maximum over stacked values becomes a running one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, PatternRewriteWalker, RewritePattern, op_type_rewrite_pattern

from gnnc.dialects.gnn import AddOp, ConstantOp, DivOp, OperandAttr, ReshapeOp, RowwiseOp
from gnnc.dialects.gnn.attributes import AnyTensor
from gnnc.passes.analysis.matching import Argument, aten_call, filled_in, located


@dataclass(frozen=True)
class GnnUnstackJoins(ModulePass):
    """Rewrites the sum, mean, maximum or minimum over an axis along which values were stacked into operations on two
    values at a time. Jumping knowledge over K hops then carries one running value from block to block, where the stack
    would keep the results of all hops until the last one is there.
    """

    name = "gnn-unstack-joins"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(UnstackJoin()).rewrite_module(op)


class UnstackJoin(RewritePattern):
    """reduce(stack(a, b, c)) is combine(combine(a, b), c)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: RowwiseOp, rewriter: PatternRewriter) -> None:
        combine = COMBINE.get(op.op.data)
        # only the first result, the values themselves, can be had without the stack
        if combine is None or any(result.uses for result in op.outputs[1:]):
            return
        stacked, dims, *rest = [*(filled_in(a, op) for a in op.arguments.data), None]
        parts = stacked_along(stacked, dims)
        if parts is None or any(not isinstance(argument, int | None) for argument in rest):
            return
        new = Chain(op)
        result = new.mean(parts) if op.op.data == "aten.mean.dim" else new.of(combine, parts)
        result = new.reshaped(result, op.outputs[0])
        rewriter.replace(op, new.operations, [result, *([None] * (len(op.outputs) - 1))])
        if isinstance(stacked, OpResult) and not stacked.uses:
            rewriter.erase(stacked.op)


def stacked_along(value: Argument, dims: Argument) -> Sequence[SSAValue] | None:
    """The values that were stacked along the one axis that `dims` names, at least one, or None."""
    call = aten_call(value, "aten.stack.default") if isinstance(value, SSAValue) else None
    named = dims if isinstance(dims, list) else [dims]
    if call is None or not isinstance(call[0], list) or len(named) != 1 or not isinstance(named[0], int):
        return None
    axis = call[1] if len(call) > 1 and isinstance(call[1], int) else 0
    rank = len(cast(AnyTensor, cast(SSAValue, value).type).get_shape())
    if axis % rank != named[0] % rank:
        return None
    return [part for part in call[0] if isinstance(part, SSAValue)]


Combine = Callable[[SSAValue, SSAValue], Operation]


class Chain:
    """New operations in place of `old`."""

    def __init__(self, old: RowwiseOp):
        self.old = old
        self.operations: list[Operation] = []

    def add(self, operation: Operation) -> SSAValue:
        self.operations.append(located(operation, self.old))
        return operation.results[0]

    def of(self, combine: Combine, parts: Sequence[SSAValue]) -> SSAValue:
        result = parts[0]
        for part in parts[1:]:
            result = self.add(combine(result, part))
        return result

    def mean(self, parts: Sequence[SSAValue]) -> SSAValue:
        total = self.of(add, parts)
        return self.add(DivOp(total, self.add(ConstantOp(len(parts))), cast(AnyTensor, total.type)))

    def reshaped(self, value: SSAValue, like: SSAValue) -> SSAValue:
        """The reduced axis may be kept, with size 1."""
        return value if value.type == like.type else self.add(ReshapeOp(value, cast(AnyTensor, like.type)))


def add(a: SSAValue, b: SSAValue) -> Operation:
    return AddOp(a, b, cast(AnyTensor, a.type))


def call_of(operator: str) -> Combine:
    return lambda a, b: RowwiseOp(operator, [OperandAttr(0), OperandAttr(1)], {}, [a, b], [a.type])


COMBINE: dict[str, Combine] = {
    "aten.sum.dim_IntList": add,
    "aten.mean.dim": add,
    "aten.amax.default": call_of("aten.maximum.default"),
    "aten.max.dim": call_of("aten.maximum.default"),
    "aten.amin.default": call_of("aten.minimum.default"),
    "aten.min.dim": call_of("aten.minimum.default"),
}
