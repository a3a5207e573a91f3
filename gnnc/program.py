"""A compiled model and how to run it."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from xdsl.dialects.builtin import ModuleOp

from gnnc.artifact import Contents, write_artifact
from gnnc.errors import RunError
from gnnc.frontend.inputs import ModelInput
from gnnc.graph import Graph
from gnnc.outputs import OutputStructure, output_names, rebuild
from gnnc.targets.gpu.executor import BatchedExecutor
from gnnc.verification import DEFAULT_TOLERANCE, Reference, Verification, compare, eager_outputs, hash_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnnc.graph import GraphLike


class Program:
    """A compiled model.

    `module` is its IR at the level of ConvBlocks, `weights` the numbers of the weights by symbol, `inputs` what it
    takes from a graph, `outputs` how its results are put together. A program that was just compiled knows its `graph`
    and its `model`; `reference` holds rows that the model computed then, if they were asked for.
    """

    def __init__(
        self,
        module: ModuleOp,
        weights: Mapping[str, torch.Tensor],
        inputs: tuple[ModelInput, ...],
        outputs: OutputStructure,
        *,
        graph: Graph | None = None,
        model: torch.nn.Module | None = None,
        reference: Reference | None = None,
    ):
        self.module = module
        self.weights = weights
        self.inputs = inputs
        self.outputs = outputs
        self.graph = graph
        self.model = model
        self.reference = reference
        self._executor = BatchedExecutor(module, weights)
        self._structure: tuple[Graph, tuple[Any, ...]] | None = None

    def run(
        self,
        x: Any = None,
        *,
        graph: GraphLike | None = None,
        nodes: Any = None,
        batch_size: int | None = None,
        device: str = "cpu",
    ) -> Any:
        """What the model returns, for every node or for some.

        `x` are node features of shape [nodes, …] (default: the graph's own); `graph` another graph with the same inputs
        as the one the program was compiled with; `nodes` the ids of the nodes to return, in the order and as often as
        they are asked for; `batch_size` the number of target nodes a batch (default: as many as keep a batch's edge
        values within 256 MiB); `device` "cpu" or "cuda". Features as a numpy array give numpy arrays, a torch tensor
        gives tensors.

        What depends on the graph alone is kept for the next run on the same Graph object, whose arrays must not change
        in between. Raises RunError if an input does not fit the program.
        """
        used = self.graph_for(graph)
        given = self.given_inputs(used, x)
        results = self.run_tensors(used, self.input_tensors(given, used.num_nodes), nodes, batch_size, device)
        as_tensors = any(isinstance(given[i.key], torch.Tensor) for i in self.inputs if i.is_feature)
        return rebuild(self.outputs, results if as_tensors else [result.numpy() for result in results])

    def run_tensors(
        self, graph: Graph, tensors: Mapping[str, torch.Tensor], nodes: Any, batch_size: int | None, device: str
    ) -> list[torch.Tensor]:
        """The outputs in order, as tensors on the host; arguments as for `run`."""
        if batch_size is not None and batch_size < 1:
            raise RunError(f"batch_size is {batch_size}: give the number of nodes a batch, 1 or more")
        asked = None if nodes is None else node_ids(nodes, graph.num_nodes)
        results = self._executor.run(
            {i.key: tensors[i.key] for i in self.inputs if i.is_feature},
            self.structure(graph, tensors),
            graph.num_nodes,
            wanted=None if asked is None else torch.unique(asked),
            batch_size=batch_size,
            device=usable_device(device),
        )
        if asked is None:
            return results
        axes = self._executor.node_axes()
        return [result.index_select(axis, asked) for result, axis in zip(results, axes, strict=True)]

    def verify(
        self,
        nodes: Any = None,
        *,
        graph: GraphLike | None = None,
        model: torch.nn.Module | None = None,
        tolerance: float = DEFAULT_TOLERANCE,
        batch_size: int | None = None,
        device: str = "cpu",
    ) -> Verification:
        """Compares the program's outputs with the model's, for every node or for `nodes`.

        The model is the one that was compiled, or `model`; it runs eagerly on the whole graph. A program that was
        loaded from a file and is given no model compares with the reference rows that were stored with it. `tolerance`
        is the largest error over the scale of the output, the largest absolute value that the model computes.

        Raises RunError if there is nothing to compare with, or the reference rows are of another graph.
        """
        used = self.graph_for(graph)
        tensors = self.input_tensors(self.given_inputs(used), used.num_nodes)
        model = model if model is not None else self.model
        axes, names = self._executor.node_axes(), output_names(self.outputs)
        if model is None:
            reference = self.reference_for(tensors)
            results = self.run_tensors(used, tensors, reference.nodes, batch_size, device)
            return compare(names, results, reference.rows, axes, reference.nodes, tolerance)
        ids = torch.arange(used.num_nodes) if nodes is None else node_ids(nodes, used.num_nodes)
        results = self.run_tensors(used, tensors, ids, batch_size, device)
        expected = eager_outputs(model, {i.parameter: tensors[i.key] for i in self.inputs})
        expected = [e.index_select(axis, ids) for e, axis in zip(expected, axes, strict=True)]
        return compare(names, results, expected, axes, ids, tolerance)

    def reference_for(self, tensors: Mapping[str, torch.Tensor]) -> Reference:
        """The stored rows, if they are of the graph with these inputs."""
        if self.reference is None:
            raise RunError("there is nothing to compare with: give the model, or compile with reference rows to keep")
        if self.reference.graph_hash != hash_of(tensors):
            raise RunError("the reference rows are of another graph: give the graph that was compiled, or the model")
        return self.reference

    def keep_reference(self, count: int) -> None:
        """Stores the model's own rows for `count` nodes, spread evenly over the graph the program was compiled with."""
        assert self.model is not None
        graph = self.graph_for(None)
        tensors = self.input_tensors(self.given_inputs(graph), graph.num_nodes)
        kept = min(count, graph.num_nodes)
        nodes = torch.arange(kept) * max(0, graph.num_nodes - 1) // max(1, kept - 1)
        outputs = eager_outputs(self.model, {i.parameter: tensors[i.key] for i in self.inputs})
        rows = [o.index_select(axis, nodes) for o, axis in zip(outputs, self._executor.node_axes(), strict=True)]
        self.reference = Reference(nodes, tuple(rows), hash_of(tensors))

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the program as an artifact, a folder from which `gnnc.load` reads it without the model's source."""
        write_artifact(Contents(self.module, self.weights, self.inputs, self.outputs, self.reference), path)

    def given_inputs(self, graph: Graph, x: Any = None) -> dict[str, Any]:
        """What a graph provides, by name; `x` takes the place of its features."""
        given: dict[str, Any] = {"edge_index": graph.edge_index, **graph.attributes}
        return given if x is None else {**given, self.features_key(): x}

    def features_key(self) -> str:
        """The graph's name for the features that `run(x)` gives: x, or else the only ones there are."""
        keys = [i.key for i in self.inputs if i.is_feature]
        if "x" in keys or len(keys) == 1:
            return "x" if "x" in keys else keys[0]
        raise RunError(f"the program takes {', '.join(keys)} and no x: give a graph that has them")

    def graph_for(self, graph: GraphLike | None) -> Graph:
        """The graph to run on. Raises RunError if there is none."""
        if graph is not None:
            return Graph.of(graph)
        if self.graph is None:
            raise RunError("the program was loaded from a file and knows no graph: give graph=")
        return self.graph

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


def node_ids(nodes: Any, count: int) -> torch.Tensor:
    """Node ids as an int64 tensor. Raises RunError, naming the first that is no node of the graph."""
    if not isinstance(nodes, np.ndarray | torch.Tensor):
        nodes = np.asarray(nodes)
    ids = as_tensor(nodes)
    if ids.dim() != 1:
        raise RunError(f"nodes has shape {list(ids.shape)}: give a one-dimensional array of node ids")
    if ids.numel() == 0:
        return ids.to(torch.int64)
    if ids.dtype == torch.bool or ids.dtype.is_floating_point or ids.dtype.is_complex:
        raise RunError(f"nodes has type {ids.dtype}: give integer ids (for a mask, the indices where it is true)")
    ids = ids.to(torch.int64)
    wrong = ((ids < 0) | (ids >= count)).nonzero()
    if wrong.numel():
        place = int(wrong[0])
        raise RunError(f"nodes[{place}] is {int(ids[place])}, the graph has nodes 0 to {count - 1}")
    return ids


def as_tensor(array: NDArray[Any] | torch.Tensor) -> torch.Tensor:
    """A tensor on the host that shares the array's memory where it can; it is only read."""
    with warnings.catch_warnings():
        # memory-mapped files are read-only, and torch warns of what would happen if one wrote to them
        warnings.filterwarnings("ignore", "The given NumPy array is not writable", UserWarning)
        return torch.as_tensor(array).detach().cpu()


def checked_input(expected: ModelInput, value: Any, nodes: int) -> torch.Tensor:
    """One input as a tensor on the host. Raises RunError naming it if its shape or type differs."""
    if not isinstance(value, np.ndarray | torch.Tensor):
        raise RunError(f"{expected.key} is a {type(value).__name__}: give a numpy array or a torch tensor")
    tensor = as_tensor(value)
    shape = (*tensor.shape[: expected.axis], *tensor.shape[expected.axis + 1 :])
    if tensor.dim() != len(expected.row_shape) + 1 or shape != expected.row_shape:
        sizes = [str(size) for size in expected.row_shape]
        sizes.insert(expected.axis, "?")
        raise RunError(
            f"{expected.key} has shape {list(tensor.shape)}, the program was compiled for [{', '.join(sizes)}]"
        )
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
