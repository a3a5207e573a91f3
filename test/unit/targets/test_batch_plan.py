"""Batches that fit a budget: planned exactly, within it and no smaller than need be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from xdsl.dialects.builtin import StringAttr
from xdsl.ir import Block

from gnnc.dialects.gnn import EdgeSetType, End
from gnnc.targets.edge_sets import EdgeSet
from gnnc.targets.gpu import batch_plan, memory_meter
from gnnc.targets.gpu.batch_plan import Planner, Task
from gnnc.targets.gpu.block_rows import TARGETS, Edges, NeighborNodes, Rows
from gnnc.targets.gpu.distinct import SortedCounter, TableCounter, counter_for
from gnnc.targets.gpu.memory_model import Point
from gnnc.targets.gpu.planned_batches import NodeSet, PlannedBatches

ARGUMENT = Block(arg_types=[EdgeSetType(*(StringAttr(name) for name in ("edges", "nodes", "nodes")))]).args[0]
MET = Edges(ARGUMENT, End.TARGET)
OTHERS = NeighborNodes(MET, ARGUMENT, End.SOURCE)
POINTS: tuple[Point, ...] = ({TARGETS: 100, OTHERS: 30}, {TARGETS: 10, MET: 12, OTHERS: 1})


def edges_of(nodes: int, pairs: list[tuple[int, int]]) -> EdgeSet:
    sources, targets = torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T
    return EdgeSet(sources, targets, nodes, nodes)


def bytes_taken(edges: EdgeSet, nodes: list[int]) -> int:
    """What a batch takes, counted plainly."""
    met = torch.isin(edges.targets, torch.tensor(nodes, dtype=torch.int64))
    counts: dict[Rows, int] = {TARGETS: len(nodes), MET: int(met.sum())}
    counts[OTHERS] = edges.sources[met].unique().shape[0]
    table = 9 * edges.source_count
    beside = min(40 * counts[MET], table) if counts[MET] * 8 < edges.source_count else table
    return beside + max(sum(size * counts[rows] for rows, size in point.items()) for point in POINTS)


def plan(edges: EdgeSet, nodes: NodeSet, budget: int, size: int = 10**9) -> PlannedBatches:
    return PlannedBatches(nodes, Planner(Task(POINTS, {0: edges}, nodes, budget, size)).batches())


@st.composite
def tasks(draw: st.DrawFn) -> tuple[EdgeSet, NodeSet, int]:
    count = draw(st.integers(1, 40))
    node = st.integers(0, count - 1)
    edges = edges_of(count, draw(st.lists(st.tuples(node, node), max_size=120)))
    ids = draw(st.none() | st.sets(node))
    nodes = range(count) if ids is None else torch.tensor(sorted(ids), dtype=torch.int64)
    return edges, nodes, draw(st.integers(1, 6000))


@settings(max_examples=200, deadline=None)
@given(tasks())
def test_batches_are_as_large_as_the_budget_lets_them_be(task: tuple[EdgeSet, NodeSet, int]) -> None:
    edges, nodes, budget = task
    batches = [[int(node) for node in batch.nodes] for batch in plan(edges, nodes, budget)]
    assert sum(batches, []) == [int(node) for node in nodes]
    for batch, following, planned in zip(batches, [*batches, []][1:], plan(edges, nodes, budget), strict=True):
        assert planned.bytes == bytes_taken(edges, batch)
        assert planned.bytes <= budget or (planned.is_hub and len(batch) == 1)
        assert not following or planned.is_hub or bytes_taken(edges, [*batch, following[0]]) > budget


def test_no_batch_is_larger_than_asked() -> None:
    edges = edges_of(10, [(0, 1), (1, 2)])
    assert [len(batch.nodes) for batch in plan(edges, range(10), 10**9, 4)] == [4, 4, 2]


def test_a_node_that_does_not_fit_is_a_batch_of_its_own() -> None:
    edges = edges_of(100, [(i, 7) for i in range(50)])
    batches = plan(edges, range(100), 1000)
    hub = next(batch for batch in batches if batch.is_hub)
    assert (list(hub.nodes), hub.edges, hub.neighbors) == ([7], 50, 50)
    assert sum(batch.is_hub for batch in batches) == 1


@settings(deadline=None)
@given(st.lists(st.lists(st.integers(0, 9), max_size=12), max_size=4))
def test_both_counters_count_what_is_distinct(additions: list[list[int]]) -> None:
    table, ordered = TableCounter(10), SortedCounter()
    table.add(np.array([1, 2]), np.array([2]))
    table.clear()
    ordered.clear()
    seen = set[int]()
    for added in additions:
        nodes, ends = np.array(added, np.int64), np.arange(len(added) + 1)
        expected = [len({*added[:end]} - seen) for end in ends]
        assert table.add(nodes, ends).tolist() == expected
        assert ordered.add(nodes, ends).tolist() == expected
        seen |= set(added)


def test_tables_are_for_budgets_that_hold_them() -> None:
    assert isinstance(counter_for(1000, 10**6), TableCounter)
    assert isinstance(counter_for(1000, 1000), SortedCounter)


def test_the_edges_of_a_hub_are_not_looked_at_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """That would take a hundred times what the budget is."""
    seen: list[int] = []
    look = batch_plan.others_of

    def noted(*arguments: Any) -> Any:
        seen.append(len(found := look(*arguments)))
        return found

    monkeypatch.setattr(batch_plan, "others_of", noted)
    edges = edges_of(50_001, [(source, 7) for source in range(1, 50_001)])
    (hub,) = (batch for batch in plan(edges, range(10), 100_000) if batch.is_hub)
    assert (list(hub.nodes), hub.edges, hub.neighbors) == ([7], 50_000, 50_000)
    assert max(seen, default=0) <= 4096


def test_a_timeline_stays_short(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_meter, "LONGEST", 16)
    meter = memory_meter.MemoryMeter("cpu")
    meter.base = meter.highest = 0
    sizes = iter(range(1000))
    monkeypatch.setattr(memory_meter, "anonymous_bytes", lambda: next(sizes))
    for _ in range(1000):
        meter.look()
    timeline = list(meter.timeline)
    assert 8 <= len(timeline) < 16
    assert timeline == sorted(timeline)
    assert timeline[-1][1] == 999
