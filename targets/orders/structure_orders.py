"""Orders that follow from degrees or distances, and one that follows from nothing."""

from __future__ import annotations

from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from gnnc.targets.orders.neighborhoods import Neighborhoods

OrderName: TypeAlias = Literal["stream", "rcmk", "degree", "random"]


def degree_order(graph: Neighborhoods) -> NDArray[np.int64]:
    """From the largest in-degree to the smallest."""
    return np.argsort(-np.diff(graph.offsets), kind="stable")


def rcmk_order(graph: Neighborhoods) -> NDArray[np.int64]:
    """Reverse Cuthill-McKee, which DGI uses; takes memory for all edges."""
    from scipy.sparse import csr_array

    neighbors = np.asarray(graph.neighbors[: graph.edges])
    numbers = np.broadcast_to(np.ones(1, np.int8), neighbors.shape)
    matrix = csr_array((numbers, neighbors, graph.offsets), shape=(graph.nodes, graph.nodes))
    return rcmk_of_matrix(matrix, symmetric=False)


def rcmk_of_matrix(matrix: Any, *, symmetric: bool) -> NDArray[np.int64]:
    """Reverse Cuthill-McKee of an adjacency matrix as CSR."""
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    return np.array(reverse_cuthill_mckee(matrix, symmetric_mode=symmetric), np.int64, order="C")


def random_order(graph: Neighborhoods) -> NDArray[np.int64]:
    """The same one for the same number of nodes."""
    return np.random.default_rng(0).permutation(graph.nodes)
