"""What a run did: for each block and batch its rows and bytes, for the run its peak."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from gnnc.targets.gpu.memory_meter import MemoryMeter
from gnnc.targets.gpu.planned_batches import PlannedBatches
from gnnc.targets.gpu.thinned import Thinned

MOST_TIMES = 4096
"""Of batches; a small budget has tens of thousands."""


@dataclass
class BlockReport:
    """One function of a block: its batches as planned, and how often one had to be cut for lack of memory.

    `resident` are the bytes of arrays of all rows beside the batches, `passes` says how often rows on disk are read for
    neighbors, `seconds` what the block took by the clock, by stage.
    """

    layer: int
    node_set: str
    way: str
    resident: int
    budget: int
    batches: PlannedBatches
    retries: int = 0
    passes: int = 1
    seconds: dict[str, float] = field(default_factory=dict[str, float])
    took: Thinned = field(default_factory=partial(Thinned, 3, MOST_TIMES))
    """For each batch when it ended, in seconds of a clock of no known beginning, its targets, and its seconds."""


@dataclass
class RunReport:
    """A run within a budget. `peak` are the bytes that were measured, None where the system doesn't say; `held` are
    those of them that were there before, of the graph's structure."""

    memory: int | None = None
    peak: int | None = None
    held: int = 0
    preparation: float = 0.0
    """Seconds to put the edges in order, 0 where that was done before."""
    seconds: float = 0.0
    reorder: str = "none"
    """The order that the nodes were put in."""
    reordering: float = 0.0
    """Seconds to find that order and to copy what is in it, or to open what an earlier run has left of that."""
    blocks: list[BlockReport] = field(default_factory=list[BlockReport])

    timeline: Sequence[tuple[float, ...]] = ()
    """Memory over time: seconds of the same clock, and bytes."""

    def measured(self, meter: MemoryMeter) -> None:
        """Takes what was measured while the run went on."""
        self.peak = meter.peak
        self.timeline = list(meter.timeline)

    @property
    def retries(self) -> int:
        return sum(block.retries for block in self.blocks)

    def note_order(self, name: str, seconds: float, copied: int) -> None:
        """Adds what the order of the nodes took: `copied` are bytes of memory, a part of the budget."""
        self.reorder, self.reordering = name, seconds
        self.held += copied
        self.memory = None if self.memory is None else self.memory + copied
        self.peak = None if self.peak is None else self.peak + copied

    def as_json(self) -> dict[str, Any]:
        blocks: list[dict[str, Any]] = []
        for block in self.blocks:
            record = {k: v for k, v in vars(block).items() if k not in ("batches", "took")}
            took = [{"end": end - self.start, "nodes": int(n), "seconds": seconds} for end, n, seconds in block.took]
            batches = [
                {
                    "nodes": len(b.nodes),
                    "edges": b.edges,
                    "unique": b.neighbors,
                    "bytes": b.bytes,
                    "moved": b.moved,
                    "hub": b.is_hub,
                }
                for b in block.batches
            ]
            blocks.append({**record, "batches": batches, "took": took})
        whole = {name: value for name, value in vars(self).items() if name not in ("blocks", "timeline")}
        timeline = [{"at": at - self.start, "bytes": int(size)} for at, size in self.timeline]
        return {**whole, "blocks": blocks, "timeline": timeline}

    @property
    def start(self) -> float:
        """The earliest moment of the run's clock that is known."""
        ends = [end - seconds for block in self.blocks for end, _, seconds in block.took]
        return min([*ends, *(at for at, _ in self.timeline)], default=0.0)
