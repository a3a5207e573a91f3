"""The whole front end: a PyTorch model and what its graph looks like become a module of the `gnn` dialect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from torch.export import ExportedProgram
from xdsl.dialects.builtin import ModuleOp

from gnnc.errors import UnsupportedModelError
from gnnc.frontend.arguments import Arguments, bind_arguments
from gnnc.frontend.binding_time import binding_times, fold_weights
from gnnc.frontend.capture import capture, decomposed
from gnnc.frontend.emit import emit_module
from gnnc.frontend.global_rules import expand_global_operations
from gnnc.frontend.masked_rows import keep_masked_rows_in_place
from gnnc.frontend.value_numbering import number_values
from gnnc.outputs import OutputStructure, output_structure

if TYPE_CHECKING:
    from gnnc.graph import AnyGraph


@dataclass(frozen=True)
class LoweredModel:
    """A model in the IR, at the level `model`.

    `weights` by symbol; `arguments` says how forward's arguments are made from the graph's tensors, `outputs` how the
    model puts its results together.
    """

    module: ModuleOp
    weights: dict[str, torch.Tensor]
    arguments: Arguments
    outputs: OutputStructure


def lower_model(model: torch.nn.Module, graph: AnyGraph) -> LoweredModel:
    """Captures `model` and writes its IR. The graph only says which inputs there are, of what width and type.

    Raises CaptureError where torch.export can't trace the model, UnsupportedModelError for what isn't proved exact.
    """
    arguments = bind_arguments(model, graph)
    program = capture(model, arguments)
    try:
        return lower_program(program, arguments)
    except UnsupportedModelError:
        # what an operator without a rule stands for may be made of such that have one
        return lower_program(decomposed(program), arguments)


def lower_program(program: ExportedProgram, arguments: Arguments) -> LoweredModel:
    """The IR of a model that was captured with these arguments."""
    inputs = arguments.inputs
    traced = number_values(program, inputs)
    traced = keep_masked_rows_in_place(traced, binding_times(traced, inputs))
    traced = expand_global_operations(traced)
    times = binding_times(traced, inputs)
    fold_weights(traced, times)
    module, weights = emit_module(traced, inputs, times)
    module.verify()
    assert program.call_spec.out_spec is not None
    outputs = output_structure(program.call_spec.out_spec, [value is not None for value in traced.returned])
    return LoweredModel(module, weights, arguments, outputs)
