"""A matrix as the accelerator's memory holds it: block row after block row, each from a multiple of 64 bytes on, tile
after tile, in coordinates (row, column, number in 2 + 2 + 4 bytes) or dense, whichever is smaller."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnnc.targets.fpga.matrices import Matrix, is_sparse
from gnnc.targets.fpga.stream.layout import ALIGNMENT, TILE, Format


@dataclass(frozen=True)
class BlockRow:
    """The bytes of a block row as 32-bit words, and its directory entries, whose places count from the block row."""

    words: Any
    entries: Any


def block_rows(matrix: Matrix, height: int, width: int) -> Iterator[BlockRow]:
    """The block rows of a matrix, one at a time."""
    for start in range(0, matrix.shape[0], height):
        stop = min(start + height, matrix.shape[0])
        rows, columns, numbers = nonzeros_of(matrix, start, stop)
        yield encode(rows, columns, numbers, stop - start, width, matrix.shape[1])


def nonzeros_of(matrix: Matrix, start: int, stop: int) -> tuple[Any, Any, Any]:
    """Row within the block row, column and number of each nonzero."""
    if not is_sparse(matrix):
        slab = matrix[start:stop]
        rows, columns = np.nonzero(slab)
        return rows, columns, slab[rows, columns]
    first, last = matrix.indptr[start], matrix.indptr[stop]
    rows = np.repeat(np.arange(stop - start), np.diff(matrix.indptr[start : stop + 1]))
    return rows, matrix.indices[first:last], matrix.data[first:last]


def encode(rows: Any, columns: Any, numbers: Any, height: int, width: int, total_width: int) -> BlockRow:
    """One block row of `height` rows."""
    tiles = columns // width
    # 16-bit keys are sorted by radix, many times faster
    small = tiles.astype(np.uint16) if total_width <= width << 16 else tiles
    order = np.argsort(small, kind="stable")
    rows, columns, numbers, tiles = rows[order], columns[order], numbers[order], tiles[order]
    heads = np.flatnonzero(np.diff(tiles, prepend=-1))
    counts = np.diff(np.append(heads, len(tiles)))
    block_columns = tiles[heads]
    widths = np.minimum(width, total_width - block_columns * width)
    dense = 2 * counts >= height * widths
    sizes = np.where(dense, height * widths, 2 * counts)
    places = np.cumsum(sizes) - sizes
    words = np.zeros(padded(int(sizes.sum())), np.uint32)
    tile_of = np.repeat(np.arange(len(heads)), counts)
    local = columns - tiles * width
    bits = np.ascontiguousarray(numbers, np.float32).view(np.uint32)
    write_dense(words, dense[tile_of], places[tile_of], rows, local, widths[tile_of], bits)
    rank = np.arange(len(tiles)) - heads[tile_of] if len(heads) else np.zeros(0, np.int64)
    write_coordinates(words, ~dense[tile_of], places[tile_of] + 2 * rank, rows, local, bits)
    entries = np.zeros(len(heads), TILE.dtype)
    entries["column"], entries["nonzeros"], entries["place"] = block_columns, counts, places
    entries["distinct"] = distinct_columns(columns, block_columns, width, total_width)
    entries["format"] = np.where(dense, Format.DENSE, Format.COORDINATES)
    return BlockRow(words, entries)


def padded(words: int) -> int:
    """Words up to the next multiple of 64 bytes."""
    unit = ALIGNMENT // 4
    return -(-words // unit) * unit


def write_dense(words: Any, chosen: Any, places: Any, rows: Any, local: Any, widths: Any, bits: Any) -> None:
    if chosen.any():
        words[(places + rows * widths + local)[chosen]] = bits[chosen]


def write_coordinates(words: Any, chosen: Any, places: Any, rows: Any, local: Any, bits: Any) -> None:
    if chosen.any():
        at = places[chosen]
        words[at] = (rows | (local << 16))[chosen].astype(np.uint32)
        words[at + 1] = bits[chosen]


def distinct_columns(columns: Any, block_columns: Any, width: int, total_width: int) -> Any:
    """How many columns have a nonzero, for each nonempty tile."""
    if total_width <= 16 * len(columns):
        seen = np.zeros(total_width, bool)
        seen[columns] = True
        found = np.flatnonzero(seen)
    else:
        found = np.unique(columns)
    return np.searchsorted(found, (block_columns + 1) * width) - np.searchsorted(found, block_columns * width)
