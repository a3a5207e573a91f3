"""What the arguments of a model's forward are and how they are put together from the arrays of a graph."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import torch

from gnnc.errors import CaptureError
from gnnc.frontend.inputs import ModelInput, input_of, trace_sizes

if TYPE_CHECKING:
    from gnnc.graph import AnyGraph
    from gnnc.graph_entries import Entry

# Names that people give the two arguments every model has.
ALIASES = {
    "x": ("x", "feat", "feats", "features", "inputs", "h", "in_feat"),
    "edge_index": ("edge_index", "edges", "edge_list", "ei"),
}

# What a parameter is called that takes a dict by type: x_dict, edge_index_dict.
BY_TYPE = "_dict"

Tensors: TypeAlias = Mapping[str, torch.Tensor]


@dataclass(frozen=True)
class Leaf:
    """A tensor of the graph, by its key."""

    key: str

    def build(self, tensors: Tensors) -> Any:
        return tensors[self.key]


@dataclass(frozen=True)
class ByType:
    """A dict of tensors by node type or edge type."""

    leaves: Mapping[Any, Leaf]

    def build(self, tensors: Tensors) -> Any:
        return {type_: leaf.build(tensors) for type_, leaf in self.leaves.items()}


Recipe: TypeAlias = Leaf | ByType


@dataclass(frozen=True)
class Arguments:
    """The arguments of forward by parameter, and the tensors they are made of."""

    recipes: Mapping[str, Recipe]
    inputs: tuple[ModelInput, ...]

    @staticmethod
    def by_name(inputs: Sequence[ModelInput]) -> Arguments:
        """Every input is the argument that is called like it."""
        return Arguments({i.key: Leaf(i.key) for i in inputs}, tuple(inputs))

    def build(self, tensors: Tensors) -> dict[str, Any]:
        """What forward is called with; tensors by key."""
        return {parameter: recipe.build(tensors) for parameter, recipe in self.recipes.items()}

    def synthetic(self) -> list[torch.Tensor]:
        """Tensors to trace with, in the order of the inputs."""
        sizes = trace_sizes(self.inputs)
        return [i.synthetic(sizes) for i in self.inputs]


def bind_arguments(model: torch.nn.Module, graph: AnyGraph) -> Arguments:
    """The arguments of `model.forward` that the graph provides.

    A parameter with a default that the graph has nothing for keeps its default. Raises CaptureError for a required
    parameter that matches nothing in the graph.
    """
    entries = graph.entries()
    recipes: dict[str, Recipe] = {}
    for name, parameter in inspect.signature(model.forward).parameters.items():
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            continue
        recipe = recipe_for(name, entries)
        if recipe is not None:
            recipes[name] = recipe
        elif parameter.default is parameter.empty:
            names = sorted({entry.name for entry in entries})
            raise CaptureError(
                f"argument '{name}' of {type(model).__name__}.forward matches nothing in the graph, which has "
                f"{', '.join(names)}: rename the argument or add '{name}' to the graph"
            )
    used = {key for recipe in recipes.values() for key in keys_of(recipe)}
    by_key = {entry.key: input_of(entry) for entry in entries}
    inputs = tuple(by_key[key] for recipe in recipes.values() for key in keys_of(recipe) if key in used)
    if not any(i.is_feature for i in inputs):
        raise CaptureError(f"{type(model).__name__}.forward takes no node features from the graph: name an argument x")
    return Arguments(recipes, tuple(dict.fromkeys(inputs)))


def recipe_for(parameter: str, entries: Sequence[Entry]) -> Recipe | None:
    """What a parameter of forward stands for in a graph; in a heterogeneous one a dict by type."""
    name = graph_name(parameter, {entry.name for entry in entries})
    if name is None:
        return None
    found = [entry for entry in entries if entry.name == name]
    if any(entry.type is not None for entry in found):
        return ByType({entry.type: Leaf(entry.key) for entry in found})
    return Leaf(found[0].key)


def graph_name(parameter: str, names: set[str]) -> str | None:
    """The graph's name for what a parameter of forward stands for."""
    plain = parameter.removesuffix(BY_TYPE)
    for candidate in (parameter, plain):
        if candidate in names:
            return candidate
    for name, aliases in ALIASES.items():
        if plain in aliases and name in names:
            return name
    return None


def keys_of(recipe: Recipe) -> list[str]:
    """The keys of the tensors that an argument is made of."""
    return [recipe.key] if isinstance(recipe, Leaf) else [leaf.key for leaf in recipe.leaves.values()]


class BoundModel(torch.nn.Module):
    """A model as a function of the graph's tensors, in the order of `arguments.inputs`."""

    def __init__(self, model: torch.nn.Module, arguments: Arguments):
        super().__init__()
        self.model = model
        self.arguments = arguments

    def forward(self, *tensors: torch.Tensor) -> Any:
        keys = (i.key for i in self.arguments.inputs)
        return self.model(**self.arguments.build(dict(zip(keys, tensors, strict=True))))
