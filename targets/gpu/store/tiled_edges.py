"""The edges of a set, cell by cell: a cell holds the edges from a tile of sources to a range of targets.

Batches that read a tile of rows from front to back meet all its edges in one piece, numbered from the tile's first row.
Cells of one range of targets follow each other, tile by tile; in a cell edges are in order of their targets, and those
of one target in the order they had.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray

from gnnc.targets.gpu.store.array_file import ArrayFile, mapped_zeros
from gnnc.targets.gpu.store.csc_file import CscFile
from gnnc.targets.gpu.store.folder import sync_folder

PIECE = 2**21
BYTES_PER_PIECE_EDGE = 96
"""What putting a piece of edges in order takes, with the copies that allocators keep."""


@dataclass(frozen=True)
class Grid:
    """Cells of so many targets and sources; those at the end are smaller."""

    targets: int
    sources: int
    target_rows: int
    source_rows: int

    @property
    def ranges(self) -> list[tuple[int, int]]:
        return pieces_of(self.targets, self.target_rows)

    @property
    def tiles(self) -> list[tuple[int, int]]:
        return pieces_of(self.sources, self.source_rows)


def pieces_of(count: int, size: int) -> list[tuple[int, int]]:
    """The numbers below `count` in ranges of at most `size`."""
    return [(first, min(count, first + size)) for first in range(0, count, size)]


@dataclass(frozen=True)
class TiledEdges:
    """Edges by cell, both arrays mapped: `offsets` (int64) of the rows of all cells one after the other, into
    `neighbors` (int32, with padding at the end)."""

    grid: Grid
    offsets: torch.Tensor
    neighbors: torch.Tensor

    def cell_offsets(self, first: int, stop: int, tile: int) -> torch.Tensor:
        """The offsets of the edges from a tile to the range of targets `first` to `stop`, [targets + 1]."""
        start = first * len(self.grid.tiles) + tile * (stop - first)
        return self.offsets[start : start + stop - first + 1]


def tiled_bytes(edges: int, grid: Grid) -> int:
    """What edges by cell take on disk."""
    return 4 * edges + 8 * grid.targets * len(grid.tiles)


def known_tilings(csc: CscFile) -> frozenset[tuple[int, int]]:
    """Targets and sources of the cells in which edges lie already."""
    names = [path.name.split("-") for path in csc.folder.glob("tiles-*-*") if not path.name.endswith(".partial")]
    return frozenset((int(targets), int(sources)) for _, targets, sources in names)


def tiled_edges(csc: CscFile, grid: Grid, padding: int, budget: int) -> TiledEdges:
    """The cells of edges that lie in order of their targets, from an earlier run or put in order now, beside those
    edges. Takes about `budget` bytes of memory."""
    folder = csc.folder / f"tiles-{grid.target_rows}-{grid.source_rows}"
    if not folder.exists():
        building = folder.with_name(f"{folder.name}.partial")
        building.mkdir(exist_ok=True)
        _Build(building, csc, grid, padding, budget).run()
        sync_folder(building)
        building.rename(folder)
        sync_folder(folder.parent)
    offsets, neighbors = (np.lib.format.open_memmap(folder / f"{n}.npy", mode="c") for n in ("offsets", "neighbors"))
    return TiledEdges(grid, torch.from_numpy(offsets), torch.from_numpy(neighbors))


class _Build:
    def __init__(self, folder: Path, csc: CscFile, grid: Grid, padding: int, budget: int):
        self.folder = folder
        self.grid = grid
        self.padding = padding
        self.offsets = csc.offsets.numpy()
        self.neighbors = csc.neighbors.numpy()
        self.edges = csc.edges
        self.piece = max(1024, min(PIECE, budget // BYTES_PER_PIECE_EDGE))

    def run(self) -> None:
        size = self.grid.targets * len(self.grid.tiles) + 1
        cells = mapped_zeros(self.folder / "offsets.npy", np.int64, (size,))
        file = ArrayFile(self.folder / "neighbors.npy", self.edges + self.padding, (), torch.int32)
        file.create()
        file.open()
        try:
            for first, stop in self.grid.ranges:
                start = first * len(self.grid.tiles)
                counts = cells[start + 1 : start + 1 + (stop - first) * len(self.grid.tiles)]
                self.scatter(first, stop, counts, file)
                begin = int(self.offsets[first])
                for at in range(0, len(counts), self.piece):
                    part = counts[at : at + self.piece]
                    np.cumsum(part, out=part)
                    part += begin
                    begin = int(part[-1])
            file.sync()
            cells.flush()
        finally:
            file.close()

    def scatter(self, first: int, stop: int, counts: NDArray[np.int64], file: ArrayFile) -> None:
        """Writes the edges of a range of targets cell by cell, and counts those of each row of each cell."""
        tiles, rows = len(self.grid.tiles), stop - first
        sizes = np.zeros(tiles, np.int64)
        for begin, end in self.pieces(first, stop):
            sizes += np.bincount(self.neighbors[begin:end] // self.grid.source_rows, minlength=tiles)
        cursor = int(self.offsets[first]) + sizes.cumsum() - sizes
        for begin, end in self.pieces(first, stop):
            others = self.neighbors[begin:end]
            tile = others // self.grid.source_rows
            # numpy sorts 16-bit numbers by their digits
            order = np.argsort(tile.astype(np.uint16) if tiles < 2**16 else tile, kind="stable")
            tile, others = tile[order], others[order]
            others -= tile * np.int32(self.grid.source_rows)
            row = self.rows_of(begin, end)[order] - first
            # edges of one row of one cell stand together now
            places = tile * np.int64(rows) + row
            changes = np.flatnonzero(np.diff(places, prepend=-1))
            counts[places[changes]] += np.diff(changes, append=len(places))
            ends = np.searchsorted(tile, np.arange(tiles), side="right")
            begins = np.concatenate([[0], ends[:-1]])
            for t in (ends > begins).nonzero()[0]:
                file.write(int(cursor[t]), torch.from_numpy(others[begins[t] : ends[t]]))
            cursor += ends - begins

    def pieces(self, first: int, stop: int) -> Iterator[tuple[int, int]]:
        """The edges of a range of targets, some at a time."""
        begin, end = int(self.offsets[first]), int(self.offsets[stop])
        for start in range(begin, end, self.piece):
            yield start, min(end, start + self.piece)

    def rows_of(self, begin: int, end: int) -> NDArray[np.int64]:
        """The target of each of some edges."""
        first = int(np.searchsorted(self.offsets, begin, side="right")) - 1
        last = int(np.searchsorted(self.offsets, end, side="left"))
        inside = np.clip(self.offsets[first : last + 1], begin, end)
        return np.repeat(np.arange(first, last), np.diff(inside))
