"""The Python interface: compile a model, run the program."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Generator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch.utils._pytree import TreeSpec, tree_unflatten
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp

from gnnc.errors import CaptureError, GnncError, RunError
from gnnc.frontend.inputs import ModelInput
from gnnc.frontend.lower import LoweredModel, lower_model
from gnnc.graph import Graph
from gnnc.passes.analysis.cost_model import CostKind
from gnnc.passes.pipeline import block_pipeline
from gnnc.targets.gpu.executor import BatchedExecutor

if TYPE_CHECKING:
    from gnnc.graph import GraphLike


def compile(model: torch.nn.Module, graph: GraphLike, target: str = "gpu", *, cost: CostKind = "time") -> Program:
    """Compiles a trained model for graphs like `graph`.

    `graph` is a gnnc.Graph, a PyG Data object, or a pair (x, edge_index). It says which inputs there are and how wide;
    the program runs on any graph with the same ones. `cost` decides where layers are cut: by `time` (default), `bytes`
    moved, or number of `tensors` (as the DGI paper does).

    Raises GraphError for a malformed graph, CaptureError where torch.export can't trace the model, UnsupportedModelError
    where gnnc can't prove that the result would be exact.
    """
    if not isinstance(model, torch.nn.Module):  # pyright: ignore[reportUnnecessaryIsInstance]  # swapped arguments
        raise CaptureError(f"compile takes a torch.nn.Module, then a graph: it was given {type(model).__name__} first")
    if target != "gpu":
        raise GnncError(f"target '{target}' is not available: use 'gpu', which runs on a CPU or a CUDA device")
    graph = Graph.of(graph)
    with evaluation_mode(model):
        lowered = lower_model(model, graph)
    mean_degree = -(-graph.num_edges // max(1, graph.num_nodes))
    run_passes(lowered.module, cost, loads=max(1, mean_degree))
    return Program(lowered, graph)


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
        warnings.warn(f"{type(model).__name__} is in training mode: it is compiled in evaluation mode", stacklevel=3)
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True


class Program:
    """A compiled model. `module` is its IR at the level of ConvBlocks."""

    def __init__(self, lowered: LoweredModel, graph: Graph):
        self.module: ModuleOp = lowered.module
        self.inputs: tuple[ModelInput, ...] = lowered.inputs
        self._outputs: TreeSpec = lowered.outputs
        self._graph = graph
        self._executor = BatchedExecutor(lowered.module, lowered.weights)
        self._structure: tuple[Graph, tuple[Any, ...]] | None = None

    def run(
        self, x: Any = None, *, graph: GraphLike | None = None, batch_size: int | None = None, device: str = "cpu"
    ) -> Any:
        """What the model returns, for every node.

        `x` are node features of shape [nodes, …] (default: the graph's own), `graph` another graph with the same inputs
        as the one the program was compiled with, `batch_size` the number of target nodes a batch (default: as many as
        keep a batch's edge values within 256 MiB), `device` "cpu" or "cuda". Features as a numpy array give numpy
        arrays, a torch tensor gives tensors.

        Raises RunError if an input does not fit the program.
        """
        if batch_size is not None and batch_size < 1:
            raise RunError(f"batch_size is {batch_size}: give the number of nodes a batch, 1 or more")
        device = usable_device(device)
        used = self._graph if graph is None else Graph.of(graph)
        given: dict[str, Any] = {"edge_index": used.edge_index, **used.attributes}
        if x is not None:
            given["x"] = x
        tensors = self.input_tensors(given, used.num_nodes)
        features = {i.key: tensors[i.key] for i in self.inputs if i.is_feature}
        results = self._executor.run(
            features, self.structure(used, tensors), used.num_nodes, batch_size=batch_size, device=device
        )
        as_tensors = any(isinstance(given[i.key], torch.Tensor) for i in self.inputs if i.is_feature)
        return tree_unflatten(results if as_tensors else [r.numpy() for r in results], self._outputs)

    def structure(self, graph: Graph, tensors: Mapping[str, torch.Tensor]) -> tuple[Any, ...]:
        """What depends on the graph alone; kept for the graph that was used last."""
        if self._structure is None or self._structure[0] is not graph:
            self._structure = (graph, self._executor.structure(tensors, graph.num_nodes))
        return self._structure[1]

    def input_tensors(self, given: Mapping[str, Any], nodes: int) -> dict[str, torch.Tensor]:
        """The inputs by the graph's names, on the host, checked against the program's signature."""
        tensors: dict[str, torch.Tensor] = {}
        for expected in self.inputs:
            if expected.key not in given:
                raise RunError(f"the graph has no {expected.key}, which the program takes: add it to the graph")
            tensors[expected.key] = checked_input(expected, given[expected.key], nodes)
        return tensors


def checked_input(expected: ModelInput, value: Any, nodes: int) -> torch.Tensor:
    """One input as a tensor on the host. Raises RunError naming it if its shape or type differs."""
    if not isinstance(value, np.ndarray | torch.Tensor):
        raise RunError(f"{expected.key} is a {type(value).__name__}: give a numpy array or a torch tensor")
    tensor = torch.as_tensor(value).detach().cpu()
    shape = (*tensor.shape[: expected.axis], *tensor.shape[expected.axis + 1 :])
    if tensor.dim() != len(expected.row_shape) + 1 or shape != expected.row_shape:
        wanted = [*expected.row_shape]
        wanted.insert(expected.axis, "?")  # type: ignore[arg-type]
        raise RunError(f"{expected.key} has shape {list(tensor.shape)}, the program was compiled for {wanted}")
    if expected.is_feature and tensor.shape[expected.axis] != nodes:
        raise RunError(f"{expected.key} has {tensor.shape[expected.axis]} rows, the graph has {nodes} nodes")
    if tensor.dtype != expected.dtype:
        raise RunError(
            f"{expected.key} has type {tensor.dtype}, the program was compiled for {expected.dtype}: convert it"
        )
    return tensor


def usable_device(device: str) -> str:
    """The device, if torch can use it. Raises RunError otherwise."""
    kind = device.split(":", 1)[0]
    if kind not in ("cpu", "cuda"):
        raise RunError(f"device '{device}' is unknown: use 'cpu' or 'cuda'")
    if kind == "cuda" and not torch.cuda.is_available():
        raise RunError("device 'cuda' is not available on this machine: use 'cpu'")
    return device
