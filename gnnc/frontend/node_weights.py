"""Weights with a row a node: positional encodings, embedding tables that are the features, label inputs.

They are inputs to the trace, since their rows are those of the graph; the numbers come from the program's weights, and
the program is tied to graphs with so many nodes. Which weights these are only the model's author knows: a weight that
happens to have as many rows as the graph has nodes need not be one. First the model is captured with none; where that
fails, with those that could be, and if it can be captured in two ways, gnnc asks.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import product
from typing import TYPE_CHECKING, TypeAlias, TypeVar

import torch

from gnnc.errors import CaptureError, GnncError, UnsupportedModelError
from gnnc.frontend.inputs import MODEL, NODES, ModelInput

if TYPE_CHECKING:
    from gnnc.graph import AnyGraph

T = TypeVar("T")

NodeWeights: TypeAlias = Mapping[str, str]
"""The node type by the name of the weight; that of a homogeneous graph is "nodes"."""

# So many weights are tried out, each with a capture of its own.
MOST_TRIED = 12


def weight_inputs(model: torch.nn.Module, graph: AnyGraph, weights: NodeWeights) -> tuple[ModelInput, ...]:
    """The weights as inputs of a trace; the axis over nodes is the first that is as long as there are nodes."""
    tensors = tensors_of(model)
    inputs: list[ModelInput] = []
    for name, type_ in weights.items():
        shape, dtype = tuple(tensors[name].shape), tensors[name].dtype
        axis = shape.index(graph.node_counts[type_])
        row_shape = (*shape[:axis], *shape[axis + 1 :])
        inputs.append(ModelInput(f"{MODEL}{name}", NODES, type_, axis, row_shape, dtype, is_weight=True))
    return tuple(inputs)


def tensors_of(model: torch.nn.Module) -> dict[str, torch.Tensor]:
    """Parameters and buffers by name."""
    return {**dict(model.named_parameters()), **dict(model.named_buffers())}


def check_node_weights(model: torch.nn.Module, graph: AnyGraph, weights: NodeWeights) -> None:
    """Raises CaptureError for what the caller names and the model or the graph does not have."""
    tensors, counts = tensors_of(model), graph.node_counts
    for name, type_ in weights.items():
        if name not in tensors:
            raise CaptureError(f"node_weights names {name}, which {type(model).__name__} does not have")
        if type_ not in counts:
            raise CaptureError(f"node_weights names the node type '{type_}', the graph has {', '.join(counts)}")
        if counts[type_] not in tensors[name].shape:
            raise CaptureError(
                f"node_weights names {name}, whose shape is {list(tensors[name].shape)}; the graph has {counts[type_]} "
                f"nodes of '{type_}'"
            )


def with_node_weights(
    model: torch.nn.Module, graph: AnyGraph, given: NodeWeights | None, lower: Callable[[NodeWeights], T]
) -> T:
    """What `lower` makes of the model, with the weights that have a row a node: those that are given, or else none if
    that works, or else the only ones with which it does.

    Raises CaptureError if it works in several ways, and what `lower` raises without such weights if in none.
    """
    if given is not None:
        check_node_weights(model, graph, given)
        return lower(given)
    try:
        return lower({})
    except (CaptureError, UnsupportedModelError) as error:
        candidates = candidate_weights(model, graph)
        if not 0 < len(candidates) <= MOST_TRIED:
            raise
        found = first_that_work(candidates, lower)
        if not found:
            raise
        if len(found) > 1:
            ways = " or ".join(f"node_weights={weights}" for weights, _ in found[:3])
            raise CaptureError(
                f"{type(model).__name__} has weights with as many rows as the graph has nodes, and can be captured in "
                f"more than one way: tell gnnc.compile which of them have a row a node, {ways}",
                str(error),
            ) from error
        return found[0][1]


def candidate_weights(model: torch.nn.Module, graph: AnyGraph) -> dict[str, list[str]]:
    """The node types, by weight, that have as many nodes as an axis of the weight is long."""
    found = {
        name: [type_ for type_, count in graph.node_counts.items() if count in tensor.shape]
        for name, tensor in tensors_of(model).items()
    }
    return {name: types for name, types in found.items() if types}


def first_that_work(
    candidates: Mapping[str, list[str]], lower: Callable[[NodeWeights], T]
) -> list[tuple[NodeWeights, T]]:
    """The choices that work, of one weight if there are any, or else of all, or else of all but one."""
    for choices in choices_by_size(candidates):
        found: list[tuple[NodeWeights, T]] = []
        for weights in choices:
            try:
                found.append((weights, lower(weights)))
            except GnncError:
                continue
        if found:
            return found
    return []


def choices_by_size(candidates: Mapping[str, list[str]]) -> Iterator[list[NodeWeights]]:
    names = list(candidates)
    yield [chosen for name in names for chosen in assignments(candidates, [name])]
    if len(names) > 1:
        yield assignments(candidates, names)
    if len(names) > 2:
        yield [chosen for left in names for chosen in assignments(candidates, [n for n in names if n != left])]


def assignments(candidates: Mapping[str, list[str]], names: list[str]) -> list[NodeWeights]:
    """Every way of giving each of the weights one of its node types; only the first few, if there are many."""
    ways = product(*(candidates[name] for name in names))
    return [dict(zip(names, way, strict=True)) for way, _ in zip(ways, range(MOST_TRIED), strict=False)]
