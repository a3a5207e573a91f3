"""The edges that meet some nodes as a kernel reads them: compressed sparse rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch

from gnnc.dialects.gnn import End
from gnnc.passes.loops.arguments import PADDING
from gnnc.targets.edge_sets import EdgeSet
from gnnc.targets.gpu.kernels.memrefs import list_descriptor

CHUNKS = 64
"""Row ranges that threads share. Results don't depend on it: a row is computed by one thread, unless it is a hub."""

HUB_EDGES = 2**16
"""A row with so many edges is added up in pieces, by as many threads as there are: always, so that its result doesn't
depend on their number."""

EDGES_PER_ROW = 8
"""What a row costs besides its edges, in edges."""

PIECE_EDGES = 2**13


@dataclass(frozen=True)
class Csr:
    """Row r has edges `offsets[r]` to `offsets[r + 1]` (int64 [rows + 1]); the neighbor of edge e is `neighbors[e]`
    (int32, with PADDING zeros at the end)."""

    offsets: torch.Tensor
    neighbors: torch.Tensor

    @property
    def rows(self) -> int:
        return self.offsets.shape[0] - 1

    @cached_property
    def descriptors(self) -> Sequence[tuple[Any, torch.Tensor]]:
        """Both arrays as kernels take them."""
        return list_descriptor(self.offsets), list_descriptor(self.neighbors)

    @cached_property
    def ranges(self) -> Sequence[tuple[int, int]]:
        """Row ranges of about equal work, in order."""
        offsets = self.offsets.numpy()
        work = offsets + np.arange(len(offsets)) * EDGES_PER_ROW
        goals = np.linspace(work[0], work[-1], min(CHUNKS, max(1, int(work[-1] - work[0]) // 4096)) + 1)
        bounds = np.searchsorted(work, goals)
        bounds[0], bounds[-1] = 0, self.rows
        return [(int(a), int(b)) for a, b in zip(bounds, bounds[1:], strict=False) if a < b]

    @cached_property
    def hubs(self) -> Sequence[int]:
        """Rows that are added up in pieces, ascending."""
        if self.rows == 0 or int(self.offsets[-1] - self.offsets[0]) < HUB_EDGES:
            return ()
        return (self.offsets.diff() >= HUB_EDGES).nonzero().flatten().tolist()

    def pieces_of(self, row: int) -> Csr:
        """The edges of a hub in pieces, each a row."""
        first, last = self.offsets[row : row + 2].tolist()
        return Csr(torch.tensor([*range(first, last, PIECE_EDGES), last]), self.neighbors)


def padded(neighbors: torch.Tensor) -> torch.Tensor:
    """Neighbors as int32, with zeros after them that may be prefetched."""
    result = torch.zeros(neighbors.shape[0] + PADDING, dtype=torch.int32)
    result[: neighbors.shape[0]] = neighbors
    return result


def whole_csr(edges: EdgeSet, end: End) -> Csr:
    """The rows of all nodes at one end, with the nodes at the other end for neighbors; computed once a set."""
    known, key = edges.csrs, (end, "cpu")
    if key not in known:
        known[key] = Csr(edges.incidence(end).offsets, padded(edges.others(end)))
    return known[key]
