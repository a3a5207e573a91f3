"""A compiled model and how to run it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from xdsl.dialects.builtin import ModuleOp, StringAttr
from xdsl.utils.exceptions import PassFailedException

from gnnc.artifact import Contents, write_artifact
from gnnc.errors import RunError
from gnnc.frontend.arguments import bind_arguments
from gnnc.frontend.distinct_edges import check_matrices
from gnnc.frontend.eager_model import run_eagerly
from gnnc.frontend.inputs import ModelInput
from gnnc.frontend.wrappers import unwrapped
from gnnc.frozen_features import Frozen, hash_of_inputs
from gnnc.graph import Graph, graph_of
from gnnc.graph_entries import is_node_ids
from gnnc.memory_sizes import memory_bytes
from gnnc.output_rows import OutputRows, asked_nodes
from gnnc.outputs import OutputStructure, flatten, output_names, rebuild
from gnnc.passes.gnn_narrow_storage import PRECISION
from gnnc.reordered_graphs import ReorderedGraph, check_reorder, in_memory, on_disk, reason_against
from gnnc.run_arguments import check_counts, checked_input, usable_device
from gnnc.sampling import fan_outs, sampled_module
from gnnc.store_runs import DEFAULT_MEMORY, StoreOptions, run_in_store
from gnnc.targets.gpu.errors import ResourceError, is_out_of_memory, size_text
from gnnc.targets.gpu.executor import BatchedExecutor
from gnnc.targets.gpu.fused_executor import executor_for_stores, executor_on_device, executor_with_kernels
from gnnc.targets.gpu.kept_features import NOTHING_KEPT, KeptFeatures
from gnnc.targets.gpu.reordering import Reorder, loads_of
from gnnc.targets.gpu.run_report import RunReport
from gnnc.tensors import as_tensor
from gnnc.verification import TOLERANCES, Reference, Verification, compare, hash_of

if TYPE_CHECKING:
    from gnnc.graph import AnyGraph, GraphLike

FROZEN_FOR_ALL = "fanout: the program was compiled with freeze_features, for all neighbours: compile without"


class Program:
    """A compiled model.

    `module` is its IR at the level of ConvBlocks, `weights` the numbers of the weights by symbol, `inputs` what it
    takes from a graph, `outputs` how its results are put together. A program that was just compiled knows its `graph`
    and its `model`; `reference` holds rows that the model computed then, if they were asked for. What is `frozen` was
    computed then, too: such a program runs on that graph alone.
    """

    def __init__(
        self,
        module: ModuleOp,
        weights: Mapping[str, torch.Tensor],
        inputs: tuple[ModelInput, ...],
        outputs: OutputStructure,
        *,
        graph: AnyGraph | None = None,
        model: torch.nn.Module | None = None,
        reference: Reference | None = None,
        frozen: Frozen | None = None,
    ):
        self.module = module
        self.weights = weights
        self.inputs = inputs
        self.outputs = outputs
        self.graph = graph
        self.model = model
        self.reference = reference
        self.report = RunReport()
        """What the last run with a memory budget took."""
        self.frozen = frozen
        self._graph_as_frozen: AnyGraph | None = None
        self._executor = BatchedExecutor(module, weights)
        self._cpu_executor: BatchedExecutor | None = None
        self._device_executor: BatchedExecutor | None = None
        self._inputs: tuple[AnyGraph, str, dict[str, Any], dict[str, torch.Tensor]] | None = None
        self._structure: tuple[AnyGraph, tuple[Any, ...]] | None = None
        self._features: tuple[AnyGraph, KeptFeatures] | None = None
        self._reordered: tuple[AnyGraph, Any, ReorderedGraph | None] | None = None
        self._in_store: tuple[tuple[tuple[int, ...], int] | None, BatchedExecutor] | None = None
        self._sampled: tuple[tuple[tuple[int, ...], int], BatchedExecutor] | None = None

    def run(
        self,
        x: Any = None,
        *,
        graph: GraphLike | None = None,
        nodes: Any = None,
        batch_size: int | None = None,
        memory: int | str | None = None,
        store: str | PathLike[str] | None = None,
        fanout: Sequence[int] | None = None,
        seed: int = 0,
        device: str = "cpu",
        threads: int | None = None,
        reorder: str = "none",
    ) -> Any:
        """What the model returns, for every node or for some.

        `x` are node features of shape [nodes, …], for a heterogeneous graph a dict of them by node type (default: the
        graph's own); `graph` another graph with the same inputs as the one the program was compiled with; `nodes` the
        ids of the nodes to return, in the order and as often as they are asked for, for a heterogeneous graph a dict of
        them by node type, where types left out get no rows; `batch_size` the number of target nodes a batch (default:
        as many as keep a batch's edge values within 40 MiB, on a device 256 MiB); `memory` the most to use, such as
        "512MiB": on cuda of the device's memory, on cpu by the executor's own arrays, among which the graph and
        features that are given are not; batches are then as large as fit, and `report` says what was
        measured; `device` "cpu" or "cuda"; `threads` how many share the work on the host (default: as many as torch
        uses), which changes no number of the result. Features as a numpy array give numpy arrays, a torch tensor gives
        tensors, and one on the device gives tensors there. On cuda, what fits on the device stays there until the run
        ends, unless `memory` is given.

        With `store`, a folder, what is as large as the graph lies there and not in memory: the edges in order, and what
        each layer computes. `memory`, 1 GiB if it is not given, is then what the run plans to need, whatever the size
        of the graph (peaks of up to 1.1 times a budget of 8 MiB have been measured); features and edges should be
        memory-mapped, as those of a folder of .npy files are. A run that was interrupted, in whatever way, goes on
        where it stopped when the same one is started again, and ends with the same bits. Results are arrays that are
        mapped from the store: they last until another run uses it.

        With `fanout`, a number for each layer of Convs and the first layer's first, a node sees at most so many of its
        neighbours in that layer and by each relation, -1 for all: drawn from its edges without replacement and by
        `seed`, the same ones at any batch size and for any `nodes`. Self-loops that the model adds are kept, and its
        degrees and norms stay those of the whole graph. The result is then no longer what the model computes on all
        neighbours. With a store, samples are drawn beforehand and kept there.

        `reorder` puts the nodes of a graph of one type in another order while they are processed, so that targets of a
        batch share inputs: `stream` by communities, `rcmk` by reverse Cuthill-McKee, `degree`, `random`, or `auto`,
        which takes none of them unless a budget leaves no room for all inputs of a layer, and then the one that loads
        fewest. Results come in the graph's own order. Edges and features are copied: on disk beside the store, where
        later runs find them, or in memory, as part of `memory` and until another graph runs. Finding the order takes
        memory of its own.

        What depends on the graph alone is kept for the next run on the same graph object, whose arrays must not change
        in between; so is a copy of its features where neighbours read rows that don't begin at cache lines, such as
        those of 100 numbers or of an array of numpy's, unless `memory` is given. Raises RunError if an input does not
        fit the program, and GraphError if the model takes a sparse matrix and an edge is there twice.
        """
        used, device_in_use = self.graph_for(graph), usable_device(device)
        given, tensors = self.checked_inputs(used, x, device if store is None else "cpu")
        as_tensors = any(
            isinstance(given.get(i.key), torch.Tensor) for i in self.inputs if not (i.is_weight or is_node_ids(i.key))
        )
        reordered = self.reordered(used, check_reorder(reorder), memory, store, fanout)
        if reordered is not None:
            how: dict[str, Any] = {"batch_size": batch_size, "device": device, "threads": threads}
            return self.run_reordered(reordered, x, nodes, memory, store, how, as_tensors)
        self.check_frozen(used, tensors, known=x is None)
        if store is not None:
            if device != "cpu":
                raise RunError("a store is for runs on cpu: leave out device, or store")
            options = StoreOptions(store, memory, batch_size, threads)
            results = self.run_stored(given, tensors, used, nodes, options, self.executor_in_store(fanout, seed))
            return rebuild(self.outputs, results if as_tensors else [result.numpy() for result in results])
        executor = self.executor_for(fanout, seed, device_in_use)
        kept = self.kept_features(used, tensors) if x is None and memory is None else None
        results = self.run_tensors(used, tensors, nodes, batch_size, device, executor, threads, kept, memory)
        return rebuild(self.outputs, results if as_tensors else [result.numpy() for result in results])

    def reordered(
        self,
        graph: AnyGraph,
        reorder: Reorder,
        memory: int | str | None,
        store: str | PathLike[str] | None,
        fanout: Sequence[int] | None,
    ) -> ReorderedGraph | None:
        """The graph with its nodes in another order, None to run it as it is; kept for the graph that was used last.
        Raises RunError if an order is asked for and there can be none."""
        if reorder == "none":
            return None
        reason = reason_against(graph, self.inputs)
        if fanout is not None or self.frozen is not None:
            reason = "a sample of neighbours, like frozen features, is of nodes by their numbers"
        if reason is not None:
            if reorder == "auto":
                return None
            raise RunError(f"the nodes can't be put in order '{reorder}', for {reason}: leave out reorder")
        assert isinstance(graph, Graph)
        budget = None if memory is None else memory_bytes(memory)
        known = self._reordered
        if known is not None and known[0] is graph and known[1] == (reorder, budget, store):
            return known[2]
        if store is None:
            found = in_memory(graph, self.inputs, reorder, budget, loads_of(self._executor, in_store=False))
        else:
            loads = loads_of(self.executor_in_store(), in_store=True)
            budget_of_store = memory_bytes(DEFAULT_MEMORY) if budget is None else budget
            found = on_disk(graph, self.inputs, reorder, Path(store), budget_of_store, loads)
        self._reordered = graph, (reorder, budget, store), found
        return found

    def run_reordered(
        self,
        reordered: ReorderedGraph,
        x: Any,
        nodes: Any,
        memory: int | str | None,
        store: str | PathLike[str] | None,
        how: Mapping[str, Any],
        as_tensors: bool,
    ) -> Any:
        """What `run` returns, from a graph whose nodes are in another order."""
        rows = self.output_rows()
        asked = None if nodes is None else reordered.nodes(asked_nodes(nodes, rows, reordered.graph.node_counts))
        left = None if memory is None else memory_bytes(memory) - reordered.bytes
        if left is not None and left <= 0:
            raise RunError(
                f"memory of {memory} does not suffice: edges and features in another order take "
                f"{size_text(reordered.bytes)}; give more, leave out reorder, or give a store"
            )
        result = self.run(reordered.features(x), graph=reordered.graph, nodes=asked, memory=left, store=store, **how)
        self.report.note_order(reordered.name, reordered.seconds, reordered.bytes)
        results = [as_tensor(array) for array in flatten(self.outputs, result)]
        if nodes is None and store is None:
            results = [reordered.restored(r, row) for r, row in zip(results, rows, strict=True)]
        elif nodes is None and store is not None:
            budget = memory_bytes(DEFAULT_MEMORY) if left is None else left
            files = [Path(store) / f"result-{number}.npy" for number in range(len(results))]
            results = [
                reordered.restored_on_disk(r, row, file, budget)
                for r, row, file in zip(results, rows, files, strict=True)
            ]
        return rebuild(self.outputs, results if as_tensors else [result.numpy() for result in results])

    def run_tensors(
        self,
        graph: AnyGraph,
        tensors: Mapping[str, torch.Tensor],
        nodes: Any,
        batch_size: int | None,
        device: str,
        executor: BatchedExecutor | None = None,
        threads: int | None = None,
        kept: KeptFeatures | None = None,
        memory: int | str | None = None,
    ) -> list[torch.Tensor]:
        """The outputs in order, as tensors on the host; arguments as for `run`."""
        executor = executor if executor is not None else self.executor(device)
        check_counts(batch_size, threads)
        asked = None if nodes is None else asked_nodes(nodes, self.output_rows(), graph.node_counts)
        try:
            results = executor.run(
                self.features(tensors) if kept is None else kept.stored,
                self.structure(graph, tensors),
                graph.node_counts,
                wanted=None if asked is None else {name: torch.unique(ids) for name, ids in asked.items()},
                batch_size=batch_size,
                device=usable_device(device),
                threads=threads,
                kept=NOTHING_KEPT if kept is None or device != "cpu" else kept,
                memory=None if memory is None else memory_bytes(memory),
                same_features=kept is not None,
            )
        except ResourceError as error:
            raise RunError(str(error)) from error
        except (MemoryError, RuntimeError) as error:
            if not is_out_of_memory(error):
                raise
            raise RunError("memory ran out: free some, or give memory=, and a store if that is too little") from error
        except IndexError as error:
            # what is looked up in a table is checked where it is an input; here the model has counted rows itself
            raise RunError(f"the graph has more nodes than a table of the model has rows: {error}") from error
        self.report = executor.report
        if asked is None:
            return results
        return [rows.select(r, asked) for r, rows in zip(results, self.output_rows(), strict=True)]

    def run_stored(
        self,
        given: Mapping[str, Any],
        tensors: Mapping[str, torch.Tensor],
        graph: AnyGraph,
        nodes: Any,
        options: StoreOptions,
        executor: BatchedExecutor,
    ) -> list[torch.Tensor]:
        """The outputs in order, as tensors mapped from a store; `given` are the arrays behind `tensors`."""
        check_counts(options.batch_size, options.threads)
        asked = None if nodes is None else asked_nodes(nodes, self.output_rows(), graph.node_counts)
        wanted = None if asked is None else {name: torch.unique(ids) for name, ids in asked.items()}
        frozen = () if self.frozen is None else self.frozen.keys
        results, self.report = run_in_store(
            executor, self.inputs, given, tensors, graph.node_counts, wanted, options, frozen
        )
        if asked is None:
            return results
        return [rows.select(r, asked) for r, rows in zip(results, self.output_rows(), strict=True)]

    def executor_in_store(self, fanout: Sequence[int] | None = None, seed: int = 0) -> BatchedExecutor:
        """What runs the program with a store, with fan-outs or without; what was used last is kept."""
        if fanout is not None and self.frozen is not None:
            raise RunError(FROZEN_FOR_ALL)
        key = None if fanout is None else (fan_outs(fanout), seed)
        if self._in_store is None or self._in_store[0] != key:
            module = self.module if key is None else sampled_module(self.module, *key)
            try:
                self._in_store = key, executor_for_stores(module, self.weights)
            except PassFailedException as error:
                raise RunError(f"{error}: run it without a store") from None
        return self._in_store[1]

    @property
    def precision(self) -> str:
        """How numbers are stored: `fp32`, as the model has them, `bf16` or `fp16`."""
        given = self.module.attributes.get(PRECISION)
        return given.data if isinstance(given, StringAttr) else "fp32"

    def output_rows(self) -> list[OutputRows]:
        """What the rows of each output are."""
        return [OutputRows.of_type(type_) for type_ in self._executor.output_types()]

    def executor_for(self, fanout: Sequence[int] | None, seed: int, device: str = "cpu") -> BatchedExecutor:
        """What runs the program on a device: on the CPU with compiled kernels, where MLIR is installed. With fan-outs
        torch's operations run; what was used last with them is kept."""
        if fanout is None:
            return self.executor(device)
        if self.frozen is not None:
            raise RunError(FROZEN_FOR_ALL)
        key = fan_outs(fanout), seed
        if self._sampled is None or self._sampled[0] != key:
            self._sampled = key, BatchedExecutor(sampled_module(self.module, *key), self.weights)
        return self._sampled[1]

    def executor(self, device: str) -> BatchedExecutor:
        """What runs the program on a device: with compiled kernels, on the CPU where MLIR is installed, on CUDA where
        Triton is."""
        if device != "cpu":
            if self._device_executor is None:
                self._device_executor = executor_on_device(self.module, self.weights, device)
            return self._device_executor
        if self._cpu_executor is None:
            self._cpu_executor = executor_with_kernels(self.module, self.weights)
        return self._cpu_executor

    def verify(
        self,
        nodes: Any = None,
        *,
        graph: GraphLike | None = None,
        model: torch.nn.Module | None = None,
        tolerance: float | None = None,
        batch_size: int | None = None,
        device: str = "cpu",
    ) -> Verification:
        """Compares the program's outputs with the model's, for every node or for `nodes`.

        The model is the one that was compiled, or `model`; it runs eagerly on the whole graph. A program that was
        loaded from a file and is given no model compares with the reference rows that were stored with it. `tolerance`
        is the largest error over the scale of the output, the largest absolute value that the model computes (default:
        1e-4, where numbers are stored in 16 bits 0.02).

        Raises RunError if there is nothing to compare with, or the reference rows are of another graph.
        """
        used = self.graph_for(graph)
        tensors = self.input_tensors(self.given_inputs(used), used.node_counts)
        self.check_frozen(used, tensors, known=True)
        tolerance = TOLERANCES[self.precision] if tolerance is None else tolerance
        model = unwrapped(model) if model is not None else self.model
        rows, names = self.output_rows(), output_names(self.outputs)
        if model is None:
            reference = self.reference_for(tensors)
            results = self.run_tensors(used, tensors, None, batch_size, device)
            results = [r.select(result, reference.ids) for r, result in zip(rows, results, strict=True)]
            return compare(names, results, reference.rows, rows, reference.ids, tolerance)
        results = self.run_tensors(used, tensors, nodes, batch_size, device)
        expected = self.eager_outputs(model, used)
        ids = all_rows(rows, expected)
        if nodes is not None:
            ids = asked_nodes(nodes, rows, used.node_counts)
            expected = [r.select(e, ids) for r, e in zip(rows, expected, strict=True)]
        return compare(names, results, expected, rows, ids, tolerance)

    def reference_for(self, tensors: Mapping[str, torch.Tensor]) -> Reference:
        """The stored rows, if they are of the graph with these inputs."""
        if self.reference is None:
            raise RunError("there is nothing to compare with: give the model, or compile with reference rows to keep")
        if self.reference.graph_hash != hash_of(tensors):
            raise RunError("the reference rows are of another graph: give the graph that was compiled, or the model")
        return self.reference

    def keep_reference(self, count: int) -> None:
        """Stores the model's own rows for `count` nodes of each set, spread evenly over the graph that was compiled."""
        assert self.model is not None
        graph = self.graph_for(None)
        tensors = self.input_tensors(self.given_inputs(graph), graph.node_counts)
        outputs = self.eager_outputs(self.model, graph)
        rows = self.output_rows()
        ids = {name: spread_evenly(count, len(all_ids)) for name, all_ids in all_rows(rows, outputs).items()}
        kept = tuple(r.select(output, ids) for r, output in zip(rows, outputs, strict=True))
        self.reference = Reference(ids, kept, hash_of(tensors))

    @staticmethod
    def eager_outputs(model: torch.nn.Module, graph: AnyGraph) -> list[torch.Tensor]:
        """What the model itself computes on a graph, its tensors in order."""
        arguments = bind_arguments(model, graph)
        arrays = {entry.key: entry.array for entry in graph.entries()}
        tensors = {
            i.key: as_tensor(arrays[i.key]) if i.key in arrays else torch.arange(graph.node_counts[i.set_name])
            for i in arguments.inputs
        }
        return run_eagerly(model, arguments, tensors)

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the program as an artifact, a folder from which `gnnc.load` reads it without the model's source."""
        contents = Contents(self.module, self.weights, self.inputs, self.outputs, self.reference, frozen=self.frozen)
        write_artifact(contents, path)

    def checked_inputs(self, graph: AnyGraph, x: Any, device: str) -> tuple[dict[str, Any], dict[str, torch.Tensor]]:
        """The inputs by key, as they are given and as tensors that fit; those of a graph itself are kept for the one
        that was used last."""
        known = self._inputs
        if x is None and known is not None and known[0] is graph and known[1] == device:
            return known[2], known[3]
        given = self.given_inputs(graph, x)
        tensors = self.input_tensors(given, graph.node_counts, device)
        if x is None:
            self._inputs = graph, device, given, tensors
        return given, tensors

    def given_inputs(self, graph: AnyGraph, x: Any = None) -> dict[str, Any]:
        """What a graph provides, by key; `x` takes the place of its features."""
        given = {entry.key: entry.array for entry in graph.entries()}
        for i in self.inputs:
            if i.key not in given and is_node_ids(i.key) and i.set_name in graph.node_counts:
                given[i.key] = torch.arange(graph.node_counts[i.set_name])
            if i.is_weight:
                given[i.key] = self.weights[i.key]
        if x is None:
            return given
        if isinstance(x, Mapping):
            return {**given, **{f"x__{type_}": rows for type_, rows in x.items()}}
        return {**given, self.features_key(): x}

    def features_key(self) -> str:
        """The graph's name for the features that `run(x)` gives: x, or else the only ones there are."""
        keys = [i.key for i in self.inputs if i.is_feature and not i.is_weight]
        if "x" in keys or len(keys) == 1:
            return "x" if "x" in keys else keys[0]
        raise RunError(f"the program takes {', '.join(keys)} and no x: give a graph that has them")

    def graph_for(self, graph: GraphLike | None) -> AnyGraph:
        """The graph to run on. Raises RunError if there is none."""
        if graph is not None:
            return graph_of(graph)
        if self.graph is None:
            raise RunError("the program was loaded from a file and knows no graph: give graph=")
        return self.graph

    def features(self, tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """The node values that @forward takes, in its types: the graph's, and what is frozen."""
        frozen = () if self.frozen is None else self.frozen.keys
        given = {i.key: tensors[i.key] for i in self.inputs if i.is_feature}
        stored = {key: tensor.to(self._executor.feature_dtypes[key]) for key, tensor in given.items()}
        return {**stored, **{key: self.weights[key] for key in frozen}}

    def check_frozen(self, graph: AnyGraph, tensors: Mapping[str, torch.Tensor], *, known: bool) -> None:
        """Raises RunError if a program with frozen features is to run on other ones. Those of a graph that was looked
        at before are `known`."""
        if self.frozen is None or (known and self._graph_as_frozen is graph):
            return
        if hash_of_inputs(self.inputs, tensors) != self.frozen.graph_hash:
            raise RunError(
                "the program was compiled with freeze_features for one graph and its features, and these are others: "
                "compile it for these, or without freeze_features for any"
            )
        self._graph_as_frozen = graph if known else self._graph_as_frozen

    def structure(self, graph: AnyGraph, tensors: Mapping[str, torch.Tensor]) -> tuple[Any, ...]:
        """What depends on the graph alone; kept for the graph that was used last."""
        if self._structure is None or self._structure[0] is not graph:
            check_matrices(self.inputs, tensors)
            self._structure = (graph, self._executor.structure(tensors, graph.node_counts))
        return self._structure[1]

    def kept_features(self, graph: AnyGraph, tensors: Mapping[str, torch.Tensor]) -> KeptFeatures:
        """Features of the graph itself as the program takes them, and those that are worth holding as sparse rows; kept
        for the graph that was used last."""
        if self._features is None or self._features[0] is not graph:
            self._features = graph, KeptFeatures.of(self.features(tensors), self.module)
        return self._features[1]

    def input_tensors(
        self, given: Mapping[str, Any], counts: Mapping[str, int], device: str = "cpu"
    ) -> dict[str, torch.Tensor]:
        """The inputs by key, checked against the program's signature and the node counts by set: on the host, but for
        features that are on the device already."""
        device = device if self.frozen is None else "cpu"
        tensors: dict[str, torch.Tensor] = {}
        for expected in self.inputs:
            if expected.key not in given:
                raise RunError(f"the graph has no {expected.key}, which the program takes: add it to the graph")
            where = device if expected.is_feature else "cpu"
            tensors[expected.key] = checked_input(expected, given[expected.key], counts, where)
        return tensors


def all_rows(rows: Sequence[OutputRows], outputs: Sequence[torch.Tensor]) -> dict[str, torch.Tensor]:
    """The ids of all rows, by the sets that outputs are on."""
    return {r.set_name: torch.arange(r.count(output)) for r, output in zip(rows, outputs, strict=True)}


def spread_evenly(count: int, total: int) -> torch.Tensor:
    """So many of the numbers below `total`, the first and the last among them."""
    kept = min(count, total)
    return torch.arange(kept) * max(0, total - 1) // max(1, kept - 1)
