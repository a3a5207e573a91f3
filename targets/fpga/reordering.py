"""Orders of the nodes that gather a graph's edges in few tiles. The model computes the same in any order."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np

from gnnc.targets.orders.structure_orders import rcmk_of_matrix

# "features" leaves the nodes and renumbers the columns of sparse features: see feature_order.py
Reordering: TypeAlias = Literal["none", "degree", "bfs", "rcm", "community", "features"]
REORDERINGS: tuple[Reordering, ...] = ("none", "degree", "bfs", "rcm", "community", "features")


def permuted(method: Reordering, sources: Any, targets: Any, nodes: int) -> Any | None:
    """The nodes in their new order (int64, shape [nodes]); None to leave them as they are, as without edges."""
    if method in ("none", "features") or not len(sources):
        return None
    graph = symmetric(sources, targets, nodes)
    if method == "degree":
        return np.argsort(-np.diff(graph.indptr), kind="stable")
    if method == "rcm":
        return rcmk_of_matrix(graph, symmetric=True)
    return breadth_first(graph) if method == "bfs" else by_community(graph)


def symmetric(sources: Any, targets: Any, nodes: int) -> Any:
    """The undirected graph as CSR, without numbers of its own."""
    from scipy.sparse import coo_array

    rows, columns = np.concatenate([sources, targets]), np.concatenate([targets, sources])
    ones = np.ones(len(rows), np.int8)
    graph = coo_array((ones, (rows, columns)), shape=(nodes, nodes)).tocsr()
    graph.data[:] = 1
    return graph


def breadth_first(graph: Any) -> Any:
    """Component after component, each from its node of highest degree."""
    from scipy.sparse.csgraph import breadth_first_order, connected_components

    _, component = connected_components(graph, directed=False)
    degree = np.diff(graph.indptr)
    by_degree = np.lexsort((-degree, component))
    roots = by_degree[np.flatnonzero(np.diff(component[by_degree], prepend=-1))]
    parts = [
        breadth_first_order(graph, root, directed=False, return_predecessors=False) for root in roots if degree[root]
    ]
    alone = roots[degree[roots] == 0]
    return np.concatenate([*parts, alone]).astype(np.int64)


def by_community(graph: Any, rounds: int = 8) -> Any:
    """Nodes of one label together; in a few rounds each node takes its neighbours' most common label."""
    nodes = graph.shape[0]
    labels = np.arange(nodes)
    rows = np.repeat(np.arange(nodes), np.diff(graph.indptr))
    for _ in range(rounds):
        keys, counts = np.unique(rows * np.int64(nodes) + labels[graph.indices], return_counts=True)
        owner, label = keys // nodes, keys % nodes
        best = np.lexsort((label, counts, owner))
        last = np.flatnonzero(np.append(np.diff(owner[best]), 1))
        changed = labels.copy()
        changed[owner[best][last]] = label[best][last]
        if np.array_equal(changed, labels):
            break
        labels = changed
    size = np.bincount(labels, minlength=nodes)
    return np.lexsort((-np.diff(graph.indptr), labels, -size[labels]))


def restored(values: Any, order: Any | None) -> Any:
    """Rows in the graph's own order again."""
    if order is None:
        return values
    result = np.empty_like(values)
    result[order] = values
    return result
