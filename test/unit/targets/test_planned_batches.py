"""Batches as a few numbers each: what goes in comes out, and so it does from a journal."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gnnc.targets.gpu.finished_work import BatchesLeft
from gnnc.targets.gpu.planned_batches import PlannedBatch, PlannedBatches

NUMBER = st.integers(0, 2**40)


@given(st.lists(st.tuples(st.integers(1, 9), NUMBER, NUMBER, NUMBER, st.booleans(), NUMBER), max_size=20))
def test_batches_come_out_as_they_went_in(given: list[tuple[int, int, int, int, bool, int]]) -> None:
    nodes = range(5, 5 + sum(size for size, *_ in given))
    given_batches: list[PlannedBatch] = []
    first = 0
    for size, edges, neighbors, taken, is_hub, moved in given:
        given_batches.append(PlannedBatch(nodes[first : first + size], edges, neighbors, taken, is_hub, moved))
        first += size
    batches = PlannedBatches(nodes, given_batches)
    assert list(batches) == given_batches and batches[1:-1] == given_batches[1:-1]
    again = PlannedBatches.of_text(nodes, batches.as_text())
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
