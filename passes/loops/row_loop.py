"""A function that computes rows one after the other: what all kernels have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import ClassVar

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import AnyFloat, Float32Type, Float64Type, FunctionType, TensorType, UnitAttr, i1
from xdsl.ir import Attribute, Block, BlockArgument, Region, SSAValue

from gnnc.dialects.gnn import FusedOperation
from gnnc.passes.loops.arguments import KernelInput, kernel_inputs
from gnnc.passes.loops.builder import LoopBuilder, index, rows_type
from gnnc.passes.loops.equal_tiles import Alike
from gnnc.passes.loops.expressions import HALF, element_of_tensor
from gnnc.passes.loops.lanes import Lanes, NoKernelError

VECTOR_BYTES = 64


class RowLoop(ABC):
    """The function of a fused operation: a loop over a range of rows."""

    lists: ClassVar[tuple[Attribute, ...]] = ()
    """The types of what it takes besides the range and its arrays."""

    def __init__(self, op: FusedOperation):
        self.op = op
        self.inputs = kernel_inputs(op)
        self.element = element_type(op)
        self.width = VECTOR_BYTES // self.element.size
        self.results = op.results_inside
        self.number: SSAValue | None = None
        """Which of the tiles that are alike is computed, inside of a loop over them."""
        self.steps: Mapping[SSAValue, int] = {}

    def function(self, name: str) -> func.FuncOp:
        inputs = [rows_type(self.stored_element(self.op.body.block.args[i.place])) for i in self.inputs]
        types = [index, index, *self.lists, *inputs, *self.written()]
        block = Block(arg_types=types)
        self.b = LoopBuilder(block, self.element, self.width)
        begin, end, *others = block.args
        lists, arrays = others[: len(self.lists)], others[len(self.lists) :]
        self.arrays: dict[KernelInput, SSAValue] = dict(zip(self.inputs, arrays, strict=False))
        self.outputs = arrays[len(self.inputs) :]
        self.prepare(lists)
        self.b.loop(begin, end, self.b.index(1), [], lambda row, _: self.row(row) or [])
        self.b.insert(func.ReturnOp())
        function = func.FuncOp(name, FunctionType.from_lists(types, []), Region(block))
        function.attributes["llvm.emit_c_interface"] = UnitAttr()
        return function

    def written(self) -> list[Attribute]:
        """The types of the arrays that it writes."""
        return [rows_type(self.stored_element(result)) for result in self.results]

    def stored_element(self, value: SSAValue) -> Attribute:
        """The type of the numbers of an input or a result as they lie in memory."""
        element = element_of_tensor(value)
        return element if isinstance(element, HALF) else self.element

    @abstractmethod
    def prepare(self, lists: Sequence[SSAValue]) -> None:
        """Emits what stands before the loop."""

    @abstractmethod
    def row(self, row: SSAValue) -> None:
        """Emits what computes and stores one row of every result."""

    # Places in a row.

    def over_alike(self, alike: Alike, body: Callable[[], None]) -> None:
        """Emits what computes a tile, in a loop where it stands for several."""
        if alike.count == 1:
            body()
            return

        def of_tile(number: SSAValue, _: list[SSAValue]) -> list[SSAValue]:
            self.number, self.steps = number, alike.steps
            body()
            self.number, self.steps = None, {}
            return []

        self.b.loop(self.b.index(0), self.b.index(alike.count), self.b.index(1), [], of_tile)

    def column(self, start: int, step: int) -> SSAValue:
        """`start` in the first of the tiles that are alike, and `step` more in each that follows."""
        if self.number is None or step == 0:
            return self.b.index(start)
        return self.b.offset(self.b.add(arith.MuliOp(self.number, self.b.index(step))), start)

    def column_of(self, value: SSAValue, lanes: Lanes) -> SSAValue:
        return self.column(lanes.start, self.steps.get(value, 0))

    def store(self, place: int, lanes: Lanes, row: SSAValue, value: SSAValue) -> None:
        self.store_at(self.outputs[place], row, self.column_of(self.results[place], lanes), lanes.count, value)

    def store_at(self, array: SSAValue, row: SSAValue, column: SSAValue, count: int, value: SSAValue) -> None:
        if count == 1:
            self.b.store(value, array, row, column)
        else:
            self.b.store_vector(self.b.widened(value), array, row, column, count)

    def load(self, source: KernelInput, row: SSAValue, lanes: Lanes) -> SSAValue:
        column = self.column_of(self.argument(source), lanes)
        return self.load_at(self.arrays[source], row, column, lanes.count)

    def argument(self, source: KernelInput) -> SSAValue:
        return self.op.body.block.args[source.place]

    def load_at(self, array: SSAValue, row: SSAValue, column: SSAValue, count: int) -> SSAValue:
        return self.b.load(array, row, column) if count == 1 else self.b.load_vector(array, row, column, count)


def place_of(argument: SSAValue) -> int:
    assert isinstance(argument, BlockArgument)
    return argument.index


def element_type(op: FusedOperation) -> AnyFloat:
    """The one float type that a fused operation computes in; what it loads and stores may have fewer bits."""
    computed = [result for o in op.body.block.ops for result in o.results]
    types = {t.element_type for v in computed if isinstance(t := v.type, TensorType) and t.get_shape()}
    types -= {t for t in types if t == i1}  # comparisons are part of what uses them
    types |= {t.element_type for v in op.body.block.args if v.uses and isinstance(t := v.type, TensorType)}
    stored = {t for t in types if isinstance(t, HALF)}
    if len(types - stored) != 1:
        raise NoKernelError("values of several number types meet")
    (element,) = types - stored
    if not isinstance(element, Float32Type | Float64Type):
        raise NoKernelError(f"numbers are {element}")
    return element
