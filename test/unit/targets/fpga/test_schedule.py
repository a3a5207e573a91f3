"""Cores that share a memory: closed forms for single cases, bounds for all."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gnnc.targets.fpga.schedule import SCHEDULES, Schedule, Tasks, run


def tasks(compute: list[int], count: list[int], release: list[float] | None = None) -> Tasks:
    return Tasks(np.asarray(compute, np.int64), np.asarray(count, np.int64), release)


def test_one_task_computes_and_loads_at_once() -> None:
    assert run(tasks([100], [640]), 1, 308, 64, "dynamic").makespan == 100
    assert run(tasks([5], [640]), 1, 308, 64, "dynamic").makespan == 10


def test_a_port_is_the_limit_of_one_core_and_bandwidth_of_all() -> None:
    assert run(tasks([0] * 2, [640] * 2), 2, 308, 64, "dynamic").makespan == 10
    assert run(tasks([0] * 7, [880] * 7), 7, 308, 64, "dynamic").makespan == pytest.approx(20)


def test_bandwidth_that_is_left_over_is_shared() -> None:
    """The second load has the memory to itself once the first is done."""
    timeline = run(tasks([0, 0], [100, 300]), 2, 100, 100, "dynamic")
    assert [slot.end for slot in timeline.slots] == pytest.approx([2, 4])


def test_longest_first() -> None:
    lengths = tasks([1, 1, 1, 1, 4], [0] * 5)
    assert run(lengths, 2, 1, 1, "dynamic").makespan == 6
    assert run(lengths, 2, 1, 1, "lpt").makespan == 4
    assert run(lengths, 2, 1, 1, "static").makespan == 6


def test_tasks_wait_for_their_decisions() -> None:
    timeline = run(tasks([3, 3], [0, 0], [5.0, 20.0]), 2, 1, 1, "dynamic")
    assert [(slot.start, slot.end) for slot in timeline.slots] == [(5, 8), (20, 23)]


def test_decisions_are_made_in_the_order_of_issue() -> None:
    waiting = tasks([1, 1, 9], [1, 1, 1], [1, 2, 3])
    assert run(waiting, 1, 1, 1, "dynamic").makespan == 12
    longest_first = run(waiting, 1, 1, 1, "lpt")
    assert [(slot.task, slot.start) for slot in longest_first.slots] == [(2, 1), (0, 10), (1, 11)]


def test_no_tasks() -> None:
    assert run(tasks([], []), 2, 1, 1, "dynamic").makespan == 0


lengths = st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 10000)), min_size=1, max_size=40)


@settings(max_examples=80)
@given(lengths, st.integers(1, 7), st.sampled_from(SCHEDULES))
def test_bounds(given: list[tuple[int, int]], cores: int, schedule: Schedule) -> None:
    compute, count = [c for c, _ in given], [b for _, b in given]
    timeline = run(tasks(compute, count), cores, 308, 64, schedule)
    tolerance = 1 - 1e-9
    assert timeline.makespan >= max(compute)
    assert timeline.makespan >= sum(compute) / cores * tolerance
    assert timeline.makespan >= max(sum(count) / 308, max(count) / 64) * tolerance
    assert sorted(slot.task for slot in timeline.slots) == list(range(len(given)))
    for core in range(cores):
        own = sorted((s.start, s.end) for s in timeline.slots if s.core == core)
        assert all(a[1] <= b[0] + 1e-6 for a, b in zip(own, own[1:], strict=False))
