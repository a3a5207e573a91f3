"""What a module at the level of tasks asks of the accelerator, as plain data."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from xdsl.dialects.builtin import FileLineColLoc, IntegerAttr, ModuleOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from gnnc.dialects.gnn.rowwise import shape_of
from gnnc.dialects.kernel import AdjacencyType
from gnnc.dialects.task import BarrierOp, RangeOp
from gnnc.passes.analysis.model_functions import (
    WEIGHT_PLACE,
    ModelFunctions,
    argument_attribute,
    argument_name,
    model_functions,
    returned,
)

Role: TypeAlias = Literal["adjacency", "features", "weight", "intermediate"]


@dataclass(frozen=True)
class Operand:
    """A matrix or a vector. `columns` is None for an adjacency matrix, which has as many as nodes.

    `rows` is None where there is one a node. `source` says where the numbers come from: the place among the results of
    @structure or @weights, the place among host values, or the kernel that computes them.
    """

    name: str
    role: Role
    rows: int | None
    columns: int | None
    source: int

    def shape(self, nodes: int) -> tuple[int, int]:
        return (nodes if self.rows is None else self.rows, nodes if self.columns is None else self.columns)


@dataclass(frozen=True)
class KernelPlan:
    """One kernel: pairs of operands to multiply, by their place among the plan's operands, and the epilogue."""

    kind: Literal["aggregate", "update"]
    layer: int
    products: tuple[tuple[int, int], ...]
    addends: tuple[int, ...]
    scale: int | None
    bias: int | None
    activation: tuple[str, float] | None
    residuals: tuple[int, ...]
    output: int
    width: int
    first_task: int
    fusion: int
    source: str | None

    def height(self, n1: int, n2: int) -> int:
        """The rows of an output tile."""
        return n1 if self.kind == "aggregate" else n2

    def inner(self, n1: int, n2: int) -> int:
        """The columns of a tile of the left side."""
        return n1 if self.kind == "aggregate" else n2


@dataclass(frozen=True)
class Plan:
    """A program for the accelerator: operands, kernels in order, and the host's work before and after.

    `before` are the operations of @forward that stand before the first kernel, `after` those behind the last.
    """

    nodes: int
    n1: int
    n2: int
    operands: tuple[Operand, ...]
    kernels: tuple[KernelPlan, ...]
    values: tuple[SSAValue, ...]

    def repartitioned(self, n1: int, n2: int) -> Plan:
        """The same program with other partition sizes."""
        return replace(self, n1=n1, n2=n2)


def read_plan(module: ModuleOp) -> Plan:
    """The plan of a module at the level of tasks; `values` are the SSA values of the operands."""
    functions = model_functions(module)
    ranges = [op for op in functions.forward.body.block.ops if isinstance(op, RangeOp)]
    places: dict[SSAValue, int] = {}
    operands: list[Operand] = []

    def place(value: SSAValue) -> int:
        if value not in places:
            places[value] = len(operands)
            operands.append(operand_of(value, functions, ranges))
        return places[value]

    kernels = tuple(kernel_of(op, place) for op in ranges)
    scheme = ranges[0].partition
    return Plan(ranges[0].nodes.value.data, scheme.n1.data, scheme.n2.data, tuple(operands), kernels, tuple(places))


def operand_of(value: SSAValue, functions: ModelFunctions, ranges: list[RangeOp]) -> Operand:
    if isinstance(value.owner, RangeOp):
        kernel = ranges.index(value.owner)
        return Operand(f"h{kernel + 1}", "intermediate", None, shape_of(value)[1], kernel)
    structure = functions.structure_place(value)
    if isinstance(value.type, AdjacencyType):
        assert structure is not None
        return Operand(f"a{structure}", "adjacency", None, None, structure)
    weight = weight_place(value, functions)
    if weight is not None:
        shape = shape_of(value)
        rows, columns = shape if len(shape) == 2 else (1, shape[0])
        return Operand(f"w{weight}", "weight", rows, columns, weight)
    name = argument_name(functions.forward, value.index) if isinstance(value, BlockArgument) else value.name_hint
    return Operand(name or "x", "features", None, shape_of(value)[1], 0)


def weight_place(value: SSAValue, functions: ModelFunctions) -> int | None:
    """Which result of @weights a value is."""
    if not isinstance(value, BlockArgument):
        return None
    attribute = argument_attribute(functions.forward, value.index, WEIGHT_PLACE)
    return attribute.value.data if isinstance(attribute, IntegerAttr) else None


def kernel_of(op: RangeOp, place: Callable[[SSAValue], int]) -> KernelPlan:
    location = op.location
    source = f"{location.filename.data}:{location.line.data}" if isinstance(location, FileLineColLoc) else None
    activation = None if op.activation is None else (op.activation.kind.data, op.activation.parameter.value.data)
    return KernelPlan(
        op.kernel_kind,
        op.layer_index,
        tuple((place(lhs), place(rhs)) for lhs, rhs in op.segments),
        tuple(place(value) for value in op.addends),
        None if op.scale is None else place(op.scale),
        None if op.bias is None else place(op.bias),
        activation,
        tuple(place(value) for value in op.residuals),
        place(op.result),
        op.width,
        op.first.value.data,
        op.fusion.value.data,
        source,
    )


def host_operations(module: ModuleOp) -> tuple[list[Operation], list[Operation]]:
    """The operations of @forward that the host runs, before the first kernel and after it.

    What stands between kernels depends on no kernel before it, or no kernel after it depends on it.
    """
    functions = model_functions(module)
    computed: set[SSAValue] = set()
    before: list[Operation] = []
    after: list[Operation] = []
    terminator = returned(functions.forward)
    for op in functions.forward.body.block.ops:
        if op is terminator or isinstance(op, BarrierOp):
            continue
        if isinstance(op, RangeOp):
            computed.update(op.results)
        elif any(operand in computed for operand in op.operands):
            computed.update(op.results)
            after.append(op)
        else:
            before.append(op)
    return before, after
