"""Rewrites that hold at every level; `canonicalize` applies them."""

from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Operation
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from gnnc.dialects.gnn.attributes import EndAttr
from gnnc.dialects.gnn.edge_sets import ReverseOp
from gnnc.dialects.gnn.rowwise import MulOp, ReshapeOp
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
            if isinstance(factor.owner, FillOp | ConstantOp) and is_one(factor.owner) and other.type == op.result.type:
                rewriter.replace(op, [], [other])
                return


def is_one(op: FillOp | ConstantOp) -> bool:
    value: IntegerAttr | FloatAttr = op.value
    return (value.value.data) == 1


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
