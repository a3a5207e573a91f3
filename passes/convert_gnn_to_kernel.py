"""convert-gnn-to-kernel: @forward becomes a graph of matrix products, @structure gives adjacency matrices."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    Float32Type,
    FunctionType,
    IntegerAttr,
    LocationAttr,
    ModuleOp,
    StringAttr,
    TensorType,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.transforms.common_subexpression_elimination import cse
from xdsl.utils.exceptions import PassFailedException

from gnnc.dialects import kernel
from gnnc.dialects.gnn import (
    ConcatOp,
    ConstantOp,
    ConvBlockOp,
    DivOp,
    EdgeSoftmaxOp,
    FillOp,
    GatherOp,
    LoadWeightOp,
    MulOp,
    ReshapeOp,
    YieldOp,
)
from gnnc.dialects.gnn.attributes import domain_of, row_shape, tensor_on
from gnnc.passes.analysis.conv_layers import is_on_edges
from gnnc.passes.analysis.decision_log import forget
from gnnc.passes.analysis.foldable import Refusal, reason_of
from gnnc.passes.analysis.kernel_graph import Adjacency, Base, EdgeFactor, Input, Kernel, NormScale, Vector, Weight
from gnnc.passes.analysis.linear_forms import LinearForms, Order
from gnnc.passes.analysis.matching import located
from gnnc.passes.analysis.model_functions import (
    NAME,
    PLACE,
    WEIGHT_PLACE,
    ModelFunctions,
    argument_name,
    has_weights_function,
    model_functions,
    returned,
)


@dataclass(frozen=True)
class ConvertGnnToKernel(ModulePass):
    """Folds everything linear into matrix products (Dynasparse, section IV): means, norms and edge weights are entries
    of adjacency matrices, which @structure makes, GIN's own node is their diagonal, batch normalisation is part of the
    weights, which a new function @weights prepares; bias, activation and residuals are a kernel's epilogue. The own
    node of GraphSAGE and jumping knowledge are further products of one Update.

    `order` says whether a layer aggregates before it multiplies with its weight: `AH_W`, `A_HW`, or `auto`, which
    aggregates the narrower of the two. ConvBlocks leave no trace. Row-wise operations before the first product and
    after the last stay: the host runs them. Everything else is refused, by operation and line.
    """

    name = "convert-gnn-to-kernel"

    order: Order = "auto"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = model_functions(op)
        if has_weights_function(op):
            raise PassFailedException("@weights exists already: run convert-gnn-to-kernel without gnn-fold-weights")
        inline_blocks(functions.forward)
        forget(op, "gnn-split-conv-blocks")
        refuse_attention(functions.forward)
        cse(op)
        KernelWriter(op, functions, self.order).run()


def inline_blocks(forward: FuncOp) -> None:
    """Puts the operations of ConvBlocks back between those around them."""
    for block_op in [op for op in forward.body.block.ops if isinstance(op, ConvBlockOp)]:
        body = block_op.body.block
        terminator = body.last_op
        assert isinstance(terminator, YieldOp)
        for argument, operand in zip(body.args, block_op.operands, strict=True):
            argument.replace_all_uses_with(operand)
        results = list(terminator.values)
        terminator.detach()
        for inner in list(body.ops):
            inner.detach()
            Rewriter.insert_op(inner, InsertPoint.before(block_op))
        for output, value in zip(block_op.outputs, results, strict=True):
            output.replace_all_uses_with(value)
        terminator.drop_all_references()
        Rewriter.erase_op(block_op)


def refuse_attention(forward: FuncOp) -> None:
    """Says so at once, before anything around the attention is found not to fold."""
    for op in forward.body.block.ops:
        if isinstance(op, EdgeSoftmaxOp):
            raise Refusal(op, reason_of(op))


class KernelWriter:
    """Writes the kernels of a model into a new @forward, beside a new @weights and a longer @structure."""

    def __init__(self, module: ModuleOp, functions: ModelFunctions, order: Order):
        self.module = module
        self.functions = functions
        self.old = functions.forward
        self.reader = LinearForms(functions, order)
        self.block = Block()
        self.attributes: list[DictionaryAttr] = []
        self.values: dict[Base | SSAValue, SSAValue] = {}
        self.structure = StructureWriter(functions)
        self.weights = WeightWriter()
        self.adjacencies: dict[Adjacency, SSAValue] = {}
        self.parameters: dict[Weight | Vector | NormScale, SSAValue] = {}

    def run(self) -> None:
        for argument in self.old.body.block.args:
            if self.functions.structure_place(argument) is None and not is_on_edges(argument):
                self.values[argument] = self.add_argument(argument, NAME, StringAttr(self.name_of(argument)))
        outputs = [self.output(value) for value in returned(self.old).arguments]
        if not any(isinstance(op, kernel.Matmul) for op in self.block.ops):
            raise PassFailedException("@forward has no matrix product: there is nothing for the accelerator to do")
        self.block.add_op(ReturnOp(*outputs))
        self.finish([value.type for value in outputs])

    def name_of(self, argument: SSAValue) -> str:
        return argument_name(self.old, self.old.body.block.args.index(argument)) or ""

    def add_argument(self, value: SSAValue, key: str, attribute: StringAttr | IntegerAttr) -> SSAValue:
        argument = self.block.insert_arg(value.type, len(self.block.args))
        argument.name_hint = value.name_hint
        self.attributes.append(DictionaryAttr({key: attribute}))
        return argument

    def output(self, value: SSAValue) -> SSAValue:
        """A returned value: kernels, or row-wise work of the host on them."""
        if value not in self.values:
            bases = self.reader.output(value)
            self.values[value] = self.on_host(value) if bases is None else self.side_by_side(bases, value)
        return self.values[value]

    def on_host(self, value: SSAValue) -> SSAValue:
        """A copy of a row-wise operation on what the kernels compute."""
        op = value.owner
        assert isinstance(op, Operation)
        for operand in op.operands:
            self.values.setdefault(operand, self.host_operand(operand))
        return self.clone(op, value)

    def host_operand(self, value: SSAValue) -> SSAValue:
        if domain_of(value.type) is not None:
            place = self.functions.structure_place(value)
            return self.output(value) if place is None else self.structure_argument(value, place)
        return self.clone(value.owner, value) if isinstance(value.owner, Operation) else self.values[value]

    def structure_argument(self, value: SSAValue, place: int) -> SSAValue:
        """A value of @structure that the host needs."""
        index = self.structure.kept(returned(self.functions.structure).arguments[place])
        return self.add_argument(value, PLACE, IntegerAttr(index, i64))

    def clone(self, op: Operation, value: SSAValue) -> SSAValue:
        copied = op.clone(value_mapper=dict(self.mapped(op)))
        self.block.add_op(copied)
        return copied.results[list[SSAValue](op.results).index(value)]

    def mapped(self, op: Operation) -> list[tuple[SSAValue, SSAValue]]:
        return [(operand, self.values[operand]) for operand in op.operands]

    def side_by_side(self, bases: Sequence[Base], value: SSAValue) -> SSAValue:
        parts = [self.value_of(base) for base in bases]
        if len(parts) == 1:
            return parts[0]
        joined = ConcatOp(parts, 1, value.type)  # pyright: ignore[reportArgumentType]  # a tensor, like its parts
        assert isinstance(value.owner, Operation)
        self.block.add_op(located(joined, value.owner))
        return joined.result

    def value_of(self, base: Base) -> SSAValue:
        """The value of a kernel or an input in the new @forward."""
        if base not in self.values:
            self.values[base] = self.input(base.value) if isinstance(base, Input) else self.write(base)
        return self.values[base]

    def input(self, value: SSAValue) -> SSAValue:
        """An argument, or what the host makes of arguments before the first kernel."""
        if value in self.values:
            return self.values[value]
        op = value.owner
        assert isinstance(op, Operation)
        for operand in op.operands:
            place = self.functions.structure_place(operand)
            self.values[operand] = self.input(operand) if place is None else self.structure_argument(operand, place)
        self.values[value] = self.clone(op, value)
        return self.values[value]

    def write(self, node: Kernel) -> SSAValue:
        """The operation of a kernel, after those whose values it takes."""
        lhs = [self.adjacency(a, node) if isinstance(a, Adjacency) else self.value_of(a) for a, _ in node.segments]
        rhs = [self.parameter(b) if isinstance(b, Weight) else self.value_of(b) for _, b in node.segments]
        addends = [self.value_of(base) for base in node.addends]
        scale = None if node.scale is None else self.parameter(node.scale)
        bias = None if node.bias is None else self.parameter(node.bias)
        activation = None if node.activation is None else kernel.ActivationAttr(*node.activation)
        residuals = [self.value_of(base) for base in node.residuals]
        domain = domain_of(node.source.type)
        make = kernel.AggregateOp if node.kind == "aggregate" else kernel.UpdateOp
        op = make(
            lhs,
            rhs,
            tensor_on(domain, (DYNAMIC_INDEX, node.width), Float32Type()),
            node.layer,
            addends=addends,
            scale=scale,
            bias=bias,
            activation=activation,
            residuals=residuals,
        )
        op.location = node.location
        op.result.name_hint = "h"
        self.block.add_op(op)
        return op.result

    def adjacency(self, adjacency: Adjacency, node: Kernel) -> SSAValue:
        if adjacency not in self.adjacencies:
            made = self.structure.adjacency(adjacency, node.location)
            index = self.structure.kept(made)
            self.adjacencies[adjacency] = self.add_argument(made, PLACE, IntegerAttr(index, i64))
        return self.adjacencies[adjacency]

    def parameter(self, parameter: Weight | Vector | NormScale) -> SSAValue:
        if parameter not in self.parameters:
            made = self.weights.value(parameter)
            index = self.weights.kept(made)
            self.parameters[parameter] = self.add_argument(made, WEIGHT_PLACE, IntegerAttr(index, i64))
        return self.parameters[parameter]

    def finish(self, result_types: Sequence[object]) -> None:
        self.structure.finish()
        signature = FunctionType.from_lists([a.type for a in self.block.args], [*result_types])  # pyright: ignore[reportArgumentType]  # attributes
        forward = FuncOp("forward", signature, Region(self.block), arg_attrs=ArrayAttr(self.attributes))
        forward.location = self.old.location
        Rewriter.insert_op(self.weights.function(), InsertPoint.before(self.old))
        Rewriter.insert_op(forward, InsertPoint.before(self.old))
        Rewriter.erase_op(self.old)


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


class WeightWriter:
    """Writes @weights, which prepares what products and epilogues take."""

    def __init__(self) -> None:
        self.block = Block()
        self.results: list[SSAValue] = []
        self.made: dict[object, SSAValue] = {}

    def kept(self, value: SSAValue) -> int:
        if value not in self.results:
            self.results.append(value)
        return self.results.index(value)

    def value(self, parameter: object) -> SSAValue:
        if parameter not in self.made:
            self.made[parameter] = self.make(parameter)
        return self.made[parameter]

    def add(self, op: Operation) -> SSAValue:
        self.block.add_op(op)
        return op.results[0]

    def make(self, parameter: object) -> SSAValue:
        match parameter:
            case Weight():
                return self.weight(parameter)
            case Vector():
                return self.vector(parameter)
            case NormScale():
                scale = None if parameter.scale is None else self.value(parameter.scale)
                return self.add(kernel.NormScaleOp(self.value(parameter.variance), scale, parameter.eps))
            case SSAValue():
                assert isinstance(parameter.owner, LoadWeightOp | ConstantOp)
                return self.add(parameter.owner.clone())
            case _:
                raise AssertionError(parameter)

    def weight(self, weight: Weight) -> SSAValue:
        if weight.rows is None and not weight.scales:
            source = self.value(weight.source)
            return self.add(kernel.TransposeOp(source)) if weight.transposed else source
        value = self.value(Weight(weight.source, weight.transposed))
        if weight.rows is not None:
            start, stop = weight.rows
            value = self.add(kernel.RowsOp(value, start, stop - start))
        for scale in weight.scales:
            value = self.add(kernel.ScaleOp(value, self.value(scale)))
        return value

    def vector(self, vector: Vector) -> SSAValue:
        first, *rest = (self.value(operand) for operand in vector.operands)
        makers: dict[str, Callable[[SSAValue, SSAValue], Operation]] = {
            "add": kernel.AddOp,
            "sub": kernel.SubOp,
            "scale": kernel.ScaleOp,
        }
        if vector.operation != "load":
            return self.add(makers[vector.operation](first, rest[0]))
        if vector.rows is None:
            return first
        return self.add(kernel.RowsOp(first, vector.rows[0], vector.rows[1] - vector.rows[0]))

    def function(self) -> FuncOp:
        self.block.add_op(ReturnOp(*self.results))
        return FuncOp("weights", ([], [v.type for v in self.results]), Region(self.block))
