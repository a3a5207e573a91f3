"""Edges in the order of one of their ends."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp
import torch


def ordered_by(nodes: torch.Tensor, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    """Offsets [count + 1] and edges [E], int64: those at node v are `edges[offsets[v]:offsets[v + 1]]`, ascending.
    `nodes` has the node of each edge.

    Nodes are small numbers, so counting does it, which scipy does when it turns rows into columns: of a matrix with a
    row an edge. A stable sort takes up to ten times as long. Raises IndexError for a node that there is not.
    """
    edges = nodes.shape[0]
    if edges and not 0 <= int(nodes.min()) <= int(nodes.max()) < count:
        raise IndexError(f"an edge is at node {int(nodes.max())} or {int(nodes.min())}, of {count}")
    small = np.int32 if max(edges, count) < 2**31 else np.int64
    rows = np.arange(edges + 1, dtype=small)
    matrix = sp.csr_array((np.empty(edges, np.int8), nodes.numpy().astype(small, copy=False), rows), (edges, count))
    columns = matrix.tocsc()
    return torch.from_numpy(columns.indptr).long(), torch.from_numpy(columns.indices).long()
