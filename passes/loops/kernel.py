"""The function of a fused Conv: a loop over rows, in it for each tile of features a loop over the row's edges."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import accumulate

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Attribute, Operation, SSAValue

from gnnc.dialects.gnn import AggregateOp, FusedConvOp, FusedOperation, GatherOp
from gnnc.dialects.gnn.attributes import domain_of, row_shape
from gnnc.passes.loops.arguments import KernelInput, Part, Role, kernel_inputs
from gnnc.passes.loops.builder import list_type, rows_type
from gnnc.passes.loops.edge_loop import Accumulated, Carried, EdgeLoop, carried_sums
from gnnc.passes.loops.equal_tiles import equal_tiles
from gnnc.passes.loops.expressions import Expressions
from gnnc.passes.loops.lanes import Lanes, NoKernelError, operand_lanes, partition, row_size
from gnnc.passes.loops.online_softmax import OnlineSoftmax, carried_by_softmax
from gnnc.passes.loops.row_loop import RowLoop, place_of
from gnnc.passes.loops.row_work import RowWork
from gnnc.passes.loops.softmax import Attention, attention_of

TILE = 8
"""Accumulators that a pass over the edges keeps in registers; twice as many lose (spills)."""

MANY = 3
"""So many tiles that are alike are a loop; fewer are written out."""

BLOCK = 512
"""So many edges are added up by themselves: the error of a sum of n numbers grows with BLOCK + n / BLOCK, not with n.
Higham, The accuracy of floating point summation, section 3, has the bound."""


def loop_function(op: FusedOperation, name: str, part: Part = Part.WHOLE) -> func.FuncOp:
    """The function in loops that computes the rows of a fused operation, or a part of a Conv. Raises NoKernelError
    where there is none."""
    if isinstance(op, FusedConvOp):
        return ConvLoop(op, part).function(name)
    return RowWork(op).function(name)


def first_sums(op: FusedConvOp) -> list[float]:
    """The sums of a row that no edge has been added to, as Part.ADD_UP goes on from. Raises NoKernelError."""
    loop = ConvLoop(op, Part.ADD_UP)
    return [c.start for tile in loop.tiles() for c in loop.carried(tile) for _ in range(c.count)]


@dataclass(frozen=True)
class Tile:
    """Lanes of outputs that are computed together, and what has to be accumulated for them."""

    outputs: tuple[tuple[int, Lanes], ...]
    accumulated: tuple[Accumulated, ...]


class ConvLoop(RowLoop):
    """The function of a fused Conv, or of a part of one."""

    op: FusedConvOp
    lists = (list_type(i64), list_type(i32))

    def __init__(self, op: FusedConvOp, part: Part):
        super().__init__(op)
        self.part = part
        self.inputs = kernel_inputs(op, part)
        self.attention = attention_of(op)
        self.softmaxes: dict[Tile, OnlineSoftmax] = {}

    def written(self) -> list[Attribute]:
        """Sums, where it computes a part, and results, where it doesn't stop at sums."""
        sums = {Part.WHOLE: 0, Part.ADD_UP: 1, Part.MERGE: 2, Part.FINISH: 1}[self.part]
        results = super().written() if self.part in (Part.WHOLE, Part.FINISH) else []
        return [*[rows_type(self.element)] * sums, *results]

    def prepare(self, lists: Sequence[SSAValue]) -> None:
        self.offsets, self.neighbors = lists
        if self.part is Part.MERGE:
            self.of_pieces, *self.outputs = self.outputs
        if self.part is not Part.WHOLE:
            self.sums, *self.outputs = self.outputs
        self.edge_loop = EdgeLoop(self.b, self.op, self.neighbors, self.leaf, self.arrays)
        self.edge_loop.prepare()

    def row(self, row: SSAValue) -> None:
        first = self.b.load_index(self.offsets, row)
        last = self.b.load_index(self.offsets, self.b.offset(row, 1))
        if self.part in (Part.ADD_UP, Part.MERGE):
            some = self.b.add(arith.CmpiOp(first, last, "slt"))
            self.b.when(some, lambda: self.add_to_sums(row, first, last))
            return

        def compute(tile: Tile, column: SSAValue) -> None:
            if self.part is Part.FINISH:
                totals = self.load_sums(self.sums, row, column, self.carried(tile))
            else:
                totals = self.add_up(tile, row, first, last, self.first_carried(tile))
            self.store_results(row, tile, self.finished(tile, first, last, totals))

        self.over_tiles(compute)

    # Sums: what the loop over edges carries, in registers or in memory.

    def carried(self, tile: Tile) -> list[Carried]:
        if self.attention is None:
            return carried_sums(tile.accumulated)
        return carried_by_softmax(self.attention, tile.accumulated, self.width)

    def first_carried(self, tile: Tile) -> list[SSAValue]:
        """What is carried before the first edge."""
        carried = self.carried(tile)
        return [self.b.number(c.start) if c.count == 1 else self.b.splat(c.start) for c in carried]

    def add_up(
        self, tile: Tile, row: SSAValue, first: SSAValue, last: SSAValue, carried: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """What is carried once edges `first` to `last` of a row are added, every block of them by itself."""
        block, start = self.b.index(BLOCK), self.first_carried(tile)
        if self.part is Part.WHOLE:  # most rows are one block: nothing is carried before it
            head = self.end_of_block(first, last)
            carried, first = self.add_edges(tile, row, first, head, start), head

        def add_block(begin: SSAValue, so_far: list[SSAValue]) -> list[SSAValue]:
            added = self.add_edges(tile, row, begin, self.end_of_block(begin, last), start)
            return self.merged(tile, so_far, added)

        return self.b.loop(first, last, block, carried, add_block)

    def end_of_block(self, begin: SSAValue, last: SSAValue) -> SSAValue:
        return self.b.add(arith.MinSIOp(self.b.offset(begin, BLOCK), last))

    def add_edges(
        self, tile: Tile, row: SSAValue, first: SSAValue, last: SSAValue, carried: Sequence[SSAValue]
    ) -> list[SSAValue]:
        """What is carried after the edges of a block, one after the other."""
        if self.attention is None:
            return self.edge_loop.add_up(row, first, last, tile.accumulated, carried)
        return self.softmax(tile, self.attention).add_up(row, first, last, carried)

    def finished(
        self, tile: Tile, first: SSAValue, last: SSAValue, carried: Sequence[SSAValue]
    ) -> dict[Accumulated, SSAValue]:
        if self.attention is None:
            return self.edge_loop.finish(first, last, tile.accumulated, carried)
        return self.softmax(tile, self.attention).finish(carried)

    def softmax(self, tile: Tile, attention: Attention) -> OnlineSoftmax:
        if tile not in self.softmaxes:
            self.softmaxes[tile] = OnlineSoftmax(self.edge_loop, attention, tile.accumulated)
        return self.softmaxes[tile]

    def merged(self, tile: Tile, some: Sequence[SSAValue], others: Sequence[SSAValue]) -> list[SSAValue]:
        """What is carried once both some edges and others are added."""
        if self.attention is None:
            return self.edge_loop.merged(tile.accumulated, some, others)
        return self.softmax(tile, self.attention).merged(some, others)

    def add_to_sums(self, row: SSAValue, first: SSAValue, last: SSAValue) -> None:
        """Adds edges `first` to `last` to the sums of a row in memory, or so many pieces of the row."""

        def add(tile: Tile, column: SSAValue) -> None:
            carried = self.carried(tile)
            start = self.load_sums(self.sums, row, column, carried)
            if self.part is Part.MERGE:
                totals = self.merge_pieces(tile, column, first, last, start)
            else:
                totals = self.add_up(tile, row, first, last, start)
            for c, at, total in zip(carried, self.columns_of(column, carried), totals, strict=True):
                self.store_at(self.sums, row, at, c.count, total)

        self.over_tiles(add)

    def merge_pieces(
        self, tile: Tile, column: SSAValue, first: SSAValue, last: SSAValue, carried: Sequence[SSAValue]
    ) -> list[SSAValue]:
        def merge(piece: SSAValue, so_far: list[SSAValue]) -> list[SSAValue]:
            return self.merged(tile, so_far, self.load_sums(self.of_pieces, piece, column, self.carried(tile)))

        return self.b.loop(first, last, self.b.index(1), carried, merge)

    def load_sums(self, array: SSAValue, row: SSAValue, column: SSAValue, carried: Sequence[Carried]) -> list[SSAValue]:
        places = self.columns_of(column, carried)
        return [self.load_at(array, row, at, c.count) for c, at in zip(carried, places, strict=True)]

    def columns_of(self, column: SSAValue, carried: Sequence[Carried]) -> list[SSAValue]:
        """Where the sums of a tile lie in a row of sums, the first in `column`."""
        starts = accumulate((c.count for c in carried[:-1]), initial=0)
        return [self.b.offset(column, start) for start in starts]

    def store_results(self, row: SSAValue, tile: Tile, accumulators: dict[Accumulated, SSAValue]) -> None:
        def leaf(value: SSAValue, lanes: Lanes) -> SSAValue | None:
            found = self.accumulated_lanes(accumulators, value, lanes)
            return self.leaf(value, lanes, row, None, None) if found is None else found

        epilogue = Expressions(self.b, leaf)
        for place, lanes in tile.outputs:
            self.store(place, lanes, row, epilogue.value(self.results[place], lanes))

    def accumulated_lanes(
        self, accumulators: Mapping[Accumulated, SSAValue], value: SSAValue, lanes: Lanes
    ) -> SSAValue | None:
        """Some lanes of a value, from the vector that holds them or from two that do; None for what is not there."""
        there = [(a.lanes, total) for a, total in accumulators.items() if a.value is value and a.lanes.meets(lanes)]
        for held, total in there:
            if held.covers(lanes):
                return self.b.lanes_of(total, lanes.start - held.start)
        if not (there and self.has_whole_vectors):
            return None
        there.sort(key=lambda entry: entry[0].start)
        (first, total), (_, following) = there[0], there[-1]
        start = lanes.start - first.start
        return self.b.lane(total, start) if lanes.is_scalar else self.b.lanes_of(total, start, following)

    def over_tiles(self, body: Callable[[Tile, SSAValue], None]) -> None:
        """Emits what is done with each tile, once for those that are alike; `body` is given where its sums begin."""
        tiles, first_sum = self.tiles(), 0
        outputs = [[(self.results[place], lanes) for place, lanes in tile.outputs] for tile in tiles]
        for alike in equal_tiles(outputs, self.width, MANY):
            unit = tiles[alike.first : alike.first + alike.tiles]
            sums = [sum(c.count for c in self.carried(tile)) for tile in unit]
            self.over_alike(alike, partial(self.in_unit, body, unit, first_sum, sums))
            first_sum += alike.count * sum(sums)

    def in_unit(
        self, body: Callable[[Tile, SSAValue], None], unit: Sequence[Tile], first_sum: int, sums: Sequence[int]
    ) -> None:
        """Emits what is done with tiles, each of which has so many sums."""
        for tile, begin in zip(unit, accumulate(sums[:-1], initial=first_sum), strict=True):
            body(tile, self.column(begin, sum(sums)))

    # Tiles: outputs in pieces of a vector, together as long as their accumulators fit into registers.

    def tiles(self) -> list[Tile]:
        pieces = sorted(
            ((lanes.start, place, lanes) for place, r in enumerate(self.results) for lanes in self.pieces(r)),
            key=lambda piece: piece[:2],
        )
        tiles: list[Tile] = []
        outputs: list[tuple[int, Lanes]] = []
        needed: dict[Accumulated, None] = {}
        for _, place, lanes in pieces:
            wanted = self.accumulated(self.results[place], lanes)
            more = self.in_whole_vectors(wanted) if self.has_whole_vectors else self.joined(wanted)
            if outputs and len(needed | more) > TILE:
                tiles.append(Tile(tuple(outputs), tuple(needed)))
                outputs, needed = [], {}
            outputs.append((place, lanes))
            needed |= more
        return [*tiles, Tile(tuple(outputs), tuple(needed))]

    @cached_property
    def has_whole_vectors(self) -> bool:
        """Whether attention adds up its messages in vectors of a row, whatever heads those are of. Where heads end
        inside of vectors, the loads of the next one would cross cache lines."""
        if self.attention is None or self.attention.head_size % self.width == 0:
            return False
        few = len(self.whole_vectors) <= TILE
        return few and all(self.has_values(lanes) and not lanes.is_scalar for lanes in self.whole_vectors)

    @cached_property
    def whole_vectors(self) -> list[Lanes]:
        """A row of messages in vectors."""
        size = row_size(self.messages)
        return partition(size, size, self.width)

    def in_whole_vectors(self, needed: Mapping[Accumulated, None]) -> dict[Accumulated, None]:
        """The vectors of a row of messages that some lanes of it are in."""
        return {Accumulated(a.value, v): None for a in needed for v in self.whole_vectors if v.meets(a.lanes)}

    def joined(self, needed: Mapping[Accumulated, None]) -> dict[Accumulated, None]:
        """Small heads that are needed one by one and lie side by side, as many as fit into a vector."""
        size = 1 if self.attention is None else self.attention.head_size
        found: list[Accumulated] = []
        for a in needed:
            last = found[-1] if found else a
            both = Accumulated(a.value, Lanes(last.lanes.start, last.lanes.count + size))
            whole = a.lanes.count == size > 1 and last.value is a.value and last.lanes.stop == a.lanes.start
            if whole and both.lanes.count <= self.width and self.has_values(both.lanes):
                found[-1] = both
            else:
                found.append(a)
        return dict.fromkeys(found)

    def has_values(self, lanes: Lanes) -> bool:
        return self.attention is not None and self.attention.has_values(lanes, self.width)

    def pieces(self, result: SSAValue) -> list[Lanes]:
        """A row of a result in vectors of several heads, or else in such that don't cross from one to the next."""
        heads, size = row_shape(self.messages.type), row_size(result)
        whole = partition(size, size, self.width)
        if self.has_whole_vectors and self.can_be_weighed(result, whole):
            return whole
        group = heads[-1] if heads and size % heads[-1] == 0 else size
        together = partition(size, max(1, self.width // group) * group, self.width)
        return together if self.can_be_weighed(result, together) else partition(size, group, self.width)

    @property
    def messages(self) -> SSAValue:
        """Those that are added up; of several aggregations, those of the first."""
        return next(op for op in self.op.reductions if isinstance(op, AggregateOp)).messages

    def can_be_weighed(self, result: SSAValue, pieces: Sequence[Lanes]) -> bool:
        """Whether each of some pieces is a product of messages and of weights that are spread over their heads."""
        try:
            wanted = [a for lanes in pieces for a in self.accumulated(result, lanes)]
        except NoKernelError:
            return False
        return all(self.has_values(a.lanes) for a in wanted)

    def accumulated(self, value: SSAValue, lanes: Lanes) -> dict[Accumulated, None]:
        """What has to be accumulated for some lanes of a value."""
        found: dict[Accumulated, None] = {}
        stack, seen = [(value, lanes)], set[tuple[SSAValue, Lanes]]()
        while stack:
            item = stack.pop()
            op = item[0].owner
            if item in seen or not isinstance(op, Operation):
                continue
            seen.add(item)
            if isinstance(op, AggregateOp):
                found[Accumulated(*item)] = None
                continue
            stack += [
                (operand, piece)
                for place, operand in enumerate(op.operands)
                for piece in operand_lanes(op, place, item[1], self.width)
            ]
        return dict(sorted(found.items(), key=lambda entry: entry[0].lanes.start))

    # Leaves: what is loaded.

    def leaf(
        self, value: SSAValue, lanes: Lanes, row: SSAValue, edge: SSAValue | None, neighbor: SSAValue | None
    ) -> SSAValue | None:
        """The numbers of an input, for a row, for an edge and for its neighbor; None for what is computed."""
        owner = value.owner
        if isinstance(owner, GatherOp):
            at_target = owner.end == self.op.end
            role, place = (Role.TARGET, row) if at_target else (Role.NEIGHBOR, neighbor)
            return self.loaded(KernelInput(place_of(owner.nodes), role), place, lanes)
        if isinstance(owner, Operation):
            return None
        domain = domain_of(value.type)
        if domain is None:
            return self.loaded(KernelInput(place_of(value), Role.WHOLE), self.b.index(0), lanes)
        role, place = (Role.TARGET, row) if domain.is_nodes else (Role.EDGE, edge)
        return self.loaded(KernelInput(place_of(value), role), place, lanes)

    def loaded(self, source: KernelInput, place: SSAValue | None, lanes: Lanes) -> SSAValue:
        if place is None:
            raise NoKernelError("an edge value is used outside of the loop over edges")
        array, column = self.arrays[source], self.column_of(self.argument(source), lanes)
        if source.role is Role.NEIGHBOR and not lanes.is_scalar:
            self.edge_loop.note_gather(array, lanes, column)
        return self.load_at(array, place, column, lanes.count)
