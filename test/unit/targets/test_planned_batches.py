"""Batches as a few numbers each: what goes in comes out, and so it does from a file."""

import threading
import time
import tracemalloc
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gnnc.targets.gpu.batch import Batch
from gnnc.targets.gpu.finished_work import BatchesLeft, FinishedWork, Settings
from gnnc.targets.gpu.planned_batches import PlannedBatch, PlannedBatches
from gnnc.targets.gpu.store.journal import Journal
from gnnc.targets.gpu.workers import InTurns

NUMBER = st.integers(0, 2**40)


@given(st.lists(st.tuples(st.integers(1, 9), NUMBER, NUMBER, NUMBER, st.booleans(), NUMBER), max_size=20))
def test_batches_come_out_as_they_went_in(
    tmp_path_factory: pytest.TempPathFactory, given: list[tuple[int, int, int, int, bool, int]]
) -> None:
    nodes = range(5, 5 + sum(size for size, *_ in given))
    given_batches: list[PlannedBatch] = []
    first = 0
    for size, edges, neighbors, taken, is_hub, moved in given:
        given_batches.append(PlannedBatch(nodes[first : first + size], edges, neighbors, taken, is_hub, moved))
        first += size
    batches = PlannedBatches(nodes, given_batches)
    assert list(batches) == given_batches and batches[1:-1] == given_batches[1:-1]
    path = tmp_path_factory.mktemp("plan") / "batches"
    again = PlannedBatches.to_file(path, nodes, iter(given_batches))
    assert PlannedBatches.of_file(path, nodes) == again
    assert again == batches and list(again) == given_batches
    assert batches != PlannedBatches(nodes, [*given_batches, PlannedBatch(nodes[:0], 0, 0, 0)])


def test_places_outside_are_errors() -> None:
    batches = PlannedBatches(range(3), [PlannedBatch(range(3), 1, 1, 1)])
    assert batches[-1].nodes == range(3)
    for place in (1, -2):
        with pytest.raises(IndexError):
            batches[place]


def test_what_is_left_of_batches() -> None:
    ids = torch.tensor([3, 4, 7, 8, 9])
    batches = PlannedBatches(ids, [PlannedBatch(ids[:2], 1, 1, 1), PlannedBatch(ids[2:], 1, 1, 1, is_hub=True)])
    left = BatchesLeft(batches, [(1, 3)])
    assert [(b.first, list(b.nodes), b.is_hub) for b in left] == [(0, [3], False), (3, [8, 9], True)]
    assert [batch.first for batch in left.between(1, 4)] == [3]
    assert list(BatchesLeft(batches, [(0, 5)])) == []


MANY = 100_000


def test_many_batches_take_no_memory(tmp_path: Path) -> None:
    nodes = range(MANY)
    tracemalloc.start()
    try:
        planned = PlannedBatches.to_file(
            tmp_path / "plan", nodes, (PlannedBatch(nodes[i:][:1], 1, 1, 1) for i in nodes)
        )
        journal = Journal(tmp_path / "journal")
        for start in range(0, MANY, 1000):
            records = [{"block": 0, "set": "nodes", "from": i, "to": i + 1} for i in range(start, start + 999)]
            journal.append(*records)
        journal.close()
        done = FinishedWork.of(Journal(tmp_path / "journal").records(), Settings(1, 1, None))
        left = BatchesLeft(planned, done.ranges[0, "nodes"])
        assert [batch.first for batch in left] == list(range(999, MANY, 1000))
        assert tracemalloc.get_traced_memory()[1] < 2**20
    finally:
        tracemalloc.stop()


def test_threads_take_turns() -> None:
    def slow() -> Iterator[Batch]:
        for i in range(40):
            time.sleep(0.0005)
            yield Batch(range(i, i + 1), "cpu", first=i)

    shared, taken = InTurns(slow()), list[list[int]]()
    threads = [threading.Thread(target=lambda: taken.append([batch.first for batch in shared])) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(first for firsts in taken for first in firsts) == list(range(40))
