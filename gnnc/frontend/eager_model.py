"""The model itself, run eagerly on the tensors of a graph, which is what a program must agree with."""

from __future__ import annotations

import contextlib
from collections.abc import Generator, Sequence
from dataclasses import replace
from typing import Any

import torch
from torch.utils._pytree import tree_leaves

from gnnc.errors import GnncError, UnsupportedModelError
from gnnc.frontend.adjacency import AdjacencyMatrix
from gnnc.frontend.arguments import Arguments, BoundModel
from gnnc.frontend.inputs import ModelInput
from gnnc.frontend.recipes import Tensors, parts_of

# Where PyG's convs keep what they have cached.
CACHES = ("_cached_edge_index", "_cached_adj_t", "_cached_x", "_cached_h")

# Between two ways of computing the same on a graph of a few nodes, relative to the largest value.
TOLERANCE = 1e-4


def run_eagerly(model: torch.nn.Module, arguments: Arguments, tensors: Tensors) -> list[torch.Tensor]:
    """What the model computes, its tensors in order, in evaluation mode; it is left as it was.

    Adjacency matrices are torch sparse CSR tensors. A model that wants more of them than torch offers, as that of
    torch_sparse does, gets the stand-in of its trace.
    """
    with as_it_was(model), torch.no_grad():
        try:
            result = model(**arguments.build(tensors, eager=True))
        except GnncError:
            raise
        except Exception:  # whatever the model raises
            if not adjacency_matrices(arguments):
                raise
            result = BoundModel(model, arguments)(*(tensors[i.key] for i in arguments.inputs))
    return [leaf for leaf in tree_leaves(result) if leaf is not None]


@contextlib.contextmanager
def as_it_was(model: torch.nn.Module) -> Generator[None]:
    """The model in evaluation mode; afterwards its mode and its caches are those from before."""
    training = [module for module in model.modules() if module.training]
    caches = [(m, name, getattr(m, name)) for m in model.modules() for name in CACHES if hasattr(m, name)]
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True
        for module, name, cached in caches:
            setattr(module, name, cached)


def adjacency_matrices(arguments: Arguments) -> list[AdjacencyMatrix]:
    """Those that forward takes or can ask for."""
    parts = (part for recipe in arguments.recipes.values() for part in parts_of(recipe))
    return [part for part in parts if isinstance(part, AdjacencyMatrix)]


def as_matrices(inputs: Sequence[ModelInput], arguments: Arguments) -> tuple[ModelInput, ...]:
    """The inputs, where it is noted of which edges the model, when it was traced, made an adjacency matrix."""
    edges = {matrix.edge_index for matrix in adjacency_matrices(arguments) if matrix.made}
    return tuple(replace(i, is_matrix=i.key in edges) for i in inputs)


def check_adjacency(model: torch.nn.Module, arguments: Arguments) -> None:
    """Compares what the model makes of the stand-in with what it makes of a real matrix, on a few nodes with loops.

    Raises UnsupportedModelError if they differ: some convs do something else with a matrix than with its edges.
    """
    if not any(matrix.made for matrix in adjacency_matrices(arguments)):
        return
    tensors = probe_tensors(arguments)
    with as_it_was(model), torch.no_grad():
        traced = tree_leaves(BoundModel(model, arguments)(*tensors.values()))
    with as_it_was(model), torch.no_grad():
        try:
            real = tree_leaves(model(**arguments.build(tensors, eager=True)))
        except Exception:  # it wants what torch's matrices don't have: there is nothing to compare with
            return
    if not all(agree(a, b) for a, b in zip(traced, real, strict=True)):
        raise UnsupportedModelError(
            f"{type(model).__name__} computes something else from a sparse adjacency matrix than from its edges: let "
            "forward take edge_index"
        )


def agree(a: Any, b: Any) -> bool:
    if not isinstance(a, torch.Tensor) or not isinstance(b, torch.Tensor):
        return a is b
    scale = float(b.abs().max()) if b.numel() else 0.0
    return a.shape == b.shape and torch.allclose(a, b, rtol=0.0, atol=TOLERANCE * scale, equal_nan=True)


def probe_tensors(arguments: Arguments) -> dict[str, torch.Tensor]:
    """Random inputs: half of all pairs of nodes are edges, loops among them, no pair twice."""
    generator = torch.Generator().manual_seed(0)
    tensors = dict(zip((i.key for i in arguments.inputs), arguments.synthetic(), strict=True))
    for i in arguments.inputs:
        tensor = tensors[i.key]
        if i.index_into is not None:
            counts = [int(tensor[end].max()) + 1 for end in (0, 1)]
            pairs = torch.randperm(counts[0] * counts[1], generator=generator)[: tensor.shape[1]]
            tensors[i.key] = torch.stack([pairs // counts[1], pairs % counts[1]]).to(tensor.dtype)
        elif tensor.is_floating_point():
            tensors[i.key] = torch.rand(tensor.shape, generator=generator).to(tensor.dtype)
    return tensors
