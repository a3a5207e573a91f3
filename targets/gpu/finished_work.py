"""What the journal of a store says of an earlier attempt at the same run, and what is left to do.

Records are of three kinds: the plan of a function of a block, written before its first batch runs; targets whose rows
are there; blocks that are complete.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from gnnc.targets.gpu.batch import Batch
from gnnc.targets.gpu.block_rows import Way
from gnnc.targets.gpu.planned_batches import PlannedBatches
from gnnc.targets.gpu.tiling import Tiling

Function: TypeAlias = tuple[int, str]
"""The place of a block, and the node set whose rows one of its functions computes."""


@dataclass(frozen=True)
class Settings:
    """What a plan depends on beside the graph and the program."""

    memory: int
    threads: int
    batch_size: int | None

    def __str__(self) -> str:
        return "-".join(map(str, vars(self).values()))


@dataclass(frozen=True)
class KnownPlan:
    """How a function ran before: a run that goes on does the same, to the bit. Its batches lie in a file of their
    own."""

    way: Way
    tiling: Tiling | None

    def record(self, settings: Settings) -> dict[str, Any]:
        tiling = None if self.tiling is None else [self.tiling.target_rows, *self.tiling.source_rows]
        return {**vars(settings), "way": self.way.value, "tiling": tiling}

    @staticmethod
    def of_record(record: Mapping[str, Any]) -> KnownPlan:
        given = record["tiling"]
        tiling = None if given is None else Tiling(given[0], tuple(given[1:]))
        return KnownPlan(Way(record["way"]), tiling)


@dataclass
class FinishedWork:
    """Blocks that are complete; by function, its plan and the ranges of targets that are there."""

    blocks: set[int] = field(default_factory=set[int])
    plans: dict[Function, KnownPlan] = field(default_factory=dict[Function, KnownPlan])
    ranges: dict[Function, list[tuple[int, int]]] = field(default_factory=dict[Function, list[tuple[int, int]]])

    @staticmethod
    def of(records: Iterable[Mapping[str, Any]], settings: Settings) -> FinishedWork:
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


class BatchesLeft(Collection[Batch]):
    """The batches in order, without the targets that have been `done`. A run that is resumed with the budget that it
    had before finds its batches as they were, whole."""

    def __init__(self, planned: PlannedBatches, done: Sequence[tuple[int, int]]):
        self.planned = planned
        self.gone = sorted(done)

    def __iter__(self) -> Iterator[Batch]:
        return self.between(0, len(self.planned.nodes))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def __contains__(self, batch: object) -> bool:
        return any(batch == other for other in self)

    def between(self, first: int, stop: int) -> Iterator[Batch]:
        """What is left of those that begin in a range of places."""
        nodes, places = self.planned.nodes, range(len(self.planned))
        for place in places[bisect_left(places, first, key=self.planned.first_of) :]:
            begin, batch = self.planned.first_of(place), self.planned[place]
            if begin >= stop:
                return
            for start, end in remaining(begin, begin + len(batch.nodes), self.gone):
                yield Batch(nodes[start:end], "cpu", is_hub=batch.is_hub, first=start)


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
