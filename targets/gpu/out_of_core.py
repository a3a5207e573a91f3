"""Runs a module with what is as large as the graph in files: any graph in a fixed amount of memory, resumable.

`stored_ways` says how each function of a block comes by the rows that it reads for neighbors.
"""

from __future__ import annotations

import hashlib
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import torch
from xdsl.dialects.func import ReturnOp
from xdsl.ir import SSAValue

from gnnc.dialects.gnn import ConvBlockOp, End
from gnnc.dialects.gnn.attributes import domain_of
from gnnc.passes.loops.arguments import PADDING
from gnnc.targets.gpu.arena import MAPPED, large_blocks_apart, trim
from gnnc.targets.gpu.batch import Batch
from gnnc.targets.gpu.batch_run import BlockRun
from gnnc.targets.gpu.budget import PLANNED_SHARE, BlockPlan, least_bytes, sorting_bytes, structure_bytes
from gnnc.targets.gpu.compiled_block import CompiledBlock
from gnnc.targets.gpu.errors import ResourceError, size_text
from gnnc.targets.gpu.executor import BatchedExecutor
from gnnc.targets.gpu.finished_work import BatchesLeft, FinishedWork, KnownPlan, Settings
from gnnc.targets.gpu.hub_rows import bytes_per_edge
from gnnc.targets.gpu.memory_meter import MemoryMeter
from gnnc.targets.gpu.planned_batches import NodeSet, PlannedBatches
from gnnc.targets.gpu.progress import progress
from gnnc.targets.gpu.run_report import BlockReport, RunReport
from gnnc.targets.gpu.store.array_file import ArrayFile
from gnnc.targets.gpu.store.csc_file import CscFile, build_csc, open_csc
from gnnc.targets.gpu.store.edge_stream import EdgeStream
from gnnc.targets.gpu.store.folder import StoreFolder, sync_folder
from gnnc.targets.gpu.store.journal import Journal
from gnnc.targets.gpu.store.writer import Writer
from gnnc.targets.gpu.stored_inputs import stored_inputs
from gnnc.targets.gpu.stored_results import StoredResults, file_shape, stored_value
from gnnc.targets.gpu.stored_ways import Chooser, ChosenWay
from gnnc.targets.gpu.streamed_structure import bytes_of_rows, reason_against, streamed_structure, structure_file
from gnnc.targets.gpu.tiled_convs import TiledSums, bytes_to_order
from gnnc.targets.gpu.workers import torch_threads_started
from gnnc.targets.torch_functions import dtype_of

WRITE_SHARE = 8
"""Rows on their way to disk may take this part of the budget, one in so many."""

STRUCTURE_SHARE = 16
"""What depends on the graph alone and has a row a node lies on disk where it takes more of the budget, one in so many.
"""

SMALL = 64 * 2**20
"""Bytes of a budget in which what the C library keeps of blocks that are freed has no room."""

OVERHEAD = 3 * 2**20
OVERHEAD_SHARE = 3
"""What Python's objects, threads and the C library take beside arrays, and what part of a small budget is left to them,
one in so many."""


@dataclass(frozen=True)
class StoredRun:
    """What runs: the graph's and the program's arrays by their names, node counts by set, the nodes that are
    wanted by set (None: all), keys of the graph and of the run, bytes of memory, threads, the most targets a batch.

    `on_disk` are names of features whose rows are mapped.
    """

    inputs: Mapping[str, torch.Tensor]
    on_disk: frozenset[str]
    counts: Mapping[str, int]
    wanted: Mapping[str, torch.Tensor] | None
    graph_key: str
    run_key: str
    memory: int
    threads: int
    batch_size: int | None = None


class OutOfCoreExecutor:
    """Runs the program of a batched executor with a store, on the host."""

    def __init__(self, executor: BatchedExecutor):
        self.executor = executor

    def run(self, path: Path, run: StoredRun) -> tuple[list[torch.Tensor], RunReport]:
        """The model's outputs, mapped, and what it took. Raises ResourceError if memory or disk don't suffice, or the
        store can't be used; what has been done by then is found by the same run later."""
        folder, meter = StoreFolder(path), MemoryMeter("cpu", int(run.memory * PLANNED_SHARE))
        with (
            folder.faults(),
            folder.locked(),
            self.executor.lock,
            torch.no_grad(),
            large_blocks_apart(MAPPED) if run.memory <= SMALL else nullcontext(),
            meter,
            torch_threads_started(run.threads),
        ):
            self.executor.workers.forget()
            work = _Work(self.executor, folder, run)
            results = work.run()
            self.executor.workers.forget()
            trim()
        work.report.measured(meter)
        return results, work.report


