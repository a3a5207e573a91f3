"""`.npz` files with the adjacency and the attributes each as the arrays of a CSR matrix, as of the Amazon graphs."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from gnnc.errors import GraphError
from gnnc.graph_files.contents import Entries
from gnnc.graph_files.npz_archive import Archive
from gnnc.graph_files.sparse import adjacency_entries, checked_csr

if TYPE_CHECKING:
    from scipy.sparse import csr_array

# adj_data, adj_indices, ... or adj_matrix.data, adj_matrix.indices, ...
ADJACENCY = ("adj_", "adj_matrix.")
FEATURES = ("attr_", "attr_matrix.")
PARTS = ("data", "indices", "indptr", "shape")
DENSE = "attr_matrix"


def matches(names: Collection[str]) -> bool:
    """Whether the arrays of these names are of this layout."""
    return any(f"{prefix}data" in names for prefix in ADJACENCY)


def read(archive: Archive) -> Entries:
    """Read `adj_data/indices/indptr/shape`, `attr_*` likewise and `labels`, or `adj_matrix.data` and so on.

    Entry (i, j) is an edge from i to j; values that are not all 1 become `edge_weight`. The edges are those that are
    stored: loaders that make the graph undirected or drop self-loops, as PyG's do, do so after reading. `attr_*`
    becomes `x` (a dense `attr_matrix` too), `labels` becomes `y`. Raises GraphError.
    """
    adjacency = next(prefix for prefix in ADJACENCY if f"{prefix}data" in archive.names)
    matrix: Any = _matrix(archive, adjacency, "adjacency").tocoo()
    what = f"{archive.file}: the adjacency matrix"
    entries = adjacency_entries(matrix.row, matrix.col, matrix.data, matrix.shape, what)

    attributes = next((prefix for prefix in FEATURES if f"{prefix}data" in archive.names), None)
    if attributes:
        entries["x"] = _matrix(archive, attributes, "attribute")
    elif DENSE in archive.names:
        entries["x"] = archive[DENSE]
    if "labels" in archive.names:
        entries["y"] = archive["labels"]

    used = {f"{prefix}{part}" for prefix in (*ADJACENCY, *FEATURES) for part in PARTS}
    return {**archive.rest(used | {DENSE, "labels"}), **entries}


def _matrix(archive: Archive, prefix: str, kind: str) -> csr_array:
    missing = [f"{prefix}{part}" for part in PARTS if f"{prefix}{part}" not in archive.names]
    if missing:
        raise GraphError(f"{archive.file}: the {kind} matrix lacks {', '.join(missing)}; save all four of its arrays.")
    data, indices, indptr, shape = (archive[f"{prefix}{part}"] for part in PARTS)
    return checked_csr(data, indices, indptr, shape, f"{archive.file}: the {prefix}* arrays")
