"""What a run takes beside its batches, and the batches that fit into the rest of a budget."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from xdsl.ir import Operation, SSAValue

from gnnc.dialects.gnn import AggregateOp, ConvBlockOp, ConvOperation, EdgeSetType, EdgeSoftmaxOp, FusedConvOp
from gnnc.dialects.gnn.attributes import domain_of
from gnnc.passes.analysis.cost_model import row_bytes
from gnnc.targets.edge_sets import EdgeSet
from gnnc.targets.gpu.batch_plan import Planner, Task
from gnnc.targets.gpu.block_rows import TARGETS
from gnnc.targets.gpu.compiled_block import CompiledBlock
from gnnc.targets.gpu.errors import ResourceError, size_text
from gnnc.targets.gpu.hub_rows import bytes_per_edge
from gnnc.targets.gpu.memory_model import arena_bytes
from gnnc.targets.gpu.planned_batches import NodeSet, PlannedBatch, PlannedBatches
from gnnc.targets.gpu.run_report import MOST_TIMES, BlockReport
from gnnc.targets.gpu.thinned import Thinned

SORTING_BYTES_PER_EDGE = 24
"""What ordering the edges of a set by their ends takes while it lasts, beside its result."""

PLANNED_SHARE = 0.9
"""So much is planned for of what batches may take: allocators need the rest (DGI)."""


def edge_set_bytes(edges: EdgeSet) -> int:
    """What an edge set takes: its ends, unless they are the graph's own arrays, its order, and what kernels read."""
    own = 16 if len(edges.parts) != 1 else 0
    return edges.edge_count * (own + 8 + 4) + 8 * max(edges.source_count, edges.target_count)


def structure_bytes(values: Iterable[Any]) -> int:
    """What the structure of a graph takes, its edges in order."""
    return sum(edge_set_bytes(edges) for edges in {id(v): v for v in values if isinstance(v, EdgeSet)}.values())


def sorting_bytes(values: Iterable[Any]) -> int:
    """What it takes beside that while the last edges are put in order, which is over when batches have been planned."""
    sets = [value for value in values if isinstance(value, EdgeSet) and not value.is_ordered]
    return max((SORTING_BYTES_PER_EDGE * edges.edge_count for edges in sets), default=0)


def resident_bytes(
    operations: Sequence[Operation],
    last_use: Mapping[SSAValue, int],
    counts: Mapping[str, int],
    edges: Mapping[Any, int],
) -> dict[Operation, int]:
    """By block, the bytes of arrays of all rows that are alive while it runs, its results among them. `counts` are the
    nodes by set, `edges` the edges by domain."""
    alive: dict[SSAValue, int] = {}
    result: dict[Operation, int] = {}
    for place, op in enumerate(operations):
        for value in op.results if isinstance(op, ConvBlockOp) else ():
            domain = domain_of(value.type)
            if domain is not None:
                rows = counts[domain.set_name.data] if domain.is_nodes else edges.get(domain, 0)
                alive[value] = rows * arena_bytes(value)
        result[op] = sum(alive.values())
        alive = {value: size for value, size in alive.items() if last_use.get(value, -1) > place}
    return result


@dataclass
class BlockPlan:
    """How one function of a block runs. Edges of a hub are looked at `chunk` at a time."""

    batches: PlannedBatches
    chunk: int
    report: BlockReport

    @property
    def most_bytes(self) -> int:
        """What the largest batch takes; a hub's chunks take memory of their own."""
        return max((batch.bytes for batch in self.batches if not batch.is_hub), default=0)

    def again(self) -> BlockPlan:
        """The same for another run, with a report of its own."""
        return replace(self, report=replace(self.report, retries=0, seconds={}, took=Thinned(3, MOST_TIMES)))


