"""A model compiled for the FPGA accelerator: its task stream, and its simulation."""

from __future__ import annotations

from collections.abc import Mapping
from copy import copy
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NoReturn

import numpy as np
import torch
from xdsl.dialects.builtin import ModuleOp

from gnnc.artifact import Contents, write_artifact
from gnnc.edge_hash import edge_hash
from gnnc.errors import RunError
from gnnc.frontend.inputs import ModelInput
from gnnc.graph import Graph
from gnnc.output_rows import OutputRows
from gnnc.outputs import OutputStructure, output_names
from gnnc.passes.analysis.decision_log import Decision
from gnnc.passes.analysis.model_functions import model_functions, returned
from gnnc.program import Program, all_rows
from gnnc.run_arguments import checked_input
from gnnc.targets.fpga import choices
from gnnc.targets.fpga.architecture import Architecture
from gnnc.targets.fpga.matrices import Matrix, is_sparse
from gnnc.targets.fpga.plan import read_plan
from gnnc.targets.fpga.reference import reference_outputs
from gnnc.targets.fpga.reordering import REORDERINGS, Reordering, permuted, restored
from gnnc.targets.fpga.search import cycles_within
from gnnc.targets.fpga.simulator import Setting, Simulation, simulate
from gnnc.targets.fpga.stream.reader import read_stream
from gnnc.targets.fpga.stream.writer import write_stream
from gnnc.targets.fpga.values import Numbers
from gnnc.verification import DEFAULT_TOLERANCE, Verification, compare

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnnc.graph import AnyGraph, GraphLike


@dataclass(frozen=True)
class CheckedSimulation:
    """A simulation, how its outputs compare with the reference, and those outputs in the graph's own order of nodes.

    `reorder` is the order that was simulated; `auto` is gone from it. `decisions` are what the run chose.
    """

    simulation: Simulation
    verification: Verification
    outputs: list[NDArray[np.float32]]
    reorder: Reordering
    decisions: list[Decision]


