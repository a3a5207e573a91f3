"""A softmax over the edges of a row and the sum that it weighs, in one pass, a chunk of edges at a time.

After Milakov and Gimelshein, Online normalizer calculation for softmax: when a chunk of edges raises the maximum, what
has been summed so far is scaled down. The scores of a chunk lie in memory, all heads of an edge side by side, and
vectors go over them: with two heads, a vector of 16 holds those of eight edges.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeAlias

from xdsl.builder import Builder
from xdsl.dialects import arith, memref
from xdsl.ir import SSAValue
from xdsl.rewriter import InsertPoint

from gnnc.passes.loops.builder import LoopBuilder
from gnnc.passes.loops.edge_loop import Accumulated, Carried, EdgeLoop
from gnnc.passes.loops.exponential import exponential
from gnnc.passes.loops.expressions import Expressions
from gnnc.passes.loops.lanes import Lanes, lie_side_by_side, operand_lanes
from gnnc.passes.loops.softmax import Attention

NEGATIVE_INFINITY = float("-inf")

CHUNK = 32
"""Edges: most rows have no more, and rows of neighbors that scores are computed from stay in the first-level cache."""

Combine: TypeAlias = Callable[[SSAValue, SSAValue], SSAValue]


def carried_by_softmax(attention: Attention, wanted: Sequence[Accumulated], width: int) -> list[Carried]:
    """What the loop over edges carries: largest scores and sums of exponentials, in vectors of `width`, and the
    weighted sums."""
    vectors = Slots(attention, wanted, width).vectors
    state = [Carried(width, NEGATIVE_INFINITY)] * vectors + [Carried(width, 0.0)] * vectors
    return [*state, *(Carried(a.lanes.count, 0.0) for a in wanted)]


class Slots:
    """Where the scores of an edge lie: a slot a head, and as many more as make a power of two."""

    def __init__(self, attention: Attention, wanted: Sequence[Accumulated], width: int):
        self.heads_of = [attention.heads_of(a.lanes, width) for a in wanted]
        self.heads = list(dict.fromkeys(head for heads in self.heads_of for head in heads))
        self.count = 1 << (len(self.heads) - 1).bit_length()
        self.vectors = max(1, self.count // width)
        """Vectors that hold the slots of one edge, or of several."""

    @property
    def together(self) -> Lanes | None:
        """All heads, if they lie side by side."""
        lanes = Lanes(self.heads[0].start, len(self.heads))
        return lanes if [h.start for h in self.heads] == list(range(lanes.start, lanes.start + lanes.count)) else None


class OnlineSoftmax:
    """What computes the weighted sums of rows, for some lanes of them."""

    def __init__(self, loop: EdgeLoop, attention: Attention, wanted: Sequence[Accumulated]):
        self.loop = loop
        self.b: LoopBuilder = loop.b
        self.attention = attention
        self.wanted = wanted
        self.slots = Slots(attention, wanted, self.b.width)
        # there is room for a vector after the last slot
        self.scores = self.scratch(CHUNK * self.slots.count + self.b.width)
        self.factors = self.scratch((self.slots.vectors + 1) * self.b.width)

    def add_up(self, row: SSAValue, first: SSAValue, last: SSAValue, carried: Sequence[SSAValue]) -> list[SSAValue]:
        """What is carried once edges `first` to `last` of a row are added."""
        self.row, self.last = row, last
        return self.b.loop(first, last, self.b.index(CHUNK), carried, self.chunk)

    def merged(self, some: Sequence[SSAValue], others: Sequence[SSAValue]) -> list[SSAValue]:
        """What is carried once both some edges and others are added."""
        larger = [self.b.maximum(a, b) for a, b in zip(self.parts(some)[0], self.parts(others)[0], strict=True)]
        (sums, totals), (more, added) = (self.scaled(carried, larger) for carried in (some, others))
        pairs = zip((*sums, *totals), (*more, *added), strict=True)
        return [*larger, *(self.b.plus(a, b) for a, b in pairs)]

    def scaled(self, carried: Sequence[SSAValue], larger: Sequence[SSAValue]) -> tuple[list[SSAValue], list[SSAValue]]:
        """What has been summed so far, where the largest scores are larger now."""
        b, (maxima, sums, totals) = self.b, self.parts(carried)
        scales = [exponential(b, b.minus(before, now)) for before, now in zip(maxima, larger, strict=True)]
        self.keep_factors(scales)
        return [b.times(s, scale) for s, scale in zip(sums, scales, strict=True)], self.times_factors(totals)

    def finish(self, carried: Sequence[SSAValue]) -> dict[Accumulated, SSAValue]:
        """The weighted sums."""
        _, sums, totals = self.parts(carried)
        one = self.b.splat(1.0)
        self.keep_factors([self.b.over(one, self.divisor(self.over_edges(self.b.plus, s))) for s in sums])
        return dict(zip(self.wanted, self.times_factors(totals), strict=True))

    def divisor(self, total: SSAValue) -> SSAValue:
        """The sum plus eps. A row with edges has a sum of 1 at least, from its largest score; one without gets 0."""
        at_least_one = self.b.maximum(total, self.b.number(1.0))
        return self.b.plus(at_least_one, self.b.number(self.attention.softmax.eps.value.data))

    def parts(self, carried: Sequence[SSAValue]) -> tuple[Sequence[SSAValue], Sequence[SSAValue], Sequence[SSAValue]]:
        """Largest scores, sums of exponentials, and weighted sums."""
        n = self.slots.vectors
        return carried[:n], carried[n : 2 * n], carried[2 * n :]

    # A chunk: scores, their maxima, weights, and what they weigh.

    def chunk(self, start: SSAValue, carried: list[SSAValue]) -> list[SSAValue]:
        b = self.b
        maxima = self.parts(carried)[0]
        count = b.add(arith.MinSIOp(b.add(arith.SubiOp(self.last, start)), b.index(CHUNK)))
        end = self.slot_of(count)
        larger = self.write_scores(start, count, end, maxima)
        sums, totals = self.scaled(carried, larger)
        sums = self.over_scores(end, sums, lambda place, so_far: self.exponentials(place, larger, so_far))
        return [*larger, *sums, *self.weighted_sums(start, count, totals)]

    def write_scores(
        self, start: SSAValue, count: SSAValue, end: SSAValue, maxima: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """The largest scores, those of a chunk and the ones before. Numbers of all heads are computed together where
        they can be loaded so, else one after the other; where vectors hold two edges at most, they are compared at
        once."""
        b, together, scores = self.b, self.slots.together, self.attention.softmax.scores
        side_by_side = together is not None and 1 < together.count <= b.width
        largest: list[SSAValue] = []
        if together is None or not side_by_side or not lie_side_by_side(scores, together, b.width):
            self.over_edges_of_chunk(start, count, [], self.write_each)
        else:
            compared = 2 * self.slots.count >= b.width
            with b.narrowed_to(self.slots.count):
                lowest = [b.splat(NEGATIVE_INFINITY)] if compared else []
                largest = self.over_edges_of_chunk(start, count, lowest, partial(self.write_together, together))
        self.end_scores(end)
        if not largest:
            return [self.over_edges(b.maximum, m) for m in self.over_scores(end, maxima, self.largest)]
        of_each_edge = b.shuffled(largest[0], [lane % self.slots.count for lane in range(b.width)])
        return [b.maximum(maxima[0], of_each_edge)]

    def over_edges_of_chunk(
        self,
        start: SSAValue,
        count: SSAValue,
        carried: Sequence[SSAValue],
        write: Callable[[Expressions, SSAValue, list[SSAValue]], list[SSAValue]],
    ) -> list[SSAValue]:
        def body(place: SSAValue, so_far: list[SSAValue]) -> list[SSAValue]:
            values = self.loop.expressions(self.row, self.b.index_plus(start, place))
            return write(values, self.slot_of(place), so_far)

        return self.b.loop(self.b.index(0), count, self.b.index(1), carried, body)

    def write_together(
        self, together: Lanes, values: Expressions, slot: SSAValue, so_far: list[SSAValue]
    ) -> list[SSAValue]:
        """The larger ones of these and of so far, if there are any."""
        scores = self.b.widened(values.value(self.attention.softmax.scores, together))
        self.b.store_vector(scores, self.scores, self.b.index(0), slot, self.slots.count)
        return [self.b.maximum(m, scores) for m in so_far]

    def write_each(self, values: Expressions, slot: SSAValue, _: list[SSAValue]) -> list[SSAValue]:
        for number, head in enumerate(self.slots.heads):
            score = values.value(self.attention.softmax.scores, head)
            self.b.store(score, self.scores, self.b.index(0), self.b.offset(slot, number))
        return []

    def end_scores(self, end: SSAValue) -> None:
        """What lies in the last vector after the scores doesn't count."""
        self.b.store_vector(self.b.splat(NEGATIVE_INFINITY), self.scores, self.b.index(0), end, self.b.width)

    def over_scores(
        self,
        end: SSAValue,
        carried: Sequence[SSAValue],
        body: Callable[[SSAValue, list[SSAValue]], Sequence[SSAValue]],
    ) -> list[SSAValue]:
        """A loop over the slots of a chunk, a vector or all vectors of an edge at a time."""
        return self.b.loop(self.b.index(0), end, self.b.index(self.slots.vectors * self.b.width), carried, body)

    def loaded(self, place: SSAValue) -> list[SSAValue]:
        columns = [self.b.offset(place, number * self.b.width) for number in range(self.slots.vectors)]
        return [self.b.load_vector(self.scores, self.b.index(0), column, self.b.width) for column in columns]

    def largest(self, place: SSAValue, so_far: list[SSAValue]) -> list[SSAValue]:
        return [self.b.maximum(m, scores) for m, scores in zip(so_far, self.loaded(place), strict=True)]

    def exponentials(self, place: SSAValue, maxima: Sequence[SSAValue], so_far: list[SSAValue]) -> list[SSAValue]:
        """Puts weights in the place of scores, and adds them up."""
        sums: list[SSAValue] = []
        for number, (scores, maximum) in enumerate(zip(self.loaded(place), maxima, strict=True)):
            weights = exponential(self.b, self.b.minus(scores, maximum))
            column = self.b.offset(place, number * self.b.width)
            self.b.store_vector(weights, self.scores, self.b.index(0), column, self.b.width)
            sums.append(self.b.plus(so_far[number], weights))
        return sums

    def over_edges(self, combine: Combine, value: SSAValue) -> SSAValue:
        """In every lane what a vector holds for the same head, of all its edges."""
        distance = self.b.width
        while distance > self.slots.count:
            distance //= 2
            value = combine(value, self.b.lanes_of(value, distance))
        return value

    def weighted_sums(self, start: SSAValue, count: SSAValue, totals: Sequence[SSAValue]) -> list[SSAValue]:
        b = self.b

        def body(place: SSAValue, so_far: list[SSAValue]) -> list[SSAValue]:
            self.loop.gathered = {}
            edge = b.index_plus(start, place)
            values = self.loop.expressions(self.row, edge)
            weights = self.of_heads(self.scores, self.slot_of(place))
            following = [
                b.plus(total, b.times(weights[a], self.message(values, a)))
                for a, total in zip(self.wanted, so_far, strict=True)
            ]
            self.loop.prefetch(edge)
            return following

        return b.loop(b.index(0), count, b.index(1), totals, body)

    def message(self, values: Expressions, accumulated: Accumulated) -> SSAValue:
        (lanes,) = operand_lanes(self.attention.product, 1 - self.attention.weight, accumulated.lanes, self.b.width)
        return values.value(self.attention.values, lanes)

    # Lanes of vectors as factors, by way of memory.

    def keep_factors(self, vectors: Sequence[SSAValue]) -> None:
        for number, vector in enumerate(vectors):
            column = self.b.index(number * self.b.width)
            self.b.store_vector(vector, self.factors, self.b.index(0), column, self.b.width)

    def times_factors(self, totals: Sequence[SSAValue]) -> list[SSAValue]:
        """Each times the factors of its heads."""
        factors = self.of_heads(self.factors, self.b.index(0))
        return [self.b.times(total, factors[a]) for a, total in zip(self.wanted, totals, strict=True)]

    def of_heads(self, array: SSAValue, start: SSAValue) -> dict[Accumulated, SSAValue]:
        """Numbers of slots as what they are multiplied by: one for all lanes, or each for the lanes of its head."""
        b, found, known = self.b, dict[Accumulated, SSAValue](), dict[int, SSAValue]()
        for a, heads in zip(self.wanted, self.slots.heads_of, strict=True):
            slot = self.slots.heads.index(heads[0])
            if len(heads) == 1:
                known[slot] = known.get(slot) or b.load(array, b.index(0), b.offset(start, slot))
                found[a] = known[slot]
                continue
            first, read = (slot, b.width) if self.slots.vectors > 1 else (0, self.slots.count)
            with b.narrowed_to(read):
                numbers = b.load_vector(array, b.index(0), b.offset(start, first), read)
            lane, last = a.lanes.start % self.attention.head_size, len(heads) - 1
            places = [min(last, (lane + other) // self.attention.head_size) for other in range(b.width)]
            found[a] = b.shuffled(numbers, [slot - first + place for place in places])
        return found

    # Memory.

    def slot_of(self, place: SSAValue) -> SSAValue:
        """Where the scores of an edge of the chunk begin."""
        return self.b.add(arith.MuliOp(place, self.b.index(self.slots.count)))

    def scratch(self, size: int) -> SSAValue:
        """A small array on the stack of the function."""
        op = memref.AllocaOp.get(self.b.element, 64, [1, size])
        assert self.b.top.first_op is not None
        Builder(InsertPoint.before(self.b.top.first_op)).insert(op)
        return op.memref