class Budget:
    """Bytes for a run: of the device's memory, or of the executor's own arrays where the device is the host."""

    def __init__(self, memory: int, device: str, threads: int):
        self.memory = memory
        self.on_host = device == "cpu"
        self.threads = threads
        self.structure = 0
        self.held = 0
        """Of that, what was there before the run."""
        self.edge_counts: dict[Any, int] = {}

    @property
    def planned(self) -> int:
        return int(self.memory * PLANNED_SHARE)

    def charge_structure(self, values: Mapping[SSAValue, Any]) -> None:
        """Takes off what the structure of the graph needs. Raises ResourceError if that is more than all."""
        sets = {value: edges for value, edges in values.items() if isinstance(edges, EdgeSet)}
        for value, edges in sets.items():
            if isinstance(value.type, EdgeSetType):
                self.edge_counts[value.type.domain] = edges.edge_count
        if self.on_host:
            self.structure = structure_bytes(sets.values())
            self.held = sum({id(edges): edge_set_bytes(edges) for edges in sets.values() if edges.is_ordered}.values())
        sorting = sorting_bytes(sets.values()) if self.on_host else 0
        self.check(self.structure + sorting, "to put the edges in order")

    def check(self, need: int, what: str) -> None:
        if need > self.memory:
            raise ResourceError(
                f"memory of {size_text(self.memory)} does not suffice: {what} takes {size_text(need)}; give at least "
                "that much and room for a batch, or a store, which keeps what is as large as the graph on disk"
            )

    def plan(
        self,
        op: ConvBlockOp,
        compiled: CompiledBlock,
        operands: Sequence[Any],
        nodes: NodeSet,
        resident: int,
        size: int,
    ) -> BlockPlan:
        """Batches of at most `size` targets that fit beside `resident` bytes of arrays of all rows. Raises
        ResourceError if a node fits in no way."""
        if self.on_host:
            beside = self.structure + resident
            self.check(beside + least_bytes(compiled, nodes), f"layer {op.layer_index}, with arrays of all rows,")
        else:
            beside = 0
        left = int((self.memory - beside) * PLANNED_SHARE)
        # batches that several threads work on lie side by side
        share = left // self.threads if compiled.in_cache else left
        batches = PlannedBatches(nodes, plan_block(op, compiled, operands, nodes, share, size))
        report = BlockReport(op.layer_index or 0, compiled.node_set, "in memory", beside, share, batches)
        return BlockPlan(batches, max(1, share // bytes_per_edge(op)), report)


def least_bytes(compiled: CompiledBlock, nodes: NodeSet) -> int:
    """What a batch of one target with one edge takes."""
    return max((sum(point.values()) for point in compiled.memory.points(nodes)), default=0) if len(nodes) else 0


def plan_block(
    op: ConvBlockOp,
    compiled: CompiledBlock,
    operands: Sequence[Any],
    nodes: NodeSet,
    budget: int,
    size: int,
    *,
    with_outputs: bool = False,
) -> Iterator[PlannedBatch]:
    """Batches of at most `budget` bytes and `size` targets in order, their results among those bytes or not. Raises
    ResourceError if a node fits in no way."""
    read = sum(row_bytes(value.type) for value in op.neighbors if domain_of(value.type) is not None)
    task = planning_task(compiled, operands, nodes, budget, size, with_outputs=with_outputs)
    for batch in Planner(task).batches():
        if batch.is_hub:
            check_hub(op, compiled, batch, budget)
        yield replace(batch, moved=moved_bytes(batch, read, compiled.memory.outputs))


def moved_bytes(batch: PlannedBatch, read: int, written: int) -> int:
    """What a batch moves, where a neighbor has `read` bytes and a result `written`; an edge is an id of 4 bytes."""
    return 4 * batch.edges + read * batch.neighbors + written * len(batch.nodes)


def planning_task(
    compiled: CompiledBlock, operands: Sequence[Any], nodes: NodeSet, budget: int, size: int, *, with_outputs: bool
) -> Task:
    """What a planner looks at."""
    edge_sets = {place: operand for place, operand in enumerate(operands) if isinstance(operand, EdgeSet)}
    points = compiled.memory.points(nodes)
    if with_outputs:
        # large batches follow each other, and the results of one are written while the next one runs
        outputs = compiled.memory.outputs * (1 if compiled.is_local else 2)
        points = [{**point, TARGETS: point.get(TARGETS, 0) + outputs} for point in points]
    return Task(points, edge_sets, nodes, budget, size)


def check_hub(op: ConvBlockOp, compiled: CompiledBlock, batch: PlannedBatch, budget: int) -> None:
    """Can a node that does not fit be computed from chunks of its edges? Raises ResourceError, naming it, if not."""
    node = (
        f"node {int(batch.nodes[0])} of '{compiled.node_set}', which has {batch.edges} edges in layer {op.layer_index}"
    )
    whole = next((o for o in op.walk() if isinstance(o, ConvOperation) and not is_decomposable(o)), None)
    if whole is not None or compiled.needs_all:
        reason = f"{whole.name} needs them all at once" if whole is not None else "values on them are needed at once"
        raise ResourceError(
            f"memory does not suffice for {node}: it takes {size_text(batch.bytes)}, {size_text(budget)} are "
            f"left for a batch, and {reason}"
        )
    if bytes_per_edge(op) > budget:
        raise ResourceError(
            f"memory does not suffice for {node}: one edge at a time takes {size_text(bytes_per_edge(op))}, "
            f"{size_text(budget)} are left for a batch"
        )


def is_decomposable(op: ConvOperation) -> bool:
    return isinstance(op, AggregateOp | EdgeSoftmaxOp | FusedConvOp)
