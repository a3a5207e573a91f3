"""gnn-prune-structure: @structure returns what @forward uses, and nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, IntegerAttr, ModuleOp, i64
from xdsl.passes import ModulePass

from gnnc.passes.analysis.model_functions import PLACE, ModelFunctions, model_functions, returned


@dataclass(frozen=True)
class GnnPruneStructure(ModulePass):
    """Removes arguments of @forward that nothing uses, such as edge counts after a mean was recognised, and the results
    of @structure that no argument stands for; `dce` then removes what computed them.
    """

    name = "gnn-prune-structure"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = model_functions(op)
        drop_unused_arguments(functions)
        drop_unused_results(functions)


def drop_unused_arguments(functions: ModelFunctions) -> None:
    """Features keep their place, used or not: they are the model's signature."""
    forward = functions.forward
    if forward.arg_attrs is None:
        return
    attributes = list(forward.arg_attrs.data)
    block = forward.body.block
    for argument in reversed(block.args):
        if functions.structure_place(argument) is not None and not argument.uses:
            del attributes[argument.index]
            forward.arg_attrs = ArrayAttr(attributes)
            block.erase_arg(argument)
    forward.function_type = FunctionType.from_lists([a.type for a in block.args], forward.function_type.outputs.data)


def drop_unused_results(functions: ModelFunctions) -> None:
    structure, forward = functions.structure, functions.forward
    places = [functions.structure_place(argument) for argument in forward.body.block.args]
    used = sorted({place for place in places if place is not None})
    terminator = returned(structure)
    kept = [terminator.arguments[place] for place in used]
    terminator.operands = kept
    structure.function_type = FunctionType.from_lists(structure.function_type.inputs.data, [v.type for v in kept])
    if forward.arg_attrs is None:
        return
    forward.arg_attrs = ArrayAttr(
        attributes if place is None else DictionaryAttr({**attributes.data, PLACE: IntegerAttr(used.index(place), i64)})
        for attributes, place in zip(forward.arg_attrs.data, places, strict=True)
    )
