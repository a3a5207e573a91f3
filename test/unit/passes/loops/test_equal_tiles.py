"""Which tiles of a row are computed alike."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from kernel_cases import parsed
from xdsl.dialects.func import FuncOp
from xdsl.ir import SSAValue

from gnnc.passes.loops.equal_tiles import equal_tiles, lanes_needed
from gnnc.passes.loops.lanes import Lanes, partition

VECTOR, MANY = 16, 3

SCALED = """
!x = tensor<?x{heads}x{size}xf32, #gnn.on<nodes "n">>
!s = tensor<?x{heads}x1xf32, #gnn.on<nodes "n">>
!b = tensor<{heads}x{size}xf32>
func.func @rows(%x: !x, %s: !s, %b: !b) -> !x {{
  %m = gnn.mul %x, %s : !x, !s -> !x
  %y = gnn.add %m, %b : !x, !b -> !x
  func.return %y : !x
}}
"""
"""Each head times a number of its own."""

NORMED = """
!x = tensor<?x256xf32, #gnn.on<nodes "n">>
!s = tensor<?x1xf32, #gnn.on<nodes "n">>
func.func @rows(%x: !x) -> !x {
  %s = gnn.rowwise "aten.sum.dim_IntList"(%x, [1], true) : (!x) -> !s
  %y = gnn.mul %x, %s : !x, !s -> !x
  func.return %y : !x
}
"""
"""Every tile needs the whole row, and its own lanes of the same value."""

JOINED = """
!x = tensor<?x64xf32, #gnn.on<nodes "n">>
!y = tensor<?x128xf32, #gnn.on<nodes "n">>
func.func @rows(%x: !x, %z: !x) -> !y {
  %r = gnn.relu %z : !x
  %y = gnn.concat %x, %r axis 1 : !x, !x -> !y
  func.return %y : !y
}
"""


def result_of(text: str) -> SSAValue:
    (function,) = (op for op in parsed(text).ops if isinstance(op, FuncOp))
    last = function.body.block.last_op
    assert last is not None
    return last.operands[0]


def units(text: str, pieces: list[Lanes]) -> list[tuple[int, int, int]]:
    """First tile, tiles and count of what is alike."""
    result = result_of(text)
    found = equal_tiles([[(result, lanes)] for lanes in pieces], VECTOR, MANY)
    return [(alike.first, alike.tiles, alike.count) for alike in found]


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 9), st.integers(1, 90))
def test_a_unit_needs_what_the_first_needs_moved_on(heads: int, size: int) -> None:
    result = result_of(SCALED.format(heads=heads, size=size))
    pieces = partition(heads * size, size, VECTOR)
    tiles = [[(result, lanes)] for lanes in pieces]
    covered = 0
    for alike in equal_tiles(tiles, VECTOR, MANY):
        assert alike.first == covered and (alike.count == 1 or alike.count >= MANY)
        for number in range(alike.count):
            for tile in range(alike.first, alike.first + alike.tiles):
                first, moved = (lanes_needed(tiles[t], VECTOR) for t in (tile, tile + number * alike.tiles))
                assert first is not None and moved is not None
                steps = [number * alike.steps.get(value, 0) for value, _ in first]
                expected = [(v, Lanes(at.start + step, at.count)) for (v, at), step in zip(first, steps, strict=True)]
                assert list(moved) == expected
        covered += alike.count * alike.tiles
    assert covered == len(tiles)


@pytest.mark.parametrize(
    "heads, size, expected",
    [
        (1, 100, [(0, 1, 6), (6, 1, 1)]),  # six vectors and what remains
        (5, 16, [(0, 1, 5)]),
        (4, 40, [(0, 3, 4)]),  # a head has two vectors and a half
        (2, 40, [(number, 1, 1) for number in range(6)]),  # two are not many
    ],
)
def test_heads(heads: int, size: int, expected: list[tuple[int, int, int]]) -> None:
    text = SCALED.format(heads=heads, size=size)
    assert units(text, partition(heads * size, size, VECTOR)) == expected


def test_a_row_that_every_tile_needs_is_not_moved() -> None:
    assert units(NORMED, partition(256, 256, VECTOR)) == [(number, 1, 1) for number in range(16)]


def test_a_loop_does_not_go_from_one_value_into_the_next() -> None:
    assert units(JOINED, partition(128, 128, VECTOR)) == [(0, 1, 4), (4, 1, 4)]
