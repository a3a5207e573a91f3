"""How a function of a block comes by the rows of neighbors that lie on disk: the cheapest way that fits.

If they fit into the budget, they are read from front to back and kept while it runs. Otherwise sums of many targets
stay in memory while the rows come tile by tile; or, where that isn't possible or costs more, every batch gathers the
distinct rows that it needs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from gnnc.dialects.gnn import ConvBlockOp
from gnnc.targets.gpu.arena import fresh
from gnnc.targets.gpu.batch_plan import Planner
from gnnc.targets.gpu.block_rows import Way
from gnnc.targets.gpu.budget import PLANNED_SHARE, least_bytes, plan_block, planning_task
from gnnc.targets.gpu.compiled_block import CompiledBlock
from gnnc.targets.gpu.executor import BatchedExecutor
from gnnc.targets.gpu.finished_work import KnownPlan
from gnnc.targets.gpu.planned_batches import NodeSet, PlannedBatch
from gnnc.targets.gpu.tiled_convs import TiledConv, copy_rows, row_size, tiled_convs
from gnnc.targets.gpu.tiling import Tiling, best_tiling, gather_price

SAMPLED_BATCHES = 2
LEFT_FOR_BATCHES = 4
"""Batches beside a tiling get this part of the memory, one in so many, where that does for small ones only."""


@dataclass
class ChosenWay:
    """A function of a block with its operands, how it comes by the rows of neighbors, and the bytes that it keeps for
    that beside its batches. Targets are computed range by range."""

    way: Way
    compiled: CompiledBlock
    operands: Sequence[Any]
    kept: int
    ranges: Sequence[NodeSet]
    convs: Sequence[TiledConv] = ()
    tiling: Tiling | None = None

    def batches(self, op: ConvBlockOp, share: int, size: int) -> Iterator[PlannedBatch]:
        """Batches of at most `share` bytes and `size` targets, none of which crosses from one range to the next. Raises
        ResourceError if a node fits in no way."""
        for part in self.ranges:
            yield from plan_block(op, self.compiled, self.operands, part, share, size, with_outputs=True)


@dataclass(frozen=True)
class Chooser:
    """Chooses for one executor, within `left` bytes and for so many threads."""

    executor: BatchedExecutor
    left: int
    threads: int

    def way(
        self,
        op: ConvBlockOp,
        compiled: CompiledBlock,
        operands: list[Any],
        on_disk: Collection[int],
        nodes: NodeSet,
        known: KnownPlan | None = None,
    ) -> ChosenWay:
        """The way for a function whose batches read the operands at some places for neighbors, from disk; one that is
        `known` is taken again."""
        resident = sum(operands[place].nbytes for place in on_disk)
        if resident + 2 * self.batch_bytes(compiled, nodes) <= self.left * PLANNED_SHARE or not on_disk:
            there = [loaded(o, self.threads) if place in on_disk else o for place, o in enumerate(operands)]
            return ChosenWay(Way.INDEXED, compiled, there, resident, [nodes])
        gathered = self.compiled(op, compiled.node_set, Way.GATHERED)
        tiled = self.tiled(op, compiled.node_set, operands, on_disk, nodes, known)
        if tiled is None or (known is None and self.gathering_is_cheaper(gathered, tiled, on_disk, nodes)):
            return ChosenWay(Way.GATHERED, gathered, operands, 0, [nodes])
        return tiled

    def tiled(
        self,
        op: ConvBlockOp,
        node_set: str,
        operands: list[Any],
        on_disk: Collection[int],
        nodes: NodeSet,
        known: KnownPlan | None,
    ) -> ChosenWay | None:
        """All targets tile by tile; None where something stands against that, or it is known not to be the way."""
        if known is not None and known.tiling is None:
            return None
        weights, kernels = self.executor.weights, self.executor.kernels
        convs = tiled_convs(op, node_set, operands, on_disk, kernels, weights)
        if not convs or not isinstance(nodes, range) or len(nodes) < convs[0].edges.node_count(convs[0].end):
            return None
        finishing = self.compiled(op, node_set, Way.TILED)
        room = int(self.left * PLANNED_SHARE)
        room -= min(2 * self.batch_bytes(finishing, nodes), room // LEFT_FOR_BATCHES)
        best = best_tiling(len(nodes), [conv.demand for conv in convs], room)
        tiling = best if known is None else known.tiling
        if tiling is None or finishing.neighbor_demands:
            return None
        ranges = [nodes[start : start + tiling.target_rows] for start in range(0, len(nodes), tiling.target_rows)]
        return ChosenWay(Way.TILED, finishing, operands, bytes_of(tiling, convs), ranges, convs, tiling)

    def compiled(self, op: ConvBlockOp, node_set: str, way: Way) -> CompiledBlock:
        return next(c for c in self.executor.compile(op, "cpu", way) if c.node_set == node_set)

    def batch_bytes(self, compiled: CompiledBlock, nodes: NodeSet) -> int:
        """What batches of the usual size take, one a thread."""
        rows = min(compiled.cache_rows, max(1, len(nodes)))
        return self.threads * rows * (least_bytes(compiled, nodes) + compiled.memory.outputs)

    def gathering_is_cheaper(
        self, gathered: CompiledBlock, tiled: ChosenWay, on_disk: Collection[int], nodes: NodeSet
    ) -> bool:
        """Whether gathering for all batches, as a few of them tell, beats a tiling."""
        assert tiled.tiling is not None
        row_bytes = sum(row_size(tiled.operands[place]) for place in on_disk)
        rows = self.gathered_rows(gathered, tiled.operands, nodes, row_bytes)
        return gather_price(rows, row_bytes) < tiled.tiling.price

    def gathered_rows(self, gathered: CompiledBlock, operands: Sequence[Any], nodes: NodeSet, row_bytes: int) -> int:
        """How many rows all batches would gather, as a few of them tell. Nodes whose neighbors take more than a batch
        may are batches of their own, and counted by themselves."""
        share = int(self.left * PLANNED_SHARE)
        planner = Planner(planning_task(gathered, operands, nodes, share, len(nodes), with_outputs=True))
        hubs, of_hubs = planner.crowded(share // max(1, row_bytes))
        sampled = [planner.batch_behind_hubs(len(nodes) * i // SAMPLED_BATCHES) for i in range(SAMPLED_BATCHES)]
        targets, rows = sum(len(batch.nodes) for batch in sampled), sum(batch.neighbors for batch in sampled)
        return of_hubs + rows * (len(nodes) - hubs) // max(1, targets)


def bytes_of(tiling: Tiling, convs: Sequence[TiledConv]) -> int:
    """What sums of a range and the largest tile take."""
    tiles = [rows * conv.demand.row_bytes for conv, rows in zip(convs, tiling.source_rows, strict=True)]
    return tiling.target_rows * sum(conv.sum_bytes for conv in convs) + max(tiles)


def loaded(array: torch.Tensor, threads: int) -> torch.Tensor:
    """A mapped array in memory, read from front to back."""
    there = fresh(array.shape, array.dtype)
    copy_rows(array, there, threads)
    return there
