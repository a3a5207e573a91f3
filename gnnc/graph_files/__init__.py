"""Graphs from files: one module a format, each of which returns named entries for gnnc.Graph to check."""

from __future__ import annotations

import os
import re
from pathlib import Path

from gnnc.errors import GraphError
from gnnc.graph_files import csv_edges, csv_nodes, folder, matrix_market, npz, npz_hetero, ogb
from gnnc.graph_files import scratch as from_scratch
from gnnc.graph_files.contents import Entries, LeftOut
from gnnc.graph_files.faults import parsing
from gnnc.graph_files.npz_archive import open_archive

__all__ = ["Entries", "LeftOut", "has_types", "read", "read_typed"]

TEXT = csv_edges.SUFFIXES
SAVE = "numpy.savez(path, edge_index=..., x=...)"
PICKLE = f"is a pickle, which can run code when it is read, and gnnc never does; open it where you trust it, and {SAVE}"
# What to do with files that other libraries write and gnnc does not read.
REFUSED = {
    ".pkl": PICKLE,
    ".pickle": PICKLE,
    ".pt": f"is a file of torch; load it in Python and pass the Data object to gnnc.compile, or {SAVE}",
    ".pth": f"is a file of torch; load it in Python and pass the Data object to gnnc.compile, or {SAVE}",
    ".bin": f"is a file of DGL; load it with dgl.load_graphs, and {SAVE} with the rows of g.edges()",
    ".mat": "is a file of MATLAB; load it with scipy.io.loadmat, and save the matrix with scipy.sparse.save_npz",
    ".npy": "is a single array; name the arrays edge_index.npy, x.npy and so on, and pass their folder",
}
PLANETOID = re.compile(r"ind\.[^.]+\.(x|y|tx|ty|allx|ally|graph|test\.index)", re.IGNORECASE)


def read(path: Path, node_table: Path | None = None, scratch: Path | None = None) -> Entries:
    """Read the graph in a file or folder, in the format that its name says.

    `node_table` is a text file with a row per node, as csv_nodes reads it. Beside an edge list it maps the ids; with
    any other format its row i is node i. With a folder `scratch`, text is read in pieces into arrays there, which are
    mapped, and found there again as long as the files stay as they are.

    Raises GraphError for anything that cannot be read.
    """
    # os.path, since a folder that may not be entered makes Path.exists raise
    if not os.path.exists(path):
        raise GraphError(f"{path} does not exist or may not be read; check the path of the graph.")
    mapped = None if scratch is None else from_scratch.read(path, node_table, scratch)
    if mapped is not None:
        return mapped
    if path.is_dir():
        return _of_folder(path, node_table)
    suffix = suffix_of(path)
    if suffix in TEXT:
        return csv_edges.read(path, csv_nodes.read(node_table) if node_table else None)
    if suffix == ".npz":
        return _labelled(npz.read(path), path, node_table)
    if suffix == ".mtx":
        return _labelled(matrix_market.read(path), path, node_table)
    if PLANETOID.fullmatch(path.name):
        raise GraphError(f"{path} {PICKLE}.")
    known = ", ".join((".npz", ".mtx", *TEXT))
    raise GraphError(f"{path} {REFUSED.get(suffix, f'is no graph file that gnnc reads; pass {known} or a folder')}.")


def has_types(path: Path) -> bool:
    """Whether a file or folder holds a graph with several types. Raises GraphError if it is damaged."""
    if path.is_dir():
        with parsing(path, "folder"):
            return npz_hetero.matches([name.removesuffix(".npy") for name in os.listdir(path) if name.endswith(".npy")])
    if not path.is_file() or suffix_of(path) != ".npz":
        return False
    with open_archive(path) as archive:
        return npz_hetero.matches(archive.names)


def read_typed(path: Path) -> npz_hetero.TypedEntries:
    """Read a graph with several types from an `.npz` file or a folder of `.npy` files, as npz_hetero says.

    Raises GraphError for anything else.
    """
    if not os.path.exists(path):
        raise GraphError(f"{path} does not exist or may not be read; check the path of the graph.")
    if not has_types(path):
        raise GraphError(
            f"{path} holds no graph with several types; save edge_index__SOURCE__RELATION__TARGET, x__TYPE and "
            "num_nodes__TYPE in an .npz, or read it with gnnc.Graph.load."
        )
    if path.is_dir():
        return npz_hetero.read(npz_hetero.Folder(path))
    with open_archive(path) as archive:
        return npz_hetero.read(archive)


def suffix_of(path: Path) -> str:
    """Return what the name ends in, in lower case and without `.gz`."""
    return Path(path.name.lower().removesuffix(".gz")).suffix


def _of_folder(path: Path, node_table: Path | None) -> Entries:
    with parsing(path, "folder"):
        names = os.listdir(path)
    pickles = sorted(name for name in names if PLANETOID.fullmatch(name))
    if pickles:
        raise GraphError(f"{path / pickles[0]} {PICKLE}.")
    raw = ogb.folder_of(path)
    if raw is not None:
        return _labelled(ogb.read(raw), path, node_table)
    if (path / folder.ARRAYS).is_file() or (path / folder.MATRIX).is_file():
        return _labelled(folder.read(path, None), path, node_table)
    return folder.read(path, node_table)


def _labelled(entries: Entries, path: Path, node_table: Path | None) -> Entries:
    """Add a node table to a graph whose nodes are numbered; raise GraphError if the two contradict each other."""
    if node_table is None:
        return entries
    table = csv_nodes.read(node_table).entries
    known = entries.get("num_nodes", table["num_nodes"])
    if known != table["num_nodes"]:
        raise GraphError(
            f"{node_table} has {table['num_nodes']} rows, but {path} has {known} nodes; give one per node."
        )
    doubled = [name for name in table if name in entries and name != "num_nodes"]
    if doubled:
        raise GraphError(f"{path} and {node_table} both have {', '.join(doubled)}; leave out one of the two.")
    return {**entries, **table}
