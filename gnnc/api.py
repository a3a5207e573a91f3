"""The Python interface: compile a model, load a program."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Generator, Mapping
from os import PathLike
from typing import TYPE_CHECKING

import torch
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.exceptions import PassFailedException

from gnnc.artifact import read_artifact
from gnnc.errors import ArtifactError, CaptureError, GnncError, GraphError
from gnnc.frontend.lower import lower_model
from gnnc.frontend.wrappers import check_initialised, unwrapped
from gnnc.graph import graph_of
from gnnc.materialize import materialize_weights
from gnnc.passes.analysis.cost_model import CostKind
from gnnc.passes.pipeline import block_pipeline
from gnnc.program import Program

if TYPE_CHECKING:
    from gnnc.graph import GraphLike

__all__ = ["Program", "compile", "load"]


def compile(
    model: torch.nn.Module,
    graph: GraphLike | None = None,
    target: str = "gpu",
    *,
    cost: CostKind = "time",
    keep_reference: int = 0,
    node_weights: Mapping[str, str] | None = None,
) -> Program:
    """Compiles a trained model for graphs like `graph`.

    `graph` is a gnnc.Graph or HeteroGraph, a PyG Data or HeteroData, or a pair (x, edge_index). It says which inputs
    there are and how wide; the program runs on any graph with the same ones. Where forward takes an adjacency matrix,
    `adj_t` has a row a target, and `adj` a row a source, as torch's sparse CSR tensors.

    `cost` decides where layers are cut: by `time` (default), `bytes` moved, or number of `tensors` (as the DGI paper
    does). `keep_reference` runs the model itself, too, and keeps the rows of so many nodes in the program, so that
    `verify` has something to compare with where the model is not.

    `node_weights` are the weights that have a row a node, such as positional encodings, by name, with the node type
    ("nodes" in a homogeneous graph); a program with such weights runs on graphs with that many nodes. If it isn't
    given, gnnc finds out, and asks where there are several ways.

    Raises GraphError for a malformed graph, CaptureError where torch.export can't trace the model, and
    UnsupportedModelError where gnnc can't prove that the result would be exact.
    """
    if not isinstance(model, torch.nn.Module):  # pyright: ignore[reportUnnecessaryIsInstance]  # swapped arguments
        raise CaptureError(f"compile takes a torch.nn.Module, then a graph: it was given {type(model).__name__} first")
    if graph is None:
        raise GraphError("compile takes a model and a graph: give a gnnc.Graph, a PyG Data or a pair (x, edge_index)")
    if target != "gpu":
        raise GnncError(f"target '{target}' is not available: use 'gpu', which runs on a CPU or a CUDA device")
    graph, model = graph_of(graph), unwrapped(model)
    check_initialised(model)
    with evaluation_mode(model):
        lowered = lower_model(model, graph, node_weights)
    mean_degree = -(-graph.num_edges // max(1, graph.num_nodes))
    run_passes(lowered.module, cost, loads=max(1, mean_degree))
    weights = materialize_weights(lowered.module, lowered.weights)
    program = Program(lowered.module, weights, lowered.inputs, lowered.outputs, graph=graph, model=model)
    if keep_reference:
        program.keep_reference(keep_reference)
    return program


def load(path: str | PathLike[str]) -> Program:
    """Reads a program that `Program.save` or `gnnc compile` wrote.

    Raises ArtifactError if it is damaged, incomplete, or of a newer format.
    """
    contents = read_artifact(path)
    try:
        return Program(
            contents.module, contents.weights, contents.inputs, contents.outputs, reference=contents.reference
        )
    except PassFailedException as error:
        raise ArtifactError(f"{path} holds no program that can run ({error}): compile again") from None


def run_passes(module: ModuleOp, cost: CostKind, loads: int) -> None:
    context = Context()
    for module_pass in block_pipeline(cost=cost, loads=loads):
        module_pass.apply(context, module)
    module.verify()


@contextlib.contextmanager
def evaluation_mode(model: torch.nn.Module) -> Generator[None]:
    """The model in evaluation mode; a model left in training mode is put back, and that is said."""
    training = [module for module in model.modules() if module.training]
    if training:
        warnings.warn(f"{type(model).__name__} is in training mode: it is compiled in evaluation mode", stacklevel=4)
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True
