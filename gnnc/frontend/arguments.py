"""What the arguments of a model's forward are and how they are put together from the arrays of a graph."""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import torch

from gnnc.errors import CaptureError
from gnnc.frontend.adjacency import SOURCE_ROWS, TARGET_ROWS, AdjacencyMatrix, taking_adjacency
from gnnc.frontend.data_objects import DataObject, is_data
from gnnc.frontend.inputs import MODEL, ModelInput, input_of, trace_sizes
from gnnc.frontend.layer_edges import SAMPLED, LayerEdges, count_of_layers
from gnnc.frontend.recipes import ByType, Leaf, Recipe, RowCount, Tensors
from gnnc.graph_entries import NODE_IDS, Entry, node_id_entries

if TYPE_CHECKING:
    from gnnc.graph import AnyGraph

# Names that people give the arguments that most models have.
ALIASES = {
    "x": ("x", "feat", "feats", "features", "inputs", "h", "in_feat"),
    "edge_index": ("edge_index", "edges", "edge_list", "ei"),
    NODE_IDS: (NODE_IDS, "node_id", "node_ids", "nid", "node_idx"),
}
NODE_COUNTS = ("num_nodes", "n_nodes")

# What a parameter is called that takes a dict by type: x_dict, edge_index_dict.
BY_TYPE = "_dict"


@dataclass(frozen=True)
class Arguments:
    """The arguments of forward by parameter, and the tensors they are made of."""

    recipes: Mapping[str, Recipe]
    inputs: tuple[ModelInput, ...]

    @staticmethod
    def by_name(inputs: Sequence[ModelInput]) -> Arguments:
        """Every input is the argument that is called like it."""
        return Arguments({i.key: Leaf(i.key) for i in inputs}, tuple(inputs))

    def build(self, tensors: Tensors, eager: bool = False) -> dict[str, Any]:
        """What forward is called with; tensors by key."""
        return {parameter: recipe.build(tensors, eager) for parameter, recipe in self.recipes.items()}

    def synthetic(self) -> list[torch.Tensor]:
        """Tensors to trace with, in the order of the inputs."""
        sizes = trace_sizes(self.inputs)
        return [i.synthetic(sizes) for i in self.inputs]


def bind_arguments(model: torch.nn.Module, graph: AnyGraph) -> Arguments:
    """The arguments of `model.forward` that the graph provides.

    A parameter with a default that the graph has nothing for keeps its default. Raises CaptureError for a required
    parameter that matches nothing in the graph.
    """
    given = graph.entries()
    entries = [*given, *node_id_entries(given, graph.node_counts)]
    parameters = [
        p
        for p in inspect.signature(model.forward).parameters.values()
        if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
    ]
    required = [p for p in parameters if p.default is p.empty]
    recipes: dict[str, Recipe] = {}
    for parameter in parameters:
        recipe = recipe_for(model, parameter, entries, required)
        if recipe is not None:
            recipes[parameter.name] = recipe
        elif parameter in required:
            names = sorted({entry.name for entry in graph.entries()})
            raise CaptureError(
                f"argument '{parameter.name}' of {type(model).__name__}.forward matches nothing in the graph, which "
                f"has {', '.join(names)}: rename the argument or add '{parameter.name}' to the graph"
            )
    by_key = {entry.key: input_of(entry) for entry in entries}
    keys = dict.fromkeys(key for recipe in recipes.values() for key in recipe.keys)
    return Arguments(recipes, tuple(by_key[key] for key in keys))


def recipe_for(
    model: torch.nn.Module,
    parameter: inspect.Parameter,
    entries: Sequence[Entry],
    required: Sequence[inspect.Parameter],
) -> Recipe | None:
    """What a parameter of forward stands for in a graph; in a heterogeneous one a dict by type."""
    is_only = [parameter] == list(required)
    own = [entry for entry in entries if entry.name != NODE_IDS or parameter in required]
    name = graph_name(parameter.name, {entry.name for entry in own})
    if name is not None and name != "batch":
        return by_type({entry.type: Leaf(entry.key) for entry in entries if entry.name == name})
    if parameter not in required:
        return None
    plain = parameter.name.removesuffix(BY_TYPE)
    if plain in TARGET_ROWS + SOURCE_ROWS:
        return by_type(matrices(entries, rows=1 if plain in TARGET_ROWS else 0))
    if parameter.name == SAMPLED:
        return sampled_layers(model, entries)
    if plain in NODE_COUNTS:
        return by_type({type_: RowCount(key) for type_, key in row_keys(entries).items()})
    return data_object(entries) if is_only or is_data(parameter, is_only) else None


def by_type(parts: Mapping[Any, Recipe]) -> Recipe:
    """A dict by type, or for a homogeneous graph the only part."""
    return parts[None] if None in parts else ByType(parts)


def row_keys(entries: Sequence[Entry]) -> dict[Any, str]:
    """For each node type, a tensor with a row a node."""
    keys: dict[Any, str] = {}
    for entry in entries:
        if entry.kind == "nodes":
            keys.setdefault(entry.type, entry.key)
    return keys


def matrices(entries: Sequence[Entry], rows: int) -> dict[Any, Recipe]:
    """For each edge type, its adjacency matrix."""
    counts = {entry.set_name: RowCount(entry.key) for entry in reversed(entries) if entry.kind == "nodes"}
    weights = {entry.type: entry.key for entry in entries if entry.name == "edge_weight"}
    return {
        entry.type: AdjacencyMatrix(
            entry.key, weights.get(entry.type), (counts[entry.index_into[0]], counts[entry.index_into[1]]), rows
        )
        for entry in entries
        if entry.index_into is not None
    }


def sampled_layers(model: torch.nn.Module, entries: Sequence[Entry]) -> Recipe | None:
    """What a sampler gives for each layer, without sampling."""
    keys = row_keys(entries)
    return LayerEdges("edge_index", RowCount(keys[None]), count_of_layers(model)) if None in keys else None


def data_object(entries: Sequence[Entry]) -> DataObject:
    parts: dict[Any, dict[str, Recipe]] = {}
    for entry in entries:
        parts.setdefault(entry.type, {})[entry.name] = Leaf(entry.key)
    counts = {type_: RowCount(key) for type_, key in row_keys(entries).items()}
    for type_, count in counts.items():
        parts[type_]["num_nodes"] = count
    adjacency = matrices(entries, rows=1)
    if None in parts:
        return DataObject(parts, {"batch_size": counts[None], "node_id": Leaf(NODE_IDS), "adj_t": adjacency[None]})
    return DataObject(parts, {"adj_t_dict": ByType(adjacency)})


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


class BoundModel(torch.nn.Module):
    """A model as a function of the graph's tensors, in the order of `arguments.inputs`."""

    def __init__(self, model: torch.nn.Module, arguments: Arguments):
        super().__init__()
        self.model = model
        self.arguments = arguments

    def forward(self, *tensors: torch.Tensor) -> Any:
        by_key = dict(zip((i.key for i in self.arguments.inputs), tensors, strict=True))
        arguments = self.arguments.build(by_key)
        weights = {i.key.removeprefix(MODEL): by_key[i.key] for i in self.arguments.inputs if i.is_weight}
        with taking_adjacency(self.model):
            if not weights:
                return self.model(**arguments)
            return torch.func.functional_call(self.model, weights, (), arguments)
