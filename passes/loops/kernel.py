"""The function of a fused Conv: a loop over rows, in it for each tile of features a loop over the row's edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import func
from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Operation, SSAValue

from gnnc.dialects.gnn import AggregateOp, FusedConvOp, FusedOperation, GatherOp
from gnnc.dialects.gnn.attributes import domain_of, row_shape
from gnnc.passes.loops.arguments import KernelInput, Role
from gnnc.passes.loops.builder import list_type
from gnnc.passes.loops.edge_loop import Accumulated, EdgeLoop
from gnnc.passes.loops.expressions import Expressions
from gnnc.passes.loops.lanes import Lanes, NoKernelError, operand_lanes, partition, row_size
from gnnc.passes.loops.online_softmax import attend
from gnnc.passes.loops.row_loop import RowLoop, place_of
from gnnc.passes.loops.row_work import RowWork
from gnnc.passes.loops.softmax import attention_of

TILE = 8
"""Accumulators that a pass over the edges keeps in registers; twice as many lose (spills)."""


def loop_function(op: FusedOperation, name: str) -> func.FuncOp:
    """The function in loops that computes the rows of a fused operation. Raises NoKernelError where there is none."""
    if isinstance(op, FusedConvOp):
        return ConvLoop(op).function(name)
    return RowWork(op).function(name)


@dataclass(frozen=True)
class Tile:
    """Lanes of outputs that are computed together, and what has to be accumulated for them."""

    outputs: tuple[tuple[int, Lanes], ...]
    accumulated: tuple[Accumulated, ...]


class ConvLoop(RowLoop):
    """The function of a fused Conv."""

    op: FusedConvOp
    lists = (list_type(i64), list_type(i32))

    def __init__(self, op: FusedConvOp):
        super().__init__(op)
        self.attention = attention_of(op)

    def prepare(self, lists: Sequence[SSAValue]) -> None:
        self.offsets, self.neighbors = lists
        self.edge_loop = EdgeLoop(self.b, self.op, self.neighbors, self.leaf, self.arrays)
        self.edge_loop.prepare()

    def row(self, row: SSAValue) -> None:
        first = self.b.load_index(self.offsets, row)
        last = self.b.load_index(self.offsets, self.b.offset(row, 1))
        for tile in self.tiles():
            accumulators = self.accumulate(row, first, last, tile.accumulated)

            def leaf(
                value: SSAValue, lanes: Lanes, there: dict[Accumulated, SSAValue] = accumulators
            ) -> SSAValue | None:
                found = there.get(Accumulated(value, lanes))
                return found if found is not None else self.leaf(value, lanes, row, None, None)

            epilogue = Expressions(self.b, leaf)
            for place, lanes in tile.outputs:
                self.store(place, lanes, row, epilogue.value(self.results[place], lanes))

    def accumulate(
        self, row: SSAValue, first: SSAValue, last: SSAValue, wanted: Sequence[Accumulated]
    ) -> dict[Accumulated, SSAValue]:
        """What the aggregations of a row give, for edges `first` to `last`."""
        if self.attention is not None:
            return attend(self.edge_loop, self.attention, row, first, last, wanted)
        return self.edge_loop.run(row, first, last, wanted)

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
            more = self.accumulated(self.results[place], lanes)
            if outputs and len(needed | more) > TILE:
                tiles.append(Tile(tuple(outputs), tuple(needed)))
                outputs, needed = [], {}
            outputs.append((place, lanes))
            needed |= more
        return [*tiles, Tile(tuple(outputs), tuple(needed))]

    def pieces(self, result: SSAValue) -> list[Lanes]:
        """A row of a result in vectors that don't cross from one head to the next."""
        messages = next(op for op in self.op.reductions if isinstance(op, AggregateOp)).messages
        heads = row_shape(messages.type)
        size = row_size(result)
        group = heads[-1] if heads and size % heads[-1] == 0 else size
        return partition(size, group, self.width)

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
        if source.role is Role.NEIGHBOR and not lanes.is_scalar:
            self.edge_loop.note_gather(self.arrays[source], lanes)
        return self.load(source, place, lanes)
