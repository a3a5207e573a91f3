"""convert-gnn-to-kernel: @forward becomes a graph of matrix products, @structure gives adjacency matrices."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    Float32Type,
    FunctionType,
    IntegerAttr,
    ModuleOp,
    StringAttr,
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
    ConvBlockOp,
    EdgeSoftmaxOp,
    YieldOp,
)
from gnnc.dialects.gnn.attributes import domain_of, tensor_on
from gnnc.passes.analysis.conv_layers import is_on_edges
from gnnc.passes.analysis.decision_log import forget
from gnnc.passes.analysis.foldable import Refusal, reason_of
from gnnc.passes.analysis.kernel_graph import Adjacency, Base, Input, Kernel, NormScale, Vector, Weight
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
from gnnc.passes.kernels.structure_writer import StructureWriter
from gnnc.passes.kernels.weight_writer import WeightWriter


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
