"""Tilings fit into their room, and no other one is cheaper."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given, settings
from hypothesis import strategies as st

from gnnc.targets.gpu.tiling import Demand, Tiling, best_tiling, gather_price, tiling_of

MIB = 2**20
CONVS = st.builds(Demand, st.integers(0, 5000), st.integers(0, 600), st.integers(4, 600))


@settings(deadline=None)
@given(st.integers(0, 5000), st.lists(CONVS, min_size=1, max_size=3), st.integers(0, 10**6))
def test_a_tiling_fits(targets: int, convs: list[Demand], room: int) -> None:
    found = best_tiling(targets, convs, room)
    if found is None:
        assert sum(c.sum_bytes for c in convs) + max(c.row_bytes for c in convs) > room
        return
    sums = min(found.target_rows, max(1, targets)) * sum(c.sum_bytes for c in convs)
    for conv, rows in zip(convs, found.source_rows, strict=True):
        assert sums + rows * conv.row_bytes <= room
        assert rows >= 1


@settings(deadline=None)
@given(st.integers(1, 300), CONVS, st.integers(1000, 10**5))
def test_no_tiling_is_much_cheaper(targets: int, conv: Demand, room: int) -> None:
    found = best_tiling(targets, [conv], room)
    others = [tiling_of(targets, [conv], room, rows) for rows in range(1, targets + 1)]
    prices = [other.price for other in others if other is not None]
    assert (found is None) == (not prices)
    if found is not None:
        assert found.price <= 1.1 * min(prices)


def test_edges_that_lie_in_order_are_used() -> None:
    """Unless another tiling is so much better that ordering them anew pays."""
    fresh = Demand(100_000, 512, 512, 5_000_000)
    best = best_tiling(100_000, [fresh], 20 * MIB)
    assert best is not None
    near = best.target_rows - 500, best.source_rows[0] - 500
    poor = 1000, 1000
    found = best_tiling(100_000, [replace(fresh, ordered=frozenset({near, poor}))], 20 * MIB)
    assert found is not None
    assert (found.target_rows, *found.source_rows) == near
    found = best_tiling(100_000, [replace(fresh, ordered=frozenset({poor, (10**6, 10)}))], 20 * MIB)
    assert found == best


def test_the_shape_of_products() -> None:
    """Half a GiB for 1.25 GB of rows: a few passes over a few tiles, and cheaper than to gather for batches that reach
    most nodes."""
    nodes = 2_449_029
    found = best_tiling(nodes, [Demand(nodes, 512, 512)], 400 * MIB)
    assert isinstance(found, Tiling)
    assert -(-nodes // found.target_rows) <= 7
    assert -(-nodes // found.source_rows[0]) <= 10
    assert found.price < gather_price(40 * nodes, 512)


def test_a_tiny_budget_rather_gathers() -> None:
    nodes = 2_449_029
    found = best_tiling(nodes, [Demand(nodes, 512, 512)], 4 * MIB)
    assert found is not None
    assert found.price > gather_price(123_718_280, 512)
