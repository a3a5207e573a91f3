"""Adjacency matrices whose values are a number a row times a number a column."""

from __future__ import annotations

from typing import Any

import numpy as np

# GCN's values are such products rounded to float32, so they agree within a few units of the last place.
TOLERANCE = 2.0**-21


def is_separable(matrix: Any) -> bool:
    """Whether a CSR matrix has the values r[i] * c[j] up to rounding, for vectors that its rows or its diagonal give.

    Means have one value a row; a symmetric norm with self-loops has its factors' squares on the diagonal.
    """
    if matrix.nnz == 0:
        return True
    rows = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    row_value = np.ones(matrix.shape[0])
    row_value[rows] = matrix.data
    if np.array_equal(row_value[rows].astype(np.float32), matrix.data):
        return True
    diagonal = matrix.diagonal() if matrix.shape[0] == matrix.shape[1] else np.zeros(0)
    if not len(diagonal) or (diagonal <= 0).any():
        return False
    factor = np.sqrt(diagonal.astype(np.float64))
    made = factor[rows] * factor[matrix.indices]
    return bool(np.allclose(made, matrix.data, rtol=TOLERANCE, atol=0))
