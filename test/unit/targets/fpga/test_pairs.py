"""Pairs of tiles as arrays give what the model of one pair says, tile by tile."""

from __future__ import annotations

import itertools
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gnnc.passes.analysis import primitives
from gnnc.passes.analysis.primitives import Primitive, TilePair
from gnnc.targets.fpga.literal import execute, tile_of
from gnnc.targets.fpga.matrices import Matrix, TileCounts, tile_counts
from gnnc.targets.fpga.multiplications import spmm_multiplications
from gnnc.targets.fpga.pairs import Product, sums, unskipped_sums

P = 8


@st.composite
def matrices(draw: st.DrawFn) -> tuple[Matrix, Matrix, int, int, int]:
    """Two matrices that can be multiplied, of mixed density, and tile sizes."""
    rows, inner, columns = (draw(st.integers(1, 40)) for _ in range(3))
    m, n, d = (draw(st.sampled_from([4, 8, 16])) for _ in range(3))
    generator = np.random.default_rng(draw(st.integers(0, 2**32)))

    def matrix(height: int, width: int) -> Matrix:
        density = draw(st.sampled_from([0.0, 0.02, 0.2, 0.6, 1.0]))
        numbers = generator.random((height, width)).astype(np.float32)
        return np.where(generator.random((height, width)) < density, numbers, np.float32(0))

    return matrix(rows, inner), matrix(inner, columns), m, n, d


def count(tiles: TileCounts, row: int, column: int) -> int:
    """The nonzeros of one tile."""
    entries = slice(int(tiles.starts[row]), int(tiles.starts[row + 1]))
    found = dict(zip(tiles.columns[entries].tolist(), tiles.nonzeros[entries].tolist(), strict=True))
    return found.get(column, 0)


@settings(max_examples=60)
@given(matrices(), st.booleans(), st.booleans())
def test_counts(given: tuple[Matrix, Matrix, int, int, int], sparse: bool, merge: bool) -> None:
    x, _, m, n, _ = given
    tiles = tile_counts(csr_array(x) if sparse else x, m, n, distinct=sparse)
    if merge:
        tiles = tiles.merged(2 * m, 4 * n)
        m, n = 2 * m, 4 * n
    for row in range(tiles.grid[0]):
        for column in range(tiles.grid[1]):
            tile = x[row * m : (row + 1) * m, column * n : (column + 1) * n]
            assert count(tiles, row, column) == np.count_nonzero(tile)
    assert (tiles.nonzeros > 0).all()


@settings(max_examples=60)
@given(matrices())
def test_distinct_columns(given: tuple[Matrix, Matrix, int, int, int]) -> None:
    x, _, m, n, _ = given
    tiles = tile_counts(csr_array(x), m, n, distinct=True)
    assert tiles.distinct is not None
    tile = [x[r * m : r * m + m, c * n : c * n + n] for r, c in zip(tiles.rows, tiles.columns, strict=True)]
    assert tiles.distinct.tolist() == [int((t != 0).any(axis=0).sum()) for t in tile]


