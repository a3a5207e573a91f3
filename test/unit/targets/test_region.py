"""One piece of memory for all arrays of a batch."""

import torch
from hypothesis import given
from hypothesis import strategies as st

from gnnc.targets.gpu.arena import LINE, RowsOf
from gnnc.targets.gpu.memory_meter import anonymous_bytes
from gnnc.targets.gpu.region import Region

LINES = RowsOf((16,), torch.float32)
"""Rows of one cache line each; an array of them has one more at its end."""


def place_of(region: Region, array: torch.Tensor) -> int:
    return (array.data_ptr() - region.memory.data_ptr()) // LINE


def test_the_lowest_place_that_is_large_enough_is_taken() -> None:
    region = Region(100 * LINE)
    first, second, third = (region.empty(LINES, 9) for _ in range(3))
    assert [place_of(region, array) for array in (first, second, third)] == [0, 10, 20]
    region.release(first, third)
    assert place_of(region, region.empty(LINES, 20)) == 20
    assert place_of(region, region.empty(LINES, 5)) == 0
    region.release(second)
    assert place_of(region, region.packed(LINES, 13)) == 6


def test_what_has_no_place_is_memory_of_its_own() -> None:
    region = Region(10 * LINE)
    kept = region.empty(LINES, 5)
    large = region.empty(LINES, 9)
    assert not 0 <= place_of(region, large) < 10
    region.release(large, torch.empty(3), None)
    assert place_of(region, region.empty(LINES, 3)) == 6
    assert place_of(region, kept) == 0


def test_all_is_free_after_a_batch() -> None:
    region = Region(10 * LINE)
    region.empty(LINES, 5)
    region.reclaim()
    assert place_of(region, region.empty(LINES, 9)) == 0


def test_a_smaller_one_gives_pages_back() -> None:
    region = Region(32 * 2**20)
    region.empty(LINES, 2**18).fill_(1)
    before = anonymous_bytes()
    region.shrink(8 * 2**20)
    after = anonymous_bytes()
    if before is not None and after is not None:
        assert before - after > 4 * 2**20
    assert not 0 <= place_of(region, region.empty(LINES, 2**18)) < 2**19
    region.shrink(16 * 2**20)
    assert place_of(region, region.empty(LINES, 2**17)) == 0


@given(st.lists(st.tuples(st.integers(1, 30), st.integers(0, 10))))
def test_arrays_that_are_in_use_share_nothing(steps: list[tuple[int, int]]) -> None:
    """Numbers stay what they are while others come and go, and holes are whole again in the end."""
    region = Region(100 * LINE)
    held: list[tuple[torch.Tensor, int]] = []
    for number, (rows, freed) in enumerate(steps):
        array = region.empty(LINES, rows)
        held.append((array.fill_(number), number))
        if freed < len(held):
            array, expected = held.pop(freed)
            assert bool((array == expected).all())
            region.release(array)
    for array, expected in held:
        assert bool((array == expected).all())
        region.release(array)
    assert region.holes == [(0, region.size)]


def test_it_makes_way() -> None:
    region = Region(16 * 2**20)
    region.empty(LINES, 2**17).fill_(1)
    before = anonymous_bytes()
    region.reclaim()
    region.make_way()
    after = anonymous_bytes()
    if before is not None and after is not None:
        assert before - after > 6 * 2**20
    assert place_of(region, region.empty(LINES, 2**17)) == 0
