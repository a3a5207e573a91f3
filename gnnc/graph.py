"""Graphs as gnnc takes them: edges and attributes, as numpy arrays or torch tensors, kept as they were given."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from gnnc import graph_files
from gnnc.errors import GraphError
from gnnc.graph_checks import (
    as_numpy,
    checked_edges,
    count_of_nodes,
    first_fault,
    is_array,
    is_csr,
    kind_of,
)
from gnnc.graph_entries import Entry
from gnnc.graph_files import LeftOut
from gnnc.graph_objects import NetworkxGraph, PygData, SparseMatrix, entries_of

if TYPE_CHECKING:
    import torch
    from scipy.sparse import csr_array, csr_matrix

    from gnnc.graph_checks import Array
    from gnnc.hetero_graph import HeteroGraph, PygHeteroData

    Features: TypeAlias = Array | csr_array | csr_matrix


# a torch.Tensor must be sparse, and the first of a tuple is x
GraphLike: TypeAlias = (
    "Graph | HeteroGraph | PygData | PygHeteroData | SparseMatrix | NetworkxGraph | torch.Tensor | tuple[Any, Any]"
)
AnyGraph: TypeAlias = "Graph | HeteroGraph"


def graph_of(obj: GraphLike) -> AnyGraph:
    """What Graph.of takes as a Graph, and a HeteroGraph or a PyG `HeteroData` as a HeteroGraph."""
    if all(hasattr(obj, name) for name in ("node_types", "edge_types")):
        from gnnc.hetero_graph import HeteroGraph

        return obj if isinstance(obj, HeteroGraph) else HeteroGraph.of(cast(Any, obj))
    return Graph.of(cast(Any, obj))


def load_graph(
    path: str | PathLike[str],
    node_table: str | PathLike[str] | None = None,
    scratch: str | PathLike[str] | None = None,
) -> AnyGraph:
    """Read a graph as Graph.load does, or one with several types as HeteroGraph.load does. Raises GraphError."""
    from gnnc.hetero_graph import HeteroGraph

    if not graph_files.has_types(Path(path)):
        return Graph.load(path, node_table, scratch)
    if node_table is not None:
        raise GraphError(f"{path} holds a graph with several types of nodes; leave out the table {node_table}.")
    return HeteroGraph.load(path)


class Graph:
    """A homogeneous graph with attributes.

    `edge_index` has shape (2, E) and an integer dtype: row 0 holds the sources, row 1 the targets. An attribute whose
    name begins with `edge_` has one row per edge, every other one, `x` included, one row per node. Only a name that
    ends in `_index`, such as `edge_label_index`, may also stand for pairs of nodes, shape (2, P), that are no edges.
    Arrays are numpy arrays or torch tensors and are kept as given, never copied; `x` may also be a scipy CSR matrix.
    Attributes are read as attributes: `graph.y`, `graph.train_mask`, `graph.edge_weight`.

    The number of nodes is that of the rows of `x`, without `x` it is `num_nodes`, without either it is the largest id
    in `edge_index` plus one.

    `node_ids` has what the nodes are called outside, one per node, and `label_names` the names of the classes in `y`.

    Raises GraphError if an array has the wrong shape or dtype, or an edge names a node that does not exist.
    """

    def __init__(
        self,
        *,
        edge_index: Array,
        x: Features | None = None,
        num_nodes: int | None = None,
        node_ids: Sequence[Any] | None = None,
        label_names: Sequence[str] | None = None,
        **attributes: Array,
    ) -> None:
        edges = checked_edges(edge_index)
        self._edge_index = edge_index
        self._x: Any = x
        self._num_nodes = count_of_nodes(edges, x, num_nodes)
        if node_ids is not None and len(node_ids) != self._num_nodes:
            raise GraphError(f"node_ids has {len(node_ids)} entries; pass one per node, {self._num_nodes} in all.")
        self._node_ids = None if node_ids is None else list(node_ids)
        self._label_names = None if label_names is None else list(label_names)
        self._attributes: dict[str, Array] = {}
        # what a container held beside the attributes of nodes and edges, with the reason: see _from_container
        self._left_out: dict[str, str] = {}
        for name, array in attributes.items():
            fault = self._fault(name, array)
            if fault:
                raise GraphError(fault)
            self._attributes[name] = array

    @property
    def edge_index(self) -> Array:
        """The edges, (2, E): sources in row 0, targets in row 1."""
        return self._edge_index

    @property
    def x(self) -> Array | None:
        """The node features, (num_nodes, ...), or None. CSR features turn dense on first use and keep their dtype."""
        if is_csr(self._x):
            self._x = self._x.toarray()
        return self._x

    @property
    def stored_x(self) -> Any:
        """The node features as they came, a scipy CSR matrix left sparse, or None."""
        return self._x

    @property
    def num_nodes(self) -> int:
        """The number of nodes."""
        return self._num_nodes

    @property
    def num_edges(self) -> int:
        """The number of edges, E: an undirected edge that is stored in both directions counts twice."""
        return int(self._edge_index.shape[1])

    @property
    def node_ids(self) -> list[Any] | None:
        """What the nodes are called where the graph comes from, (num_nodes,), or None if by their numbers."""
        return self._node_ids

    @property
    def label_names(self) -> list[str] | None:
        """The names of the classes that `y` numbers, or None if they came as numbers."""
        return self._label_names

    @property
    def attributes(self) -> Mapping[str, Array]:
        """Every attribute by name, `x` included if there is one: `edge_*` has a row per edge, the others per node."""
        features = self.x
        return dict(self._attributes) if features is None else {"x": features, **self._attributes}

    def __getattr__(self, name: str) -> Array:
        # Reached for names that are no property. Private ones must fail at once: copy and pickle ask before __init__.
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._attributes:
            return self._attributes[name]
        if name in self._left_out:
            raise AttributeError(f"the graph was read without {name!r}: {self._left_out[name]}")
        stored = ", ".join(["edge_index", *(["x"] if self._x is not None else []), *self._attributes])
        raise AttributeError(f"the graph has no attribute {name!r}; it has {stored}")

    @property
    def node_counts(self) -> Mapping[str, int]:
        """The number of nodes by set; a homogeneous graph has one, called "nodes"."""
        return {"nodes": self._num_nodes}

    def entries(self) -> list[Entry]:
        """All arrays, with what their rows are."""
        arrays = {"edge_index": self.edge_index, **self.attributes}
        return [entry_of(name, array) for name, array in arrays.items()]

    def __repr__(self) -> str:
        names = "".join(f", {name}" for name in self._attributes)
        features = "" if self._x is None else f", x{list(self._x.shape)}"
        return f"Graph(num_nodes={self.num_nodes}, num_edges={self.num_edges}{features}{names})"

    @classmethod
    def load(
        cls,
        path: str | PathLike[str],
        node_table: str | PathLike[str] | None = None,
        scratch: str | PathLike[str] | None = None,
    ) -> Graph:
        """Read a graph from a file or folder, in the format that its name says; nothing is ever unpickled.

        - `.npz`: `edge_index`, `x` or `x_data`, `x_indices`, `x_indptr` and `x_shape` of a CSR matrix, `num_nodes`,
          `node_ids` and attributes such as `y` and `train_mask`; an adjacency matrix by scipy.sparse.save_npz;
          `adj_data`, ..., `attr_data`, ..., `labels`, also with dots (`adj_matrix.data`); or `edges`, `node_features`,
          `node_labels`, which stores an undirected edge once and is read with both directions.
        - `.csv`, `.tsv`, `.txt`: an edge in each row. Further columns of numbers are attributes of the edges.
        - `.mtx`: an adjacency matrix in Matrix Market form.
        - A folder with `edge_index.npy` and other `NAME.npy`, which are mapped into memory and not read; with
          `edges.csv` and `nodes.csv`; or with `adj.npz` and `features.npz` by save_npz, and `labels.npy`.
        - A folder of the Open Graph Benchmark, with `edge.csv.gz` and `num-node-list.csv.gz` in it or in `raw`; of
          ogbn-products and ogbn-proteins, known by the folder's name, edges get the other direction, as OGB does it.

        Entry (i, j) of an adjacency matrix is an edge from i to j. The text formats may also be packed, `.csv.gz`.

        `node_table` is a text file with a header and a row per node: its id, a `label`, a `split`, and numbers for `x`.
        Ids in an edge list are mapped to its rows, and `node_ids` has them.

        With a folder `scratch`, edge lists of numbers and OGB's tables are read in pieces into arrays in that folder,
        which are mapped: they are never in memory as a whole. Later calls find them there.

        An array with neither a row per node nor, if named `edge_*`, a row per edge is left out, and asking for it says
        so.

        Raises GraphError, with the file's name and the place in it, if it cannot be read or holds a malformed graph.
        """
        entries = graph_files.read(
            Path(path), None if node_table is None else Path(node_table), None if scratch is None else Path(scratch)
        )
        try:
            return cls._from_container(entries)
        except GraphError as error:
            raise GraphError(f"{path}: {error}") from None

    @classmethod
    def of(cls, obj: Graph | PygData | SparseMatrix | NetworkxGraph | torch.Tensor | tuple[Any, Any]) -> Graph:
        """Take a graph as Python code has it, or a tuple `(x, graph)` of its features and any of these:

        a Graph; a PyG `Data`, with `edge_index` or a sparse `adj_t`; an adjacency matrix as a scipy sparse matrix or a
        sparse torch tensor, with an edge from i to j for each entry (i, j) and `edge_weight` from the values unless all
        are 1; a networkx graph, of which only the structure is taken, an undirected edge in both directions. In a tuple
        also `edge_index` itself.

        Of a `Data`, the tensors that have neither a row per node nor, if named `edge_*`, a row per edge (the label of
        a whole graph, `ptr`) are left out, and asking for one says so.

        Raises GraphError if `obj` is anything else, or holds a malformed graph.
        """
        if isinstance(obj, Graph):
            return obj
        if isinstance(obj, tuple):
            return cls._of_tuple(obj)
        entries = entries_of(obj)
        if entries is None:
            raise GraphError(f"The graph is {kind_of(obj)}; {_ACCEPTED}.")
        return cls._from_container(entries)

    @classmethod
    def _of_tuple(cls, pair: tuple[Any, ...]) -> Graph:
        if len(pair) != 2:
            raise GraphError(f"The graph is a tuple of {len(pair)}; {_ACCEPTED}.")
        x, structure = pair
        if isinstance(structure, Graph):
            graph = structure
            names = {"node_ids": graph.node_ids, "label_names": graph.label_names}
            # read past `attributes`, which would make the features that are replaced dense
            entries = {**graph._attributes, **names, "edge_index": graph.edge_index, "num_nodes": graph.num_nodes}
        else:
            entries = entries_of(structure) or {"edge_index": structure}
        return cls._from_container({**entries, "x": x})

    @classmethod
    def _from_container(cls, entries: Mapping[str, Any]) -> Graph:
        """Build a graph from named entries, leaving out those that are attributes of neither nodes nor edges."""
        entries = dict(entries)
        reasons = {name: value.reason for name, value in entries.items() if isinstance(value, LeftOut)}
        for name in reasons:
            del entries[name]
        graph = cls(
            edge_index=entries.pop("edge_index", None),
            **{name: entries.pop(name, None) for name in ("x", "num_nodes", "node_ids", "label_names")},
        )
        graph._left_out.update(reasons)
        for name, array in entries.items():
            fault = graph._fault(name, array)
            if fault:
                graph._left_out[name] = fault
                continue
            graph._attributes[name] = array
        return graph

    def _fault(self, name: str, array: object) -> str | None:
        """Say what keeps `array` from being an attribute of the nodes or edges under this name, or None."""
        if hasattr(type(self), name) or name.startswith("_"):
            return f"An attribute cannot be called {name!r}, which means something else on a graph; rename it."
        if not is_array(array):
            return f"{name} is {kind_of(array)}; pass a numpy array of numbers or a torch tensor."
        if is_pairs(name, array):
            ids = as_numpy(array)
            wrong = (ids < 0) | (ids >= self.num_nodes)
            place = first_fault(wrong, ids) if wrong.any() else None
            return None if place is None else f"{name} {place}, but the graph has {self.num_nodes} nodes."
        domain, rows = ("edge", self.num_edges) if name.startswith("edge_") else ("node", self.num_nodes)
        if not array.shape or array.shape[0] != rows:
            return f"{name} has shape {tuple(array.shape)}; pass one row per {domain}, {rows} in all."
        return None


_ACCEPTED = (
    "pass a gnnc.Graph, a torch_geometric.data.Data, a sparse matrix of scipy or torch, a networkx graph, or a tuple "
    "(x, edge_index) or (x, graph)"
)


def entry_of(name: str, array: Array) -> Entry:
    """An array of a homogeneous graph, with what its rows are."""
    if name == "edge_index" or is_pairs(name, array):
        set_name = "edges" if name == "edge_index" else name.removesuffix("_index")
        return Entry(name, "edges", set_name, None, array, ("nodes", "nodes"))
    kind = "edges" if name.startswith("edge_") else "nodes"
    return Entry(name, kind, kind, None, array)


def is_pairs(name: str, array: Array) -> bool:
    """Whether an attribute lists pairs of nodes, as edge_label_index does: (2, P) integers, of any number."""
    return name.endswith("_index") and len(array.shape) == 2 and array.shape[0] == 2 and "int" in str(array.dtype)
