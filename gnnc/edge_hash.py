"""A hash of a graph's edges, to tell whether a stream was made for them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from gnnc.frontend.inputs import ModelInput

if TYPE_CHECKING:
    from collections.abc import Mapping

    import torch

CHUNK = 1 << 22


def edge_hash(nodes: int, inputs: Sequence[ModelInput], edges: Mapping[str, torch.Tensor]) -> str:
    """64 bits in hex that do not depend on the order in which edges are listed: the sum over edges of a hash of all
    that a model takes of each, its ends first. Tells graphs apart that differ by accident, not by malice."""
    total = np.uint64(nodes)
    for set_name in sorted({i.set_name for i in inputs if i.key in edges}):
        taken = [i for i in inputs if i.key in edges and i.set_name == set_name]
        columns = [column for i in taken for column in columns_of(i, edges[i.key])]
        for first in range(0, len(columns[0]), CHUNK):
            hashes = np.zeros(len(columns[0][first : first + CHUNK]), np.uint64)
            for column in columns:
                hashes = mixed(hashes ^ bits(column[first : first + CHUNK]))
            total += hashes.sum(dtype=np.uint64)
    return f"{int(total):016x}"


def columns_of(described: ModelInput, tensor: torch.Tensor) -> list[Any]:
    """What each edge has of an input, number by number."""
    rows = tensor.detach().cpu().movedim(described.axis, 0)
    return list(rows.reshape(len(rows), -1).T.numpy()) if len(rows) else [np.zeros(0)]


def bits(numbers: Any) -> Any:
    """Numbers as 64 bits each, -0.0 as 0.0."""
    wide = np.float64 if numbers.dtype.kind == "f" else np.int64
    return (numbers.astype(wide) + wide(0)).view(np.uint64)


def mixed(words: Any) -> Any:
    """The finaliser of splitmix64 (Steele, Lea and Flood, 2014), after its increment."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))
