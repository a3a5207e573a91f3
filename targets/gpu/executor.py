"""Runs a module that has been split into ConvBlocks: block after block, batch after batch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache, partial
from threading import Lock
from typing import TYPE_CHECKING, Any

import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import ReturnOp
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from gnnc.dialects.gnn import ConstantOp, ConvBlockOp, FusedOperation, GlobalCallOp, LoadWeightOp
from gnnc.dialects.gnn.attributes import domain_of
from gnnc.passes.analysis.cost_model import row_bytes
from gnnc.passes.analysis.model_functions import argument_name, model_functions
from gnnc.targets.edge_sets import EdgeSet
from gnnc.targets.gpu.batch import Batch
from gnnc.targets.gpu.batch_run import BlockRun
from gnnc.targets.gpu.block_compiler import compile_block
from gnnc.targets.gpu.block_results import BlockResults
from gnnc.targets.gpu.block_rows import Way
from gnnc.targets.gpu.budget import BlockPlan, Budget, resident_bytes
from gnnc.targets.gpu.compiled_block import LEAST_ROWS, CompiledBlock
from gnnc.targets.gpu.csr import whole_csr
from gnnc.targets.gpu.errors import ResourceError
from gnnc.targets.gpu.kept_features import NOTHING_KEPT, KeptFeatures
from gnnc.targets.gpu.kept_samples import forget_samples, keep_samples
from gnnc.targets.gpu.level_sets import NONE, NodeSet, level_sets, node_set_of
from gnnc.targets.gpu.memory_meter import MemoryMeter
from gnnc.targets.gpu.progress import progress
from gnnc.targets.gpu.residence import DeviceCopies, bytes_on_device, fits
from gnnc.targets.gpu.run_report import RunReport
from gnnc.targets.gpu.workers import Workers, torch_threads_started
from gnnc.targets.reference.run import run_structure
from gnnc.targets.torch_functions import constant, dtype_of, function_of

if TYPE_CHECKING:
    from collections.abc import Callable

    from gnnc.targets.gpu.compiled_block import AnyKernel

# What may stand in @forward beside blocks: operations on values of the whole graph.
TOP_LEVEL = (ConvBlockOp, GlobalCallOp, LoadWeightOp, ConstantOp, ReturnOp)

# Without a batch size or a budget, the edge values of a batch should take no more than this on a device, or on a host.
DEFAULT_BATCH_BYTES = 256 * 2**20
HOST_BATCH_BYTES = 40 * 2**20

BATCHES_PER_THREAD = 4


@dataclass(frozen=True)
class Running:
    """How a program runs: target nodes a batch (None: as many as fit), the device, threads on the host, and features
    that stay the same from run to run."""

    batch_size: int | None
    device: str
    threads: int
    kept: KeptFeatures = NOTHING_KEPT
    budget: Budget | None = None
    """The most bytes on the device, or of the executor's own arrays on a CPU."""
    results: str = "cpu"
    """Where the outputs go."""
    resident: bool = False
    """Whether the arrays of all rows stay on the device until the run ends."""
    plans: Mapping[tuple[ConvBlockOp, str], BlockPlan] = field(default_factory=dict[tuple[ConvBlockOp, str], BlockPlan])

    @property
    def way(self) -> Way:
        """Batches on a device copy the rows that kernels read for neighbors, if they lie on the host."""
        return Way.INDEXED if self.device == "cpu" or self.resident else Way.GATHERED


@dataclass(frozen=True)
class Step:
    """An operation of @forward, as read off the module once: that takes longer than a block of a small graph."""

    operation: Operation
    operands: tuple[SSAValue, ...]
    results: tuple[SSAValue, ...]
    released: tuple[SSAValue, ...]
    """Values that nothing uses after it."""


