"""The two functions of a model and how they fit together."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, BlockArgument, SSAValue
from xdsl.utils.exceptions import PassFailedException

STRUCTURE, FORWARD = "structure", "forward"
FROZEN = "frozen"  # computes, when the model is compiled, what some arguments of @forward stand for
NAME, PLACE = "gnn.name", "gnn.structure"
DENSITY = "gnn.density"  # of an argument of @forward, or of a weight
EDGES, LOOPS = "gnn.edges", "gnn.loops"  # how many a relation has, on the argument of @structure that holds it
NODE_COUNTS = "gnn.node_counts"  # how many nodes each set has, on the module
WEIGHTS, WEIGHT_PLACE = "weights", "kernel.weight"  # from the level of kernels on


@dataclass(frozen=True)
class ModelFunctions:
    """@structure makes, from the edges alone, what some arguments of @forward stand for."""

    structure: FuncOp
    forward: FuncOp

    def structure_place(self, argument: SSAValue) -> int | None:
        """Which result of @structure an argument of @forward is; None for a feature and for anything else."""
        if not isinstance(argument, BlockArgument) or argument.block is not self.forward.body.block:
            return None
        attribute = argument_attribute(self.forward, argument.index, PLACE)
        return attribute.value.data if isinstance(attribute, IntegerAttr) else None

    def structure_value(self, argument: SSAValue) -> SSAValue | None:
        """The value in @structure behind an argument of @forward."""
        place = self.structure_place(argument)
        return None if place is None else returned(self.structure).arguments[place]


def model_functions(module: ModuleOp) -> ModelFunctions:
    """The functions of a module. Raises PassFailedException if one is missing."""
    functions = {op.sym_name.data: op for op in module.ops if isinstance(op, FuncOp)}
    missing = [name for name in (STRUCTURE, FORWARD) if name not in functions]
    if missing:
        raise PassFailedException(f"the module has no func.func @{missing[0]}")
    return ModelFunctions(functions[STRUCTURE], functions[FORWARD])


def has_weights_function(module: ModuleOp) -> bool:
    """Whether a module has a function that prepares weights, as at the level of kernels and below."""
    return any(isinstance(op, FuncOp) and op.sym_name.data == WEIGHTS for op in module.ops)


def returned(function: FuncOp) -> ReturnOp:
    """The return operation of a function."""
    terminator = function.body.block.last_op
    assert isinstance(terminator, ReturnOp)
    return terminator


def argument_attribute(function: FuncOp, index: int, name: str) -> Attribute | None:
    if function.arg_attrs is None:
        return None
    return function.arg_attrs.data[index].data.get(name)


def set_argument_attribute(function: FuncOp, index: int, name: str, attribute: Attribute) -> None:
    old = function.arg_attrs.data if function.arg_attrs else [DictionaryAttr({})] * len(function.body.block.args)
    new = DictionaryAttr({**old[index].data, name: attribute})
    function.arg_attrs = ArrayAttr([*old[:index], new, *old[index + 1 :]])


def argument_name(function: FuncOp, index: int) -> str | None:
    """The graph's name for an argument, such as x or edge_index."""
    attribute = argument_attribute(function, index, NAME)
    return attribute.data if isinstance(attribute, StringAttr) else None
