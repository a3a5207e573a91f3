"""gnn-narrow-storage: features, products and what blocks hand on take 16 bits a number."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import (
    BFloat16Type,
    Float16Type,
    Float32Type,
    FunctionType,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from gnnc.dialects.gnn import CastOp, ConvBlockOp, GatherOp, LinearOp, LoadWeightOp, ReluOp, WeightOp, YieldOp
from gnnc.dialects.gnn.attributes import AnyTensor
from gnnc.passes.analysis.conv_layers import is_on_nodes
from gnnc.passes.analysis.matching import located
from gnnc.passes.analysis.model_functions import ModelFunctions, model_functions

Precision = Literal["fp32", "bf16", "fp16"]
PRECISION = "gnn.precision"
ELEMENTS: dict[str, BFloat16Type | Float16Type] = {"bf16": BFloat16Type(), "fp16": Float16Type()}


@dataclass(frozen=True)
class GnnNarrowStorage(ModulePass):
    """Stores the given features, the weights of linear layers, and what ConvBlocks hand on as 16-bit numbers: `bf16` or
    `fp16`. Linear layers take such numbers and give them; everything else computes in 32 bits, from numbers that are
    extended when they are loaded and rounded when they are stored. What the model returns keeps its type. Features that
    are read as sparse rows stay as they are, too.

    This is the one pass that changes results. It runs on request only.
    """

    name = "gnn-narrow-storage"

    type: Precision = "bf16"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.type == "fp32":
            return
        narrow, functions = Narrowing(op, ELEMENTS[self.type]), model_functions(op)
        blocks = [o for o in functions.forward.body.block.ops if isinstance(o, ConvBlockOp)]
        for block in blocks:
            for linear in [o for o in block.body.block.ops if isinstance(o, LinearOp)]:
                narrow.linear(linear)
        narrow.arguments(functions)
        for block in blocks:
            narrow.outputs(block)
        for block in blocks:
            narrow.simplify(block.body.block)
        op.attributes[PRECISION] = StringAttr(self.type)


class Narrowing:
    """Rewrites values of 32 bits to some type of 16."""

    def __init__(self, module: ModuleOp, element: BFloat16Type | Float16Type):
        self.module = module
        self.element = element
        self.weights = {op.sym_name.data: op for op in module.ops if isinstance(op, WeightOp)}

    def narrow_type(self, value: SSAValue) -> AnyTensor:
        type_ = value.type
        assert isinstance(type_, TensorType)
        return TensorType(self.element, type_.get_shape(), type_.encoding)

    def cast(self, value: SSAValue, type_: Attribute, at: Operation) -> SSAValue:
        """A cast before an operation."""
        assert isinstance(type_, TensorType)
        op = located(CastOp(value, type_), at)
        op.result.name_hint = value.name_hint
        Rewriter.insert_op(op, InsertPoint.before(at))
        return op.result

    def linear(self, op: LinearOp) -> None:
        """Input, weight, bias and result become narrow, with casts around."""
        parameters = [v.owner for v in op.operands[1:]]
        loads = [load for load in parameters if isinstance(load, LoadWeightOp)]
        known = len(loads) == len(parameters) and all(map(self.is_parameter, loads))
        if not known or not is_f32(op.input) or not is_narrowable(op):
            return
        for load in loads:
            self.narrow_weight(load.weight.string_value())
        wide = op.result.type
        op.operands[0] = self.cast(op.input, self.narrow_type(op.input), op)
        Rewriter.replace_value_with_new_type(op.result, self.narrow_type(op.result))
        self.widen(op.result, wide, InsertPoint.after(op), op)

    def is_parameter(self, load: LoadWeightOp) -> bool:
        """Whether a weight is one of linear layers alone, wherever it is loaded."""
        loads = [o for o in self.module.walk() if isinstance(o, LoadWeightOp) and o.weight == load.weight]
        users = [use for one in loads for use in one.result.uses]
        return all(isinstance(u.operation, LinearOp) and u.index > 0 and is_narrowable(u.operation) for u in users)

    def narrow_weight(self, name: str) -> None:
        weight = self.weights[name]
        type_ = TensorType(self.element, weight.type.get_shape())
        weight.type = type_
        for load in [o for o in self.module.walk() if isinstance(o, LoadWeightOp)]:
            if load.weight.string_value() == name and load.result.type != type_:
                Rewriter.replace_value_with_new_type(load.result, type_)

    def widen(self, value: SSAValue, type_: Attribute, where: InsertPoint, at: Operation) -> None:
        """All users of a narrow value get it back as it was."""
        assert isinstance(type_, TensorType)
        cast = located(CastOp(value, type_), at)
        cast.result.name_hint = value.name_hint
        Rewriter.insert_op(cast, where)
        value.replace_uses_with_if(cast.result, lambda use: use.operation is not cast)

    def arguments(self, functions: ModelFunctions) -> None:
        """Features that blocks alone take, none of them as sparse rows."""
        forward = functions.forward
        for argument in forward.body.block.args:
            given = functions.structure_place(argument) is None and is_f32(argument) and is_on_nodes(argument)
            if given and self.in_blocks_only(argument) and not read_as_sparse_rows(argument):
                self.hand_on(argument)
        block = forward.body.block
        forward.function_type = FunctionType.from_lists(
            [a.type for a in block.args], forward.function_type.outputs.data
        )

    def outputs(self, block: ConvBlockOp) -> None:
        """Results on nodes that later blocks alone take are rounded before they are handed on."""
        terminator = block.body.block.last_op
        assert isinstance(terminator, YieldOp)
        for place, output in enumerate(block.outputs):
            if is_f32(output) and is_on_nodes(output) and self.in_blocks_only(output):
                terminator.operands[place] = self.cast(terminator.values[place], self.narrow_type(output), terminator)
                self.hand_on(output)

    @staticmethod
    def in_blocks_only(value: SSAValue) -> bool:
        return all(isinstance(use.operation, ConvBlockOp) for use in value.uses)

    def hand_on(self, value: SSAValue) -> None:
        """Makes a value narrow, and the arguments that stand for it in blocks."""
        wide, type_ = value.type, self.narrow_type(value)
        uses = [(use.operation, use.index) for use in value.uses]
        Rewriter.replace_value_with_new_type(value, type_)
        for block, index in uses:
            assert isinstance(block, ConvBlockOp)
            inner = block.body.block
            argument = inner.args[index]
            Rewriter.replace_value_with_new_type(argument, type_)
            first = inner.first_op
            assert first is not None
            self.widen(inner.args[index], wide, InsertPoint.before(first), block)

    def simplify(self, block: Block) -> None:
        """Casts there and back go, gathers take narrow rows, and so does a relu between casts: neither rounds."""
        for op in list(block.ops):
            if isinstance(op, GatherOp) and isinstance(op.nodes.owner, CastOp):
                gathered = located(GatherOp(op.nodes.owner.input, op.edges, op.end), op)
                cast = located(CastOp(gathered.result, type_of(op.result)), op)
                gathered.result.name_hint = op.result.name_hint
                Rewriter.replace_op(op, [gathered, cast], [cast.result])
            if isinstance(op, ReluOp) and isinstance(op.input.owner, CastOp) and self.goes_narrow(op):
                narrow = located(ReluOp(op.input.owner.input), op)
                narrow.result.name_hint = op.result.name_hint
                wide = located(CastOp(narrow.result, type_of(op.result)), op)
                Rewriter.replace_op(op, [narrow, wide], [wide.result])
        for op in [o for o in block.ops if isinstance(o, CastOp)]:
            before = op.input.owner
            if isinstance(before, CastOp) and before.input.type == op.result.type:
                Rewriter.replace_op(op, [], [before.input])
        for op in reversed(list(block.ops)):
            if isinstance(op, CastOp) and not op.result.uses:
                Rewriter.erase_op(op)

    def goes_narrow(self, op: ReluOp) -> bool:
        """Whether a relu of narrow numbers is needed as such alone."""
        cast = op.input.owner
        assert isinstance(cast, CastOp)
        users = [use.operation for use in op.result.uses]
        narrow = all(isinstance(u, CastOp) and type_of(u.result).element_type == self.element for u in users)
        return narrow and type_of(cast.input).element_type == self.element


def type_of(value: SSAValue) -> AnyTensor:
    assert isinstance(value.type, TensorType)
    return value.type


def is_f32(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType) and isinstance(value.type.element_type, Float32Type)


def is_narrowable(op: LinearOp) -> bool:
    return op.primitive is None or op.primitive.kind.data != "csr"


def read_as_sparse_rows(argument: SSAValue) -> bool:
    """Whether a linear layer reads an input of the program as sparse rows."""
    inner = [
        use.operation.body.block.args[use.index] for use in argument.uses if isinstance(use.operation, ConvBlockOp)
    ]
    users = [use.operation for value in inner for use in value.uses]
    return any(isinstance(user, LinearOp) and not is_narrowable(user) for user in users)
