"""The whole front end: a PyTorch model and what its graph looks like become a module of the `gnn` dialect."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch
from xdsl.dialects.builtin import ModuleOp

from gnnc.frontend.binding_time import binding_times, fold_weights
from gnnc.frontend.capture import capture
from gnnc.frontend.emit import emit_module
from gnnc.frontend.inputs import ModelInput, bind_inputs
from gnnc.frontend.value_numbering import number_values
from gnnc.outputs import OutputStructure, output_structure

if TYPE_CHECKING:
    from gnnc.graph import Graph


@dataclass(frozen=True)
class LoweredModel:
    """A model in the IR, at the level `model`.

    `weights` by symbol; `inputs` in the order of the model's arguments; `outputs` says how the model puts its results
    together.
    """

    module: ModuleOp
    weights: dict[str, torch.Tensor]
    inputs: tuple[ModelInput, ...]
    outputs: OutputStructure


def lower_model(model: torch.nn.Module, graph: Graph) -> LoweredModel:
    """Captures `model` and writes its IR. The graph only says which inputs there are, of what width and type.

    Raises CaptureError where torch.export can't trace the model, UnsupportedModelError for what isn't proved exact.
    """
    inputs = bind_inputs(model, graph)
    program = capture(model, inputs)
    traced = number_values(program, inputs)
    times = binding_times(traced, inputs)
    fold_weights(traced, times)
    module, weights = emit_module(traced, inputs, times)
    module.verify()
    assert program.call_spec.out_spec is not None
    outputs = output_structure(program.call_spec.out_spec, [value is not None for value in traced.returned])
    return LoweredModel(module, weights, tuple(inputs), outputs)
