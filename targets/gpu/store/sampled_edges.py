"""The edges of a sample of neighbours, drawn from edges that lie in order on disk."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from gnnc.dialects.gnn import End
from gnnc.targets.gpu.store.csc_file import CscFile
from gnnc.targets.gpu.store.edge_stream import EdgeStream, Ids, Piece
from gnnc.targets.neighbor_sampling import Sample, kept_by_origin

BYTES_OF_DRAWING = 2
"""Drawing takes so many times the memory that going through pieces does: pieces are that much smaller."""


@dataclass(frozen=True)
class Sampled(EdgeStream):
    """What a sample keeps of the edges of `base`, node by node: `file` has them in order of the nodes at `end`, with
    their origins."""

    base: EdgeStream
    file: CscFile
    end: End
    sample: Sample
    source_count: int
    target_count: int

    def pieces(self, size: int) -> Iterator[Piece]:
        """Of as many nodes at a time as have about `size` edges; the edges of a hub in parts."""
        offsets, size = self.file.offsets.numpy(), max(1, size // BYTES_OF_DRAWING)
        first, nodes = 0, len(offsets) - 1
        while first < nodes:
            stop = int(np.searchsorted(offsets, offsets[first] + size, side="right")) - 1
            stop = min(nodes, max(first + 1, stop))
            counts = torch.from_numpy(np.diff(offsets[first : stop + 1]))
            begin, end = int(offsets[first]), int(offsets[stop])
            if stop == first + 1:
                others, origins = self.of_hub(first, begin, end, size)
                ids = np.full(len(others), first, np.int32)
            else:
                kept, others, origins = self.drawn(first, counts, *self.edges(begin, end))
                ids = np.repeat(np.arange(first, stop, dtype=np.int32), counts.numpy())[kept]
            yield (others, ids, origins) if self.end is End.TARGET else (ids, others, origins)
            first = stop

    def of_hub(self, node: int, begin: int, end: int, size: int) -> tuple[Ids, NDArray[np.int64]]:
        """What a node keeps: of each part of its edges and of what it kept of those before."""
        others, origins = self.edges(begin, begin)
        for start in range(begin, end, size):
            more = self.edges(start, min(end, start + size))
            others, origins = np.concatenate([others, more[0]]), np.concatenate([origins, more[1]])
            _, others, origins = self.drawn(node, torch.tensor([len(others)]), others, origins)
        return others, origins

    def edges(self, begin: int, end: int) -> tuple[Ids, NDArray[np.int64]]:
        """The nodes at the other end, and origins."""
        assert self.file.origins is not None
        return self.file.neighbors[begin:end].numpy(), self.file.origins[begin:end].numpy()

    def drawn(
        self, first: int, counts: torch.Tensor, others: Ids, origins: NDArray[np.int64]
    ) -> tuple[NDArray[np.bool_], Ids, NDArray[np.int64]]:
        """Which edges of some nodes are kept, and those."""
        kept = kept_by_origin(self.sample, self.base.relations, first, counts, torch.from_numpy(origins)).numpy()
        return kept, others[kept], origins[kept]

    @property
    def relations(self) -> Sequence[tuple[str, int]]:
        return self.base.relations

    @property
    def term(self) -> str:
        return f"{self.sample}({self.base.term}, {self.end.value})"
