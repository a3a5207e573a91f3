"""The paper's performance model, exactly."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gnnc.passes.analysis.primitives import Primitive, TilePair, choose, cycles, threshold

SIDES = (4, 8, 16, 32)
MODES = (Primitive.GEMM, Primitive.SPDMM_X, Primitive.SPDMM_Y, Primitive.SPMM)


@st.composite
def pairs(draw: st.DrawFn) -> TilePair:
    m, n, d = (draw(st.integers(1, 64)) for _ in range(3))
    return TilePair(m, n, d, draw(st.integers(0, m * n)), draw(st.integers(0, n * d)))


@given(pairs(), st.sampled_from(SIDES))
def test_cycles_are_the_papers(pair: TilePair, p: int) -> None:
    work = Fraction(pair.m * pair.n * pair.d)
    a, b = Fraction(pair.x, pair.m * pair.n), Fraction(pair.y, pair.n * pair.d)
    nonempty = pair.x > 0 and pair.y > 0
    assert cycles(Primitive.GEMM, pair, p) == (work / p**2 if nonempty else 0)
    assert cycles(Primitive.SPDMM_X, pair, p) == (2 * a * work / p**2 if nonempty else 0)
    assert cycles(Primitive.SPDMM_Y, pair, p) == (2 * b * work / p**2 if nonempty else 0)
    assert cycles(Primitive.SPMM, pair, p) == a * b * work / p


@given(pairs(), st.sampled_from(SIDES))
def test_the_rule_is_the_fastest(pair: TilePair, p: int) -> None:
    chosen = choose(pair, p)
    if chosen is Primitive.SKIP:
        assert pair.x == 0 or pair.y == 0
    else:
        assert cycles(chosen, pair, p) == min(cycles(mode, pair, p) for mode in MODES)


@given(pairs(), st.sampled_from(SIDES), st.booleans())
def test_more_nonzeros_never_take_fewer_cycles(pair: TilePair, p: int, of_x: bool) -> None:
    x = min(pair.x + of_x, pair.m * pair.n)
    y = min(pair.y + (not of_x), pair.n * pair.d)
    more = TilePair(pair.m, pair.n, pair.d, x, y)

    def fewest(one: TilePair) -> Fraction:
        chosen = choose(one, p)
        return Fraction(0) if chosen is Primitive.SKIP else cycles(chosen, one, p)

    assert fewest(pair) <= fewest(more)


@given(pairs(), st.sampled_from(SIDES))
def test_a_threshold_decides_as_the_rule_does(pair: TilePair, p: int) -> None:
    assert threshold(pair.m, pair.n, pair.d, pair.y, p).decide(pair.x) is choose(pair, p)


@pytest.mark.parametrize("p", [2, 3])
def test_the_rule_is_not_the_fastest_for_small_arrays(p: int) -> None:
    """Why an architecture needs p_sys >= 4."""
    tiles = [TilePair(6, 6, 6, x, y) for x in range(1, 37) for y in range(1, 37)]
    assert any(cycles(choose(tile, p), tile, p) > min(cycles(mode, tile, p) for mode in MODES) for tile in tiles)


def test_nonempty_tiles_can_not_be_skipped() -> None:
    with pytest.raises(ValueError, match="can't be skipped"):
        cycles(Primitive.SKIP, TilePair(1, 1, 1, 1, 1), 4)
