"""Numbers in text, read in pieces: into memory, or into files from which they are mapped."""

from __future__ import annotations

import shutil
import warnings
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gnnc.graph_files.text_table import TextTable, opened

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

ROWS = 2**17
"""Rows of a piece."""

CANNOT = (ValueError, OverflowError, Warning)
"""What numpy raises for text that is not all numbers of the types that it is told."""


def number_pieces(table: TextTable, start: int, dtype: DTypeLike) -> Iterator[NDArray[Any]]:
    """The rows of a table from `start` on, for a structured type as rows and for another one as (rows, columns).

    Raises one of CANNOT if something else than such numbers is there, GraphError if the file is damaged.
    """
    with opened(table.file) as text, warnings.catch_warnings():
        warnings.simplefilter("error")
        lines = islice(text, table.skipped + start, None)
        least = 1 if np.dtype(dtype).names else 2
        while piece := list(islice(lines, ROWS)):
            yield np.loadtxt(piece, dtype, comments=None, delimiter=table.separator, quotechar='"', ndmin=least)


class Rows:
    """An array that grows at its end: in memory, or in a file at `path`."""

    def __init__(self, path: Path | None):
        self.path = path
        self.pieces: list[NDArray[Any]] = []
        self.count = 0
        self.like: NDArray[Any] = np.empty(0, np.int64)

    def add(self, piece: NDArray[Any]) -> None:
        self.count += len(piece)
        self.like = piece[:0]
        if self.path is None:
            self.pieces.append(piece)
            return
        with self.raw.open("ab" if self.count > len(piece) else "wb") as stream:
            np.ascontiguousarray(piece).tofile(stream)

    @property
    def raw(self) -> Path:
        assert self.path is not None
        return self.path.with_suffix(".raw")

    def finish(self) -> NDArray[Any]:
        """All rows, in memory or mapped."""
        if self.path is None:
            return np.concatenate(self.pieces) if self.pieces else self.like
        return joined(self.path, [self], (self.count, *self.like.shape[1:]))


def stacked(path: Path | None, parts: Sequence[Rows]) -> NDArray[Any]:
    """Arrays of one length as the rows of one, in memory or mapped."""
    if path is None:
        return np.stack([part.finish() for part in parts])
    return joined(path, parts, (len(parts), parts[0].count))


def joined(path: Path, parts: Sequence[Rows], shape: tuple[int, ...]) -> NDArray[Any]:
    """An `.npy` file of the numbers of some arrays in order, mapped."""
    with path.open("wb") as stream:
        descr = np.lib.format.dtype_to_descr(parts[0].like.dtype)
        np.lib.format.write_array_header_1_0(stream, {"descr": descr, "fortran_order": False, "shape": shape})
        for part in parts:
            if part.count:
                with part.raw.open("rb") as numbers:
                    shutil.copyfileobj(numbers, stream, 2**20)
                part.raw.unlink()
    if 0 in shape:
        return np.empty(shape, parts[0].like.dtype)
    return np.lib.format.open_memmap(path, mode="c")
