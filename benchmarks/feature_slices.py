"""The eager model on features that are too wide to be dense: a slice of their columns at a time.

Up to its first linear layers a model is linear in its features, so what these layers compute from all columns is the
sum of what they compute from slices. The model then runs once more, from those sums on, as it is.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from torch.nn import functional
from torch_geometric.nn import Linear

WIDTH = 512  # columns of a slice


class SlicedLinear(torch.nn.Module):
    """A linear layer that meets its input's columns slice by slice, adds up in double precision, and gives zeros until
    `columns` is None: then it gives the sum and no longer looks at its input."""

    def __init__(self, layer: torch.nn.Linear | Linear):
        super().__init__()
        self.weight: torch.Tensor = layer.weight
        self.bias: torch.Tensor | None = layer.bias
        self.columns: slice | None = None
        self.total: Any = 0.0

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if self.columns is None:
            total = self.total if self.bias is None else self.total + self.bias
            return total.float()
        part = functional.linear(x, self.weight[:, self.columns])
        self.total = self.total + part.double()
        return torch.zeros_like(part)


def eager_by_slices(model: torch.nn.Module, x: Any, edges: torch.Tensor) -> Any:
    """What the model computes for all nodes from features in CSR."""
    model = copy.deepcopy(model)
    sliced: list[SlicedLinear] = []
    for parent in list(model.modules()):
        for name, layer in parent.named_children():
            if isinstance(layer, torch.nn.Linear | Linear) and layer.weight.shape[1] == x.shape[1]:
                sliced.append(SlicedLinear(layer))
                parent.register_module(name, sliced[-1])
    by_column = x.tocsc()
    with torch.no_grad():
        for first in range(0, x.shape[1], WIDTH):
            columns = slice(first, min(x.shape[1], first + WIDTH))
            for layer in sliced:
                layer.columns = columns
            model(torch.from_numpy(np.ascontiguousarray(by_column[:, columns].toarray())), edges)
        for layer in sliced:
            layer.columns = None
        return model(torch.zeros(x.shape[0], 1), edges).numpy()
