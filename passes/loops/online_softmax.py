"""A softmax over the edges of a row and the sum that it weighs, in one pass, 16 edges at a time.

After Milakov and Gimelshein, Online normalizer calculation for softmax: when a chunk of edges raises the maximum, what
has been summed so far is scaled down. A vector holds the scores of 16 edges for one head; or those of one edge for all
heads, which takes fewer exponentials where there are several heads and few edges.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.dialects import arith, memref
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint

from gnnc.passes.loops.builder import LoopBuilder
from gnnc.passes.loops.edge_loop import Accumulated, Carried, EdgeLoop
from gnnc.passes.loops.exponential import exponential
from gnnc.passes.loops.expressions import Expressions
from gnnc.passes.loops.lanes import Lanes, lie_side_by_side, operand_lanes, row_size
from gnnc.passes.loops.softmax import Attention

NEGATIVE_INFINITY = float("-inf")
FEWEST_HEADS = 4
"""So many heads of a tile make vectors over heads worth it."""

OfHead: TypeAlias = Callable[[Lanes], SSAValue]


def online_softmax(loop: EdgeLoop, attention: Attention, wanted: Sequence[Accumulated]) -> OnlineSoftmax:
    """What computes the weighted sums of rows, for some lanes of them."""
    return kind_of(attention, wanted, loop.b.width)(loop, attention, wanted)


def carried_by_softmax(attention: Attention, wanted: Sequence[Accumulated], vector: int) -> list[Carried]:
    """What the loop over edges carries: largest scores and sums of exponentials, and the weighted sums."""
    state = kind_of(attention, wanted, vector).state(len(heads_of(attention, wanted, vector)), vector)
    return [*state, *(Carried(a.lanes.count, 0.0) for a in wanted)]


def heads_of(attention: Attention, wanted: Sequence[Accumulated], vector: int) -> list[Lanes]:
    return list(dict.fromkeys(attention.head_of(a.lanes, vector) for a in wanted))


def kind_of(attention: Attention, wanted: Sequence[Accumulated], vector: int) -> type[OnlineSoftmax]:
    heads = heads_of(attention, wanted, vector)
    together = Lanes(heads[0].start, len(heads))
    side_by_side = [head.start for head in heads] == list(range(together.start, together.start + together.count))
    fit = FEWEST_HEADS <= together.count <= vector and side_by_side
    return HeadVectors if fit and lie_side_by_side(attention.softmax.scores, together, vector) else EdgeVectors


class OnlineSoftmax(ABC):
    """What both kinds of vectors share: chunks of edges, and the sums that a chunk's weights add to."""

    def __init__(self, loop: EdgeLoop, attention: Attention, wanted: Sequence[Accumulated]):
        self.loop = loop
        self.b: LoopBuilder = loop.b
        self.attention = attention
        self.wanted = wanted
        self.head_of = [attention.head_of(a.lanes, self.b.width) for a in wanted]
        self.heads = heads_of(attention, wanted, self.b.width)

    @staticmethod
    @abstractmethod
    def state(heads: int, vector: int) -> list[Carried]:
        """Largest scores and sums before the first edge."""

    @abstractmethod
    def weigh(self, start: SSAValue, count: SSAValue, state: list[SSAValue]) -> tuple[list[SSAValue], OfHead]:
        """Computes the weights of a chunk; gives the next largest scores and sums, and by what the sums so far are
        scaled down."""

    @abstractmethod
    def joined(self, state: list[SSAValue], later: list[SSAValue]) -> tuple[list[SSAValue], OfHead]:
        """Largest scores and sums of some edges and of later ones, whose largest scores are no smaller; and by what the
        weighted sums of the earlier ones are scaled down."""

    @abstractmethod
    def weight(self, place: SSAValue, head: Lanes) -> SSAValue:
        """The weight of an edge of the chunk."""

    @abstractmethod
    def one_over(self, state: list[SSAValue]) -> OfHead:
        """The factor of the weighted sums in the end."""

    def add_up(self, row: SSAValue, first: SSAValue, last: SSAValue, carried: Sequence[SSAValue]) -> list[SSAValue]:
        """What is carried once edges `first` to `last` of a row are added."""
        self.row, self.last = row, last
        return self.b.loop(first, last, self.b.index(self.b.width), carried, self.chunk)

    def emptied(self, carried: list[SSAValue]) -> list[SSAValue]:
        """What is carried before the first edge of a block that follows others: their largest scores, and no sums."""
        scores = len(carried[: -len(self.wanted)]) // 2
        nothing = [self.b.splat(0.0) if self.b.is_vector(c) else self.b.number(0.0) for c in carried[scores:]]
        return [*carried[:scores], *nothing]

    def combined(self, so_far: list[SSAValue], added: list[SSAValue]) -> list[SSAValue]:
        """What is carried after a block that began `emptied`."""
        b, n = self.b, len(self.wanted)
        state, scale = self.joined(so_far[:-n], added[:-n])
        totals = zip(so_far[-n:], added[-n:], self.head_of, strict=True)
        return [*state, *(b.plus(b.times(total, scale(head)), more) for total, more, head in totals)]

    def finish(self, carried: Sequence[SSAValue]) -> dict[Accumulated, SSAValue]:
        """The weighted sums."""
        totals = carried[-len(self.wanted) :]
        factor = self.one_over(list(carried[: -len(self.wanted)]))
        return {
            a: self.b.times(total, factor(head))
            for a, total, head in zip(self.wanted, totals, self.head_of, strict=True)
        }

    def divisor(self, total: SSAValue) -> SSAValue:
        """The sum plus eps. A row with edges has a sum of 1 at least, from its largest score; one without gets 0."""
        at_least_one = self.b.maximum(total, self.b.number(1.0))
        return self.b.plus(at_least_one, self.b.number(self.attention.softmax.eps.value.data))

    def chunk(self, start: SSAValue, carried: list[SSAValue]) -> list[SSAValue]:
        """16 edges, or those that are left."""
        b = self.b
        state, totals = carried[: -len(self.wanted)], carried[-len(self.wanted) :]
        left = b.add(arith.SubiOp(self.last, start))
        count = b.add(arith.MinSIOp(left, b.index(b.width)))
        following, scale = self.weigh(start, count, state)
        scaled = [b.times(total, scale(head)) for total, head in zip(totals, self.head_of, strict=True)]
        return [*following, *self.weighted_sums(start, count, scaled)]

    def weighted_sums(self, start: SSAValue, count: SSAValue, totals: list[SSAValue]) -> list[SSAValue]:
        b = self.b

        def body(place: SSAValue, so_far: list[SSAValue]) -> list[SSAValue]:
            self.loop.gathered = {}
            edge = b.index_plus(start, place)
            values = self.loop.expressions(self.row, edge)
            weights = {head: self.weight(place, head) for head in self.heads}
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

    def scratch(self, rows: int) -> SSAValue:
        """A small array of vectors, on the stack of the function."""
        op = memref.AllocaOp.get(self.b.element, 64, [rows, self.b.width])
        assert self.b.top.first_op is not None
        Builder(InsertPoint.before(self.b.top.first_op)).insert(op)
        return op.memref


