"""gnn-freeze-features: what depends on the given features and the structure alone becomes an input of its own."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, ModuleOp, StringAttr, TensorType
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import Rewriter

from gnnc.dialects.gnn import GlobalCallOp, GlobalReduceOp, ReshapeOp
from gnnc.dialects.gnn.attributes import domain_of
from gnnc.passes.analysis.conv_layers import is_on_nodes
from gnnc.passes.analysis.cost_model import row_bytes
from gnnc.passes.analysis.decision_log import Decision, record, source_of
from gnnc.passes.analysis.model_functions import FROZEN, NAME, ModelFunctions, model_functions, returned


@dataclass(frozen=True)
class GnnFreezeFeatures(ModulePass):
    """Moves into a function @frozen what @forward computes from features and structure before the first product with a
    weight, such as the A^K X of SGC or the mean of the features in a first GraphSAGE layer. Its results, values on
    nodes, are arguments of @forward from then on; the compiler computes them once. The program is then one for a single
    graph and its features. Vectors and single numbers among the weights, such as GIN's eps, are no products.
    """

    name = "gnn-freeze-features"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = model_functions(op)
        stored = values_to_store(functions)
        for value in stored:
            assert isinstance(value.owner, Operation)
            subject = f"{value.name_hint or 'a value'} ({row_bytes(value.type)} bytes)"
            record(op, Decision(self.name, subject, source_of(value.owner), "computed when compiled"))
        if stored:
            op.body.block.insert_op_before(frozen_function(functions, stored), functions.forward)
            replace_by_arguments(functions.forward, stored)
            erase_unused(functions.forward)


def values_to_store(functions: ModelFunctions) -> list[SSAValue]:
    """The node values that only depend on features and structure, and that something else uses. An edge value is
    computed again: it is not stored, but what it is made of may be."""
    features, free = values_before_products(functions)
    stored: dict[SSAValue, None] = {}
    again = set[Operation]()
    for op in reversed(list(functions.forward.body.block.ops)):
        if op not in again and any(result in features or result in free for result in op.results):
            continue
        for operand in op.operands:
            if operand in features and is_worth_storing(operand):
                stored[operand] = None
            elif isinstance(operand.owner, Operation):
                again.add(operand.owner)
    return list(reversed(stored))


def values_before_products(functions: ModelFunctions) -> tuple[set[SSAValue], set[SSAValue]]:
    """The values of @forward before the first product with a weight: those that depend on features, and the others."""
    block = functions.forward.body.block
    features = {v for v in list[SSAValue](block.args) if functions.structure_place(v) is None}
    free = {v for v in list[SSAValue](block.args) if v not in features}
    for op in block.ops:
        known = all(operand in features or operand in free for operand in op.operands)
        if not known or isinstance(op, GlobalCallOp | GlobalReduceOp | ReturnOp) or any(map(is_matrix, op.operands)):
            continue
        made_of_features = any(operand in features for operand in op.operands)
        (features if made_of_features else free).update(op.results)
    return features, free


def is_matrix(value: SSAValue) -> bool:
    """Whether a value is a weight with several axes: what takes it is a product, or looks rows up in it."""
    type_ = value.type
    return isinstance(type_, TensorType) and domain_of(type_) is None and len(type_.get_shape()) > 1


def is_worth_storing(value: SSAValue) -> bool:
    """Arguments are stored already, and so are their numbers in another shape."""
    while isinstance(value.owner, ReshapeOp):
        value = value.owner.input
    return isinstance(value.owner, Operation) and is_on_nodes(value)


def frozen_function(functions: ModelFunctions, stored: list[SSAValue]) -> FuncOp:
    """@frozen, with the arguments of @forward, from copies of what the values are computed by."""
    forward = functions.forward
    needed = set[Operation]()
    stack = [value.owner for value in stored]
    while stack:
        op = stack.pop()
        if isinstance(op, Operation) and op not in needed:
            needed.add(op)
            stack.extend(operand.owner for operand in op.operands)
    body = Block(arg_types=[argument.type for argument in forward.body.block.args])
    mapping: dict[SSAValue, SSAValue] = dict(zip(forward.body.block.args, body.args, strict=True))
    for old, new in zip(forward.body.block.args, body.args, strict=True):
        new.name_hint = old.name_hint
    for op in forward.body.block.ops:
        if op in needed:
            body.add_op(op.clone(value_mapper=mapping))
    body.add_op(ReturnOp(*(mapping[value] for value in stored)))
    type_ = FunctionType.from_lists([a.type for a in body.args], [value.type for value in stored])
    function = FuncOp(FROZEN, type_, Region(body))
    function.arg_attrs = forward.arg_attrs
    return function


def replace_by_arguments(forward: FuncOp, stored: list[SSAValue]) -> None:
    """New arguments of @forward in the place of values, named frozen.0, frozen.1 and so on."""
    block = forward.body.block
    attributes = list(forward.arg_attrs.data) if forward.arg_attrs else [DictionaryAttr({})] * len(block.args)
    for number, value in enumerate(stored):
        argument = block.insert_arg(value.type, len(block.args))
        argument.name_hint = value.name_hint
        attributes.append(DictionaryAttr({NAME: StringAttr(f"{FROZEN}.{number}")}))
        value.replace_all_uses_with(argument)
    forward.arg_attrs = ArrayAttr(attributes)
    outputs = [value.type for value in returned(forward).arguments]
    forward.function_type = FunctionType.from_lists([a.type for a in block.args], outputs)


def erase_unused(forward: FuncOp) -> None:
    """What computed the values."""
    for op in reversed(list(forward.body.block.ops)):
        if op.results and all(not result.uses for result in op.results):
            Rewriter.erase_op(op)