class BatchedExecutor:
    """A program that can run on any graph with its signature.

    Arrays lie in host memory; each batch's rows go to `device` ("cpu", "cuda", "cuda:1") and come back. Where all
    arrays fit on the device and no budget is given, they stay there, and only the results come back. What a block hands
    on is freed after the last block that uses it.
    """

    def __init__(
        self,
        module: ModuleOp,
        weights: Mapping[str, torch.Tensor],
        kernels: Mapping[FusedOperation, AnyKernel] | None = None,
    ):
        """`kernels` computes the fused operations of the module, of which there may be none without them."""
        self.module = module
        self.kernels = kernels or {}
        self.workers = Workers()
        self.lock = Lock()
        self.weights = weights
        self.weights_on: dict[str, Mapping[str, torch.Tensor]] = {"cpu": weights}
        self.copies = DeviceCopies()
        self.functions = model_functions(module)
        self.operations = list(self.functions.forward.body.block.ops)
        self.compiled: dict[tuple[ConvBlockOp, str, Way], list[CompiledBlock]] = {}
        self.report = RunReport()
        self.planned: tuple[Sequence[Any], Any, dict[tuple[ConvBlockOp, str], BlockPlan]] | None = None
        self.check_level()

    def check_level(self) -> None:
        wrong = next((op for op in self.operations if not isinstance(op, TOP_LEVEL)), None)
        if wrong is not None:
            raise PassFailedException(f"{wrong.name} stands outside of a block: run gnn-split-conv-blocks first")

    def structure(self, inputs: Mapping[str, Any], counts: Mapping[str, int]) -> tuple[Any, ...]:
        """What does not depend on features, for a graph with these node counts by set; `inputs` by the graph's
        names."""
        return run_structure(self.module, inputs, self.weights, counts)

    def run(
        self,
        features: Mapping[str, torch.Tensor],
        structure: Sequence[Any],
        counts: Mapping[str, int],
        *,
        wanted: Mapping[str, torch.Tensor] | None = None,
        batch_size: int | None = None,
        device: str = "cpu",
        threads: int | None = None,
        kept: KeptFeatures = NOTHING_KEPT,
        memory: int | None = None,
        same_features: bool = False,
    ) -> list[torch.Tensor]:
        """The model's outputs in the order in which @forward returns them, on the host, or on the device if features
        are there.

        `counts` are the node counts by set. `wanted` are, by set, the nodes whose rows are needed, ascending and
        distinct (int64); the rows of other nodes are then undefined. `threads` (default: as many as torch uses)
        share the work on the host; what is computed doesn't depend on their number. `kept` says
        in which other forms features are there. `memory` limits the bytes on the device, or
        those of the executor's own arrays on the host, and `report` says afterwards what they were; raises
        ResourceError if it can't be kept. With `same_features`, a tensor that came before has the same numbers again.
        """
        results = device if any(f.device.type != "cpu" for f in features.values()) else "cpu"
        how = Running(batch_size, device, threads or torch.get_num_threads(), kept, results=results)
        with self.lock, torch.no_grad():
            values = self.arguments(features, structure)
            if memory is None and device != "cpu":
                return self.run_on_device(values, structure, counts, wanted, how, same_features=same_features)
            if memory is None:
                return self.run_blocks(values, structure, counts, wanted, how)
            budget = Budget(memory, device, how.threads)
            budget.charge_structure(values)
            self.workers.forget()
            self.copies.forget(values.values())
            forget_samples(values.values())
            with MemoryMeter(device, budget.planned - budget.held) as meter, torch_threads_started(how.threads):
                outputs = self.run_blocks(values, structure, counts, wanted, replace(how, budget=budget))
            self.report.measured(meter)
            self.report.peak = None if meter.peak is None else meter.peak + self.report.held
            self.workers.forget()
            return outputs

    def run_on_device(
        self,
        values: dict[SSAValue, Any],
        structure: Sequence[Any],
        counts: Mapping[str, int],
        wanted: Mapping[str, torch.Tensor] | None,
        how: Running,
        *,
        same_features: bool,
    ) -> list[torch.Tensor]:
        """Arrays of all rows stay on the device if they fit, or else only those of a batch go there."""
        if fits(how.device, bytes_on_device(values, self.operations, self.last_uses, counts)):
            same = {v for v, place, _ in self.arguments_of_forward if place is not None or same_features}
            try:
                there = self.copies.moved(values, how.device, same)
                return self.run_blocks(there, structure, counts, wanted, replace(how, resident=True))
            except (torch.OutOfMemoryError, ResourceError):
                # something else took the memory meanwhile
                self.copies.forget(values.values())
        return self.run_blocks(values, structure, counts, wanted, how)

    def run_blocks(
        self,
        values: dict[SSAValue, Any],
        structure: Sequence[Any],
        counts: Mapping[str, int],
        wanted: Mapping[str, torch.Tensor] | None,
        how: Running,
    ) -> list[torch.Tensor]:
        targets = self.targets_of_blocks(values, counts, wanted, how.device, how.way)
        if how.budget is not None:
            how = replace(how, plans=self.plan(values, structure, counts, targets, how, how.budget))
        result: list[torch.Tensor] = []
        with progress(self.operations) as advance:
            for step in self.steps:
                op = step.operation
                if isinstance(op, ConvBlockOp):
                    operands = [values[operand] for operand in step.operands]
                    outputs = self.run_block(op, operands, counts, targets, how, advance)
                    values.update(zip(step.results, outputs, strict=True))
                    del operands, outputs
                elif isinstance(op, ReturnOp):
                    result = [values[value].to(how.results) for value in step.operands]
                else:
                    self.run_between_blocks(op, values)
                for value in step.released:
                    self.workers.arena.release(values.pop(value))
        return result

    def arguments(self, features: Mapping[str, torch.Tensor], structure: Sequence[Any]) -> dict[SSAValue, Any]:
        return {
            argument: structure[place] if place is not None else features[name]
            for argument, place, name in self.arguments_of_forward
        }

    @cached_property
    def arguments_of_forward(self) -> list[tuple[SSAValue, int | None, str]]:
        """The arguments of @forward: the place of what @structure returns, or the graph's name of a feature."""
        forward = self.functions.forward
        return [
            (a, self.functions.structure_place(a), argument_name(forward, a.index) or "")
            for a in forward.body.block.args
        ]

    def feature_name(self, argument: SSAValue) -> str | None:
        """The graph's name for an argument of @forward, None for one that is structure."""
        assert isinstance(argument, BlockArgument)
        if self.functions.structure_place(argument) is not None:
            return None
        return argument_name(self.functions.forward, argument.index)

    def targets_of_blocks(
        self,
        values: Mapping[SSAValue, Any],
        counts: Mapping[str, int],
        wanted: Mapping[str, torch.Tensor] | None,
        device: str,
        way: Way = Way.INDEXED,
    ) -> Mapping[tuple[ConvBlockOp, str], NodeSet]:
        """The nodes that each block computes, by set; a set that is not there is computed as a whole."""
        if wanted is None:
            return {}
        blocks = [op for op in self.operations if isinstance(op, ConvBlockOp)]
        with_rows = [value for value in self.operations[-1].operands if domain_of(value.type) is not None]
        asked = {value: wanted.get(node_set_of(value), NONE) for value in with_rows}
        compiled = partial(self.compile, device=device, way=way)
        return level_sets(blocks, asked, counts, values.__getitem__, compiled)

    def plan(
        self,
        values: Mapping[SSAValue, Any],
        structure: Sequence[Any],
        counts: Mapping[str, int],
        targets: Mapping[tuple[ConvBlockOp, str], NodeSet],
        how: Running,
        budget: Budget,
    ) -> dict[tuple[ConvBlockOp, str], BlockPlan]:
        """Batches that keep within the budget, for every block, before the first one runs; those for all nodes are kept
        for the next run with the same structure and budget."""
        key = budget.memory, how.device, how.threads, how.batch_size, budget.held
        known = self.planned
        if not targets and known is not None and known[0] is structure and known[1] == key:
            plans = {place: plan.again() for place, plan in known[2].items()}
        else:
            plans = self.plan_anew(values, counts, targets, how, budget)
            self.planned = None if targets else (structure, key, plans)
        self.report = RunReport(budget.memory, held=budget.held, blocks=[plan.report for plan in plans.values()])
        return plans

    def plan_anew(
        self,
        values: Mapping[SSAValue, Any],
        counts: Mapping[str, int],
        targets: Mapping[tuple[ConvBlockOp, str], NodeSet],
        how: Running,
        budget: Budget,
    ) -> dict[tuple[ConvBlockOp, str], BlockPlan]:
        resident = resident_bytes(self.operations, self.last_uses, counts, budget.edge_counts)
        plans: dict[tuple[ConvBlockOp, str], BlockPlan] = {}
        for op in [op for op in self.operations if isinstance(op, ConvBlockOp)]:
            operands = [values.get(operand) for operand in op.operands]
            for compiled in self.compile_for(op, how):
                nodes = targets.get((op, compiled.node_set), range(counts[compiled.node_set]))
                limit = compiled.cache_rows if compiled.in_cache else len(nodes)
                size = max(1, min(how.batch_size or limit, limit))
                plans[op, compiled.node_set] = budget.plan(op, compiled, operands, nodes, resident[op], size)
        return plans

    def output_types(self) -> list[Attribute]:
        """The types of what @forward returns."""
        return [value.type for value in self.operations[-1].operands]

    @cached_property
    def feature_dtypes(self) -> dict[str, torch.dtype]:
        """How @forward takes its features, by the graph's name."""
        forward = self.functions.forward
        named = {argument_name(forward, a.index): a.type for a in forward.body.block.args}
        return {name: dtype_of(type_) for name, type_ in named.items() if name is not None}

    @cached_property
    def last_uses(self) -> dict[SSAValue, int]:
        """The place of the last operation that uses each value."""
        return {operand: place for place, op in enumerate(self.operations) for operand in op.operands}

    @cached_property
    def returned(self) -> frozenset[SSAValue]:
        return frozenset(self.operations[-1].operands)

    @cached_property
    def steps(self) -> list[Step]:
        made = dict.fromkeys(self.functions.forward.body.block.args, 0)
        made |= {result: place for place, op in enumerate(self.operations) for result in op.results}
        released: list[list[SSAValue]] = [[] for _ in self.operations]
        for value, place in made.items():
            released[max(place, self.last_uses.get(value, 0))].append(value)
        return [
            Step(op, tuple(op.operands), tuple(op.results), tuple(values))
            for op, values in zip(self.operations, released, strict=True)
        ]

    def run_block(
        self,
        op: ConvBlockOp,
        operands: Sequence[Any],
        counts: Mapping[str, int],
        targets: Mapping[tuple[ConvBlockOp, str], NodeSet],
        how: Running,
        advance: Callable[[float], None],
    ) -> list[torch.Tensor]:
        device = how.device if how.resident else "cpu"
        functions = self.compile_for(op, how)
        few = bool(targets) and any(not isinstance(targets.get((op, f.node_set), range(0)), range) for f in functions)
        results = BlockResults(op, operands, counts, self.workers.arena, self.returned, device, few=few)
        if how.budget is not None:
            # what earlier blocks have left and this one has no use for would lie beside its batches
            self.workers.arena.forget()
        elif not targets:
            keep_samples(functions, operands, how.threads)
        for compiled in functions:
            plan = how.plans.get((op, compiled.node_set)) if how.plans else None
            if plan is None:
                every = range(counts[compiled.node_set])
                nodes = targets.get((op, compiled.node_set), every) if targets else every
                size = batch_limit(compiled, op, operands, counts[compiled.node_set], len(nodes), how)
                parts = [nodes[start : start + size] for start in range(0, len(nodes), size)]
                batches = [Batch(part, how.device, how.kept, resident=how.resident) for part in parts]
            else:
                batches = [Batch(part.nodes, how.device, is_hub=part.is_hub) for part in plan.batches]
            run = BlockRun(op, compiled, operands, results, self.weights, plan)
            done = partial(advance, 1 / len(functions) / max(1, len(batches)))
            shared = how.device == "cpu" and not compiled.is_local
            room = plan.most_bytes if plan is not None and shared else None
            hubs = hubs_at(compiled, operands) if compiled.in_cache else set[int]()
            if hubs:
                self.workers.run(run, [b for b in batches if b.has_any(hubs)], how.threads, share=False, done=done)
                batches = [b for b in batches if not b.has_any(hubs)]
            self.workers.run(run, batches, how.threads, share=compiled.in_cache, done=done, room=room)
        return results.finished()

    def run_between_blocks(self, op: Operation, values: dict[SSAValue, Any]) -> None:
        """What is computed from values of the whole graph, on the host."""
        if isinstance(op, LoadWeightOp):
            values[op.result] = self.weights[op.weight.string_value()]
        elif isinstance(op, ConstantOp):
            values[op.result] = constant(op)
        else:
            result = function_of(op)(*(values[operand] for operand in op.operands))
            values.update(zip(op.results, result if isinstance(result, tuple) else (result,), strict=True))

    def compile_for(self, op: ConvBlockOp, how: Running) -> list[CompiledBlock]:
        return self.compile(op, how.device, how.way)

    def compile(self, op: ConvBlockOp, device: str, way: Way = Way.INDEXED) -> list[CompiledBlock]:
        key = (op, device, way)
        if key not in self.compiled:
            if device not in self.weights_on:
                self.weights_on[device] = {name: tensor.to(device) for name, tensor in self.weights.items()}
            kernels = self.kernels if way is not Way.TILED else finishing(self.kernels, op)
            self.compiled[key] = compile_block(op, self.weights_on[device], device, kernels, way=way)
        return self.compiled[key]