class EdgeVectors(OnlineSoftmax):
    """A vector has the scores of 16 edges for one head. Scores are computed one by one into a small array."""

    @staticmethod
    def state(heads: int, vector: int) -> list[Carried]:
        return [Carried(1, NEGATIVE_INFINITY)] * heads + [Carried(1, 0.0)] * heads

    @cached_property
    def scores(self) -> SSAValue:
        return self.scratch(row_size(self.attention.softmax.scores))

    def weigh(self, start: SSAValue, count: SSAValue, state: list[SSAValue]) -> tuple[list[SSAValue], OfHead]:
        b, n = self.b, len(self.heads)
        self.write_scores(start, count)
        mask = b.mask(count)
        scales: dict[Lanes, SSAValue] = {}
        maxima: list[SSAValue] = []
        sums: list[SSAValue] = []
        for head, maximum, total in zip(self.heads, state[:n], state[n:], strict=True):
            place = b.index(head.start)
            scores = b.load_vector(self.scores, place, b.index(0), b.width)
            scores = b.select(mask, scores, b.number(NEGATIVE_INFINITY))
            larger = b.maximum(maximum, b.horizontal("maximumf", scores))
            weights = b.select(mask, exponential(b, b.minus(scores, larger)), b.number(0.0))
            scales[head] = exponential(b, b.minus(maximum, larger))
            b.store_vector(weights, self.scores, place, b.index(0), b.width)
            maxima.append(larger)
            sums.append(b.plus(b.times(total, scales[head]), b.horizontal("add", weights)))
        return [*maxima, *sums], scales.__getitem__

    def joined(self, state: list[SSAValue], later: list[SSAValue]) -> tuple[list[SSAValue], OfHead]:
        b, n = self.b, len(self.heads)
        scales = {
            head: exponential(b, b.minus(maximum, larger))
            for head, maximum, larger in zip(self.heads, state[:n], later[:n], strict=True)
        }
        sums = [
            b.plus(b.times(total, scales[head]), more)
            for head, total, more in zip(self.heads, state[n:], later[n:], strict=True)
        ]
        return [*later[:n], *sums], scales.__getitem__

    def write_scores(self, start: SSAValue, count: SSAValue) -> None:
        b = self.b

        def body(place: SSAValue, _: list[SSAValue]) -> list[SSAValue]:
            values = self.loop.expressions(self.row, b.index_plus(start, place))
            for head in self.heads:
                score = values.value(self.attention.softmax.scores, head)
                b.store(score, self.scores, b.index(head.start), place)
            return []

        b.loop(b.index(0), count, b.index(1), [], body)

    def weight(self, place: SSAValue, head: Lanes) -> SSAValue:
        return self.b.load(self.scores, self.b.index(head.start), place)

    def one_over(self, state: list[SSAValue]) -> OfHead:
        sums = dict(zip(self.heads, state[len(self.heads) :], strict=True))
        factors = {head: self.b.over(self.b.number(1.0), self.divisor(total)) for head, total in sums.items()}
        return factors.__getitem__


