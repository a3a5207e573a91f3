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


@dataclass(frozen=True)
class Demand:
    """What a Conv takes: nodes that it reads for neighbors, bytes that lie on disk of each, bytes of sums a target."""

    sources: int
    row_bytes: int
    sum_bytes: int


@dataclass(frozen=True)
class Tiling:
    """So many targets at a time, and of each Conv so many neighbors. `price` is in picoseconds."""

    target_rows: int
    source_rows: tuple[int, ...]
    price: int


def best_tiling(targets: int, convs: Sequence[Demand], room: int) -> Tiling | None:
    """The cheapest tiling that takes at most `room` bytes; None if one target and one neighbor take more."""
    tilings = [tiling_of(targets, convs, room, passes) for passes in tried_passes(targets)]
    return min((tiling for tiling in tilings if tiling is not None), key=lambda tiling: tiling.price, default=None)


def tried_passes(targets: int) -> list[int]:
    """Into how many ranges targets may be cut: few one by one, many in growing steps, and one for each."""
    passes = [1]
    while passes[-1] < targets:
        passes.append(min(targets, passes[-1] + max(1, passes[-1] // 16)))
    return passes


def tiling_of(targets: int, convs: Sequence[Demand], room: int, passes: int) -> Tiling | None:
    """The tiling with at most so many ranges of targets, None if there is no room for it."""
    rows = max(1, -(-targets // passes))
    left = room - rows * sum(conv.sum_bytes for conv in convs)
    if left < max((conv.row_bytes for conv in convs), default=0):
        return None
    passes = -(-targets // rows)
    sources = tuple(tile_rows(conv, left) for conv in convs)
    price = 0
    for conv, tile in zip(convs, sources, strict=True):
        read = passes * conv.sources * conv.row_bytes
        touched = 2 * -(-conv.sources // tile) * targets * conv.sum_bytes
        price += READ_PS_PER_BYTE * read + SUMS_PS_PER_BYTE * touched
    return Tiling(rows, sources, price)


def tile_rows(conv: Demand, room: int) -> int:
    """Neighbors of a tile, all tiles about equal."""
    most = room // conv.row_bytes if conv.row_bytes else conv.sources
    tiles = max(1, -(-conv.sources // max(1, most)))
    return max(1, -(-conv.sources // tiles))


def gather_price(rows: int, row_bytes: int) -> int:
    """The price of gathering so many distinct rows, those of all batches together."""
    return GATHER_PS_PER_BYTE * rows * row_bytes