def finishing(kernels: Mapping[FusedOperation, AnyKernel], op: ConvBlockOp) -> dict[FusedOperation, AnyKernel]:
    """The kernels of a block, those of Convs for sums that have been added up before."""
    from gnnc.targets.gpu.kernels.kernel import Kernel

    own = {o: kernels[o] for o in op.body.block.ops if isinstance(o, FusedOperation)}
    return {o: kernel.finishing if isinstance(kernel, Kernel) else kernel for o, kernel in own.items()}


def hubs_at(compiled: CompiledBlock, operands: Sequence[Any]) -> set[int]:
    """Nodes of the block's set with so many edges that all threads share those of one node."""
    sets = [(operands[place], end) for place, end in compiled.reduced]
    return {hub for edges, end in sets if isinstance(edges, EdgeSet) for hub in whole_csr(edges, end).hubs}


def batch_limit(
    compiled: CompiledBlock, op: ConvBlockOp, operands: Sequence[Any], nodes: int, count: int, how: Running
) -> int:
    """The most targets a batch of `count` of the set's `nodes`."""
    size = how.batch_size or default_batch_size(op, operands, nodes, how.device)
    return min(size, even_rows(count, compiled.cache_rows, how.threads)) if compiled.in_cache else size


def even_rows(count: int, most: int, threads: int) -> int:
    """Rows of a batch of `count` nodes: about `most` in each, all of one size; fewer where threads would wait for the
    last of them."""
    shared = min(BATCHES_PER_THREAD * threads, count // LEAST_ROWS) if threads > 1 else 1
    parts = max(1, round(count / most), shared)
    return max(1, -(-count // parts))


def default_batch_size(op: ConvBlockOp, operands: Sequence[Any], nodes: int, device: str) -> int:
    """As many targets as keep the widest values of their edges, at the mean in-degree, within what a batch may take."""
    edges = max((o.edge_count for o in operands if isinstance(o, EdgeSet)), default=0)
    bytes_per_target = 2 * widest_on_edges(op) * edges // max(1, nodes)
    most = HOST_BATCH_BYTES if device == "cpu" else DEFAULT_BATCH_BYTES
    return max(1, min(nodes, most // max(1, bytes_per_target)))


@lru_cache(maxsize=1024)
def widest_on_edges(op: ConvBlockOp) -> int:
    """The largest number of bytes that a value of a block has for an edge."""
    on_edges = [
        row_bytes(result.type)
        for inner in op.body.block.ops
        for result in inner.results
        if (domain := domain_of(result.type)) is not None and not domain.is_nodes
    ]
    return max(on_edges, default=0)
