"""Attention: softmax over the edges of a row and the weighted sum, in one pass, 16 edges at a time.

After Milakov and Gimelshein, Online normalizer calculation for softmax: when a chunk of edges raises the maximum, what
has been summed so far is scaled down. Scores are computed one by one into a small array, exponentiated as vectors.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

from xdsl.dialects import arith, memref
from xdsl.ir import SSAValue

from gnnc.dialects.gnn import AggregateOp, BroadcastOp, EdgeSoftmaxOp, FusedConvOp, MulOp, Reduction, ReshapeOp
from gnnc.passes.loops.builder import LoopBuilder
from gnnc.passes.loops.edge_loop import Accumulated, Carried, EdgeLoop
from gnnc.passes.loops.exponential import exponential
from gnnc.passes.loops.expressions import Expressions
from gnnc.passes.loops.lanes import Lanes, NoKernelError, operand_lanes, row_size

NEGATIVE_INFINITY = float("-inf")


@dataclass(frozen=True)
class Attention:
    """aggregate sum of (softmax of scores) * values: the softmax, the product, and which operand is the weight."""

    softmax: EdgeSoftmaxOp
    product: MulOp
    weight: int

    @property
    def values(self) -> SSAValue:
        return self.product.operands[1 - self.weight]

    def heads(self, wanted: Sequence[Accumulated], vector: int) -> list[Lanes]:
        """The scores that weigh some lanes of the sum, once each."""
        return list(dict.fromkeys(self.head_of(a.lanes, vector) for a in wanted))

    def carried(self, wanted: Sequence[Accumulated], vector: int) -> list[Carried]:
        """What a loop over edges carries: the largest score of each head, the sums of exponentials, the sums."""
        heads = len(self.heads(wanted, vector))
        zeros = [Carried(a.lanes.count, 0.0) for a in wanted]
        return [Carried(1, NEGATIVE_INFINITY)] * heads + [Carried(1, 0.0)] * heads + zeros

    def head_of(self, lanes: Lanes, vector: int) -> Lanes:
        """Which score weighs some lanes of a message."""
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


class OnlineSoftmax:
    """The weighted sums of rows, as a loop over edges like EdgeLoop."""

    def __init__(self, loop: EdgeLoop, attention: Attention):
        self.loop = loop
        self.b: LoopBuilder = loop.b
        self.attention = attention

    def add_up(
        self, row: SSAValue, first: SSAValue, last: SSAValue, wanted: Sequence[Accumulated], carried: Sequence[SSAValue]
    ) -> list[SSAValue]:
        def body(start: SSAValue, so_far: list[SSAValue]) -> list[SSAValue]:
            return Chunk(self, row, wanted).add(start, last, so_far)

        return self.b.loop(first, last, self.b.index(self.b.width), carried, body)

    def finish(
        self, first: SSAValue, last: SSAValue, wanted: Sequence[Accumulated], carried: Sequence[SSAValue]
    ) -> dict[Accumulated, SSAValue]:
        b, heads = self.b, self.attention.heads(wanted, self.b.width)
        sums = dict(zip(heads, carried[len(heads) :], strict=False))
        eps = b.number(self.attention.softmax.eps.value.data)
        one_over = {head: b.over(b.number(1.0), self.divisor(total, eps)) for head, total in sums.items()}
        totals = carried[2 * len(heads) :]
        return {
            a: b.times(total, one_over[self.attention.head_of(a.lanes, b.width)])
            for a, total in zip(wanted, totals, strict=True)
        }

    def divisor(self, total: SSAValue, eps: SSAValue) -> SSAValue:
        """The sum plus eps; 1 for a row without edges, which gets 0."""
        some = self.b.compare("oeq", total, self.b.number(0.0))
        return self.b.select(some, self.b.number(1.0), self.b.plus(total, eps))

    @cached_property
    def scores(self) -> SSAValue:
        """A small array: a line of scores for each head, on the stack of the function."""
        from xdsl.builder import Builder
        from xdsl.rewriter import InsertPoint

        heads = row_size(self.attention.softmax.scores)
        op = memref.AllocaOp.get(self.b.element, 64, [heads, self.b.width])
        assert self.b.top.first_op is not None
        Builder(InsertPoint.before(self.b.top.first_op)).insert(op)
        return op.memref


class Chunk:
    """16 edges of a row, or those that are left."""

    def __init__(self, softmax: OnlineSoftmax, row: SSAValue, wanted: Sequence[Accumulated]):
        self.loop = softmax.loop
        self.b = softmax.b
        self.attention = softmax.attention
        self.scores = softmax.scores
        self.row = row
        self.wanted = wanted
        self.head_of = [softmax.attention.head_of(a.lanes, self.b.width) for a in wanted]
        self.heads = softmax.attention.heads(wanted, self.b.width)

    def add(self, start: SSAValue, last: SSAValue, carried: list[SSAValue]) -> list[SSAValue]:
        b, n = self.b, len(self.heads)
        maxima, sums, totals = carried[:n], carried[n : 2 * n], carried[2 * n :]
        left = b.add(arith.SubiOp(last, start))
        count = b.add(arith.MinSIOp(left, b.index(b.width)))
        self.write_scores(start, count)
        mask = b.mask(count)
        scales: dict[Lanes, SSAValue] = {}
        new_maxima: list[SSAValue] = []
        new_sums: list[SSAValue] = []
        for head, maximum, total in zip(self.heads, maxima, sums, strict=True):
            place = b.index(head.start)
            scores = b.load_vector(self.scores, place, b.index(0), b.width)
            scores = b.select(mask, scores, b.number(NEGATIVE_INFINITY))
            larger = b.maximum(maximum, b.horizontal("maximumf", scores))
            weights = b.select(mask, exponential(b, b.minus(scores, larger)), b.number(0.0))
            scale = exponential(b, b.minus(maximum, larger))
            b.store_vector(weights, self.scores, place, b.index(0), b.width)
            scales[head] = scale
            new_maxima.append(larger)
            new_sums.append(b.plus(b.times(total, scale), b.horizontal("add", weights)))
        scaled = [b.times(t, scales[head]) for t, head in zip(totals, self.head_of, strict=True)]
        return [*new_maxima, *new_sums, *self.weighted_sums(start, count, scaled)]

    def write_scores(self, start: SSAValue, count: SSAValue) -> None:
        b = self.b

        def body(place: SSAValue, _: list[SSAValue]) -> list[SSAValue]:
            values = self.loop.expressions(self.row, b.index_plus(start, place))
            for head in self.heads:
                score = values.value(self.attention.softmax.scores, head)
                b.store(score, self.scores, b.index(head.start), place)
            return []

        b.loop(b.index(0), count, b.index(1), [], body)

    def weighted_sums(self, start: SSAValue, count: SSAValue, totals: list[SSAValue]) -> list[SSAValue]:
        b = self.b

        def body(place: SSAValue, so_far: list[SSAValue]) -> list[SSAValue]:
            self.loop.gathered = {}
            edge = b.index_plus(start, place)
            values = self.loop.expressions(self.row, edge)
            weights = {head: b.load(self.scores, b.index(head.start), place) for head in self.heads}
            following = [
                b.plus(total, b.times(weights[head], self.message(values, a)))
                for a, head, total in zip(self.wanted, self.head_of, so_far, strict=True)
            ]
            self.loop.prefetch(edge)
            return following

        return b.loop(b.index(0), count, b.index(1), totals, body)

    def message(self, values: Expressions, accumulated: Accumulated) -> SSAValue:
        (lanes,) = operand_lanes(self.attention.product, 1 - self.attention.weight, accumulated.lanes, self.b.width)
        return values.value(self.attention.values, lanes)
