"""The `raw` folders of node property graphs of the Open Graph Benchmark: tables of numbers without headers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gnnc.errors import GraphError
from gnnc.graph_files.contents import Entries
from gnnc.graph_files.number_pieces import CANNOT, Rows, number_pieces, stacked
from gnnc.graph_files.text_table import open_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

EDGES, COUNT = "edge.csv.gz", "num-node-list.csv.gz"
ATTRIBUTES = {
    "node-feat.csv.gz": ("x", np.float32),
    "node-label.csv.gz": ("y", np.int64),
    "node_year.csv.gz": ("node_year", np.int64),
    "edge-feat.csv.gz": ("edge_attr", np.float32),
}
STORED_ONCE = ("products", "proteins")
"""Graphs of which OGB stores one direction of every edge and adds the other when it reads them."""


def folder_of(path: Path) -> Path | None:
    """The folder with the tables, which is `path` or `raw` in it; None if there is none."""
    return next((place for place in (path, path / "raw") if all((place / n).is_file() for n in (EDGES, COUNT))), None)


def read(folder: Path, into: Path | None = None) -> Entries:
    """Reads `edge.csv.gz`, `num-node-list.csv.gz`, and where they are there `node-feat`, `node-label`, `node_year` and
    `edge-feat`; into memory, or into files in `into`, which are mapped.

    Raises GraphError, also for a folder with several graphs.
    """
    counts = [int(count) for piece in numbers(folder / COUNT, np.int64) for count in piece[:, 0]]
    if len(counts) != 1:
        raise GraphError(f"{folder} holds {len(counts)} graphs; gnnc takes folders of one graph, for node properties.")
    ends = [Rows(place_of(into, f"end{side}")) for side in (0, 1)]
    both = any(name in part.lower() for name in STORED_ONCE for part in folder.absolute().parts[-2:])
    for piece in numbers(folder / EDGES, np.int64):
        if piece.shape[1] != 2:
            raise GraphError(f"{folder / EDGES} has {piece.shape[1]} columns; an edge has two ends.")
        for side in (0, 1):
            # as OGB has them: an edge, then the same one the other way
            ends[side].add(np.roll(piece, -side, axis=1).reshape(-1) if both else piece[:, side])
    entries: Entries = {"edge_index": stacked(place_of(into, "edge_index"), ends), "num_nodes": counts[0]}
    for name, (key, dtype) in ATTRIBUTES.items():
        if (folder / name).is_file() and not (both and key == "edge_attr"):
            entries[key] = attribute(folder / name, dtype, place_of(into, key))
    return entries


def attribute(file: Path, dtype: type, path: Path | None) -> NDArray[Any]:
    """A table with a row a node or an edge; a single column is a vector of numbers, but for features."""
    rows = Rows(path)
    for piece in numbers(file, dtype):
        rows.add(piece[:, 0] if piece.shape[1] == 1 and dtype is np.int64 else piece)
    return rows.finish()


def numbers(file: Path, dtype: type) -> Any:
    """Pieces of a table. Raises GraphError if not all in it are numbers."""
    try:
        yield from number_pieces(open_table(file), 0, dtype)
    except CANNOT as error:
        raise GraphError(f"{file} is no table of numbers ({error}); copy or download it again.") from None


def place_of(into: Path | None, name: str) -> Path | None:
    return None if into is None else into / f"{name}.npy"
