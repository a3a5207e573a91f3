"""What a run did: for each block and batch its rows and bytes, for the run its peak."""

from __future__ import annotations

from array import array
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from gnnc.targets.gpu.memory_meter import MemoryMeter
from gnnc.targets.gpu.planned_batches import PlannedBatches


class BatchTimes:
    """For each batch when it ended, in seconds of a clock of no known beginning, its targets, and its seconds."""

    def __init__(self) -> None:
        self.numbers = array("d")

    def append(self, end: float, nodes: int, seconds: float) -> None:
        self.numbers.extend((end, nodes, seconds))

    def __iter__(self) -> Iterator[tuple[float, int, float]]:
        for place in range(0, len(self.numbers), 3):
            end, nodes, seconds = self.numbers[place : place + 3]
            yield end, int(nodes), seconds


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
    took: BatchTimes = field(default_factory=BatchTimes)


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

    timeline: Sequence[tuple[float, int]] = ()
    """Memory over time: seconds of the same clock, and bytes."""

    def measured(self, meter: MemoryMeter) -> None:
        """Takes what was measured while the run went on."""
        self.peak = meter.peak
        self.timeline = meter.timeline

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
            took = [{"end": end - self.start, "nodes": nodes, "seconds": seconds} for end, nodes, seconds in block.took]
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
        timeline = [{"at": at - self.start, "bytes": size} for at, size in self.timeline]
        return {**whole, "blocks": blocks, "timeline": timeline}

    @property
    def start(self) -> float:
        """The earliest moment of the run's clock that is known."""
        ends = [end - seconds for block in self.blocks for end, _, seconds in block.took]
        return min([*ends, *(at for at, _ in self.timeline)], default=0.0)
