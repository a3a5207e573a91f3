"""Running a whole model, structure and features, with the reference executor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from xdsl.dialects.builtin import IntegerAttr, ModuleOp

from gnnc.passes.analysis.model_functions import (
    WEIGHT_PLACE,
    WEIGHTS,
    argument_attribute,
    argument_name,
    has_weights_function,
    model_functions,
)
from gnnc.targets.reference.interpreter import run_function


def run_structure(
    module: ModuleOp, inputs: Mapping[str, Any], weights: Mapping[str, torch.Tensor], node_counts: Mapping[str, int]
) -> tuple[Any, ...]:
    """The results of @structure for a graph: `inputs` by the graph's names, `node_counts` by node set."""
    structure = model_functions(module).structure
    names = [argument_name(structure, i) for i in range(len(structure.body.block.args))]
    return run_function(module, "structure", [inputs[n] for n in names if n is not None], weights, node_counts)


def run_weights(module: ModuleOp, weights: Mapping[str, torch.Tensor]) -> tuple[Any, ...]:
    """The results of @weights, which modules have from the level of kernels on; none before."""
    return run_function(module, WEIGHTS, [], weights, {}) if has_weights_function(module) else ()


def run_model(
    module: ModuleOp, inputs: Mapping[str, Any], weights: Mapping[str, torch.Tensor], node_counts: Mapping[str, int]
) -> tuple[Any, ...]:
    """What the model computes, on all nodes at once; works at every level of the IR."""
    functions = model_functions(module)
    structure, parameters = run_structure(module, inputs, weights, node_counts), run_weights(module, weights)
    arguments: list[Any] = []
    for argument in functions.forward.body.block.args:
        place = functions.structure_place(argument)
        weight = argument_attribute(functions.forward, argument.index, WEIGHT_PLACE)
        name = argument_name(functions.forward, argument.index)
        if isinstance(weight, IntegerAttr):
            arguments.append(parameters[weight.value.data])
        else:
            arguments.append(structure[place] if place is not None else inputs[name or ""])
    return run_function(module, "forward", arguments, weights, node_counts)