@settings(max_examples=60)
@given(matrices(), st.sampled_from(["aggregate", "update"]), st.sampled_from(["dynamic", "s1", "s2", "oracle"]))
def test_sums(given: tuple[Matrix, Matrix, int, int, int], kind: str, mapping: str) -> None:
    x, y, m, n, d = given
    product = Product(tile_counts(x, m, n), tile_counts(y, n, d))
    totals = sums([product], mapping, kind, P, 8)  # pyright: ignore[reportArgumentType]  # drawn from the literals
    fixed = {("s1", "update"): Primitive.GEMM}.get((mapping, kind), Primitive.SPDMM_X)
    grid = totals.numerators.shape
    for i in range(grid[0]):
        for j in range(grid[1]):
            expected, nonempty = Fraction(0), 0
            for t in range(product.inner):
                m, n, d = int(product.x.heights[i]), int(product.x.widths[t]), int(product.y.widths[j])
                pair = TilePair(m, n, d, count(product.x, i, t), count(product.y, t, j))
                chosen = primitives.choose(pair, P)
                if chosen is Primitive.SKIP:
                    continue
                nonempty += 1
                expected += primitives.cycles(chosen if mapping in ("dynamic", "oracle") else fixed, pair, P)
            assert Fraction(int(totals.numerators[i, j]), totals.denominator) == expected
            assert totals.pairs[i, j] == nonempty
            assert totals.task_cycles()[i, j] == -(-expected.numerator // expected.denominator)


@settings(max_examples=60)
@given(matrices(), st.booleans())
def test_spmm_multiplications(given: tuple[Matrix, Matrix, int, int, int], sparse: bool) -> None:
    """What is counted is what the mode takes when it is executed pair by pair."""
    x, y, m, n, d = given
    product = Product(tile_counts(x, m, n), tile_counts(y, n, d))
    actual, expected = 0, 0.0
    for i, t, j in itertools.product(range(product.x.grid[0]), range(product.inner), range(product.y.grid[1])):
        left, right = tile_of(x, i, t, m, n), tile_of(y, t, j, n, d)
        sizes = int(left.shape[0]), int(left.shape[1]), int(right.shape[1])
        pair = TilePair(*sizes, int(np.count_nonzero(left)), int(np.count_nonzero(right)))
        if primitives.choose(pair, P) is Primitive.SPMM:
            actual += execute(Primitive.SPMM, left, right).macs
            expected += pair.x * pair.y / pair.n
    if sparse:
        x, y = csr_array(x), csr_array(y)
    counted = spmm_multiplications(product, x, y, "dynamic", "update", P, 8)
    assert counted.actual == actual
    assert counted.expected == pytest.approx(expected)


@settings(max_examples=60)
@given(matrices())
def test_padded_widths(given: tuple[Matrix, Matrix, int, int, int]) -> None:
    """Padding an output with columns of its own density would cost what the padded figure says, where Y is dense."""
    x, y, m, n, _ = given
    dense = np.ones_like(y)
    wide = np.ones((len(y), -(-y.shape[1] // P) * P), np.float32)
    padded = sums([Product(tile_counts(x, m, n), tile_counts(dense, n, P))], "dynamic", "update", P, 8).padded_cycles
    full = sums([Product(tile_counts(x, m, n), tile_counts(wide, n, P))], "dynamic", "update", P, 8)
    assert padded == full.compute_cycles == full.padded_cycles


@settings(max_examples=60)
@given(matrices(), st.sampled_from(["aggregate", "update"]), st.sampled_from(["s1", "s2"]))
def test_sums_that_skip_nothing(given: tuple[Matrix, Matrix, int, int, int], kind: str, mapping: str) -> None:
    """Pair by pair, with the formulas of the mode and with an empty tile for one that has no numbers."""
    x, y, m, n, d = given
    product = Product(tile_counts(x, m, n), tile_counts(y, n, d))
    totals = unskipped_sums([product], mapping, kind, P, 8)  # pyright: ignore[reportArgumentType]  # of the literals
    skipping = sums([product], mapping, kind, P, 8)  # pyright: ignore[reportArgumentType]  # of the literals
    gemm = (mapping, kind) == ("s1", "update")
    for i, j in itertools.product(*(range(side) for side in totals.numerators.shape)):
        expected, loaded = Fraction(0), [0, 0]
        for t in range(product.inner):
            height, inner, width = int(product.x.heights[i]), int(product.x.widths[t]), int(product.y.widths[j])
            nonzeros = count(product.x, i, t), count(product.y, t, j)
            expected += Fraction(height * inner * width if gemm else 2 * nonzeros[0] * width, P * P)
            extents = height * inner, inner * width
            for side in (0, 1):
                loaded[side] += min(8 * nonzeros[side], 4 * extents[side])
        assert Fraction(int(totals.numerators[i, j]), totals.denominator) == expected
        assert [totals.loaded_x[i, j], totals.loaded_y[i, j]] == loaded
    for name in ("numerators", "padded", "pairs", "converted_x", "converted_y", "loaded_x", "loaded_y"):
        assert (getattr(totals, name) >= getattr(skipping, name)).all()
        if product.x.starts[-1] == product.x.grid[0] * product.x.grid[1] and len(product.y.columns) == (
            product.y.grid[0] * product.y.grid[1]
        ):
            assert (getattr(totals, name) == getattr(skipping, name)).all()


def test_dense_operands_and_sparse_adjacency_make_s1_optimal() -> None:
    """With dense W and H and every tile of A below one half, the static mapping S1 is the dynamic one."""
    generator = np.random.default_rng(0)
    h, w = generator.random((64, 32)).astype(np.float32), generator.random((32, 16)).astype(np.float32)
    a = np.where(generator.random((64, 64)) < 0.3, 1, 0).astype(np.float32)
    for x, y, n, kind in ((a, h, 16, "aggregate"), (h, w, 8, "update")):
        product = [Product(tile_counts(x, n, n), tile_counts(y, n, 8))]
        results = [sums(product, mapping, kind, P, 8).compute_cycles for mapping in ("s1", "dynamic")]  # pyright: ignore[reportArgumentType]  # literals
        assert results[0] == results[1] > 0


def test_sums_that_would_overflow_are_refused() -> None:
    tiles = TileCounts((1 << 15, 1 << 36), (1 << 15, 1 << 15), np.array([0, 0]), np.zeros(0, int), np.zeros(0, int))
    other = TileCounts(
        (1 << 36, 1 << 15), (1 << 15, 1 << 15), np.zeros((1 << 21) + 1, int), tiles.columns, tiles.columns
    )
    with pytest.raises(OverflowError, match="64 bits"):
        sums([Product(tiles, other)], "dynamic", "update", 16, 8)