class _Work:
    def __init__(self, executor: BatchedExecutor, folder: StoreFolder, run: StoredRun):
        self.executor = executor
        self.folder = folder
        self.given = run
        self.started = time.perf_counter()
        self.report = RunReport(run.memory)
        self.settings = Settings(run.memory, run.threads, run.batch_size)
        self.path = folder.run(run.run_key)
        self.functions = executor.functions
        self.last_use = executor.last_uses
        self.on_disk: set[SSAValue] = set()
        self.held = 0
        self.structure_on_disk: set[int] = set()

    def run(self) -> list[torch.Tensor]:
        structure = self.structure()
        inputs, dtypes, memory = self.given.inputs, self.executor.feature_dtypes, self.given.memory
        converted = stored_inputs(inputs, dtypes, self.folder, self.path, memory)
        values = self.executor.arguments({**inputs, **converted}, structure)
        self.note_places(values, {*self.given.on_disk, *converted})
        self.check_disk()
        targets = self.executor.targets_of_blocks(values, self.given.counts, self.given.wanted, "cpu")
        journal = Journal(self.path / "journal")
        results: list[torch.Tensor] = []
        try:
            done = FinishedWork.of(journal.records(), self.settings)
            with progress(self.executor.operations) as advance:
                for place, op in enumerate(self.executor.operations):
                    if isinstance(op, ConvBlockOp):
                        self.block(place, op, values, targets, journal, done, advance)
                    elif isinstance(op, ReturnOp):
                        results = [values[value] for value in op.operands]
                    else:
                        self.executor.run_between_blocks(op, values)
                    self.free(place, values)
        finally:
            journal.close()
        (self.path / "complete").touch()
        sync_folder(self.path)
        self.report.seconds = time.perf_counter() - self.started
        return results

    # The structure of the graph.

    def structure(self) -> tuple[Any, ...]:
        start = time.perf_counter()
        reason = reason_against(self.functions)
        if reason is None:
            weights, counts = self.executor.weights, self.given.counts
            large = bytes_of_rows(self.functions, counts) > self.given.memory // STRUCTURE_SHARE
            folder = self.path if large else None
            result = streamed_structure(self.functions, self.given.inputs, weights, counts, self.ordered, folder)
            files = [self.path / structure_file(place) for place in range(len(result))]
            self.structure_on_disk = {id(v) for v, file in zip(result, files, strict=True) if large and file.exists()}
        else:
            result = self.structure_in_memory(reason)
        self.report.preparation = time.perf_counter() - start
        trim()
        return result

    def structure_in_memory(self, reason: str) -> tuple[Any, ...]:
        edges = sum(i.shape[1] for key, i in self.given.inputs.items() if key.startswith("edge_index"))
        if 50 * edges > self.given.memory:
            raise ResourceError(
                f"memory of {size_text(self.given.memory)} does not suffice: {reason}, which takes about "
                f"{size_text(50 * edges)}"
            )
        structure = self.executor.structure(self.given.inputs, self.given.counts)
        self.held = structure_bytes(structure) + sorting_bytes(structure)
        return structure

    def ordered(self, stream: EdgeStream, end: End, with_origins: bool) -> CscFile:
        """Edges in order by one end, from an earlier run or put in order now."""
        name = f"{hashlib.sha256(stream.term.encode()).hexdigest()[:16]}-{end.value}"
        place, with_more = (self.folder.graph(self.given.graph_key) / n for n in (name, f"{name}-origins"))
        if with_origins or with_more.exists():
            place = with_more
        if not place.exists():
            building = place.with_name(f"{place.name}.partial")
            by_target, budget = end is End.TARGET, self.given.memory
            build_csc(building, stream, by_target=by_target, padding=PADDING, budget=budget, with_origins=with_origins)
            sync_folder(building)
            building.rename(place)
            sync_folder(place.parent)
        return open_csc(place)

    def note_places(self, values: Mapping[SSAValue, Any], on_disk: Collection[str]) -> None:
        """Which arguments lie on disk, and what the others that are ours take."""
        for argument, value in values.items():
            name = self.executor.feature_name(argument)
            if (name is not None and name in on_disk) or id(value) in self.structure_on_disk:
                self.on_disk.add(argument)
            elif name is None and isinstance(value, torch.Tensor):
                self.held += value.nbytes

    # Blocks.

    def block(
        self,
        place: int,
        op: ConvBlockOp,
        values: dict[SSAValue, Any],
        targets: Mapping[tuple[ConvBlockOp, str], NodeSet],
        journal: Journal,
        done: FinishedWork,
        advance: Any,
    ) -> None:
        files = [self.file_of(place, j, output) for j, output in enumerate(op.outputs)]
        if place in done.blocks:
            values.update(self.known(place, op, files))
            advance(1.0)
            return
        for file in files:
            if file is not None:
                file.open()
        sync_folder(self.path)
        writer = Writer(journal, max(2**20, self.given.memory // WRITE_SHARE))
        try:
            results = StoredResults(op, files, writer, {"block": place})
            operands = [values[operand] for operand in op.operands]
            for number, compiled in enumerate(self.executor.compile(op, "cpu")):
                nodes = targets.get((op, compiled.node_set), range(self.given.counts[compiled.node_set]))
                results.key = {"block": place, "set": compiled.node_set}
                ranges = [] if any(file is None for file in files) else done.ranges.get((place, compiled.node_set), [])
                known = done.plans.get((place, compiled.node_set))
                file = self.path / f"plan-{place}-{number}-{self.settings}"
                chosen, plan = self.plan(op, compiled, operands, nodes, known, file)
                if known is None:
                    record = KnownPlan(chosen.way, chosen.tiling).record(self.settings)
                    journal.append({**results.key, "plan": record})
                self.function(op, chosen, plan, results, ranges, advance)
                writer.flush()
            outputs = results.finished()
        finally:
            writer.close()
            for file in files:
                if file is not None:
                    file.close()
        self.keep_reductions(place, files, outputs)
        journal.append({"block": place})
        self.on_disk |= {value for value, file in zip(op.outputs, files, strict=True) if file is not None}
        values.update(zip(op.outputs, outputs, strict=True))

    def plan(
        self,
        op: ConvBlockOp,
        compiled: CompiledBlock,
        operands: list[Any],
        nodes: NodeSet,
        known: KnownPlan | None,
        file: Path,
    ) -> tuple[ChosenWay, BlockPlan]:
        """How one function of a block runs: as it is `known` from an earlier attempt, or as is cheapest. Its batches
        lie in a file."""
        start = time.perf_counter()
        trim()
        memory = self.given.memory
        left = memory - self.held - memory // WRITE_SHARE - min(OVERHEAD, memory // OVERHEAD_SHARE)
        chooser = Chooser(self.executor, left, self.given.threads)
        chosen = chooser.way(op, compiled, operands, self.read_for_neighbors(op, compiled), nodes, known)
        compiled, left = chosen.compiled, left - chosen.kept
        self.check_memory(op, chosen, left)
        share = int(left * PLANNED_SHARE)
        share = share // self.given.threads if compiled.is_local else share
        limit = compiled.cache_rows if compiled.is_local else max(1, len(nodes))
        size = max(1, min(self.given.batch_size or limit, limit))
        if known is None:
            batches = PlannedBatches.to_file(file, nodes, chosen.batches(op, share, size))
            sync_folder(self.path)
        else:
            batches = PlannedBatches.of_file(file, nodes)
        kept = chosen.kept + self.held
        report = BlockReport(op.layer_index or 0, compiled.node_set, chosen.way.value, kept, share, batches)
        report.passes = len(chosen.ranges)
        report.seconds = {"read and plan": time.perf_counter() - start}
        self.report.blocks.append(report)
        return chosen, BlockPlan(batches, max(1, share // bytes_per_edge(op)), report)

    def check_memory(self, op: ConvBlockOp, chosen: ChosenWay, left: int) -> None:
        """Is there memory for a batch of one node? Raises ResourceError."""
        least = least_bytes(chosen.compiled, chosen.ranges[0]) + chosen.compiled.memory.outputs
        if least > left:
            raise ResourceError(
                f"memory of {size_text(self.given.memory)} does not suffice: a batch of one node in layer "
                f"{op.layer_index} takes {size_text(least)}, {size_text(max(0, left))} are left for it; give at least "
                f"{size_text(self.given.memory - left + least)}"
            )

    def function(
        self,
        op: ConvBlockOp,
        chosen: ChosenWay,
        plan: BlockPlan,
        results: StoredResults,
        ranges: list[tuple[int, int]],
        advance: Any,
    ) -> None:
        """Runs all batches of one function that have not been done before."""
        batches = BatchesLeft(plan.batches, ranges)
        count = len(batches)
        sums = self.tiled_sums(chosen) if count else None
        trim()
        start = time.perf_counter()
        work = BlockRun(op, chosen.compiled, chosen.operands, results, self.executor.weights, plan)
        step = partial(advance, 1 / len(self.executor.compile(op, "cpu")) / max(1, count))
        room = None if chosen.compiled.is_local else plan.most_bytes
        for part in chosen.ranges:
            inside = batches if sums is None else with_sums(batches, part, sums)
            shared = chosen.compiled.is_local
            self.executor.workers.run(work, inside, self.given.threads, share=shared, done=step, room=room)
        self.executor.workers.forget()
        plan.report.seconds["compute"] = time.perf_counter() - start

    def tiled_sums(self, chosen: ChosenWay) -> TiledSums | None:
        """What adds up tiles, with edges in order for that."""
        if chosen.tiling is None:
            return None
        start = time.perf_counter()
        targets = sum(len(part) for part in chosen.ranges)
        self.folder.check_room(bytes_to_order(chosen.convs, chosen.tiling, targets))
        sums = TiledSums(chosen.convs, chosen.tiling, targets, self.given.memory // 2, self.given.threads)
        self.report.preparation += time.perf_counter() - start
        return sums

    def read_for_neighbors(self, op: ConvBlockOp, compiled: CompiledBlock) -> set[int]:
        """The operands on disk whose rows batches read for neighbors."""
        sets = {demand.node_set for demand in compiled.neighbor_demands}
        places: set[int] = set()
        for place, operand in enumerate(op.operands):
            domain = domain_of(operand.type)
            if operand in self.on_disk and place < len(op.neighbors) and domain is not None:
                places |= {place} if domain.set_name.data in sets else set()
        return places

    # Files of results.

    def file_of(self, place: int, number: int, output: SSAValue) -> ArrayFile | None:
        """Where a result lies, None for what all rows are reduced to."""
        domain = domain_of(output.type)
        if domain is None:
            return None
        if not domain.is_nodes:
            raise ResourceError("the program returns or keeps values on edges: run it without a store")
        rows = self.given.counts[domain.set_name.data]
        return ArrayFile(self.path / f"{place}-{number}.npy", rows, file_shape(output), dtype_of(output.type))

    def keep_reductions(self, place: int, files: Sequence[ArrayFile | None], outputs: Sequence[torch.Tensor]) -> None:
        for number, (file, value) in enumerate(zip(files, outputs, strict=True)):
            if file is None:
                kept = ArrayFile(self.path / f"{place}-{number}.npy", 1, value.shape, value.dtype)
                kept.open()
                kept.write(0, value.unsqueeze(0))
                kept.sync()
                kept.close()

    def known(self, place: int, op: ConvBlockOp, files: Sequence[ArrayFile | None]) -> dict[SSAValue, Any]:
        """The results of a block that an earlier attempt has finished, as far as they are still needed."""
        found: dict[SSAValue, Any] = {}
        for number, (output, file) in enumerate(zip(op.outputs, files, strict=True)):
            path = self.path / f"{place}-{number}.npy"
            if not path.exists():
                continue
            if file is not None:
                found[output] = stored_value(file, output)
                self.on_disk.add(output)
                continue
            shape = [int(n) for n in output.type.get_shape()]  # pyright: ignore[reportAttributeAccessIssue]
            found[output] = ArrayFile(path, 1, shape, dtype_of(output.type)).mapped().squeeze(0).clone()
        return found

    def free(self, place: int, values: dict[SSAValue, Any]) -> None:
        """Forgets what no operation needs any more, and removes its file."""
        for value in [v for v in values if self.last_use.get(v, -1) <= place]:
            del values[value]
            op = value.owner
            # what all rows are reduced to stays: what follows from it is computed again when the run is resumed
            if (
                isinstance(op, ConvBlockOp)
                and domain_of(value.type) is not None
                and place + 1 < len(self.executor.operations)
            ):
                number = next(i for i, output in enumerate(op.outputs) if output is value)
                made = self.executor.operations.index(op)
                (self.path / f"{made}-{number}.npy").unlink(missing_ok=True)

    def check_disk(self) -> None:
        """Is there room for the results that are on disk at one time? Raises ResourceError."""
        alive: dict[SSAValue, int] = {}
        most = 0
        for place, op in enumerate(self.executor.operations):
            if isinstance(op, ConvBlockOp):
                for number, output in enumerate(op.outputs):
                    file = self.file_of(place, number, output)
                    if file is not None and not file.path.exists():
                        alive[output] = file.bytes
            most = max(most, sum(alive.values()))
            alive = {value: size for value, size in alive.items() if self.last_use.get(value, -1) > place}
        self.folder.check_room(most)


def with_sums(batches: BatchesLeft, part: NodeSet, sums: TiledSums) -> list[Batch]:
    """The batches of a range of targets, with what has to be added up for them."""
    assert isinstance(part, range)
    inside = list(batches.between(part.start, part.stop))
    added = sums.add_up(part.start, part.stop) if inside else ()
    return [
        replace(batch, sums=tuple(array[batch.first - part.start :][: batch.rows] for array in added))
        for batch in inside
    ]
