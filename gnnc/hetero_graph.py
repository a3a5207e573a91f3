"""Graphs with several types of nodes and of edges."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gnnc import graph_files
from gnnc.errors import GraphError
from gnnc.graph_checks import as_numpy, checked_count, checked_edges, checked_rows, count_of_nodes, is_array, kind_of
from gnnc.graph_entries import EdgeType, Entry, set_name_of

if TYPE_CHECKING:
    from gnnc.graph_checks import Array


class PygHeteroData(Protocol):
    """What gnnc uses of a torch_geometric.data.HeteroData."""

    def node_items(self) -> list[tuple[str, Any]]: ...

    def edge_items(self) -> list[tuple[EdgeType, Any]]: ...


class HeteroGraph:
    """A graph with several types of nodes and of edges, all with attributes.

    `nodes` has the attributes of each node type by name, `edges` those of each edge type (source type, relation, target
    type), among them `edge_index` of shape (2, E): row 0 holds sources, row 1 targets, numbered within their types.
    Every other array has a row per node or per edge of its type. Arrays are numpy arrays or torch tensors and are kept
    as given.

    A node type has as many nodes as `num_nodes` says, or its attributes have rows, or as edges need. A type may have no
    nodes and no edges, and any name.

    Raises GraphError if an array has the wrong shape or dtype, or an edge names a node that does not exist.
    """

    def __init__(
        self,
        nodes: Mapping[str, Mapping[str, Array]],
        edges: Mapping[EdgeType, Mapping[str, Array]],
        num_nodes: Mapping[str, int] | None = None,
    ) -> None:
        self._nodes = {type_: dict(arrays) for type_, arrays in nodes.items()}
        self._edges = {type_: dict(arrays) for type_, arrays in edges.items()}
        for type_, arrays in self._edges.items():
            check_edge_type(type_, arrays, self._nodes)
        names = [set_name_of(type_) for type_ in (*self._nodes, *self._edges)]
        double = next((name for name in names if names.count(name) > 1), None)
        if double is not None:
            raise GraphError(f"Two types of the graph are written '{double}'; rename one of them.")
        declared = dict(num_nodes or {})
        unknown = next((type_ for type_ in declared if type_ not in self._nodes), None)
        if unknown is not None:
            raise GraphError(f"num_nodes has a node type '{unknown}' that nodes has not; add it there, without arrays.")
        self._counts = {type_: self._count(type_, declared.get(type_)) for type_ in self._nodes}
        for type_, arrays in self._edges.items():
            self._check_rows(set_name_of(type_), arrays, int(arrays["edge_index"].shape[1]), "edge")

    def _count(self, type_: str, declared: int | None) -> int:
        """The number of nodes of a type, checked against its attributes and against the edges."""
        arrays = self._nodes[type_]
        declared = None if declared is None else checked_count(declared)
        first = arrays.get("x", next(iter(arrays.values()), None))
        count = declared
        for edge_type, edge_arrays in self._edges.items():
            for row, end in ((0, edge_type[0]), (1, edge_type[2])):
                if end == type_:
                    ids = checked_edges(edge_arrays["edge_index"])[row : row + 1]
                    needed = count_of_nodes(ids, first, declared, f"{set_name_of(edge_type)}: ", f"{type_}: ")
                    count = needed if first is not None or declared is not None else max(needed, count or 0)
        if count is None:
            count = 0 if first is None else checked_rows(first)
        self._check_rows(type_, arrays, count, "node")
        return count

    def _check_rows(self, name: str, arrays: Mapping[str, Array], rows: int, unit: str) -> None:
        for attribute, array in arrays.items():
            if not is_array(array):
                raise GraphError(f"{attribute} of {name} is {kind_of(array)}; pass a numpy array or a torch tensor.")
            if attribute != "edge_index" and (not array.shape or array.shape[0] != rows):
                raise GraphError(
                    f"{attribute} of {name} has shape {tuple(array.shape)}; pass one row per {unit}, {rows} in all."
                )

    @property
    def node_types(self) -> list[str]:
        return list(self._nodes)

    @property
    def edge_types(self) -> list[EdgeType]:
        return list(self._edges)

    @property
    def node_counts(self) -> Mapping[str, int]:
        """The number of nodes of each type."""
        return self._counts

    @property
    def num_nodes(self) -> int:
        """The number of nodes of all types."""
        return sum(self._counts.values())

    @property
    def num_edges(self) -> int:
        """The number of edges of all types."""
        return sum(int(arrays["edge_index"].shape[1]) for arrays in self._edges.values())

    def __getitem__(self, type_: str | EdgeType) -> Mapping[str, Array]:
        """The attributes of a node type or an edge type."""
        found = self._nodes.get(type_) if isinstance(type_, str) else self._edges.get(type_)
        if found is None:
            raise KeyError(f"the graph has no type {type_!r}; it has {', '.join(map(str, self._types()))}")
        return found

    def _types(self) -> Iterator[str | EdgeType]:
        yield from self._nodes
        yield from self._edges

    def __repr__(self) -> str:
        return f"HeteroGraph(nodes={dict(self._counts)}, edges={[set_name_of(t) for t in self._edges]})"

    def entries(self) -> list[Entry]:
        """All arrays, with what their rows are."""
        nodes = [
            Entry(name, "nodes", type_, type_, array)
            for type_, arrays in self._nodes.items()
            for name, array in arrays.items()
        ]
        edges = [
            Entry(name, "edges", set_name_of(type_), type_, array, ends_of(type_) if name == "edge_index" else None)
            for type_, arrays in self._edges.items()
            for name, array in arrays.items()
        ]
        return [*nodes, *edges]

    @classmethod
    def load(cls, path: str | PathLike[str]) -> HeteroGraph:
        """Read a graph from an `.npz` file, or from a folder of `.npy` files, which are mapped into memory.

        The arrays are `edge_index__SOURCE__RELATION__TARGET`, `num_nodes__TYPE` and `NAME__TYPE` for an attribute, such
        as `x__paper`, `y__paper` or `edge_attr__author__writes__paper`; features may also be the four arrays of a CSR
        matrix, `x__TYPE__data`, `indices`, `indptr` and `shape`. Nothing is ever unpickled.

        Raises GraphError, with the file's name, if it cannot be read or holds a malformed graph.
        """
        entries = graph_files.read_typed(Path(path))
        try:
            return cls(entries.nodes, entries.edges, entries.num_nodes)
        except GraphError as error:
            raise GraphError(f"{path}: {error}") from None

    def save(self, path: str | PathLike[str]) -> None:
        """Write the graph as an `.npz` file, for `load`. Raises GraphError if the names could be read otherwise."""
        for type_ in self._edges:
            if graph_files.npz_hetero.edge_type(set_name_of(type_), self._nodes, Path(path)) != type_:
                raise GraphError(f"The edge type {set_name_of(type_)} can be read in several ways; rename it.")
        arrays = {entry.key: as_numpy(entry.array) for entry in self.entries()}
        counts = {f"num_nodes__{type_}": np.asarray(count) for type_, count in self._counts.items()}
        with Path(path).open("wb") as stream:
            np.savez(stream, allow_pickle=False, **counts, **arrays)

    @classmethod
    def of(cls, data: PygHeteroData) -> HeteroGraph:
        """Takes a PyG HeteroData; what is no array with a row per node or edge of its type is left out."""
        nodes, counts = {}, {}
        for type_, storage in data.node_items():
            count = storage.num_nodes
            counts[type_] = count
            nodes[type_] = {name: a for name, a in storage.items() if is_array(a) and tuple(a.shape[:1]) == (count,)}
        edges = {}
        for type_, storage in data.edge_items():
            arrays = dict(storage.items())
            count = arrays["edge_index"].shape[1] if "edge_index" in arrays else None
            fits = {name: a for name, a in arrays.items() if is_array(a) and tuple(a.shape[:1]) == (count,)}
            edges[type_] = {**fits, "edge_index": arrays.get("edge_index")}
        return cls(nodes, edges, {type_: count for type_, count in counts.items() if count is not None})


def ends_of(type_: EdgeType) -> tuple[str, str]:
    return (type_[0], type_[2])


def check_edge_type(type_: Any, arrays: Mapping[str, Any], nodes: Mapping[str, Any]) -> None:
    """Raises GraphError for an edge type that is no triple, has no edges, or joins types that are not there."""
    if not isinstance(type_, tuple) or len(type_) != 3 or not all(isinstance(part, str) for part in type_):
        raise GraphError(f"The edge type {type_!r} is no triple of names; write (source type, relation, target type).")
    if arrays.get("edge_index") is None:
        raise GraphError(f"The edge type {set_name_of(type_)} has no edge_index; pass one of shape (2, E).")
    missing = [end for end in ends_of(type_) if end not in nodes]
    if missing:
        raise GraphError(f"The edge type {set_name_of(type_)} joins nodes of type '{missing[0]}', which has no entry.")
