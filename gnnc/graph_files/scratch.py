"""Graphs in text as arrays in a folder: read in pieces once, and mapped from then on."""

from __future__ import annotations

import hashlib
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gnnc.errors import GraphError
from gnnc.graph_files import csv_edges, csv_nodes, folder, npy, ogb
from gnnc.graph_files.contents import Entries
from gnnc.graph_files.number_pieces import CANNOT, Rows, number_pieces, stacked

if TYPE_CHECKING:
    from numpy.typing import NDArray

FORMAT = "1"


def read(path: Path, node_table: Path | None, scratch: Path) -> Entries | None:
    """The graph in a text file or a folder of them, as arrays that are mapped from `scratch`; None if it is in no text
    of numbers. What is as large as the edges is never in memory; a node table is.

    Raises GraphError, also if `scratch` can't be written.
    """
    edges, tables = text_of(path, node_table)
    raw = ogb.folder_of(path) if path.is_dir() and node_table is None else None
    if edges is None and raw is None:
        return None
    place = scratch / f"text-{key_of([f for f in (edges, *tables) if f] if raw is None else sorted(raw.iterdir()))}"
    nodes = csv_nodes.read(tables[0]) if tables else None
    try:
        if not place.exists():
            scratch.mkdir(parents=True, exist_ok=True)
            building = Path(tempfile.mkdtemp(prefix=f"{place.name}.", dir=scratch))
            try:
                if not write(edges, nodes, raw, building):
                    return None
                os.replace(building, place)
            finally:
                shutil.rmtree(building, ignore_errors=True)
    except OSError as error:
        raise GraphError(f"{scratch} can't be written ({error.strerror}); give another folder.") from None
    entries = npy.read_folder(place)
    if "num_nodes" in entries:
        entries["num_nodes"] = int(entries["num_nodes"])
    return {**(nodes.entries if nodes else {}), **entries}


def text_of(path: Path, node_table: Path | None) -> tuple[Path | None, list[Path]]:
    """The edge list of a graph in text, and its node table if there is one."""
    if path.is_dir():
        found = [path / name for name in folder.TABLES if (path / name).is_file()]
        given = [path / name for name in folder.NODES if (path / name).is_file()]
        others = any((path / name).is_file() for name in (folder.ARRAYS, folder.MATRIX))
        return (found[0] if len(found) == 1 and not others else None), ([node_table] if node_table else given[:1])
    is_text = Path(path.name.lower().removesuffix(".gz")).suffix in csv_edges.SUFFIXES
    return (path if is_text else None), ([node_table] if node_table else [])


def key_of(files: list[Path]) -> str:
    """Files as they are now."""
    states = [(str(f.absolute()), os.stat(f).st_size, os.stat(f).st_mtime_ns) for f in files]
    return hashlib.sha256(repr((FORMAT, states)).encode()).hexdigest()[:16]


def write(edges: Path | None, nodes: csv_nodes.NodeTable | None, raw: Path | None, into: Path) -> bool:
    """Writes the arrays of a graph; says whether it could."""
    if raw is not None:
        entries = ogb.read(raw, into)
        np.save(into / "num_nodes.npy", np.int64(entries["num_nodes"]))
        return True
    assert edges is not None
    described = csv_edges.described(edges)
    dtype = csv_edges.number_type(described, nodes)
    return dtype is not None and write_edges(described, nodes, dtype, into)


def write_edges(
    edges: csv_edges.EdgeList, nodes: csv_nodes.NodeTable | None, dtype: list[tuple[str, Any]], into: Path
) -> bool:
    """Writes `edge_index` and the attributes of edges; False if not all of the list are numbers."""
    ends = [Rows(into / f"end{side}.npy") for side in (0, 1)]
    attributes: dict[str, Rows] = {}
    done = 0
    try:
        for piece in number_pieces(edges.table, edges.start, dtype):
            columns: list[NDArray[Any]] = [piece[name] for name, _ in dtype]
            index = csv_edges.node_numbers(edges, columns, nodes, done)
            for side in (0, 1):
                ends[side].add(index[side])
            for name, values in csv_edges.number_attributes(edges, columns).items():
                attributes.setdefault(name, Rows(into / f"{name}.npy")).add(values)
            done += len(piece)
    except CANNOT:
        return False
    stacked(into / "edge_index.npy", ends)
    for rows in attributes.values():
        rows.finish()
    return True
