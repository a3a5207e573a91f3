"""Adjacency matrices whose values are a number a row times a number a column: they need no number an edge."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

CHUNK = 1 << 20  # nonzeros that are compared at once


@dataclass(frozen=True)
class Factors:
    """Entry (i, j) is `rows[i] * columns[j]`, rounded to float32 once; both are float32, one a row and one a column."""

    rows: Any
    columns: Any

    @property
    def bytes(self) -> int:
        """What a core reads of them: one vector where both are the same, none where all are 1."""
        vectors = [self.rows] if np.array_equal(self.rows, self.columns) else [self.rows, self.columns]
        return sum(vector.nbytes for vector in vectors if not (vector == 1).all())


def factors_of(matrix: Any) -> Factors | None:
    """The factors of a CSR matrix in float32, if they make every value to the last bit; None otherwise.

    Means and plain sums have one value a row. A symmetric norm with self-loops has its factors' squares on the
    diagonal, and the square root of a square is exact.
    """
    rows, columns = matrix.shape
    filled = np.diff(matrix.indptr) > 0
    first = np.ones(rows, np.float32)
    first[filled] = matrix.data[np.asarray(matrix.indptr[:-1])[filled]]
    ones = np.ones(columns, np.float32)
    if makes(matrix, first, ones):
        return Factors(first, ones)
    if rows != columns:
        return None
    diagonal = diagonal_of(matrix)
    if (diagonal <= 0).any():
        return None
    root = np.sqrt(diagonal)
    return Factors(root, root) if makes(matrix, root, root) else None


def diagonal_of(matrix: Any) -> Any:
    """The diagonal, read a part at a time; scipy's would copy all places of a matrix with wide row pointers."""
    result = np.zeros(matrix.shape[0], np.float32)
    for rows, part in parts(matrix.indptr):
        found = matrix.indices[part] == rows
        result[rows[found]] = matrix.data[part][found]
    return result


def makes(matrix: Any, row_factors: Any, column_factors: Any) -> bool:
    """Whether the factors make the matrix, compared a part at a time."""
    return all(
        np.array_equal(row_factors[rows] * column_factors[matrix.indices[part]], matrix.data[part])
        for rows, part in parts(matrix.indptr)
    )


def parts(starts: Any) -> Iterator[tuple[Any, slice]]:
    """Slices of the nonzeros, whole rows of them, each with the row of every nonzero in it."""
    first, rows = 0, len(starts) - 1
    while first < rows:
        last = max(first + 1, int(np.searchsorted(starts, int(starts[first]) + CHUNK, "right")) - 1)
        counts = np.diff(starts[first : last + 1])
        yield np.repeat(np.arange(first, last), counts), slice(int(starts[first]), int(starts[last]))
        first = last
