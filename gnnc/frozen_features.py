"""Which arguments of a program were computed when it was compiled, and from what."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import torch

from gnnc.frontend.inputs import ModelInput
from gnnc.verification import hash_of


@dataclass(frozen=True)
class Frozen:
    """The arguments of @forward that were computed when the model was compiled; their numbers lie among the program's
    weights. `graph_hash` tells the graph and the features that they were computed from."""

    keys: tuple[str, ...]
    graph_hash: str


def hash_of_inputs(inputs: tuple[ModelInput, ...], tensors: Mapping[str, torch.Tensor]) -> str:
    """A hash of all that a graph gives."""
    return hash_of({i.key: tensors[i.key] for i in inputs if not i.is_weight})
