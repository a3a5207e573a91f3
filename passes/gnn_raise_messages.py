"""gnn-raise-messages: scatters become aggregations, means and edge softmaxes."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)

from gnnc.dialects.gnn import (
    AddOp,
    AggregateOp,
    ConvOperation,
    DivOp,
    EdgeSoftmaxOp,
    EndAttr,
    ExpOp,
    GatherOp,
    Reduction,
    ScatterOp,
    SubOp,
)
from gnnc.passes.analysis.matching import aten_call, located, number_of, through_layout
from gnnc.passes.analysis.model_functions import ModelFunctions, model_functions


@dataclass(frozen=True)
class GnnRaiseMessages(ModulePass):
    """Recognises what scatters say: an aggregation where they start from the reduction's neutral rows, a mean where a
    sum is divided by the count of edges, a softmax over each neighbourhood where scores are exponentiated and divided
    by their sum. Computes the same numbers in the same order.
    """

    name = "gnn-raise-messages"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = model_functions(op)
        patterns = GreedyRewritePatternApplier([RaiseAggregate(), RaiseMean(functions), RaiseEdgeSoftmax()])
        PatternRewriteWalker(patterns).rewrite_module(op)


class RaiseAggregate(RewritePattern):
    """A scatter that starts from zeros (ones for a product) is an aggregation: nodes without edges keep those."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ScatterOp, rewriter: PatternRewriter) -> None:
        init, reduction, counted = number_of(op.init), op.reduction.data, op.with_init is not None
        starts_neutral = {Reduction.SUM: init == 0, Reduction.MUL: init == 1}.get(reduction, init == 0 and not counted)
        if starts_neutral:
            rewriter.replace(op, located(AggregateOp(reduction, op.messages, op.edges, op.end), op))


@dataclass(frozen=True)
class RaiseMean(RewritePattern):
    """sum / clamp(count of edges, 1) is a mean. The count depends on structure only and comes from @structure."""

    functions: ModelFunctions

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DivOp, rewriter: PatternRewriter) -> None:
        total = op.lhs.owner
        if not isinstance(total, AggregateOp) or total.reduction.data is not Reduction.SUM:
            return
        if not self.counts_edges(op.rhs, total) or op.result.type != total.result.type:
            return
        mean = located(AggregateOp(Reduction.MEAN, total.messages, total.edges, total.end), total)
        rewriter.replace(op, mean)

    def counts_edges(self, divisor: SSAValue, total: AggregateOp) -> bool:
        """Whether `divisor` is the number of edges that `total` sums over, and at least 1."""
        argument = through_layout(divisor)
        value = self.functions.structure_value(argument) or argument
        clamped = aten_call(through_layout(value), "aten.clamp.default", "aten.clamp_min.default")
        if clamped is None or clamped[1:] not in ([1], [1, None]) or not isinstance(clamped[0], SSAValue):
            return False
        count = through_layout(clamped[0]).owner
        edges = self.functions.structure_value(total.edges) or total.edges
        return (
            isinstance(count, AggregateOp)
            and count.reduction.data is Reduction.SUM
            and number_of(count.messages) == 1
            and count.edges is edges
            and count.end == total.end
        )


class RaiseEdgeSoftmax(RewritePattern):
    """exp(s - max) / (sum of exp(s - max) + eps), maximum and sum over the edges that meet at one end."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: DivOp, rewriter: PatternRewriter) -> None:
        exponential, gathered = op.lhs.owner, op.rhs.owner
        if not isinstance(exponential, ExpOp) or not isinstance(gathered, GatherOp):
            return
        shifted = exponential.input.owner
        edges, end = gathered.edges, gathered.end
        eps = epsilon_over_sum(gathered.nodes, exponential.result, edges, end)
        if not isinstance(shifted, SubOp) or eps is None:
            return
        if not is_maximum(shifted.rhs, shifted.lhs, edges, end) or not stays_with(op.result, edges, end):
            return
        if op.result.type == shifted.lhs.type:
            rewriter.replace(op, located(EdgeSoftmaxOp(shifted.lhs, edges, end, eps), op))


def epsilon_over_sum(value: SSAValue, messages: SSAValue, edges: SSAValue, end: EndAttr) -> float | None:
    """eps if `value` is the sum of the messages at the end, plus eps; 0.0 for the sum itself."""
    eps = 0.0
    if isinstance(value.owner, AddOp):
        constant = number_of(value.owner.rhs)
        if constant is None:
            return None
        eps, value = float(constant), value.owner.lhs
    return eps if is_aggregate(value, Reduction.SUM, messages, edges, end) else None


def is_maximum(value: SSAValue, scores: SSAValue, edges: SSAValue, end: EndAttr) -> bool:
    """Whether an edge value is the largest score at the edge's end."""
    gather = value.owner
    if not isinstance(gather, GatherOp) or gather.edges is not edges or gather.end != end:
        return False
    return is_aggregate(gather.nodes, Reduction.MAX, scores, edges, end)


def is_aggregate(value: SSAValue, reduction: Reduction, messages: SSAValue, edges: SSAValue, end: EndAttr) -> bool:
    op = value.owner
    return (
        isinstance(op, AggregateOp)
        and op.reduction.data is reduction
        and op.messages is messages
        and op.edges is edges
        and op.end == end
    )


def stays_with(value: SSAValue, edges: SSAValue, end: EndAttr) -> bool:
    """Whether an edge value is reduced only at that end of those edges: then one batch holds all that meet there."""
    return all(is_reduced_at(use.operation, edges, end) for use in value.uses)


def is_reduced_at(user: Operation, edges: SSAValue, end: EndAttr) -> bool:
    """Whether a user of an edge value reduces it at that end of those edges, or all that uses its results does."""
    if isinstance(user, ConvOperation):
        return user.operands[-1] is edges and user.properties["end"] == end
    return bool(user.results) and all(stays_with(result, edges, end) for result in user.results)
