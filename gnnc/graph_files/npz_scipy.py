"""Adjacency matrices that scipy.sparse.save_npz wrote."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING

from gnnc.errors import GraphError
from gnnc.graph_files.contents import Entries
from gnnc.graph_files.npz_archive import Archive
from gnnc.graph_files.sparse import adjacency_entries, checked_csr

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def matches(names: Collection[str]) -> bool:
    """Whether the arrays of these names are a matrix by scipy.sparse.save_npz."""
    return {"format", "shape", "data"} <= set(names)


def read(archive: Archive) -> Entries:
    """Read an adjacency matrix in CSR, CSC or COO form: entry (i, j) is an edge from i to j.

    Values that are not all 1 become `edge_weight`. Raises GraphError.
    """
    what = f"{archive.file}: the adjacency matrix"
    kind, shape = _kind(archive), archive.shape("shape")
    if kind == "coo":
        rows, columns = archive.whole_numbers("row"), archive.whole_numbers("col")
        return adjacency_entries(rows, columns, archive["data"], shape, what)
    coo = read_csr(archive).tocoo()
    # a CSC matrix was read as its transpose
    rows, columns = (coo.col, coo.row) if kind == "csc" else (coo.row, coo.col)
    return adjacency_entries(rows, columns, coo.data, shape, what)


def read_csr(archive: Archive) -> csr_array:
    """Read a CSR matrix, or the transpose of a CSC matrix: the two have the same arrays. Raises GraphError."""
    kind, shape = _kind(archive), archive["shape"]
    if kind not in ("csr", "csc"):
        raise GraphError(f"{archive.file} is a {kind} matrix; save it as CSR, with save_npz(path, matrix.tocsr()).")
    arrays = (archive["data"], archive["indices"], archive["indptr"])
    return checked_csr(*arrays, shape if kind == "csr" else shape[::-1], f"{archive.file}: the parts of the matrix")


def read_features(archive: Archive) -> csr_array:
    """Read a feature matrix that save_npz wrote, (num_nodes, features), in CSR form. Raises GraphError."""
    if not matches(archive.names):
        raise GraphError(f"{archive.file} holds no sparse matrix; write the features with scipy.sparse.save_npz.")
    if _kind(archive) != "csr":
        raise GraphError(f"{archive.file} is no CSR matrix; save the features with save_npz(path, matrix.tocsr()).")
    return read_csr(archive)


def _kind(archive: Archive) -> str:
    name = archive["format"]
    kind = name.item() if name.size == 1 else None
    return kind.decode("ascii", "replace") if isinstance(kind, bytes) else str(kind)
