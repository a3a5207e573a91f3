"""The whole front end: a PyTorch model and what its graph looks like become a module of the `gnn` dialect."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import torch
from torch.export import ExportedProgram
from xdsl.dialects.builtin import ModuleOp

from gnnc.errors import CaptureError, UnsupportedModelError
from gnnc.frontend.arguments import Arguments, bind_arguments
from gnnc.frontend.binding_time import binding_times, fold_weights
from gnnc.frontend.capture import capture, decomposed
from gnnc.frontend.distinct_edges import check_matrices
from gnnc.frontend.eager_model import as_matrices, check_adjacency
from gnnc.frontend.emit import emit_module
from gnnc.frontend.fixed_rows import check_fixed_rows, with_limits
from gnnc.frontend.global_rules import expand_global_operations
from gnnc.frontend.inputs import MODEL, ModelInput
from gnnc.frontend.masked_rows import keep_masked_rows_in_place
from gnnc.frontend.node_weights import NodeWeights, tensors_of, weight_inputs, with_node_weights
from gnnc.frontend.used_inputs import used_inputs, with_inputs
from gnnc.frontend.value_numbering import number_values
from gnnc.outputs import OutputStructure, output_structure

if TYPE_CHECKING:
    from gnnc.graph import AnyGraph


@dataclass(frozen=True)
class LoweredModel:
    """A model in the IR, at the level `model`.

    `weights` by symbol; `inputs` are the tensors it takes from a graph, `outputs` says how the model puts its results
    together.
    """

    module: ModuleOp
    weights: dict[str, torch.Tensor]
    inputs: tuple[ModelInput, ...]
    outputs: OutputStructure


def lower_model(model: torch.nn.Module, graph: AnyGraph, node_weights: NodeWeights | None = None) -> LoweredModel:
    """Captures `model` and writes its IR. The graph only says which inputs there are, of what width and type.

    `node_weights` are the weights that have a row a node, found out if not given. Raises CaptureError where
    torch.export can't trace the model, UnsupportedModelError for what isn't proved exact.
    """
    return with_node_weights(model, graph, node_weights, lambda weights: lower_with(model, graph, weights))


def lower_with(model: torch.nn.Module, graph: AnyGraph, node_weights: NodeWeights) -> LoweredModel:
    arguments = bind_arguments(model, graph)
    arguments = replace(arguments, inputs=(*arguments.inputs, *weight_inputs(model, graph, node_weights)))
    program = capture(model, arguments)
    try:
        lowered = lower_program(program, model, arguments)
    except UnsupportedModelError:
        # what an operator without a rule stands for may be made of such that have one
        lowered = lower_program(decomposed(program), model, arguments)
    check_adjacency(model, arguments)
    lowered = replace(lowered, inputs=as_matrices(lowered.inputs, arguments))
    check_matrices(lowered.inputs, {entry.key: entry.array for entry in graph.entries()})
    return lowered


def lower_program(program: ExportedProgram, model: torch.nn.Module, arguments: Arguments) -> LoweredModel:
    """The IR of a model that was captured with these arguments."""
    traced = number_values(program, arguments.inputs)
    inputs = used_inputs(traced, arguments.inputs)
    if not any(i.is_feature for i in inputs):
        raise CaptureError(f"{type(model).__name__}.forward takes no node features from the graph: name an argument x")
    traced = with_inputs(traced, inputs)
    check_fixed_rows(traced, inputs)
    inputs = with_limits(traced, inputs)
    traced = keep_masked_rows_in_place(traced, binding_times(traced, inputs))
    traced = expand_global_operations(traced)
    times = binding_times(traced, inputs)
    fold_weights(traced, times)
    module, weights = emit_module(traced, inputs, times)
    module.verify()
    assert program.call_spec.out_spec is not None
    outputs = output_structure(program.call_spec.out_spec, [value is not None for value in traced.returned])
    tensors = tensors_of(model)
    stored = {i.key: tensors[i.key.removeprefix(MODEL)].detach().clone() for i in inputs if i.is_weight}
    return LoweredModel(module, {**weights, **stored}, inputs, outputs)
