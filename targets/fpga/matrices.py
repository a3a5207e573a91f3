"""Matrices in host memory, and how their nonzeros lie in tiles. Dense grids of tiles are never made."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

Integers: TypeAlias = "NDArray[np.int64]"
Matrix: TypeAlias = Any  # a float32 array or a scipy CSR array, whose types are not known


def is_sparse(matrix: Any) -> bool:
    return not isinstance(matrix, np.ndarray)


def nonzero_count(matrix: Matrix) -> int:
    return int(np.count_nonzero(matrix.data if is_sparse(matrix) else matrix))


@dataclass(frozen=True)
class TileCounts:
    """The nonempty tiles of a matrix, block row after block row.

    `shape` is the matrix's, `tile` the height and width of a tile; tiles at the edges are smaller. The tiles of block
    row i are `starts[i]:starts[i + 1]`, ascending by `columns`; `nonzeros` counts each, `distinct` the columns of the
    matrix that have a nonzero in it (None where nobody asked).
    """

    shape: tuple[int, int]
    tile: tuple[int, int]
    starts: Integers
    columns: Integers
    nonzeros: Integers
    distinct: Integers | None = None

    @property
    def grid(self) -> tuple[int, int]:
        """Block rows and block columns."""
        return (-(-self.shape[0] // self.tile[0]), -(-self.shape[1] // self.tile[1]))

    @property
    def rows(self) -> Integers:
        """The block row of each nonempty tile."""
        return np.repeat(np.arange(self.grid[0]), np.diff(self.starts))

    @property
    def heights(self) -> Integers:
        """The height of each block row."""
        return extents(self.shape[0], self.tile[0])

    @property
    def widths(self) -> Integers:
        """The width of each block column."""
        return extents(self.shape[1], self.tile[1])

    @property
    def total(self) -> int:
        return int(self.nonzeros.sum())

    def by_row(self, values: Any) -> Integers:
        """The sums of what each tile has over the block rows."""
        totals = np.concatenate([[0], np.cumsum(values)])
        return totals[self.starts[1:]] - totals[self.starts[:-1]]

    def by_column(self, values: Any) -> Integers:
        """The sums of what each tile has over the block columns."""
        totals = np.zeros(self.grid[1], np.int64)
        np.add.at(totals, self.columns, values)
        return totals

    def merged(self, height: int, width: int) -> TileCounts:
        """The counts for larger tiles, multiples of these."""
        if (height, width) == self.tile:
            return self
        factor = height // self.tile[0], width // self.tile[1]
        grid = (-(-self.shape[0] // height), -(-self.shape[1] // width))
        keys = (self.rows // factor[0]) * grid[1] + self.columns // factor[1]
        kept, nonzeros = summed(keys, self.nonzeros, grid[0] * grid[1])
        starts = np.searchsorted(kept, np.arange(grid[0] + 1) * grid[1])
        return TileCounts(self.shape, (height, width), starts, kept % grid[1], nonzeros)


def extents(length: int, tile: int) -> Integers:
    """The sizes of the pieces of a length that is cut every `tile`."""
    starts = np.arange(0, length, tile)
    return np.minimum(tile, length - starts)


def tile_counts(matrix: Matrix, height: int, width: int, *, distinct: bool = False) -> TileCounts:
    """Counts the nonzeros of each tile."""
    if is_sparse(matrix):
        return sparse_counts(matrix, height, width, distinct=distinct)
    return dense_counts(matrix, height, width)


def dense_counts(matrix: NDArray[Any], height: int, width: int) -> TileCounts:
    rows, columns = matrix.shape
    slabs = [(matrix[row : row + height] != 0).sum(axis=0, dtype=np.int32) for row in range(0, rows, height)]
    by_column = np.stack(slabs) if slabs else np.zeros((0, columns), np.int32)
    grid = np.add.reduceat(by_column, np.arange(0, columns, width), axis=1, dtype=np.int64)
    block_rows, block_columns = np.nonzero(grid)
    starts = np.searchsorted(block_rows, np.arange(len(grid) + 1))
    nonzeros = grid[block_rows, block_columns]
    return TileCounts((rows, columns), (height, width), starts, block_columns.astype(np.int64), nonzeros)


def sparse_counts(matrix: Any, height: int, width: int, *, distinct: bool) -> TileCounts:
    """Block row after block row, so that no more than one of them is held beside the counts."""
    rows, columns = matrix.shape
    block_columns = -(-columns // width)
    starts, found, counts, kept = [0], list[Any](), list[Any](), list[Any]()
    for indices in block_row_indices(matrix, height):
        tiles, numbers = counted(indices // width, block_columns)
        found.append(tiles)
        counts.append(numbers)
        starts.append(starts[-1] + len(tiles))
        if distinct:
            kept.append(counted(distinct_of(indices, columns) // width, block_columns)[1])
    return TileCounts(
        (rows, columns),
        (height, width),
        np.asarray(starts, np.int64),
        joined(found),
        joined(counts),
        joined(kept) if distinct else None,
    )


def block_row_indices(matrix: Any, height: int) -> Iterator[Any]:
    """The column of every nonzero, a block row at a time."""
    for start in range(0, matrix.shape[0], height):
        first, last = matrix.indptr[start], matrix.indptr[min(start + height, matrix.shape[0])]
        yield matrix.indices[first:last]


def counted(numbers: Any, bound: int) -> tuple[Any, Any]:
    """The distinct numbers, ascending, and how often each occurs."""
    if bound <= 4 * len(numbers):
        counts = np.bincount(numbers, minlength=bound)
        tiles = np.flatnonzero(counts)
        return tiles, counts[tiles]
    return np.unique(numbers, return_counts=True)


def summed(keys: Integers, values: Integers, bound: int) -> tuple[Integers, Integers]:
    """The distinct keys, ascending, and the sum of the values of each, which are positive."""
    if bound <= 4 * len(keys):
        totals = np.zeros(bound, np.int64)
        np.add.at(totals, keys, values)
        kept = np.flatnonzero(totals)
        return kept, totals[kept]
    kept, inverse = np.unique(keys, return_inverse=True)
    totals = np.zeros(len(kept), np.int64)
    np.add.at(totals, inverse, values)
    return kept, totals


def distinct_of(indices: Any, bound: int) -> Any:
    if bound <= 16 * len(indices):
        seen = np.zeros(bound, bool)
        seen[indices] = True
        return np.flatnonzero(seen)
    return np.unique(indices)


def joined(parts: list[Any]) -> Integers:
    return np.concatenate(parts).astype(np.int64) if parts else np.zeros(0, np.int64)
