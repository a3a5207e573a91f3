"""Running a whole model, structure and features, with the reference executor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import torch
from xdsl.dialects.builtin import ModuleOp

from gnnc.passes.analysis.model_functions import argument_name, model_functions
from gnnc.targets.reference.interpreter import run_function


def run_structure(
    module: ModuleOp, inputs: Mapping[str, Any], weights: Mapping[str, torch.Tensor], node_counts: Mapping[str, int]
) -> tuple[Any, ...]:
    """The results of @structure for a graph: `inputs` by the graph's names, `node_counts` by node set."""
    structure = model_functions(module).structure
    names = [argument_name(structure, i) for i in range(len(structure.body.block.args))]
    return run_function(module, "structure", [inputs[n] for n in names if n is not None], weights, node_counts)


def run_model(
    module: ModuleOp, inputs: Mapping[str, Any], weights: Mapping[str, torch.Tensor], node_counts: Mapping[str, int]
) -> tuple[Any, ...]:
    """What the model computes, on all nodes at once; works at every level of the IR."""
    functions = model_functions(module)
    structure = run_structure(module, inputs, weights, node_counts)
    arguments: list[Any] = []
    for argument in functions.forward.body.block.args:
        place = functions.structure_place(argument)
        name = argument_name(functions.forward, argument.index)
        arguments.append(structure[place] if place is not None else inputs[name or ""])
    return run_function(module, "forward", arguments, weights, node_counts)
