"""Sparse matrices: checked before anything indexes with them, and read as edges."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnnc.errors import GraphError
from gnnc.graph_files.contents import Entries, LeftOut

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from scipy.sparse import csr_array


def checked_csr(
    data: NDArray[Any], indices: NDArray[Any], indptr: NDArray[Any], shape: NDArray[Any], what: str
) -> csr_array:
    """Put the four arrays of a CSR matrix together; raise GraphError, which calls them `what`, if they do not fit."""
    from scipy.sparse import csr_array

    for part in (indices, indptr, shape):
        # scipy would only warn, and cut fractions off
        if part.dtype.kind not in "iu":
            raise GraphError(f"{what} are indexed with numbers of dtype {part.dtype}; save integers.")
    if data.dtype.kind not in "biuf":
        raise GraphError(f"{what} have values of dtype {data.dtype}; save real numbers.")
    try:
        matrix = csr_array((data, indices, indptr), shape=tuple(shape.tolist()))
        # unchecked, an index out of range would write outside the dense array
        matrix.check_format(full_check=True)
    except (ValueError, TypeError, OverflowError) as error:
        raise GraphError(f"{what} do not fit together ({error}); save all four arrays from one matrix.") from None
    return matrix


def adjacency_entries(
    rows: NDArray[Any], columns: NDArray[Any], values: NDArray[Any], shape: tuple[int, ...], what: str
) -> Entries:
    """Read the entries of an adjacency matrix as edges: entry (i, j) is an edge from i to j, as in PyG.

    Every stored entry counts, explicit zeros too. The values become `edge_weight` unless all are 1: a sparse matrix has
    no other way of saying that its edges have no weights.

    Raises GraphError, which calls the matrix `what`, if it is not square or its three arrays do not fit together.
    """
    if len(shape) != 2 or shape[0] != shape[1]:
        raise GraphError(f"{what} has shape {shape}; pass a square one, a row and a column per node.")
    if not rows.shape == columns.shape == values.shape == (rows.size,):
        raise GraphError(
            f"{what} has row, column and value arrays of shapes {rows.shape}, {columns.shape} and {values.shape}; "
            "save one entry per edge in each."
        )
    edge_index = np.empty((2, rows.size), np.int64)
    edge_index[0], edge_index[1] = rows, columns
    weights = LeftOut(f"every value of {what[0].lower() + what[1:]} is 1") if (values == 1).all() else values
    return {"edge_index": edge_index, "num_nodes": shape[0], "edge_weight": weights}
