"""Into which tiles the rows of a block's neighbors are cut, and whether that beats gathering them for every batch.

A block whose neighbors don't fit into memory is added up tile by tile. Sums of a range of targets stay in memory while
all tiles are read from front to back; then the next range is computed. Long ranges read the input less often, large
tiles touch the sums less often, and both share the budget. Pure functions of numbers; no IR.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

READ_PS_PER_BYTE = 250
"""Rows in order, from the page cache: about 4 GB/s."""

SUMS_PS_PER_BYTE = 100
"""Sums in memory, read and written in order: about 10 GB/s."""

GATHER_PS_PER_BYTE = 1500
"""Distinct rows of a batch, found, sorted and copied: about 0.7 GB/s."""


ORDER_PS_PER_EDGE = 30_000
"""Putting edges in order for a tiling, once a graph."""


@dataclass(frozen=True)
class Demand:
    """What a Conv takes: nodes that it reads for neighbors, bytes that lie on disk of each, bytes of sums a target, its
    edges, and the tilings (targets, neighbors) in whose order they lie already."""

    sources: int
    row_bytes: int
    sum_bytes: int
    edges: int = 0
    ordered: frozenset[tuple[int, int]] = frozenset()


@dataclass(frozen=True)
class Tiling:
    """So many targets at a time, and of each Conv so many neighbors. `price` is in picoseconds."""

    target_rows: int
    source_rows: tuple[int, ...]
    price: int = 0


def best_tiling(targets: int, convs: Sequence[Demand], room: int) -> Tiling | None:
    """The cheapest tiling that takes at most `room` bytes; None if one target and one neighbor take more."""
    sizes = {max(1, -(-targets // passes)): None for passes in tried_passes(targets)}
    sizes |= {rows: None for conv in convs for rows, _ in sorted(conv.ordered)}
    tilings = [tiling_of(targets, convs, room, rows) for rows in sizes]
    return min((tiling for tiling in tilings if tiling is not None), key=lambda tiling: tiling.price, default=None)


def tried_passes(targets: int) -> list[int]:
    """Into how many ranges targets may be cut: few one by one, many in growing steps, and one for each."""
    passes = [1]
    while passes[-1] < targets:
        passes.append(min(targets, passes[-1] + max(1, passes[-1] // 16)))
    return passes


def tiling_of(targets: int, convs: Sequence[Demand], room: int, rows: int) -> Tiling | None:
    """The cheapest tiling with ranges of so many targets, None if there is no room for it."""
    left = room - rows * sum(conv.sum_bytes for conv in convs)
    if left < max((conv.row_bytes for conv in convs), default=0):
        return None
    chosen = [cheapest_tile(targets, conv, left, rows) for conv in convs]
    return Tiling(rows, tuple(tile for _, tile in chosen), sum(price for price, _ in chosen))


def cheapest_tile(targets: int, conv: Demand, room: int, rows: int) -> tuple[int, int]:
    """The price of a Conv and the neighbors of its tiles: as large as there is room for, or as edges lie already."""
    known = [tile for size, tile in conv.ordered if size == rows and tile * conv.row_bytes <= room]
    return min((price(targets, conv, rows, tile), tile) for tile in (tile_rows(conv, room), *known))


def price(targets: int, conv: Demand, rows: int, tile: int) -> int:
    """Bytes read and sums touched, and putting edges in order where that has not been done."""
    read = -(-targets // rows) * conv.sources * conv.row_bytes
    touched = 2 * -(-conv.sources // tile) * targets * conv.sum_bytes
    order = 0 if (rows, tile) in conv.ordered else conv.edges
    return READ_PS_PER_BYTE * read + SUMS_PS_PER_BYTE * touched + ORDER_PS_PER_EDGE * order


def tile_rows(conv: Demand, room: int) -> int:
    """Neighbors of a tile, all tiles about equal."""
    most = room // conv.row_bytes if conv.row_bytes else conv.sources
    tiles = max(1, -(-conv.sources // max(1, most)))
    return max(1, -(-conv.sources // tiles))


def gather_price(rows: int, row_bytes: int) -> int:
    """The price of gathering so many distinct rows, those of all batches together."""
    return GATHER_PS_PER_BYTE * rows * row_bytes
