"""The function of a fused Conv: a loop over rows, in it for each tile of features a loop over the row's edges."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import AnyFloat, Float32Type, Float64Type, FunctionType, TensorType, UnitAttr, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

from gnnc.dialects.gnn import AggregateOp, FusedConvOp, GatherOp
from gnnc.dialects.gnn.attributes import domain_of, row_shape
from gnnc.passes.loops.arguments import KernelInput, Part, Role, kernel_inputs
from gnnc.passes.loops.builder import LoopBuilder, index, list_type, rows_type
from gnnc.passes.loops.edge_loop import Accumulated, Carried, EdgeLoop, carried_sums
from gnnc.passes.loops.expressions import HALF, Expressions, element_of_tensor
from gnnc.passes.loops.lanes import Lanes, NoKernelError, operand_lanes, partition, row_size
from gnnc.passes.loops.softmax import OnlineSoftmax, attention_of

VECTOR_BYTES = 64
TILE = 8
"""Accumulators that a pass over the edges keeps in registers; twice as many lose (spills)."""


def loop_function(op: FusedConvOp, name: str, part: Part = Part.WHOLE) -> func.FuncOp:
    """The function in loops that computes the rows of a fused Conv, or a part of them. Raises NoKernelError where there
    is none yet."""
    return _Kernel(op, part).function(name)


def first_sums(op: FusedConvOp) -> list[float]:
    """The sums of a row that no edge has been added to, as Part.ADD_UP goes on from. Raises NoKernelError."""
    kernel = _Kernel(op, Part.ADD_UP)
    return [c.start for tile in kernel.tiles() for c in kernel.carried(tile) for _ in range(c.count)]


@dataclass(frozen=True)
class Tile:
    """Lanes of outputs that are computed together, and what has to be accumulated for them."""

    outputs: tuple[tuple[int, Lanes], ...]
    accumulated: tuple[Accumulated, ...]


class _Kernel:
    def __init__(self, op: FusedConvOp, part: Part):
        self.op = op
        self.part = part
        self.inputs = kernel_inputs(op, part)
        self.attention = attention_of(op)
        self.element = element_type(op)
        self.width = VECTOR_BYTES // self.element.size
        terminator = op.body.block.last_op
        assert terminator is not None
        self.results: Sequence[SSAValue] = terminator.operands

    def function(self, name: str) -> func.FuncOp:
        values = [self.op.body.block.args[i.place] for i in self.inputs]
        sums = [rows_type(self.element)] if self.part is not Part.WHOLE else []
        results = [] if self.part is Part.ADD_UP else [rows_type(self.stored_element(value)) for value in self.results]
        arrays = [*(rows_type(self.stored_element(value)) for value in values), *sums, *results]
        types = [index, index, list_type(i64), list_type(i32), *arrays]
        block = Block(arg_types=types)
        self.b = LoopBuilder(block, self.element, self.width)
        begin, end, self.offsets, self.neighbors, *arrays = block.args
        self.arrays: dict[KernelInput, SSAValue] = dict(zip(self.inputs, arrays, strict=False))
        self.sums = arrays[len(self.inputs)]
        self.outputs = arrays[len(self.inputs) + len(sums) :]
        self.edge_loop = EdgeLoop(self.b, self.op, self.neighbors, self.leaf, self.arrays)
        self.edge_loop.prepare()
        self.reducing = self.edge_loop if self.attention is None else OnlineSoftmax(self.edge_loop, self.attention)
        self.b.loop(begin, end, self.b.index(1), [], self.row)
        self.b.insert(func.ReturnOp())
        function = func.FuncOp(name, FunctionType.from_lists(types, []), Region(block))
        function.attributes["llvm.emit_c_interface"] = UnitAttr()
        return function

    def stored_element(self, value: SSAValue) -> Attribute:
        """The type of the numbers of an input or a result as they lie in memory."""
        element = element_of_tensor(value)
        return element if isinstance(element, HALF) else self.element

    def row(self, row: SSAValue, _: list[SSAValue]) -> list[SSAValue]:
        first = self.b.load_index(self.offsets, row)
        last = self.b.load_index(self.offsets, self.b.offset(row, 1))
        if self.part is Part.ADD_UP:
            some = self.b.add(arith.CmpiOp(first, last, "slt"))
            self.b.when(some, lambda: self.add_up(row, first, last))
            return []
        column = 0
        for tile in self.tiles():
            carried = self.carried(tile)
            if self.part is Part.FINISH:
                totals = self.load_sums(row, column, carried)
            else:
                start = [self.b.number(c.start) if c.count == 1 else self.b.splat(c.start) for c in carried]
                totals = self.reducing.add_up(row, first, last, tile.accumulated, start)
            column += sum(c.count for c in carried)
            self.store_results(row, tile, self.reducing.finish(first, last, tile.accumulated, totals))
        return []

    def add_up(self, row: SSAValue, first: SSAValue, last: SSAValue) -> None:
        """Goes on from the sums of a row, for edges `first` to `last`."""
        column = 0
        for tile in self.tiles():
            carried = self.carried(tile)
            start = self.load_sums(row, column, carried)
            for c, total in zip(carried, self.reducing.add_up(row, first, last, tile.accumulated, start), strict=True):
                self.store(self.sums, Lanes(column, c.count), row, total)
                column += c.count

    def carried(self, tile: Tile) -> list[Carried]:
        if self.attention is None:
            return carried_sums(tile.accumulated)
        return self.attention.carried(tile.accumulated, self.width)

    def load_sums(self, row: SSAValue, column: int, carried: Sequence[Carried]) -> list[SSAValue]:
        loaded: list[SSAValue] = []
        for c in carried:
            at = self.b.index(column)
            one = c.count == 1
            loaded.append(self.b.load(self.sums, row, at) if one else self.b.load_vector(self.sums, row, at, c.count))
            column += c.count
        return loaded

    def store_results(self, row: SSAValue, tile: Tile, accumulators: dict[Accumulated, SSAValue]) -> None:
        def leaf(value: SSAValue, lanes: Lanes) -> SSAValue | None:
            found = accumulators.get(Accumulated(value, lanes))
            return found if found is not None else self.leaf(value, lanes, row, None, None)

        epilogue = Expressions(self.b, leaf)
        for place, lanes in tile.outputs:
            self.store(self.outputs[place], lanes, row, epilogue.value(self.results[place], lanes))

    def store(self, array: SSAValue, lanes: Lanes, row: SSAValue, value: SSAValue) -> None:
        column = self.b.index(lanes.start)
        if lanes.is_scalar:
            self.b.store(value, array, row, column)
        else:
            self.b.store_vector(self.b.widened(value), array, row, column, lanes.count)

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
        array, column = self.arrays[source], self.b.index(lanes.start)
        if lanes.is_scalar:
            return self.b.load(array, place, column)
        if source.role is Role.NEIGHBOR:
            self.edge_loop.note_gather(array, lanes)
        return self.b.load_vector(array, place, column, lanes.count)


def place_of(argument: SSAValue) -> int:
    from xdsl.ir import BlockArgument

    assert isinstance(argument, BlockArgument)
    return argument.index


def element_type(op: FusedConvOp) -> AnyFloat:
    """The one float type that a fused Conv computes in; what it loads and stores may have fewer bits."""
    values = [v for o in op.body.block.ops for v in (*o.operands, *o.results)]
    types = {t.element_type for v in values if isinstance(t := v.type, TensorType) and t.get_shape()}
    stored = {t for t in types if str(t) == "i1" or isinstance(t, HALF)}
    if len(types - stored) != 1:
        raise NoKernelError("values of several number types meet")
    (element,) = types - stored
    if not isinstance(element, Float32Type | Float64Type):
        raise NoKernelError(f"numbers are {element}")
    return element