class FpgaProgram(Program):
    """A model compiled for the accelerator and one graph: `module` is at the level of tasks, `reference_module` what it
    was before it became kernels. `run` refuses: nothing here is an accelerator; `simulate` computes the same numbers
    and counts what they take.
    """

    def __init__(
        self,
        module: ModuleOp,
        weights: Mapping[str, torch.Tensor],
        inputs: tuple[ModelInput, ...],
        outputs: OutputStructure,
        *,
        reference_module: ModuleOp,
        architecture: Architecture,
        graph: AnyGraph | None = None,
        model: torch.nn.Module | None = None,
        edge_hash: str | None = None,
    ):
        self.module = module
        self.weights = weights
        self.inputs = inputs
        self.outputs = outputs
        self.reference_module = reference_module
        self.architecture = architecture
        self.graph = graph
        self.model = model
        self.reference = None
        self.edge_hash = edge_hash
        self.plan = read_plan(module)

    def run(self, *_: Any, **__: Any) -> NoReturn:
        """Refuses: there is no accelerator here to run on."""
        raise RunError("the program is for the FPGA target, which gnnc can only simulate: use gnnc simulate")

    def verify(self, *_: Any, **__: Any) -> NoReturn:
        """Refuses: simulations compare themselves with the model's IR on every run."""
        raise RunError("the program is for the FPGA target: gnnc simulate compares every run with the reference")

    def keep_reference(self, count: int) -> None:
        """Refuses: the artifact holds the model's IR to compare with."""
        raise RunError("--keep-reference is for the target gpu: an FPGA artifact holds the model's IR to compare with")

    def simulate(
        self,
        graph: GraphLike | None = None,
        *,
        setting: Setting | None = None,
        reorder: Reordering | Literal["auto"] = "none",
    ) -> CheckedSimulation:
        """Simulates the program on the graph that it was compiled for and compares the outputs with the reference.

        `reorder` renumbers the nodes first; `auto` tries every order, the graph's own too, and keeps the fastest.
        Raises RunError if it is another graph.
        """
        used = self.graph_for(graph)
        self.check_graph(used)
        setting = setting or Setting()
        orders = self.tried_orders(used, setting) if reorder == "auto" else {}
        method = fastest(orders) if reorder == "auto" else reorder
        simulation, outputs = self.simulate_once(used, setting, method, count_spmm=True)
        decisions = [choices.on_node_order(orders, method)] if orders else []
        decisions += choices.on_loads(simulation)
        return CheckedSimulation(simulation, self.compared(used, outputs), outputs, method, decisions)

    def fastest_order(self, graph: Graph, setting: Setting) -> Reordering:
        """The order in which the fewest cycles are simulated, the graph's own among them."""
        return fastest(self.tried_orders(graph, setting))

    def tried_orders(self, graph: Graph, setting: Setting) -> dict[Reordering, int]:
        """The cycles of every order of nodes or features whose run was not given up because another one is faster."""
        found: dict[Reordering, int] = {}
        for method in REORDERINGS:
            numbers = self.numbers_in_order(graph, method)[0]
            limit = min(found.values(), default=None)
            cycles = cycles_within(numbers, self.plan, self.architecture, setting, limit)
            if cycles is not None:
                found[method] = cycles
        return found

    def simulate_once(
        self, graph: Graph, setting: Setting, reorder: Reordering, *, count_spmm: bool = False
    ) -> tuple[Simulation, list[NDArray[np.float32]]]:
        """A simulation in one order of the nodes or features, and its outputs in the graph's own order of nodes."""
        numbers, order = self.numbers_in_order(graph, reorder)
        simulation = simulate(numbers, self.plan, self.architecture, setting, count_spmm=count_spmm)
        return simulation, [restored(output, order) for output in simulation.outputs]

    def graph_for(self, graph: GraphLike | None) -> Graph:
        """The graph to simulate on. Raises RunError if there is none, or one with several types of nodes."""
        used = super().graph_for(graph)
        if not isinstance(used, Graph):
            raise RunError("the program is for graphs with one type of nodes and edges: give such a graph")
        return used

    def check_graph(self, graph: Graph) -> None:
        """The stream holds the graph's edges, so it must be the one that was compiled; features may be others. Raises
        RunError."""
        if graph.num_nodes != self.plan.nodes:
            raise RunError(
                f"the stream is of a graph of {self.plan.nodes} nodes, this one has {graph.num_nodes}: compile again"
            )
        if graph is not self.graph and self.hash_of_edges(graph) != self.known_edge_hash():
            raise RunError("the stream is of a graph with other edges or values on them: compile again for this one")

    def known_edge_hash(self) -> str:
        """The hash of the edges that the program was compiled for."""
        return self.edge_hash or self.hash_of_edges(self.graph_for(None))

    def hash_of_edges(self, graph: Graph) -> str:
        return edge_hash(graph.num_nodes, self.inputs, self.given(graph)[1])

    def edges_of(self, graph: Graph) -> tuple[Any, Any]:
        """Sources and targets."""
        edges = np.asarray(graph.edge_index)
        return edges[0], edges[1]

    def numbers(self, graph: Graph, order: Any | None = None, *, by_frequency: bool = False) -> Numbers:
        """What the graph puts into the operands, its nodes renumbered if an order is given, the columns of sparse
        features `by_frequency`."""
        features, edges = self.given(graph)
        if order is not None:
            rank = np.empty_like(order)
            rank[order] = np.arange(len(order))
            features = {name: matrix[order] for name, matrix in features.items()}
            edges = {
                name: torch.as_tensor(rank)[tensor.long()] if name == "edge_index" else tensor
                for name, tensor in edges.items()
            }
        return Numbers(self.module, self.plan, self.weights, features, edges, by_frequency=by_frequency)

    def numbers_in_order(self, graph: Graph, reorder: Reordering) -> tuple[Numbers, Any | None]:
        """The same for one of the orders by name, and that order of the nodes."""
        order = permuted(reorder, *self.edges_of(graph), graph.num_nodes)
        return self.numbers(graph, order, by_frequency=reorder == "features"), order

    def given(self, graph: Graph) -> tuple[dict[str, Matrix], dict[str, torch.Tensor]]:
        """The features, sparse ones left so, and the inputs on edges, by the graph's names."""
        features: dict[str, Matrix] = {}
        edges: dict[str, torch.Tensor] = {}
        for expected in self.inputs:
            if expected.key == "x" and is_csr(graph.stored_x):
                check_width(expected, graph.stored_x)
                features["x"] = graph.stored_x
                continue
            # not through graph.attributes, which would make sparse features dense
            value = getattr(graph, expected.key, None)
            if value is None:
                raise RunError(f"the graph has no {expected.key}, which the program takes: add it to the graph")
            tensor = checked_input(expected, value, graph.node_counts)
            if expected.is_feature:
                features[expected.key] = tensor.numpy()
            else:
                edges[expected.key] = tensor
        return features, edges

    def expected(self, graph: Graph, numbers: Numbers | None = None) -> list[torch.Tensor]:
        """What the reference module computes, which never saw kernels or tiles. `numbers` of the graph save making
        them again where features are too wide for that module."""
        features, edges = self.given(graph)
        made = (lambda: self.numbers(graph)) if numbers is None else (lambda: numbers)
        return reference_outputs(self.reference_module, self.weights, features, edges, made, graph.node_counts)

    def compared(self, graph: Graph, outputs: list[NDArray[np.float32]]) -> Verification:
        """The outputs beside those of the reference module."""
        expected = self.expected(graph)
        tensors = [torch.from_numpy(np.ascontiguousarray(output)) for output in outputs]
        rows = self.output_rows()
        names, ids = output_names(self.outputs), all_rows(rows, tensors)
        return compare(names, tensors, expected, rows, ids, DEFAULT_TOLERANCE)

    def output_rows(self) -> list[OutputRows]:
        """What the rows of each output are."""
        return [OutputRows.of_type(v.type) for v in returned(model_functions(self.module).forward).arguments]

    def save(self, path: str | PathLike[str]) -> None:
        """Writes the program as an artifact, with its task stream. The program must know its graph."""
        graph = self.graph_for(None)
        write_artifact(
            Contents(
                self.module,
                self.weights,
                self.inputs,
                self.outputs,
                None,
                "fpga",
                self.reference_module,
                self.architecture.text,
                self.hash_of_edges(graph),
                lambda file: self.write_stream(file, graph),
            ),
            path,
        )

    def write_stream(self, file: Path, graph: Graph) -> None:
        """Writes the task stream of a graph."""
        numbers = self.numbers(graph)
        known = [place for place, o in enumerate(self.plan.operands) if o.role != "intermediate"]
        self.write_matrices(file, {place: numbers.matrix(place) for place in known})

    def write_matrices(self, file: Path, matrices: Mapping[int, Matrix]) -> None:
        """Writes the task stream from the operands that are known before a run, and reads it back to be sure of it."""
        write_stream(file, self.plan, self.architecture, matrices)
        read_stream(file)

    def with_weights(self, weights: Mapping[str, torch.Tensor]) -> FpgaProgram:
        """The same program, to be simulated with other weights."""
        program = copy(self)
        program.weights = weights
        return program

    def repartitioned(self, n1: int, n2: int) -> FpgaProgram:
        """The same program, to be simulated with other partition sizes."""
        program = copy(self)
        program.plan = self.plan.repartitioned(n1, n2)
        return program


def fastest(orders: Mapping[Reordering, int]) -> Reordering:
    return min(orders, key=lambda method: orders[method])


def is_csr(x: Any) -> bool:
    return x is not None and not isinstance(x, np.ndarray | torch.Tensor) and is_sparse(x)


def check_width(expected: ModelInput, x: Any) -> None:
    if tuple(x.shape[1:]) != expected.row_shape:
        raise RunError(f"x has {x.shape[1]} columns, the program was compiled for {expected.row_shape[0]}")
