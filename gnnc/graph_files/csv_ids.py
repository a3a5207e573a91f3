"""The ids of nodes in text, as node numbers."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gnnc.errors import GraphError
from gnnc.graph_files.contents import Entries
from gnnc.graph_files.text_table import is_missing, whole_number

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from gnnc.graph_files.csv_nodes import NodeTable

# Names a field in a message, given the edge and 0 for its source or 1 for its target.
Place: TypeAlias = Callable[[int, int], str]


def parsed_ids(texts: Sequence[str] | NDArray[Any], side: int, place: Place) -> NDArray[Any]:
    """Read the ids of one side of all edges as int64, unless numpy has read them already.

    Raises GraphError for the first that is no whole number.
    """
    if isinstance(texts, np.ndarray):
        return texts
    numbers = [whole_number(text) for text in texts]
    if None in numbers:
        row = numbers.index(None)
        fault = "is empty" if is_missing(texts[row]) else f"is {texts[row]!r}, while the first ids are numbers"
        raise GraphError(f"{place(row, side)} {fault}; write a whole number, or give a node table if ids are names.")
    return np.array(numbers, np.int64)


def numbered_edges(edge_index: NDArray[Any], place: Place, nodes: NodeTable | None) -> Entries:
    """Turn ids that are numbers, (2, E), into node numbers: they are the same, or the rows of a node table.

    Raises GraphError for an id that is negative or not in the table.
    """
    if nodes is None:
        _refuse_first(edge_index < 0, edge_index, place, "but node numbers start at 0; drop or renumber such edges")
        return {"edge_index": edge_index}
    rows = _rows_of(edge_index, nodes.numbers)
    _refuse_first(rows < 0, edge_index, place, f"which {nodes.file} does not have; add a row for it")
    return {"edge_index": rows}


def named_edges(sources: Sequence[str], targets: Sequence[str], place: Place, nodes: NodeTable | None) -> Entries:
    """Turn ids that are names into `edge_index` (2, E) int64: in the order in which they come, or of a node table.

    Without a table the result has `node_ids` too. Raises GraphError for an id that is missing or not in the table.
    """
    for side, texts in enumerate((sources, targets)):
        row = next((row for row, text in enumerate(texts) if is_missing(text)), None)
        if row is not None:
            raise GraphError(f"{place(row, side)} is empty; write the id of a node.")
    if nodes is not None:
        index = {name: row for row, name in enumerate(nodes.ids)}
        rows = np.array([[index.get(name, -1) for name in texts] for texts in (sources, targets)], np.int64)
        _refuse_first(rows < 0, (sources, targets), place, f"which {nodes.file} does not have; add a row for it")
        return {"edge_index": rows}
    index: dict[str, int] = {}
    ends = (index.setdefault(name, len(index)) for edge in zip(sources, targets, strict=True) for name in edge)
    flat = np.fromiter(ends, np.int64, 2 * len(sources))
    # in memory one row after the other, as everything that reads it does
    return {"edge_index": np.ascontiguousarray(flat.reshape(-1, 2).T), "num_nodes": len(index), "node_ids": [*index]}


def _rows_of(ids: NDArray[Any], known: NDArray[Any] | None) -> NDArray[Any]:
    """Return where each id is among the known ones, -1 where it is not."""
    if known is None or not known.size:
        return np.full(ids.shape, -1)
    if np.array_equal(known, np.arange(known.size)):
        return np.where((ids >= 0) & (ids < known.size), ids, -1)
    order = np.argsort(known)
    # an id above all others would be looked for behind the last
    rows = order[np.minimum(np.searchsorted(known, ids, sorter=order), known.size - 1)]
    return np.where(known[rows] == ids, rows, -1)


def _refuse_first(faults: NDArray[np.bool_], ids: Any, place: Place, reason: str) -> None:
    """Raise GraphError for the first edge with a fault; `faults` has shape (2, E), `ids` is a pair of columns."""
    if not faults.any():
        return
    row = int(faults.any(axis=0).argmax())
    side = 0 if faults[0, row] else 1
    raise GraphError(f"{place(row, side)} is {ids[side][row]}, {reason}.")
