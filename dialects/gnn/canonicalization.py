"""Rewrites that hold at every level; `canonicalize` applies them."""

from typing import cast

from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from gnnc.dialects.gnn.aten_calls import RowwiseOp
from gnnc.dialects.gnn.attributes import AnyTensor, EndAttr, domain_of
from gnnc.dialects.gnn.edge_sets import ReverseOp
from gnnc.dialects.gnn.rowwise import AddOp, ConcatOp, MulOp, ReshapeOp, element_counts
from gnnc.dialects.gnn.values import ConstantOp, FillOp


class ReshapeToItself(RewritePattern):
    """reshape(x) of x's own type is x."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter) -> None:
        if op.input.type == op.result.type:
            rewriter.replace(op, [], [op.input])


class ReshapeOfReshape(RewritePattern):
    """reshape(reshape(x)) is one reshape."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReshapeOp, rewriter: PatternRewriter) -> None:
        if not isinstance(op.input.owner, ReshapeOp):
            return
        merged = ReshapeOp(op.input.owner.input, op.result.type)
        merged.location = op.location
        rewriter.replace(op, merged)


class TimesOne(RewritePattern):
    """x * 1 is x, to the bit, where it keeps x's type."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: MulOp, rewriter: PatternRewriter) -> None:
        for factor, other in ((op.rhs, op.lhs), (op.lhs, op.rhs)):
            if is_number(factor, 1) and other.type == op.result.type:
                rewriter.replace(op, [], [other])
                return


class PlusZero(RewritePattern):
    """x + 0 is x where it keeps x's type; of numbers only -0 changes, which equals 0."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AddOp, rewriter: PatternRewriter) -> None:
        for summand, other in ((op.rhs, op.lhs), (op.lhs, op.rhs)):
            if is_number(summand, 0) and other.type == op.result.type:
                rewriter.replace(op, [], [other])
                return


def is_number(value: SSAValue, number: int) -> bool:
    op = value.owner
    if not isinstance(op, FillOp | ConstantOp):
        return False
    filled: IntegerAttr | FloatAttr = op.value
    return (filled.value.data) == number


LAYOUT = ("aten.select.int", "aten.stack.default", "aten.repeat.default")


class LayoutOnly(RewritePattern):
    """select, stack and repeat that keep the count of numbers in a row only change its axes."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: RowwiseOp, rewriter: PatternRewriter) -> None:
        if op.op.data not in LAYOUT or len(op.inputs) != 1:
            return
        before, after = op.inputs[0].type, op.outputs[0].type
        if domain_of(before) is None or element_counts(before) != element_counts(after):
            return
        reshape = ReshapeOp(op.inputs[0], cast(AnyTensor, after))
        reshape.location = op.location
        rewriter.replace(op, reshape)


class ConcatOfOne(RewritePattern):
    """concat(x) is x."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConcatOp, rewriter: PatternRewriter) -> None:
        if len(op.inputs) == 1:
            rewriter.replace(op, [], [op.inputs[0]])


class ReverseOfReverse(RewritePattern):
    """reverse(reverse(e)) is e."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReverseOp, rewriter: PatternRewriter) -> None:
        if isinstance(op.edges.owner, ReverseOp):
            rewriter.replace(op, [], [op.edges.owner.edges])


class UseReversedEdges(RewritePattern):
    """What happens at one end of reverse(e) happens at the other end of e."""

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        end = op.properties.get("end")
        if not isinstance(end, EndAttr):
            return
        reverse = op.operands[-1].owner
        if not isinstance(reverse, ReverseOp):
            return
        op.operands = [*op.operands[:-1], reverse.edges]
        op.properties["end"] = end.opposite
        rewriter.notify_op_modified(op)
