"""What is computed once, when a model is compiled, because it depends on the given features and structure alone."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import torch
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.transforms.dead_code_elimination import DeadCodeElimination

from gnnc.frontend.inputs import ModelInput
from gnnc.frozen_features import Frozen, hash_of_inputs
from gnnc.passes.analysis.model_functions import FORWARD, FROZEN, model_functions
from gnnc.passes.gnn_prune_structure import GnnPruneStructure
from gnnc.passes.pipeline import splitting_pipeline
from gnnc.program import Program

if TYPE_CHECKING:
    from gnnc.graph import AnyGraph


def freeze(
    module: ModuleOp, weights: Mapping[str, torch.Tensor], inputs: tuple[ModelInput, ...], graph: AnyGraph, loads: int
) -> tuple[Frozen, dict[str, torch.Tensor]] | None:
    """Runs @frozen, block by block as any program, and takes it out of the module. None if there is none."""
    alone = frozen_module(module)
    if alone is None:
        return None
    for one in (GnnPruneStructure(), DeadCodeElimination(), *splitting_pipeline(loads=loads)):
        one.apply(Context(), alone)
    program = Program(alone, weights, inputs, {"kind": "tuple"}, graph=graph)
    tensors = program.input_tensors(program.given_inputs(graph), graph.node_counts)
    values = program.run_tensors(graph, tensors, None, None, "cpu")
    frozen = {f"{FROZEN}.{number}": value.contiguous() for number, value in enumerate(values)}
    return Frozen(tuple(frozen), hash_of_inputs(inputs, tensors)), frozen


def frozen_module(module: ModuleOp) -> ModuleOp | None:
    """A module that computes what @frozen does, which is gone from the old one, with all that only it needed."""
    if function_of(module, FROZEN) is None:
        return None
    alone = module.clone()
    erase(alone, FORWARD)
    renamed = function_of(alone, FROZEN)
    assert renamed is not None
    renamed.properties["sym_name"] = model_functions(module).forward.sym_name
    erase(module, FROZEN)
    for one in (GnnPruneStructure(), DeadCodeElimination()):
        one.apply(Context(), module)
    return alone


def function_of(module: ModuleOp, name: str) -> FuncOp | None:
    return next((op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == name), None)


def erase(module: ModuleOp, name: str) -> None:
    function = function_of(module, name)
    assert function is not None
    function.detach()
    function.erase()
