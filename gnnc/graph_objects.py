"""Graphs of other libraries, told by what they can do: none of these libraries is imported here."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from gnnc.errors import GraphError
from gnnc.graph_files.contents import Entries, LeftOut
from gnnc.graph_files.sparse import adjacency_entries

if TYPE_CHECKING:
    import torch


class PygData(Protocol):
    """What gnnc uses of a torch_geometric.data.Data."""

    @property
    def x(self) -> Any: ...

    @property
    def edge_index(self) -> Any: ...

    def to_dict(self) -> dict[str, Any]: ...


class SparseMatrix(Protocol):
    """What gnnc uses of a scipy sparse matrix or array."""

    @property
    def format(self) -> str: ...

    def tocoo(self) -> Any: ...


class NetworkxGraph(Protocol):
    """What gnnc uses of a networkx.Graph, DiGraph or one of their multigraphs."""

    @property
    def edges(self) -> Any: ...

    def is_directed(self) -> bool: ...

    def __iter__(self) -> Iterator[Any]: ...


def entries_of(obj: Any) -> Entries | None:
    """Return what a graph of another library holds, or None if it is none.

    Takes a PyG `Data`; an adjacency matrix as a scipy sparse matrix or a sparse torch tensor, whose entry (i, j) is an
    edge from i to j; and a networkx graph, of which only the structure is taken, in the order of its nodes.

    Raises GraphError.
    """
    if all(hasattr(obj, name) for name in ("edge_index", "x", "to_dict")):
        return _of_pyg(obj)
    if is_sparse_tensor(obj):
        return _of_tensor(obj, "The adjacency tensor")
    if hasattr(obj, "tocoo") and hasattr(obj, "format"):
        matrix = obj.tocoo()
        return adjacency_entries(matrix.row, matrix.col, matrix.data, matrix.shape, "The adjacency matrix")
    if hasattr(obj, "is_directed") and hasattr(obj, "edges") and hasattr(obj, "nodes"):
        return _of_networkx(obj)
    return None


def is_sparse_tensor(value: object) -> bool:
    """Whether `value` is a sparse torch tensor."""
    return hasattr(value, "detach") and str(getattr(value, "layout", "")).startswith("torch.sparse")


def _of_pyg(data: PygData) -> Entries:
    entries: Entries = data.to_dict()
    adjacency = entries.pop("adj_t", None)
    entries = {name: value for name, value in entries.items() if hasattr(value, "shape")}
    # not in to_dict() unless it was set, but PyG knows it from other attributes too
    entries["num_nodes"] = getattr(data, "num_nodes", None)
    if adjacency is None:
        return entries
    if "edge_index" in entries:
        return {**entries, "adj_t": LeftOut("the edges were taken from edge_index")}
    if not is_sparse_tensor(adjacency):
        raise GraphError(f"adj_t is of type {type(adjacency).__name__}; pass edge_index or a sparse torch tensor.")
    edges = _of_tensor(adjacency, "adj_t")
    # a row of adj_t is a target
    edges["edge_index"] = edges["edge_index"].flip(0)
    return {**entries, **edges}


def _of_tensor(matrix: torch.Tensor, what: str) -> Entries:
    if matrix.dim() != 2 or matrix.shape[0] != matrix.shape[1]:
        raise GraphError(f"{what} has shape {tuple(matrix.shape)}; pass a square one, a row and a column per node.")
    coo = matrix.detach().to_sparse_coo().coalesce()
    values = coo.values()
    weights = LeftOut(f"every value of {what} is 1") if bool((values == 1).all()) else values
    return {"edge_index": coo.indices(), "num_nodes": coo.shape[0], "edge_weight": weights}


def _of_networkx(graph: NetworkxGraph) -> Entries:
    """Take the edges, in both directions if the graph is undirected, and the names of nodes that are not numbered."""
    nodes = list(graph)
    numbers = {node: number for number, node in enumerate(nodes)}
    # of a multigraph an edge has a third part, its key
    ends = (numbers[end] for edge in graph.edges for end in edge[:2])
    edge_index = np.fromiter(ends, np.int64, 2 * len(graph.edges)).reshape(-1, 2).T
    if not graph.is_directed():
        # a loop is its own reverse
        back = edge_index[::-1, edge_index[0] != edge_index[1]]
        edge_index = np.concatenate([edge_index, back], axis=1)
    entries: Entries = {"edge_index": np.ascontiguousarray(edge_index), "num_nodes": len(nodes)}
    if nodes != list(range(len(nodes))):
        entries["node_ids"] = nodes
    return entries
