"""All pairs of tiles of a product at once: what `passes.analysis.primitives` says of one pair, for arrays of them.

Cycles are integers over a common denominator, so that sums are exact.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from fractions import Fraction
from math import lcm
from typing import Any, Literal, TypeAlias

import numpy as np

from gnnc.passes.analysis.primitives import Primitive
from gnnc.targets.fpga.matrices import Integers, TileCounts

Mapping: TypeAlias = Literal["dynamic", "s1", "s2", "oracle"]
Kind: TypeAlias = Literal["aggregate", "update"]
MAPPINGS: tuple[Mapping, ...] = ("dynamic", "s1", "s2", "oracle")

# S1 is HyGCN's and BoostGCN's mapping, S2 AWB-GCN's (Dynasparse, section VIII).
STATIC: dict[tuple[Mapping, Kind], Primitive] = {
    ("s1", "aggregate"): Primitive.SPDMM_X,
    ("s1", "update"): Primitive.GEMM,
    ("s2", "aggregate"): Primitive.SPDMM_X,
    ("s2", "update"): Primitive.SPDMM_X,
}
CHUNK = 1 << 15  # pairs at once, so that their arrays stay in the cache


@dataclass(frozen=True)
class Product:
    """One product of a kernel: the nonempty tiles of its sides. X's tiles are as wide as Y's are high."""

    x: TileCounts
    y: TileCounts

    @property
    def inner(self) -> int:
        """The pairs of a task, empty ones included."""
        return self.x.grid[1]


@dataclass(frozen=True)
class Pairs:
    """Some pairs of nonempty tiles, as arrays that broadcast: the entry of each side, its grid place, and the sizes.

    `named` counts the rows of Y that X names; None, where nobody counted, is all of them.
    """

    x_entry: Integers
    y_entry: Integers
    row: Integers
    column: Integers
    m: Integers
    n: Integers
    d: Integers
    x: Integers
    y: Integers
    named: Integers | None

    @property
    def shape(self) -> tuple[int, ...]:
        return self.y_entry.shape


def pairs_of(product: Product) -> Iterator[Pairs]:
    """All pairs of nonempty tiles, by the entries of X, some ten thousands at a time."""
    x, y = product.x, product.y
    partners = np.diff(y.starts)[x.columns]
    rows = x.rows
    ends = np.cumsum(partners)
    first = 0
    while first < len(partners):
        done = int(ends[first - 1]) if first else 0
        last = max(first + 1, int(np.searchsorted(ends, done + CHUNK, "right")))
        yield expand(x, y, rows, np.arange(first, last), partners[first:last])
        first = last


def expand(x: TileCounts, y: TileCounts, rows: Integers, entries: Integers, partners: Integers) -> Pairs:
    """The pairs of some entries of X: each meets all entries of Y in the block row that is its block column.

    Where those are as many as Y has block columns, as in dense features, pairs are a table, entries of X by columns.
    """
    columns = y.grid[1]
    if (partners == columns).all():
        return paired(x, y, rows, entries[:, None], y.starts[x.columns[entries]][:, None] + np.arange(columns))
    x_entry = np.repeat(entries, partners)
    within = np.arange(len(x_entry)) - np.repeat(np.cumsum(partners) - partners, partners)
    return paired(x, y, rows, x_entry, y.starts[x.columns[x_entry]] + within)


def paired(x: TileCounts, y: TileCounts, rows: Integers, x_entry: Integers, y_entry: Integers) -> Pairs:
    """The pairs of these entries of X, which lie in block rows `rows`, and of Y."""
    row, column = rows[x_entry], y.columns[y_entry]
    return Pairs(
        x_entry,
        y_entry,
        row,
        column,
        x.heights[row],
        x.widths[x.columns[x_entry]],
        y.widths[column],
        x.nonzeros[x_entry],
        y.nonzeros[y_entry],
        None if x.distinct is None else x.distinct[x_entry],
    )


def choose(pairs: Pairs, p: int) -> Any:
    """The primitive of each pair, as `passes.analysis.primitives.choose`."""
    x_extent, y_extent = pairs.m * pairs.n, pairs.n * pairs.d
    gemm = (2 * pairs.x >= x_extent) & (2 * pairs.y >= y_extent)
    spdmm = (p * pairs.x >= 2 * x_extent) | (p * pairs.y >= 2 * y_extent)
    side = np.where(pairs.x * pairs.d <= pairs.y * pairs.m, Primitive.SPDMM_X, Primitive.SPDMM_Y)
    return np.where(gemm, Primitive.GEMM, np.where(spdmm, side, Primitive.SPMM)).astype(np.int8)


def scaled_cycles(pairs: Pairs, primitives: Any, d: Integers, p: int, scale: int) -> Integers:
    """The cycles of each pair times p^2 * scale, where `scale` is a multiple of every inner size and `d` the width."""
    return np.select(
        [primitives == Primitive.GEMM, primitives == Primitive.SPDMM_X, primitives == Primitive.SPDMM_Y],
        [pairs.m * pairs.n * d * scale, 2 * pairs.x * d * scale, 2 * pairs.y * pairs.m * scale],
        pairs.x * pairs.y * p * (scale // pairs.n),
    )


def converted_numbers(
    pairs: Pairs, primitives: Any, x_stored_sparse: Any, y_stored_sparse: Any
) -> tuple[Integers, Integers]:
    """How many numbers of either side a core turns into another format for each pair. From dense to coordinates every
    number is looked at, from coordinates to dense only nonzeros are written; of Y, those of the rows that X names, by
    their share."""
    x_wanted = (primitives == Primitive.SPDMM_X) | (primitives == Primitive.SPMM)
    y_wanted = (primitives == Primitive.SPDMM_Y) | (primitives == Primitive.SPMM)
    x_numbers = np.where(x_wanted, pairs.m * pairs.n, pairs.x)
    y_numbers = np.where(y_wanted, pairs.n * pairs.d, pairs.y)
    if pairs.named is not None:
        # at most a tile's extent times N2, so doubles are exact
        y_numbers = np.ceil(y_numbers * pairs.named / pairs.n).astype(np.int64)
    return np.where(x_wanted == x_stored_sparse, 0, x_numbers), np.where(y_wanted == y_stored_sparse, 0, y_numbers)


@dataclass
class TaskSums:
    """What the pairs of a kernel add up to, for each tile of the output grid.

    Compute cycles are `numerators / denominator`, `padded` the numerators where an output's width is rounded up to the
    array's. `converted_x` and `converted_y` count the numbers of either side that change format, `loaded_x` and
    `loaded_y` their bytes, if every pair fetches both.
    """

    numerators: Integers
    padded: Integers
    denominator: int
    pairs: Integers
    converted_x: Integers
    converted_y: Integers
    loaded_x: Integers
    loaded_y: Integers
    chosen: dict[Primitive, int] = field(default_factory=dict[Primitive, int])

    @classmethod
    def zeros(cls, grid: tuple[int, int], denominator: int) -> TaskSums:
        numerators, padded, pairs, x, y, loaded_x, loaded_y = (np.zeros(grid, np.int64) for _ in range(7))
        return cls(numerators, padded, denominator, pairs, x, y, loaded_x, loaded_y)

    @property
    def compute_cycles(self) -> Fraction:
        """The exact sum over all pairs."""
        return Fraction(sum(self.numerators.ravel().tolist()), self.denominator)

    @property
    def padded_cycles(self) -> Fraction:
        """The same for outputs as wide as a multiple of the array: the formulas take all of its columns for busy."""
        return Fraction(sum(self.padded.ravel().tolist()), self.denominator)

    def task_cycles(self) -> Integers:
        """Whole cycles of each task."""
        return -(-self.numerators // self.denominator)


def unskipped_sums(
    products: list[Product], mapping: Literal["s1", "s2"], kind: Kind, p: int, coordinate_bytes: int
) -> TaskSums:
    """The sums of a static mapping that skips no empty pair: it fetches what an empty tile meets and, but for the
    nonzeros of X in SpDMM, multiplies zeros."""
    scale = lcm(*inner_sizes(products))
    result = TaskSums.zeros((products[0].x.grid[0], products[0].y.grid[1]), p * p * scale)
    check_range(products, p, scale)
    mode, pairs = STATIC[mapping, kind], 0
    for product in products:
        x, y = product.x, product.y
        x_sparse, y_sparse = stored_sparse(x, coordinate_bytes), stored_sparse(y, coordinate_bytes)
        x_numbers = np.where(x_sparse, x.nonzeros, 0) if mode is Primitive.GEMM else tile_extents(x) * ~x_sparse
        rows = x.heights * x.shape[1] if mode is Primitive.GEMM else 2 * x.by_row(x.nonzeros)
        result.numerators += np.outer(rows, y.widths) * scale
        result.padded += np.outer(rows, -(-y.widths // p) * p) * scale
        result.pairs += product.inner
        result.converted_x += x.by_row(x_numbers)[:, None]
        result.converted_y += y.by_column(np.where(y_sparse, y.nonzeros, 0))
        result.loaded_x += x.by_row(tile_bytes(x, coordinate_bytes))[:, None]
        result.loaded_y += y.by_column(tile_bytes(y, coordinate_bytes))
        pairs += result.pairs.size * product.inner
    result.chosen = {mode: pairs}
    return result


def inner_sizes(products: list[Product]) -> set[int]:
    sizes: set[int] = set()
    for product in products:
        sizes.update(product.x.widths.tolist())
    return sizes


def sums(products: list[Product], mapping: Mapping, kind: Kind, p: int, coordinate_bytes: int) -> TaskSums:
    """The sums over all pairs of a kernel's products; `coordinate_bytes` a nonzero decide how tiles are stored."""
    grid = (products[0].x.grid[0], products[0].y.grid[1])
    scale = lcm(*inner_sizes(products))
    result = TaskSums.zeros(grid, p * p * scale)
    check_range(products, p, scale)
    counts = np.zeros(len(Primitive), np.int64)
    for product in products:
        x_sparse, y_sparse = stored_sparse(product.x, coordinate_bytes), stored_sparse(product.y, coordinate_bytes)
        x_bytes, y_bytes = tile_bytes(product.x, coordinate_bytes), tile_bytes(product.y, coordinate_bytes)
        for pairs in pairs_of(product):
            formats = x_sparse[pairs.x_entry], y_sparse[pairs.y_entry]
            primitives = map_pairs(pairs, mapping, kind, p, formats)
            converted_x, converted_y = converted_numbers(pairs, primitives, *formats)
            cycles = scaled_cycles(pairs, primitives, pairs.d, p, scale)
            width = -(-pairs.d // p) * p
            is_full = bool((width == pairs.d).all())
            place = pairs.row * grid[1] + pairs.column
            for total, values in (
                (result.numerators, cycles),
                (result.padded, cycles if is_full else scaled_cycles(pairs, primitives, width, p, scale)),
                (result.pairs, np.int64(1)),
                (result.converted_x, converted_x),
                (result.converted_y, converted_y),
                (result.loaded_x, x_bytes[pairs.x_entry]),
                (result.loaded_y, y_bytes[pairs.y_entry]),
            ):
                np.add.at(total.reshape(-1), place.ravel(), np.broadcast_to(values, place.shape).ravel())
            counts += np.bincount(primitives.ravel(), minlength=len(Primitive))
    result.chosen = {primitive: int(counts[primitive]) for primitive in Primitive if counts[primitive]}
    return result


def map_pairs(pairs: Pairs, mapping: Mapping, kind: Kind, p: int, formats: tuple[Any, Any]) -> Any:
    """The primitive of each pair under a mapping. The oracle knows what a conversion costs, too."""
    if mapping == "dynamic":
        return choose(pairs, p)
    if mapping == "oracle":
        return cheapest_with_conversion(pairs, p, formats)
    return np.full(pairs.shape, STATIC[mapping, kind], np.int8)


def cheapest_with_conversion(pairs: Pairs, p: int, formats: tuple[Any, Any]) -> Any:
    """The primitive with the fewest cycles; of several, the one that converts the fewest numbers."""
    modes = (Primitive.GEMM, Primitive.SPDMM_X, Primitive.SPDMM_Y, Primitive.SPMM)
    every = [np.full(pairs.shape, mode, np.int8) for mode in modes]
    # a pair's own inner size is scale enough to compare its modes
    cycles = np.stack([own_scale_cycles(pairs, mode, p) for mode in every]).astype(np.float64)
    converted = np.stack([np.add(*converted_numbers(pairs, mode, *formats)) for mode in every])
    best = np.argmin(cycles + converted * 1e-9, axis=0)
    return np.asarray(modes, np.int8)[best]


def own_scale_cycles(pairs: Pairs, primitives: Any, p: int) -> Integers:
    return np.select(
        [primitives == Primitive.GEMM, primitives == Primitive.SPDMM_X, primitives == Primitive.SPDMM_Y],
        [pairs.m * pairs.n * pairs.d * pairs.n, 2 * pairs.x * pairs.d * pairs.n, 2 * pairs.y * pairs.m * pairs.n],
        pairs.x * pairs.y * p,
    )


def stored_sparse(tiles: TileCounts, coordinate_bytes: int) -> Any:
    """Whether each tile takes fewer bytes in coordinates than dense."""
    return coordinate_bytes * tiles.nonzeros < 4 * tile_extents(tiles)


def tile_bytes(tiles: TileCounts, coordinate_bytes: int) -> Integers:
    """The bytes of each nonempty tile in the smaller of the two formats."""
    return np.minimum(coordinate_bytes * tiles.nonzeros, 4 * tile_extents(tiles))


def tile_extents(tiles: TileCounts) -> Integers:
    """The numbers of each nonempty tile, zeros included."""
    return tiles.heights[tiles.rows] * tiles.widths[tiles.columns]


def check_range(products: list[Product], p: int, scale: int) -> None:
    """Sums must stay within 64 bits; partition sizes and graphs that fit a machine's memory do."""
    worst = 0
    for product in products:
        m, n, d = product.x.tile[0], product.x.tile[1], product.y.tile[1]
        worst += product.inner * max(2, p) * m * n * d * scale
    if worst >= 2**63:
        raise OverflowError("the cycles of a task don't fit 64 bits: give smaller partition sizes")
