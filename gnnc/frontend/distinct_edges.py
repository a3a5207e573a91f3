"""A matrix has an entry once: a model that takes the edges as one can't run on a graph where an edge is there twice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import torch

from gnnc.errors import GraphError
from gnnc.frontend.inputs import ModelInput
from gnnc.tensors import as_tensor


def check_matrices(inputs: Sequence[ModelInput], given: Mapping[str, Any]) -> None:
    """Raises GraphError, naming the edge, if one is there twice among those that the model takes as a matrix."""
    for i in inputs:
        if i.is_matrix:
            check_distinct(as_tensor(given[i.key]))


def check_distinct(edge_index: torch.Tensor) -> None:
    """Raises GraphError, naming the edge, if one is there twice."""
    if edge_index.numel() == 0:
        return
    pairs = (edge_index[0] * (edge_index[1].max() + 1) + edge_index[1]).sort()
    twice = (pairs.values[1:] == pairs.values[:-1]).nonzero()
    if twice.numel():
        source, target = edge_index[:, pairs.indices[twice[0, 0]]].tolist()
        raise GraphError(
            f"The model takes an adjacency matrix, but the edge from {source} to {target} is there more than once; "
            "leave out repeated edges, as torch_geometric.utils.coalesce does."
        )
