"""gnn-accumulate-linear: a product is added where it is computed."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from gnnc.dialects.gnn import AddOp, LinearOp, LoadWeightOp
from gnnc.dialects.gnn.attributes import tensor_type
from gnnc.dialects.gnn.rowwise import shape_of
from gnnc.passes.analysis.matching import located


@dataclass(frozen=True)
class GnnAccumulateLinear(ModulePass):
    """Adds a linear layer's result to another value of its rows by starting from that value: `y + x @ w.T` is one
    matrix product that accumulates. A sum over relations then needs one array, not one for each.
    """

    name = "gnn-accumulate-linear"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        PatternRewriteWalker(GreedyRewritePatternApplier([AccumulateLinear(), StartFromBias()])).rewrite_module(op)


class AccumulateLinear(RewritePattern):
    """add(y, linear(x, w)) is linear(x, w, y)."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AddOp, rewriter: PatternRewriter) -> None:
        for product, other in ((op.rhs, op.lhs), (op.lhs, op.rhs)):
            linear = accumulating(product)
            if linear is not None and other is not product and other.type == product.type == op.result.type:
                new = located(with_bias(linear, other), op)
                rewriter.replace(op, new)
                rewriter.erase(linear)
                return


class StartFromBias(RewritePattern):
    """add(linear(x, w, linear(y, v)), b) is linear(x, w, linear(y, v, b)): the first product takes the bias."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: AddOp, rewriter: PatternRewriter) -> None:
        first = first_product(op.lhs)
        if first is None or not isinstance(op.rhs.owner, LoadWeightOp) or op.lhs.type != op.result.type:
            return
        if shape_of(op.rhs) != shape_of(first.result)[-1:]:
            return
        bias = op.rhs.owner.clone()
        new = located(with_bias(first, bias.result), first)
        rewriter.replace(first, [bias, new])
        rewriter.replace(op, [], [op.lhs])


def with_bias(op: LinearOp, bias: SSAValue) -> LinearOp:
    """The same product, read in the same way, and a bias."""
    new = LinearOp(op.input, op.weight, bias, tensor_type(op.result))
    new.densities, new.primitive = op.densities, op.primitive
    return new


def first_product(value: SSAValue) -> LinearOp | None:
    """The one without bias that a sum of products begins with, if no partial sum has other users."""
    op = value.owner
    if not isinstance(op, LinearOp) or len(list(value.uses)) != 1:
        return None
    return op if op.bias is None else first_product(op.bias)


def accumulating(value: SSAValue) -> LinearOp | None:
    """The linear layer that makes a value for one user, if it has no bias yet."""
    op = value.owner
    return op if isinstance(op, LinearOp) and op.bias is None and len(list(value.uses)) == 1 else None
