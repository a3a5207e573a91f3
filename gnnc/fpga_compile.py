"""From a model and a graph to a program for the FPGA accelerator."""

from __future__ import annotations

import math
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import torch
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.transforms.dead_code_elimination import DeadCodeElimination
from xdsl.utils.exceptions import PassFailedException

from gnnc.dialects.gnn import DensityAttr
from gnnc.errors import GnncError, UnsupportedModelError
from gnnc.fpga_program import FpgaProgram, is_csr
from gnnc.frontend.lower import LoweredModel, lower_model
from gnnc.graph import Graph
from gnnc.passes.analysis.decision_log import Decision, record
from gnnc.passes.analysis.linear_forms import Order
from gnnc.passes.analysis.model_functions import DENSITY, model_functions, set_argument_attribute
from gnnc.passes.convert_gnn_to_kernel import ConvertGnnToKernel
from gnnc.passes.convert_kernel_to_task import ConvertKernelToTask
from gnnc.passes.kernel_annotate_density import KernelAnnotateDensity
from gnnc.passes.kernel_partition import KernelPartition, PartitionMethod
from gnnc.passes.pipeline import plain_block_pipeline
from gnnc.targets.fpga import choices
from gnnc.targets.fpga.architecture import DEFAULT, Architecture, ArchitectureError, load_architecture
from gnnc.targets.fpga.matrices import nonzero_count
from gnnc.targets.fpga.plan import Plan
from gnnc.targets.fpga.search import searched_partitions
from gnnc.targets.fpga.simulator import Setting, simulate
from gnnc.targets.fpga.values import Numbers

PAPER: tuple[PartitionMethod, ...] = ("alg9", "alg9-exact")  # what needs no simulation


def stand_in(graph: Graph) -> Graph:
    """A graph of one node with the same inputs, if the features are sparse and would be made dense."""
    if not is_csr(graph.stored_x):
        return graph
    x = np.zeros((1, graph.stored_x.shape[1]), graph.stored_x.dtype)
    return Graph(edge_index=np.zeros((2, 1), np.int64), x=x)


def compile_for_fpga(
    model: torch.nn.Module,
    graph: Graph,
    *,
    arch: str | PathLike[str] = DEFAULT,
    order: Order = "auto",
    partition: PartitionMethod = "alg9",
) -> FpgaProgram:
    """Compiles a model, in evaluation mode already, for a graph and an accelerator.

    `order` auto compiles both orders of products and keeps the one that is simulated to be faster.
    """
    try:
        architecture = load_architecture(arch if isinstance(arch, str) else Path(arch))
    except ArchitectureError as error:
        raise GnncError(str(error)) from None
    lowered = lower_model(model, stand_in(graph))
    run_passes(lowered.module, plain_block_pipeline())
    orders: list[Order] = ["AH_W", "A_HW"] if order == "auto" else [order]
    compare = order == "auto" or partition == "search"
    tried = [program_for(lowered, graph, model, architecture, one, partition, compare=compare) for one in orders]
    best = min(tried, key=lambda t: t.cycles)
    if len(tried) > 1:
        cycles = {one: t.cycles for one, t in zip(orders, tried, strict=True)}
        choice = orders[tried.index(best)]
        record(best.program.module, choices.on_order(len({k.layer for k in best.program.plan.kernels}), choice, cycles))
    for decision in best.decisions:
        record(best.program.module, decision)
    return best.program


@dataclass(frozen=True, eq=False)
class Tried:
    """A program for one order of products, its simulated cycles (0 where it is not compared with others), and what was
    decided about it."""

    program: FpgaProgram
    cycles: int
    decisions: list[Decision]


def program_for(
    lowered: LoweredModel,
    graph: Graph,
    model: torch.nn.Module,
    architecture: Architecture,
    order: Order,
    partition: PartitionMethod,
    *,
    compare: bool,
) -> Tried:
    """The program for one order of products; `compare` simulates what other choices would take, too."""
    module, nodes = lowered.module.clone(), graph.num_nodes
    limits = {"nodes": nodes, "p_sys": architecture.p_sys, "cores": architecture.cores, "n_max": architecture.n_max}
    try:
        run_passes(module, [ConvertGnnToKernel(order), DeadCodeElimination()])
    except PassFailedException as error:
        raise UnsupportedModelError(str(error)) from None
    tasks = ConvertKernelToTask(nodes=nodes, result_buffer_bytes=architecture.result_buffer_bytes)

    def program(scheme: KernelPartition) -> FpgaProgram:
        partitioned = module.clone()
        run_passes(partitioned, [scheme, tasks])
        return FpgaProgram(
            partitioned,
            lowered.weights,
            lowered.inputs,
            lowered.outputs,
            reference_module=lowered.module,
            architecture=architecture,
            graph=graph,
            model=model,
        )

    schemes = {method: KernelPartition(**limits, method=method) for method in PAPER}
    methods: dict[str, tuple[int, int]] = {method: scheme.sizes_of(module) for method, scheme in schemes.items()}
    first = program(schemes["alg9" if partition == "search" else partition])
    numbers = first.numbers(graph)
    write_densities(module, first.plan, numbers)
    run_passes(module, [KernelAnnotateDensity()])
    cycles: dict[tuple[int, int], int] = {}
    if partition == "search":
        cycles = searched_partitions(numbers, first.plan, architecture)
        methods["search"] = n1, n2 = min(cycles, key=lambda sizes: cycles[sizes])
        schemes["search"] = KernelPartition(**limits, method="search", n1=n1, n2=n2)
    chosen = program(schemes[partition])
    if not compare:
        return Tried(chosen, 0, [choices.on_sizes(len(chosen.plan.kernels), methods, partition, cycles)])
    setting = Setting(loads="lean")
    run = simulate(numbers, chosen.plan, architecture, setting)
    cycles[methods[partition]] = run.cycles
    for sizes in sorted(set(methods.values()) - cycles.keys()):
        cycles[sizes] = simulate(numbers, chosen.plan.repartitioned(*sizes), architecture, setting).cycles
    decision = choices.on_sizes(len(chosen.plan.kernels), methods, partition, cycles)
    return Tried(chosen, run.cycles, [decision, *choices.on_loads(run)])


def write_densities(module: ModuleOp, plan: Plan, numbers: Numbers) -> None:
    """Writes its density on each argument of @forward that a kernel takes."""
    forward = model_functions(module).forward
    places = {value: place for place, value in enumerate(plan.values)}
    for old, argument in zip(numbers.functions.forward.body.block.args, forward.body.block.args, strict=True):
        if old in places:
            matrix = numbers.matrix(places[old])
            density = DensityAttr(nonzero_count(matrix), math.prod(matrix.shape))
            set_argument_attribute(forward, argument.index, DENSITY, density)


def run_passes(module: ModuleOp, passes: Any) -> None:
    context = Context()
    for one in passes:
        assert isinstance(one, ModulePass)
        one.apply(context, module)
    module.verify()
