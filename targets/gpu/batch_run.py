"""Running one batch of a block, in parts where memory runs out."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from gnnc.dialects.gnn import ConvBlockOp
from gnnc.targets.gpu.arena import Arena
from gnnc.targets.gpu.batch import Batch
from gnnc.targets.gpu.block_results import BlockResults
from gnnc.targets.gpu.budget import BlockPlan
from gnnc.targets.gpu.compiled_block import CompiledBlock
from gnnc.targets.gpu.errors import ResourceError, is_out_of_memory
from gnnc.targets.gpu.hub_rows import HubRow


@dataclass
class BlockRun:
    """One function of a block at work. `parts` says into how many pieces batches are cut: 1 until memory runs out."""

    op: ConvBlockOp
    compiled: CompiledBlock
    operands: Sequence[Any]
    results: BlockResults
    weights: Mapping[str, torch.Tensor]
    plan: BlockPlan | None = None
    parts: int = 1

    def __call__(self, batch: Batch, arena: Arena, threads: int) -> None:
        """Computes a batch and takes its rows, and notes how long that took."""
        start = time.perf_counter()
        self.run(batch, arena, threads)
        if self.plan is not None:
            end = time.perf_counter()
            self.plan.report.took.append(end, batch.rows, end - start)

    def run(self, batch: Batch, arena: Arena, threads: int) -> None:
        """Computes a batch and takes its rows. On running out of memory, batches are halved from there on and this one
        runs again; any other error is raised as it is."""
        if batch.is_hub:
            arena.make_way()
            self.run_hub(batch)
            self.results.done(batch)
            return
        left = pieces(batch, self.parts)
        while left:
            piece = left.pop(0)
            try:
                self.run_once(piece, arena, threads)
            except (RuntimeError, MemoryError) as error:
                if not is_out_of_memory(error):
                    raise
                if piece.rows <= 1:
                    raise ResourceError(self.no_room_for(piece)) from error
                self.parts *= 2
                self.note_retry()
                arena.forget()
                left = [*pieces(piece, 2), *left]

    def run_once(self, batch: Batch, arena: Arena, threads: int) -> None:
        """All memory of the arena goes back to it, also what lies behind results that are no views of it."""
        try:
            places = self.results.places(self.compiled.outputs, batch, arena)
            computed = self.compiled.run(batch, arena, threads, places, *self.operands)
            for place, memory, (rows, value) in zip(self.compiled.outputs, places, computed, strict=True):
                self.results.add(place, rows, value if memory is None or value is None else put(value, memory))
            self.results.done(batch)
        finally:
            arena.reclaim()
        if self.plan is not None and not self.compiled.is_local:
            # buffers of this batch may be a little too small for the next one, and would lie there beside its own
            del places, computed
            arena.forget()

    def run_hub(self, batch: Batch) -> None:
        """One node, from chunks of its edges."""
        assert self.plan is not None
        row = HubRow(self.op, self.operands, self.weights, int(batch.nodes[0]), self.plan.chunk, batch.device)
        for place, value in zip(self.compiled.outputs, row.results(self.compiled.outputs), strict=True):
            self.results.add(place, batch, value)

    def note_retry(self) -> None:
        if self.plan is not None:
            self.plan.report.retries += 1

    def no_room_for(self, batch: Batch) -> str:
        node, layer = int(batch.nodes[0]), self.op.layer_index
        return (
            f"memory ran out in layer {layer} for node {node} of '{self.compiled.node_set}' alone: free some, or give "
            "memory=, so that its edges are looked at in parts"
        )


def put(value: torch.Tensor, memory: torch.Tensor) -> torch.Tensor:
    """A result where it has its place; what lies elsewhere in the arena is copied."""
    return value if value.data_ptr() == memory.data_ptr() else memory.copy_(value)


def pieces(batch: Batch, count: int) -> list[Batch]:
    """A batch cut into so many batches of about equal size, one row at least."""
    if count == 1:
        return [batch]
    size = -(-batch.rows // count) if batch.rows else 1
    starts = range(0, max(1, batch.rows), size)
    return [batch.part(start, start + size) for start in starts]
