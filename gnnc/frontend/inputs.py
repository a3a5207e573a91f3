"""What the arguments of a model's forward are: names decide, never sizes."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from gnnc.errors import CaptureError

if TYPE_CHECKING:
    from gnnc.graph import Graph

NODES = "nodes"
EDGES = "edges"

# Names that people give the two arguments every model has.
ALIASES = {
    "x": ("x", "feat", "feats", "features", "inputs", "h", "in_feat"),
    "edge_index": ("edge_index", "edges", "edge_list", "ei"),
}

# Sizes of the synthetic graph: different from each other and from usual widths; torch would specialise 0 and 1.
TRACE_NODES = 11
TRACE_EDGES = 23


@dataclass(frozen=True)
class ModelInput:
    """One tensor argument of forward.

    `key` is the graph's name for it, `domain` is "nodes" or "edges", `axis` the axis that runs over them, `row_shape`
    the other sizes.
    """

    parameter: str
    key: str
    domain: str
    axis: int
    row_shape: tuple[int, ...]
    dtype: torch.dtype

    @property
    def is_feature(self) -> bool:
        """Node inputs are what the model computes on; edge inputs belong to the structure of the graph."""
        return self.domain == NODES

    def synthetic(self) -> torch.Tensor:
        """A tensor to trace with: the user's graph is never traced."""
        count = TRACE_NODES if self.domain == NODES else TRACE_EDGES
        shape = (*self.row_shape[: self.axis], count, *self.row_shape[self.axis :])
        if self.key == "edge_index":
            flat = torch.arange(2 * TRACE_EDGES) % TRACE_NODES
            return flat.reshape(shape).to(self.dtype)
        if self.dtype.is_floating_point:
            return torch.linspace(0.0, 1.0, torch.Size(shape).numel()).reshape(shape).to(self.dtype)
        return torch.zeros(shape, dtype=self.dtype)


def bind_inputs(model: torch.nn.Module, graph: Graph) -> list[ModelInput]:
    """The inputs of `model.forward` that the graph provides.

    A parameter with a default that the graph has nothing for keeps its default. Raises CaptureError for a required
    parameter that matches nothing in the graph.
    """
    attributes: Mapping[str, Any] = {"edge_index": graph.edge_index, **graph.attributes}
    inputs: list[ModelInput] = []
    for name, parameter in inspect.signature(model.forward).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        key = graph_key(name, attributes)
        if key is not None:
            inputs.append(describe_input(name, key, attributes[key]))
        elif parameter.default is parameter.empty:
            raise CaptureError(
                f"argument '{name}' of {type(model).__name__}.forward matches nothing in the graph, which has "
                f"{', '.join(sorted(attributes))}: rename the argument or add '{name}' to the graph"
            )
    if not any(i.is_feature for i in inputs):
        raise CaptureError(f"{type(model).__name__}.forward takes no node features from the graph: name an argument x")
    return inputs


def graph_key(parameter: str, attributes: Mapping[str, Any]) -> str | None:
    """The graph's attribute that a parameter of forward stands for."""
    if parameter in attributes:
        return parameter
    for key, names in ALIASES.items():
        if parameter in names and key in attributes:
            return key
    return None


def describe_input(parameter: str, key: str, value: Any) -> ModelInput:
    # a memory-mapped array can't be written, and torch would warn of that
    dtype = value.dtype if isinstance(value, torch.Tensor) else torch.from_numpy(np.empty(0, value.dtype)).dtype
    axis = 1 if key == "edge_index" else 0
    domain = EDGES if key.startswith("edge_") else NODES
    row_shape = (*value.shape[:axis], *value.shape[axis + 1 :])
    return ModelInput(parameter, key, domain, axis, row_shape, dtype)
