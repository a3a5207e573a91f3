"""What the journal of a store says of an earlier attempt at the same run, and what is left to do.

Records are of three kinds: the plan of a function of a block, written before its first batch runs; targets whose rows
are there; blocks that are complete.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias, overload

from gnnc.targets.gpu.batch import Batch
from gnnc.targets.gpu.block_rows import Way
from gnnc.targets.gpu.planned_batches import NodeSet, PlannedBatches
from gnnc.targets.gpu.tiling import Tiling

Function: TypeAlias = tuple[int, str]
"""The place of a block, and the node set whose rows one of its functions computes."""


@dataclass(frozen=True)
class Settings:
    """What a plan depends on beside the graph and the program."""

    memory: int
    threads: int
    batch_size: int | None


@dataclass(frozen=True)
class KnownPlan:
    """How a function ran before: a run that goes on does the same, to the bit."""

    way: Way
    tiling: Tiling | None
    batches: str
    """Their numbers, as text."""

    @staticmethod
    def of(way: Way, tiling: Tiling | None, batches: PlannedBatches) -> KnownPlan:
        return KnownPlan(way, tiling, batches.as_text())

    @property
    def count(self) -> int:
        """How many batches there are."""
        return len(self.planned(range(0)))

    def planned(self, nodes: NodeSet) -> PlannedBatches:
        return PlannedBatches.of_text(nodes, self.batches)

    def record(self, settings: Settings) -> dict[str, Any]:
        tiling = None if self.tiling is None else [self.tiling.target_rows, *self.tiling.source_rows]
        return {**vars(settings), "way": self.way.value, "tiling": tiling, "batches": self.batches}

    @staticmethod
    def of_record(record: Mapping[str, Any]) -> KnownPlan:
        given = record["tiling"]
        tiling = None if given is None else Tiling(given[0], tuple(given[1:]))
        return KnownPlan(Way(record["way"]), tiling, record["batches"])


@dataclass
class FinishedWork:
    """Blocks that are complete; by function, its plan and the ranges of targets that are there."""

    blocks: set[int] = field(default_factory=set[int])
    plans: dict[Function, KnownPlan] = field(default_factory=dict[Function, KnownPlan])
    ranges: dict[Function, list[tuple[int, int]]] = field(default_factory=dict[Function, list[tuple[int, int]]])

    @staticmethod
    def of(records: Sequence[Mapping[str, Any]], settings: Settings) -> FinishedWork:
        """Plans that were made with other settings are left out."""
        done = FinishedWork()
        for record in records:
            plan = record.get("plan")
            if plan is not None and all(plan[name] == value for name, value in vars(settings).items()):
                done.plans[record["block"], record["set"]] = KnownPlan.of_record(plan)
            elif "from" in record:
                add_range(done.ranges.setdefault((record["block"], record["set"]), []), record["from"], record["to"])
            elif plan is None:
                done.blocks.add(record["block"])
        return done


def add_range(ranges: list[tuple[int, int]], begin: int, end: int) -> None:
    """Adds a range to others, to the last one if it follows that."""
    if ranges and ranges[-1][1] == begin:
        begin = ranges.pop()[0]
    ranges.append((begin, end))


class BatchesLeft(Sequence[Batch]):
    """The batches without the targets that have been `done`. A run that is resumed with the budget that it had before
    finds its batches as they were, whole."""

    def __init__(self, planned: PlannedBatches, done: Sequence[tuple[int, int]]):
        self.nodes = planned.nodes
        self.bounds = array("q")
        """Of each the first place, the one behind it, and whether it is a hub."""
        first, gone = 0, sorted(done)
        for batch in planned:
            stop = first + len(batch.nodes)
            for begin, end in remaining(first, stop, gone):
                self.bounds.extend((begin, end, batch.is_hub))
            first = stop

    def __len__(self) -> int:
        return len(self.bounds) // 3

    @overload
    def __getitem__(self, place: int) -> Batch: ...
    @overload
    def __getitem__(self, place: slice) -> list[Batch]: ...
    def __getitem__(self, place: int | slice) -> Batch | list[Batch]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        place = range(len(self))[place]
        begin, end, is_hub = self.bounds[3 * place : 3 * place + 3]
        return Batch(self.nodes[begin:end], "cpu", is_hub=bool(is_hub), first=begin)

    def between(self, first: int, stop: int) -> list[Batch]:
        """Those whose first place is in a range."""
        begins = self.bounds[::3]
        return self[bisect_left(begins, first) : bisect_left(begins, stop)]


def remaining(first: int, stop: int, done: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """What is left of a range."""
    parts: list[tuple[int, int]] = []
    for begin, end in done:
        if end <= first or begin >= stop:
            continue
        if begin > first:
            parts.append((first, begin))
        first = max(first, end)
    return [*parts, (first, stop)] if first < stop else parts
