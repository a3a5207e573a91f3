"""The tensors that a model takes from a graph: what their rows are is known by name, never by size."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

if TYPE_CHECKING:
    from gnnc.graph_entries import Entry

NODES = "nodes"
EDGES = "edges"

# Where the bound model keeps the user's: what the names of its weights begin with in a trace.
MODEL = "model."

# Sizes of the synthetic graph: different from each other and from usual widths; torch would specialise 0 and 1.
FIRST_TRACE_SIZE = 11


@dataclass(frozen=True)
class ModelInput:
    """One tensor that a model takes.

    `key` is the graph's name for it (`x`, `x__paper`), `kind` is "nodes" or "edges" and `set_name` which of them its
    rows are, `axis` the axis that runs over them, `row_shape` the other sizes.
    """

    key: str
    kind: str
    set_name: str
    axis: int
    row_shape: tuple[int, ...]
    dtype: torch.dtype
    index_into: tuple[str, str] | None = None
    """For edges: the node sets that the two rows index."""
    is_weight: bool = False
    """A weight of the model with a row a node: its numbers are the program's, not the graph's."""
    limit: int | None = None
    """What the numbers must be below, because the model looks them up in a table."""
    is_matrix: bool = False
    """For edges: the model takes them as a sparse matrix, which has an entry once."""

    @property
    def is_feature(self) -> bool:
        """Node inputs are what the model computes on; edge inputs belong to the structure of the graph."""
        return self.kind == NODES

    def synthetic(self, sizes: Mapping[str, int]) -> torch.Tensor:
        """A tensor to trace with, for a graph with sets of these sizes: the user's graph is never traced."""
        shape = (*self.row_shape[: self.axis], sizes[self.set_name], *self.row_shape[self.axis :])
        if self.index_into is not None:
            rows = [torch.arange(sizes[self.set_name]) % sizes[nodes] for nodes in self.index_into]
            return torch.stack(rows).to(self.dtype)
        if self.dtype.is_floating_point:
            return torch.linspace(0.0, 1.0, torch.Size(shape).numel()).reshape(shape).to(self.dtype)
        return torch.zeros(shape, dtype=self.dtype)


def trace_sizes(inputs: tuple[ModelInput, ...]) -> dict[str, int]:
    """A size for every set of nodes and of edges, no two alike: sizes of node sets first."""
    nodes = [i.set_name for i in inputs if i.kind == NODES]
    indexed = [name for i in inputs for name in i.index_into or ()]
    sets = dict.fromkeys([*nodes, *indexed, *(i.set_name for i in inputs)])
    return {name: trace_size(place) for place, name in enumerate(sets)}


def trace_size(place: int) -> int:
    return FIRST_TRACE_SIZE + 12 * place


def input_of(entry: Entry) -> ModelInput:
    """What a model that takes an array of a graph has to know of it."""
    value: Any = entry.array
    # a memory-mapped array can't be written, and torch would warn of that
    dtype = value.dtype if isinstance(value, torch.Tensor) else torch.from_numpy(np.empty(0, value.dtype)).dtype
    is_index = entry.index_into is not None
    axis = 1 if is_index else 0
    row_shape = (*value.shape[:axis], *value.shape[axis + 1 :])
    return ModelInput(entry.key, entry.kind, entry.set_name, axis, row_shape, dtype, entry.index_into)
