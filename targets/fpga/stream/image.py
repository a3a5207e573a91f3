"""A matrix as the accelerator's memory holds it: block row after block row, each from a multiple of 64 bytes on, tile
after tile, in coordinates (row, column, number in 2 + 2 + 4 bytes) or dense, whichever is smaller. A matrix that
factors of its rows and columns make has places alone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnnc.targets.fpga.matrices import Matrix, counted, distinct_of, is_sparse
from gnnc.targets.fpga.stream.layout import ALIGNMENT, TILE, Format


@dataclass(frozen=True)
class BlockRow:
    """The bytes of a block row as 32-bit words, and its directory entries, whose places count from the block row."""

    words: Any
    entries: Any


def block_rows(matrix: Matrix, height: int, width: int, *, places_only: bool = False) -> Iterator[BlockRow]:
    """The block rows of a matrix, one at a time; `places_only` leaves the numbers out, for CSR alone."""
    for start in range(0, matrix.shape[0], height):
        stop = min(start + height, matrix.shape[0])
        if places_only:
            rows, columns = places_of(matrix, start, stop)
            yield encode_places(rows, columns, width, matrix.shape[1])
            continue
        dense = None if is_sparse(matrix) else encode_dense(np.asarray(matrix[start:stop]), width)
        if dense is not None:
            yield dense
            continue
        rows, columns, numbers = nonzeros_of(matrix, start, stop)
        yield encode(rows, columns, numbers, stop - start, width, matrix.shape[1])


def encode_dense(slab: Any, width: int) -> BlockRow | None:
    """A block row whose tiles are all smaller when dense; None if one is not. Most features and weights are such."""
    heads = np.arange(0, slab.shape[1], width)
    is_set = slab != 0
    by_column = is_set.sum(axis=0, dtype=np.int64)
    counts = np.add.reduceat(by_column, heads)
    widths = np.minimum(width, slab.shape[1] - heads)
    if (2 * counts < len(slab) * widths).any():
        return None
    sizes = len(slab) * widths
    words = np.zeros(padded(int(sizes.sum())), np.uint32)
    places = np.cumsum(sizes) - sizes
    bits = np.ascontiguousarray(slab, np.float32).view(np.uint32)
    for head, place, size in zip(heads.tolist(), places.tolist(), sizes.tolist(), strict=True):
        words[place : place + size] = bits[:, head : head + width].ravel()
    entries = np.zeros(len(heads), TILE.dtype)
    entries["column"], entries["nonzeros"], entries["place"] = np.arange(len(heads)), counts, places
    entries["distinct"] = np.add.reduceat(by_column > 0, heads, dtype=np.int64)
    entries["format"] = Format.DENSE
    return BlockRow(words, entries)


def nonzeros_of(matrix: Matrix, start: int, stop: int) -> tuple[Any, Any, Any]:
    """Row within the block row, column and number of each nonzero."""
    if not is_sparse(matrix):
        slab = matrix[start:stop]
        rows, columns = np.nonzero(slab)
        return rows.astype(np.uint32), columns, slab[rows, columns]
    return *places_of(matrix, start, stop), matrix.data[matrix.indptr[start] : matrix.indptr[stop]]


def places_of(matrix: Any, start: int, stop: int) -> tuple[Any, Any]:
    """Row within the block row and column of each nonzero of a CSR matrix."""
    rows = np.repeat(np.arange(stop - start, dtype=np.uint32), np.diff(matrix.indptr[start : stop + 1]))
    return rows, matrix.indices[matrix.indptr[start] : matrix.indptr[stop]]


def encode(rows: Any, columns: Any, numbers: Any, height: int, width: int, total_width: int) -> BlockRow:
    """One block row of `height` rows. Few passes over the nonzeros: graphs have a hundred million."""
    within, order, block_columns, counts = by_tile(rows, columns, width, total_width)
    widths = np.minimum(width, total_width - block_columns * width)
    dense = 2 * counts >= height * widths
    sizes = np.where(dense, height * widths, 2 * counts)
    places = np.cumsum(sizes) - sizes
    words = np.zeros(padded(int(sizes.sum())), np.uint32)
    bits = np.ascontiguousarray(numbers, np.float32).view(np.uint32)[order]
    if dense.any():
        write_mixed(words, within, bits, counts, dense, places, widths)
    else:
        pairs = words[: 2 * len(bits)].reshape(-1, 2)
        pairs[:, 0], pairs[:, 1] = within, bits
    entries = directory_entries(columns, block_columns, counts, places, width, total_width)
    entries["format"] = np.where(dense, Format.DENSE, Format.COORDINATES)
    return BlockRow(words, entries)


def encode_places(rows: Any, columns: Any, width: int, total_width: int) -> BlockRow:
    """One block row without its numbers."""
    within, _, block_columns, counts = by_tile(rows, columns, width, total_width)
    words = np.zeros(padded(len(within)), np.uint32)
    words[: len(within)] = within
    entries = directory_entries(columns, block_columns, counts, np.cumsum(counts) - counts, width, total_width)
    entries["format"] = Format.PLACES
    return BlockRow(words, entries)


def by_tile(rows: Any, columns: Any, width: int, total_width: int) -> tuple[Any, Any, Any, Any]:
    """The places within their tiles, tile after tile, and the order that brought them there; the block columns of the
    nonempty tiles, and the nonzeros of each."""
    tiles = columns // width
    block_columns, counts = counted(tiles, -(-total_width // width))
    # 16-bit keys are sorted by radix, many times faster
    order = np.argsort(tiles.astype(np.uint16) if total_width <= width << 16 else tiles, kind="stable")
    local = (columns - tiles * width).astype(np.uint32)
    return (rows | (local << np.uint32(16)))[order], order, block_columns, counts


def directory_entries(columns: Any, block_columns: Any, counts: Any, places: Any, width: int, total_width: int) -> Any:
    """The directory entries of a block row, without their formats."""
    entries = np.zeros(len(block_columns), TILE.dtype)
    entries["column"], entries["nonzeros"], entries["place"] = block_columns, counts, places
    entries["distinct"] = distinct_columns(columns, block_columns, width, total_width)
    return entries


def write_mixed(words: Any, within: Any, bits: Any, counts: Any, dense: Any, places: Any, widths: Any) -> None:
    """Writes the nonzeros of a block row, tile after tile, some of them dense. `within` is row | column << 16."""
    tile = np.repeat(np.arange(len(counts)), counts)
    rank = np.arange(len(bits)) - np.repeat(np.cumsum(counts) - counts, counts)
    is_dense = dense[tile]
    row, column = (within & 0xFFFF).astype(np.int64), (within >> 16).astype(np.int64)
    words[(places[tile] + row * widths[tile] + column)[is_dense]] = bits[is_dense]
    at = (places[tile] + 2 * rank)[~is_dense]
    words[at], words[at + 1] = within[~is_dense], bits[~is_dense]


def padded(words: int) -> int:
    """Words up to the next multiple of 64 bytes."""
    unit = ALIGNMENT // 4
    return -(-words // unit) * unit


def distinct_columns(columns: Any, block_columns: Any, width: int, total_width: int) -> Any:
    """How many columns have a nonzero, for each nonempty tile."""
    found = distinct_of(columns, total_width)
    return np.searchsorted(found, (block_columns + 1) * width) - np.searchsorted(found, block_columns * width)
