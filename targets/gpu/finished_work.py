"""What the journal of a store says of an earlier attempt at the same run, and what is left to do.

Records are of three kinds: the plan of a function of a block, written before its first batch runs; targets whose rows
are there; blocks that are complete.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from gnnc.targets.gpu.batch import Batch
from gnnc.targets.gpu.batch_plan import NodeSet, PlannedBatch
from gnnc.targets.gpu.block_rows import Way
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
    batches: Sequence[tuple[int, int, int, int, bool]]
    """Targets, edges, distinct neighbors and bytes of each, and whether it is a hub."""

    @staticmethod
    def of(way: Way, tiling: Tiling | None, batches: Sequence[PlannedBatch]) -> KnownPlan:
        return KnownPlan(way, tiling, [(len(b.nodes), b.edges, b.neighbors, b.bytes, b.is_hub) for b in batches])

    def planned(self, nodes: NodeSet) -> list[PlannedBatch]:
        planned: list[PlannedBatch] = []
        first = 0
        for count, edges, neighbors, size, is_hub in self.batches:
            planned.append(PlannedBatch(nodes[first : first + count], edges, neighbors, size, is_hub))
            first += count
        return planned

    def record(self, settings: Settings) -> dict[str, Any]:
        tiling = None if self.tiling is None else [self.tiling.target_rows, *self.tiling.source_rows]
        return {**vars(settings), "way": self.way.value, "tiling": tiling, "batches": self.batches}

    @staticmethod
    def of_record(record: Mapping[str, Any]) -> KnownPlan:
        given = record["tiling"]
        tiling = None if given is None else Tiling(given[0], tuple(given[1:]))
        return KnownPlan(Way(record["way"]), tiling, [tuple(batch) for batch in record["batches"]])


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
                done.ranges.setdefault((record["block"], record["set"]), []).append((record["from"], record["to"]))
            elif plan is None:
                done.blocks.add(record["block"])
        return done


def batches_left(planned: Sequence[PlannedBatch], done: Sequence[tuple[int, int]]) -> list[Batch]:
    """The batches without the targets that have been done. A run that is resumed with the budget that it had before
    finds its batches as they were, whole."""
    left: list[Batch] = []
    first = 0
    gone = sorted(done)
    for batch in planned:
        stop = first + len(batch.nodes)
        for begin, end in remaining(first, stop, gone):
            left.append(Batch(batch.nodes[begin - first : end - first], "cpu", is_hub=batch.is_hub, first=begin))
        first = stop
    return left


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
