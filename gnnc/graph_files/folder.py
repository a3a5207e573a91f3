"""Folders that hold one graph in several files."""

from __future__ import annotations

from pathlib import Path

from gnnc.errors import GraphError
from gnnc.graph_files import csv_edges, csv_nodes, npy, npz_scipy
from gnnc.graph_files.contents import Entries
from gnnc.graph_files.npz_archive import open_archive

ARRAYS = "edge_index.npy"
MATRIX = "adj.npz"
TABLES = tuple(f"edges{kind}{packed}" for kind in (".csv", ".tsv", ".txt") for packed in ("", ".gz"))
NODES = tuple(name.replace("edges", "nodes") for name in TABLES)
FEATURES = ("features", "x")
LABELS = ("labels", "y")


def read(folder: Path, node_table: Path | None) -> Entries:
    """Read a folder with `edge_index.npy`, `edges.csv` or `adj.npz`.

    Beside `edge_index.npy`, every `NAME.npy` is the attribute NAME. Beside `edges.csv` (or `.tsv`, `.txt`, each also
    `.gz`), `nodes.csv` is the node table, unless another one is given. Beside `adj.npz`, a matrix by scipy's save_npz,
    `features.npz` or `x.npz` is `x`, likewise by save_npz or as `.npy`; `labels.npy` is `y`, and every other `NAME.npy`
    the attribute NAME.

    Raises GraphError, also if the folder holds none or several of the three.
    """
    found = [name for name in (ARRAYS, MATRIX, *TABLES) if (folder / name).is_file()]
    if len(found) > 1:
        raise GraphError(f"{folder} holds {' and '.join(found)}; pass a folder with one graph, or the file itself.")
    if not found:
        raise GraphError(
            f"{folder} is a folder without {ARRAYS}, edges.csv or {MATRIX}; pass a graph file, or a folder with one of "
            "these."
        )
    if found == [ARRAYS]:
        return npy.read_folder(folder)
    if found == [MATRIX]:
        return _read_matrices(folder)
    tables = [folder / name for name in NODES if (folder / name).is_file()]
    table = node_table or next(iter(tables), None)
    return csv_edges.read(folder / found[0], csv_nodes.read(table) if table else None)


def _read_matrices(folder: Path) -> Entries:
    with open_archive(folder / MATRIX) as archive:
        if not npz_scipy.matches(archive.names):
            raise GraphError(f"{archive.file} holds no sparse matrix; write it with scipy.sparse.save_npz.")
        entries = npz_scipy.read(archive)
    for name in FEATURES:
        file = folder / f"{name}.npz"
        if file.is_file():
            with open_archive(file) as archive:
                entries["x"] = npz_scipy.read_features(archive)
    for file in sorted(folder.glob("*.npy")):
        name = "x" if file.stem in FEATURES else "y" if file.stem in LABELS else file.stem
        entries[name] = npy.read_array(file)
    return entries
