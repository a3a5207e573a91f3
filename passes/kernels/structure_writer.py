"""The adjacency matrices of kernels, made in @structure."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    FunctionType,
    LocationAttr,
    StringAttr,
    TensorType,
)
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from gnnc.dialects import kernel
from gnnc.dialects.gnn import ConstantOp, DivOp, FillOp, GatherOp, MulOp, ReshapeOp
from gnnc.dialects.gnn.attributes import domain_of, row_shape, tensor_on
from gnnc.passes.analysis.kernel_graph import Adjacency, EdgeFactor
from gnnc.passes.analysis.model_functions import NAME, ModelFunctions, argument_name, returned


class StructureWriter:
    """Adds adjacency matrices to @structure and returns them instead of what @forward took before."""

    def __init__(self, functions: ModelFunctions):
        self.functions = functions
        self.block = functions.structure.body.block
        self.terminator = returned(functions.structure)
        self.results: list[SSAValue] = []
        self.moved: dict[SSAValue, SSAValue] = {}

    def kept(self, value: SSAValue) -> int:
        """The place of a value among those that @structure returns."""
        if value not in self.results:
            self.results.append(value)
        return self.results.index(value)

    def insert(self, op: Operation, location: LocationAttr) -> SSAValue:
        op.location = location
        Rewriter.insert_op(op, InsertPoint.before(self.terminator))
        return op.results[0]

    def moved_here(self, value: SSAValue) -> SSAValue:
        """A value of @forward that depends on the structure only, computed here."""
        if value not in self.moved:
            self.moved[value] = self.move(value)
        return self.moved[value]

    def move(self, value: SSAValue) -> SSAValue:
        place = self.functions.structure_place(value)
        if place is not None:
            return self.terminator.arguments[place]
        op = value.owner
        if isinstance(op, Block):
            return self.argument(value)
        for operand in op.operands:
            self.moved_here(operand)
        copied = op.clone(value_mapper={v: self.moved[v] for v in op.operands})
        Rewriter.insert_op(copied, InsertPoint.before(self.terminator))
        return copied.results[list[SSAValue](op.results).index(value)]

    def argument(self, value: SSAValue) -> SSAValue:
        """An input on edges, such as edge weights: an argument of both functions, by the graph's name."""
        forward, structure = self.functions.forward, self.functions.structure
        name = argument_name(forward, forward.body.block.args.index(value))
        for index, argument in enumerate(self.block.args):
            if argument_name(structure, index) == name:
                return argument
        argument = self.block.insert_arg(value.type, len(self.block.args))
        argument.name_hint = value.name_hint
        attributes = structure.arg_attrs.data if structure.arg_attrs is not None else ()
        structure.arg_attrs = ArrayAttr([*attributes, DictionaryAttr({NAME: StringAttr(name or "")})])
        return argument

    def adjacency(self, adjacency: Adjacency, location: LocationAttr) -> SSAValue:
        edges = self.moved_here(adjacency.edges)
        values: SSAValue | None = None
        for factor in adjacency.factors:
            values = self.times(values, self.edge_number(factor, edges, location), factor.divides, location)
        scaled = self.product(adjacency.scales, location)
        diagonal = None if adjacency.diagonal is None else self.product(adjacency.diagonal, location)
        op = kernel.AdjacencyOp(
            edges, adjacency.end, mean=adjacency.mean, values=values, scaled=scaled, diagonal=diagonal
        )
        op.result.name_hint = "a"
        return self.insert(op, location)

    def edge_number(self, factor: EdgeFactor, edges: SSAValue, location: LocationAttr) -> SSAValue:
        """One number an edge, a vector."""
        value = self.moved_here(factor.value)
        if factor.end is not None:
            value = self.insert(GatherOp(value, edges, factor.end), location)
        domain = domain_of(value.type)
        if row_shape(value.type) == ():
            return value
        assert isinstance(value.type, TensorType)
        vector = tensor_on(domain, (DYNAMIC_INDEX,), value.type.element_type)
        return self.insert(ReshapeOp(value, vector), location)

    def times(self, values: SSAValue | None, factor: SSAValue, divides: bool, location: LocationAttr) -> SSAValue:
        if values is None and not divides:
            return factor
        if values is None:
            values = self.insert(ones_like(factor), location)
        make = DivOp if divides else MulOp
        return self.insert(make(values, factor, values.type), location)  # pyright: ignore[reportArgumentType]  # a tensor

    def product(self, factors: Sequence[SSAValue | float], location: LocationAttr) -> SSAValue | None:
        """Single numbers multiplied; None for none."""
        result: SSAValue | None = None
        for factor in factors:
            number = self.moved_here(factor) if isinstance(factor, SSAValue) else self.constant(factor, location)
            result = number if result is None else self.insert(kernel.ScaleOp(result, number), location)
        return result

    def constant(self, number: float, location: LocationAttr) -> SSAValue:
        return self.insert(ConstantOp(number), location)

    def finish(self) -> None:
        structure = self.functions.structure
        self.terminator.operands = self.results
        structure.function_type = FunctionType.from_lists(
            [a.type for a in self.block.args], [v.type for v in self.results]
        )


def ones_like(value: SSAValue) -> Operation:
    assert isinstance(value.type, TensorType)
    return FillOp(1.0, value.type)
