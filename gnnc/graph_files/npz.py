"""`.npz` files: the layout is told from the names of the arrays."""

from __future__ import annotations

from pathlib import Path

from gnnc.errors import GraphError
from gnnc.graph_files import npz_adjacency, npz_edge_list, npz_hetero, npz_scipy
from gnnc.graph_files.contents import Entries
from gnnc.graph_files.npz_archive import Archive, open_archive
from gnnc.graph_files.sparse import checked_csr

CSR_KEYS = ("x_data", "x_indices", "x_indptr", "x_shape")


def read(file: Path) -> Entries:
    """Read a graph from an `.npz` file in any of four layouts.

    gnnc's own: `edge_index`; `x`, or `x_data`, `x_indices`, `x_indptr` and `x_shape` of a CSR matrix; `num_nodes`;
    `node_ids`; any attribute. The others are described in npz_adjacency, npz_edge_list and npz_scipy.

    Raises GraphError.
    """
    with open_archive(file) as archive:
        if "edge_index" in archive.names:
            return read_own(archive)
        for layout in (npz_adjacency, npz_edge_list, npz_scipy):
            if layout.matches(archive.names):
                return layout.read(archive)
        if npz_hetero.matches(archive.names):
            raise GraphError(
                f"{file} holds a graph with several types ({archive.names[0]}, ...); read it with "
                "gnnc.HeteroGraph.load, or save one edge type as edge_index."
            )
        raise GraphError(
            f"{file} has no array 'edge_index', only {', '.join(archive.names) or 'nothing'}; "
            "save the edges of one homogeneous graph as edge_index, shape (2, E)."
        )


def read_own(archive: Archive) -> Entries:
    entries: Entries = {"edge_index": archive.whole_numbers("edge_index"), **_features(archive)}
    entries.update(archive.rest({*entries, *CSR_KEYS, "x", "num_nodes", "node_ids"}))
    if "num_nodes" in archive.names:
        entries["num_nodes"] = archive["num_nodes"]
    if "node_ids" in archive.names:
        entries["node_ids"] = archive["node_ids"].tolist()
    return entries


def _features(archive: Archive) -> Entries:
    if "x" in archive.names:
        return {"x": archive["x"]}
    missing = [name for name in CSR_KEYS if name not in archive.names]
    if len(missing) == len(CSR_KEYS):
        return {}
    if missing:
        raise GraphError(
            f"{archive.file}: the CSR features lack {', '.join(missing)}; save all four of {', '.join(CSR_KEYS)}."
        )
    data, indices, indptr, shape = (archive[name] for name in CSR_KEYS)
    return {"x": checked_csr(data, indices, indptr, shape, f"{archive.file}: the CSR features")}
