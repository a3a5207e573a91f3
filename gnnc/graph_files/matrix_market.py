"""Matrix Market files, `.mtx` and `.mtx.gz`. Not by scipy.io.mmread, which some damaged files crash."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gnnc.errors import GraphError
from gnnc.graph_files.contents import Entries, LeftOut
from gnnc.graph_files.faults import first_line
from gnnc.graph_files.text_table import is_number, opened, whole_number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from numpy.typing import NDArray

FIELDS = ("real", "double", "integer", "pattern")
SYMMETRIES = ("general", "symmetric", "skew-symmetric")


@dataclass(frozen=True)
class Header:
    """The header of a Matrix Market file; `line` is the one with the sizes, the last of it, counted from 1."""

    file: Path
    is_pattern: bool
    symmetry: str
    sizes: tuple[int, ...]
    line: int

    def entries(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line number and the fields of each entry."""
        with opened(self.file) as text:
            for line, content in enumerate(islice(text, self.line, None), self.line + 1):
                if content.strip():
                    yield line, content.split()


def read(file: Path) -> Entries:
    """Read an adjacency matrix in coordinate form: entry (i, j) is an edge from i to j, so rows are sources.

    A symmetric matrix, which stores one triangle, gives both directions. Values become `edge_weight`, float32, also
    where all are 1; a pattern matrix has none.

    Raises GraphError with the line.
    """
    header = _read_header(file)
    rows, columns, count = header.sizes
    if rows != columns:
        raise GraphError(f"{file}: the adjacency matrix has shape {(rows, columns)}; write a square one.")
    ends, values = _read_entries(header)
    if ends.shape[1] != count:
        raise GraphError(f"{file} has {ends.shape[1]} entries, but line {header.line} says {count}; write it again.")
    outside = ((ends < 1) | (ends > rows)).any(axis=0)
    if outside.any():
        line, fields = next(islice(header.entries(), int(outside.argmax()), None))
        raise GraphError(f"{file}, line {line} is entry ({fields[0]}, {fields[1]}); indices run from 1 to {rows}.")
    ends -= 1
    if header.symmetry != "general":
        below = ends[0] != ends[1]
        ends = np.concatenate([ends, ends[::-1, below]], axis=1)
        mirrored = values[below] if header.symmetry == "symmetric" else -values[below]
        values = np.concatenate([values, mirrored])
    weights = LeftOut(f"{file} is a pattern, without values") if header.is_pattern else values
    return {"edge_index": ends, "num_nodes": rows, "edge_weight": weights}


def _read_header(file: Path) -> Header:
    with opened(file) as text:
        words = text.readline().lower().split()
        if len(words) != 5 or words[:2] != ["%%matrixmarket", "matrix"]:
            raise GraphError(f"{file} is no Matrix Market file; line 1 must begin with %%MatrixMarket matrix.")
        form, field, symmetry = words[2:]
        if form != "coordinate" or field not in FIELDS or symmetry not in SYMMETRIES:
            raise GraphError(
                f"{file} is a matrix of kind '{form} {field} {symmetry}'; write a sparse one, such as 'coordinate real "
                "general'."
            )
        for line, content in enumerate(text, 2):
            if content.startswith("%") or not content.strip():
                continue
            sizes = [whole_number(size) for size in content.split()]
            if len(sizes) != 3 or not all(size is not None and size >= 0 for size in sizes):
                raise GraphError(f"{file}, line {line} is {content.strip()!r}; write the rows, columns and entries.")
            return Header(file, field == "pattern", symmetry, tuple(size for size in sizes if size is not None), line)
    raise GraphError(f"{file} ends before its sizes; copy or write it again.")


def _read_entries(header: Header) -> tuple[NDArray[Any], NDArray[Any]]:
    """Read the indices (2, entries), which begin at 1, and the values (entries,), of which a pattern has 0."""
    dtype = [("row", np.int64), ("column", np.int64), *([] if header.is_pattern else [("value", np.float32)])]
    with opened(header.file) as text, warnings.catch_warnings():
        warnings.simplefilter("error")
        # of a matrix without entries
        warnings.filterwarnings("ignore", "loadtxt: input contained no data")
        for _ in range(header.line):
            next(text)
        try:
            entries = np.loadtxt(text, dtype, comments=None, ndmin=1)
        except (ValueError, OverflowError, Warning) as error:
            raise GraphError(_fault(header, len(dtype), error)) from None
    values = np.zeros(len(entries), np.float32) if header.is_pattern else np.ascontiguousarray(entries["value"])
    return np.stack([entries["row"], entries["column"]]), values


def _fault(header: Header, width: int, error: Exception) -> str:
    """Say which line numpy could not read."""
    for line, fields in header.entries():
        if len(fields) != width or not all(map(is_number, fields)) or None in map(whole_number, fields[:2]):
            wanted = "the row and column" if width == 2 else "the row, column and value"
            return f"{header.file}, line {line} is {' '.join(fields)!r}; write {wanted} of one entry."
    return f"{header.file} cannot be read ({first_line(error)}); copy or write it again."
