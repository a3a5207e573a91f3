"""Edge lists in text: `.csv`, `.tsv`, `.txt`, each also in gzip."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from gnnc.errors import GraphError
from gnnc.graph_files.contents import Entries, LeftOut
from gnnc.graph_files.csv_ids import named_edges, numbered_edges, parsed_ids
from gnnc.graph_files.csv_nodes import NodeTable
from gnnc.graph_files.number_pieces import CANNOT, Rows, number_pieces
from gnnc.graph_files.text_table import TextTable, is_number, open_table

if TYPE_CHECKING:
    from numpy.typing import NDArray

    # a column as text, or as numbers where numpy could read the file by itself
    Column: TypeAlias = list[str] | NDArray[Any]

# What people call the two columns of ids. Without one of these pairs they are the first two.
PAIRS = (
    ("source", "target"),
    ("src", "dst"),
    ("from", "to"),
    ("head", "tail"),
    ("sender", "receiver"),
    ("u", "v"),
    ("id1", "id2"),
    ("id_1", "id_2"),
    ("node1", "node2"),
    ("node_1", "node_2"),
    ("fromnodeid", "tonodeid"),
)
SUFFIXES = (".csv", ".tsv", ".txt")
# so many rows say which columns hold integers; where a later one does not, numpy cannot read the file
SAMPLE = 1000


@dataclass(frozen=True)
class EdgeList:
    """A table of edges and what its columns are.

    `names` has the header, or is empty; `source` and `target` are the columns of the ids, `further` those of possible
    attributes. `first` is the first row below the header, empty if there is none: it says what kind each column is of.
    """

    table: TextTable
    names: list[str]
    source: int
    target: int
    further: list[int]
    first: list[str]

    @property
    def start(self) -> int:
        """The number of rows before the first edge."""
        return 1 if self.names else 0

    def name(self, column: int) -> str:
        """Name a column in a message."""
        return repr(self.names[column]) if self.names else str(column + 1)

    def attribute(self, column: int) -> str:
        """The name of the attribute that a further column becomes."""
        name = self.names[column] if self.names else "weight"
        return name if name.startswith("edge_") else f"edge_{name}"

    def place(self, row: int, column: int) -> str:
        """Name the place of a field in a message; `row` counts the edges."""
        return f"{self.table.file}, line {self.table.line_of(row + self.start)}, column {self.name(column)}"


def read(file: Path, nodes: NodeTable | None) -> Entries:
    """Read a text file with an edge in each row.

    Lines before the first row that begin with `#` or `%` and a blank are comments. The first row is a header if it has
    one of the usual pairs of names (source and target, src and dst, from and to, ...), or if nothing in it is a number
    and something in the second row is. Without such names the ids are in the first two columns; a column without a name
    under a header is pandas' index and is skipped.

    A further column NAME of numbers becomes the attribute `edge_NAME`, int64 if all are integers and float32 otherwise;
    `weight` is always float32. Without a header one further column of numbers becomes `edge_weight`, several become
    `edge_attr`, (E, K) float32. A further column whose first value is no number is left out.

    Without a node table, ids are node numbers 0 to the largest if those of the first edge are numbers, and names
    otherwise, numbered in the order in which they come; `node_ids` then has them. With one, they are mapped to its
    rows.

    Raises GraphError with the line.
    """
    edges = _described(open_table(file))
    numbered = _is_numbered(edges, nodes)
    columns = _columns(edges, nodes, numbered)
    ends = (edges.source, edges.target)
    sources, targets = (columns[i] for i in ends)

    def place(row: int, side: int) -> str:
        return edges.place(row, ends[side])

    if numbered:
        sides = [parsed_ids(ids, side, place) for side, ids in enumerate((sources, targets))]
        entries = numbered_edges(np.stack(sides), place, nodes)
    else:
        entries = named_edges(sources, targets, place, nodes)
    return {**_attributes(edges, columns), **(nodes.entries if nodes else {}), **entries}


def described(file: Path) -> EdgeList:
    """What the columns of a text file with an edge in each row are, from its first rows. Raises GraphError."""
    return _described(open_table(file))


def number_type(edges: EdgeList, nodes: NodeTable | None) -> list[tuple[str, Any]] | None:
    """The types of the columns if all are numbers, by the first rows; None if some are not."""
    if not (_is_numbered(edges, nodes) and all(is_number(field) for field in edges.first)):
        return None
    sample = [fields for _, fields in islice(edges.table.rows(), edges.start, edges.start + SAMPLE)]
    texts = {i: [fields[i] for fields in sample] for i in edges.further if not _is_weight(edges, i)}
    whole = {edges.source, edges.target, *(i for i, column in texts.items() if _integers(column) is not None)}
    return [(f"column{i}", np.int64 if i in whole else np.float32) for i in range(len(edges.first))]


def node_numbers(edges: EdgeList, columns: list[Any], nodes: NodeTable | None, first: int) -> NDArray[Any]:
    """The ends of some edges as node numbers, (2, edges); the columns begin at edge `first`. Raises GraphError."""
    ends = (edges.source, edges.target)

    def place(row: int, side: int) -> str:
        return edges.place(first + row, ends[side])

    return numbered_edges(np.stack([columns[i] for i in ends]), place, nodes)["edge_index"]


def number_attributes(edges: EdgeList, columns: list[Any]) -> Entries:
    """What the further columns of some edges are to a graph."""
    return _attributes(edges, columns)


def _described(table: TextTable) -> EdgeList:
    """Tell from the first two rows what the columns are; raise GraphError if there are none for the ids."""
    rows = [fields for _, fields in islice(table.rows(), 2)]
    first = rows[0]
    lowered = [name.lower() for name in first]
    pair = next((pair for pair in PAIRS if set(pair) <= set(lowered)), None)
    is_header = pair is not None or (len(rows) == 2 and not any(map(is_number, first)) and any(map(is_number, rows[1])))
    names = first if is_header else []
    usable = [i for i, name in enumerate(first) if name or not is_header]
    if len(usable) < 2:
        raise GraphError(
            f"{table.file}, line {table.line_of(0)} has one column; an edge list has two, the source and the target."
        )
    # weight and edge_weight would be the same attribute
    short = [name.removeprefix("edge_") for name in names]
    doubled = next((name for i, name in enumerate(short) if name and name in short[:i]), None)
    if doubled:
        raise GraphError(f"{table.file}, line {table.line_of(0)} has two columns {doubled!r}; rename one.")
    source, target = (lowered.index(pair[0]), lowered.index(pair[1])) if pair else usable[:2]
    below = rows[1:] if is_header else rows
    further = [i for i in usable if i not in (source, target)]
    return EdgeList(table, names, source, target, further, below[0] if below else [])


def _is_numbered(edges: EdgeList, nodes: NodeTable | None) -> bool:
    """Whether the ids are to be read as numbers."""
    if not edges.first or (nodes and nodes.numbers is None):
        return False
    return is_number(edges.first[edges.source]) and is_number(edges.first[edges.target])


def _columns(edges: EdgeList, nodes: NodeTable | None, numbered: bool) -> list[Any]:
    """Read all rows, as one column each."""
    dtype = number_type(edges, nodes) if numbered else None
    arrays = None if dtype is None else _by_numpy(edges, dtype)
    if arrays is not None:
        return arrays
    columns: list[list[str]] = [[] for _ in edges.first or edges.names]
    for _, fields in islice(edges.table.rows(), edges.start, None):
        for column, field in zip(columns, fields, strict=True):
            column.append(field)
    return columns


def _by_numpy(edges: EdgeList, dtype: list[tuple[str, Any]]) -> list[NDArray[Any]] | None:
    """Let numpy read a file that is all numbers, 20 times as fast; None if it cannot, for whatever reason."""
    rows = Rows(None)
    try:
        for piece in number_pieces(edges.table, edges.start, dtype):
            rows.add(piece)
    except CANNOT:
        # the other way of reading finds the place, or knows better
        return None
    whole = rows.finish()
    return [whole[name] for name, _ in dtype]


def _attributes(edges: EdgeList, columns: list[Any]) -> Entries:
    read = {i: _numbers(edges, i, columns[i]) for i in edges.further if edges.first}
    if edges.names:
        return {edges.attribute(i): value for i, value in read.items()}
    arrays = [value for value in read.values() if not isinstance(value, LeftOut)]
    if len(arrays) > 1:
        return {"edge_attr": np.stack(arrays, axis=1, dtype=np.float32, casting="unsafe")}
    return {"edge_weight": arrays[0]} if arrays else {}


def _numbers(edges: EdgeList, column: int, values: Column) -> NDArray[Any] | LeftOut:
    """Return a further column as an array, or say that its first value is text; raise GraphError for a later one."""
    if isinstance(values, np.ndarray):
        # out of the rows, so that they do not stay in memory
        return np.ascontiguousarray(values)
    if not is_number(values[0]):
        return LeftOut(f"column {edges.name(column)} is text ({values[0]!r}), not numbers")
    integers = None if _is_weight(edges, column) else _integers(values)
    if integers is not None:
        return integers
    for row, value in enumerate(values):
        if not is_number(value):
            raise GraphError(f"{edges.place(row, column)} is {value!r}; write a number.")
    return np.array([float(value) for value in values], np.float32)


def _integers(values: list[str]) -> NDArray[Any] | None:
    """Read int64 numbers, or None if not all are such."""
    try:
        return np.array([int(value) for value in values], np.int64)
    except (ValueError, OverflowError):
        return None


def _is_weight(edges: EdgeList, column: int) -> bool:
    return edges.attribute(column).lower() == "edge_weight"
