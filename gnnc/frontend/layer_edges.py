"""`adjs`, the list of PyG's NeighborSampler: for each layer its edges, their ids and its numbers of nodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import torch

from gnnc.errors import CaptureError
from gnnc.frontend.recipes import Recipe, Tensors

SAMPLED = "adjs"


class Layer(NamedTuple):
    """One layer as the sampler gives it."""

    edge_index: torch.Tensor
    e_id: torch.Tensor
    size: tuple[int, int]

    def to(self, *_: Any, **__: Any) -> Layer:
        return self


@dataclass(frozen=True)
class LayerEdges:
    """All edges for every layer: nothing is sampled, and every node is a target."""

    edge_index: str
    count: Recipe
    layers: int

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.edge_index, *self.count.keys)

    def build(self, tensors: Tensors, eager: bool = False) -> list[Layer]:
        edge_index, nodes = tensors[self.edge_index], self.count.build(tensors)
        ids = torch.arange(edge_index.shape[1], device=edge_index.device)
        return [Layer(edge_index, ids, (nodes, nodes))] * self.layers


def count_of_layers(model: torch.nn.Module) -> int:
    """How many layers a model asks a sampler for: what it says itself, or the length of its only list of convs.

    Raises CaptureError if neither tells.
    """
    said = getattr(model, "num_layers", None)
    if isinstance(said, int):
        return said
    lists = [module for module in model.modules() if isinstance(module, torch.nn.ModuleList)]
    convs = [modules for modules in lists if any(is_conv(module) for module in modules)]
    if len(convs) == 1:
        return len(convs[0])
    raise CaptureError(
        f"{type(model).__name__}.forward takes the layers of a sampler, but nothing says how many: set "
        "model.num_layers before it is compiled"
    )


def is_conv(module: torch.nn.Module) -> bool:
    return any("MessagePassing" in base.__name__ or "Conv" in base.__name__ for base in type(module).__mro__)