class HeadVectors(OnlineSoftmax):
    """A vector has the scores of one edge for all heads of the tile, side by side."""

    @staticmethod
    def state(heads: int, vector: int) -> list[Carried]:
        return [Carried(vector, NEGATIVE_INFINITY), Carried(vector, 0.0)]

    @cached_property
    def together(self) -> Lanes:
        return Lanes(self.heads[0].start, len(self.heads))

    @cached_property
    def weights(self) -> SSAValue:
        return self.scratch(self.b.width)

    @cached_property
    def factors(self) -> SSAValue:
        return self.scratch(1)

    def weigh(self, start: SSAValue, count: SSAValue, state: list[SSAValue]) -> tuple[list[SSAValue], OfHead]:
        b = self.b
        maximum, total = state

        def score(place: SSAValue, so_far: list[SSAValue]) -> list[SSAValue]:
            values = self.loop.expressions(self.row, b.index_plus(start, place))
            scores = b.widened(values.value(self.attention.softmax.scores, self.together))
            b.store_vector(scores, self.weights, place, b.index(0), b.width)
            return [b.maximum(so_far[0], scores)]

        (larger,) = b.loop(b.index(0), count, b.index(1), [maximum], score)
        scale = exponential(b, b.minus(maximum, larger))

        def exponentiate(place: SSAValue, so_far: list[SSAValue]) -> list[SSAValue]:
            scores = b.load_vector(self.weights, place, b.index(0), b.width)
            weights = exponential(b, b.minus(scores, larger))
            b.store_vector(weights, self.weights, place, b.index(0), b.width)
            return [b.plus(so_far[0], weights)]

        (added,) = b.loop(b.index(0), count, b.index(1), [b.times(total, scale)], exponentiate)
        return [larger, added], self.each(scale)

    def joined(self, state: list[SSAValue], later: list[SSAValue]) -> tuple[list[SSAValue], OfHead]:
        b = self.b
        scale = exponential(b, b.minus(state[0], later[0]))
        return [later[0], b.plus(b.times(state[1], scale), later[1])], self.each(scale)

    def each(self, factors: SSAValue) -> OfHead:
        """The lanes of a vector as numbers, by way of memory."""
        b = self.b
        b.store_vector(factors, self.factors, b.index(0), b.index(0), b.width)
        return lambda head: b.load(self.factors, b.index(0), b.index(head.start - self.together.start))

    def weight(self, place: SSAValue, head: Lanes) -> SSAValue:
        return self.b.load(self.weights, place, self.b.index(head.start - self.together.start))

    def one_over(self, state: list[SSAValue]) -> OfHead:
        return self.each(self.b.over(self.b.splat(1.0), self.divisor(state[1])))
