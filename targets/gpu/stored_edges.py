"""An edge set whose order lies on disk: what batches and kernels ask of one in memory."""

from __future__ import annotations

import torch

from gnnc.dialects.gnn import End
from gnnc.targets.edge_sets import EdgeSet, Incidence
from gnnc.targets.gpu.csr import Csr
from gnnc.targets.gpu.store.csc_file import CscFile


class StoredEdgeSet(EdgeSet):
    """Edges in the order of the nodes at one end, by which alone they are reduced. They are numbered in that order, so
    that nothing has to be kept for an edge but the node at its other end (int32)."""

    def __init__(self, file: CscFile, end: End, source_count: int, target_count: int):
        self.file = file
        self.others_on_disk = file.neighbors[: file.edges]
        super().__init__(self.others_on_disk, self.others_on_disk, source_count, target_count)
        self.end = end
        self.csrs[end, "cpu"] = Csr(file.offsets, file.neighbors)
        self._incidences[end] = Incidence(file.offsets, None)

    def index(self, end: End) -> torch.Tensor:
        assert end is not self.end, "the edges lie in the order of this end"
        return self.others_on_disk

    def others(self, end: End) -> torch.Tensor:
        assert end is self.end
        return self.others_on_disk
