"""A function that runs a ConvBlock on batches, and what has to be known to call it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, TypeAlias

import torch

from gnnc.dialects.gnn import End
from gnnc.targets.gpu.batch import Batch, EdgeSlice
from gnnc.targets.gpu.block_rows import TARGETS, NeighborDemand
from gnnc.targets.gpu.memory_model import BatchMemory
from gnnc.targets.neighbor_sampling import Sample

if TYPE_CHECKING:
    from gnnc.targets.gpu.kernels.kernel import AnyKernel as CpuKernel
    from gnnc.targets.gpu.triton_kernels.kernel import TritonKernel

    AnyKernel: TypeAlias = CpuKernel | TritonKernel

BlockFunction: TypeAlias = Callable[..., tuple[tuple[Batch | EdgeSlice | None, torch.Tensor | None], ...]]

CACHE_BYTES = 2 * 2**20
"""On a CPU, what a batch hands from one operation to the next should stay in the cache, and a call of each operation
should be worth it."""

LEAST_ROWS, MOST_ROWS = 1024, 4096


@dataclass(frozen=True)
class CompiledBlock:
    """The function of a block that runs on batches of one node set: takes a Batch, an Arena for memory, how many
    threads kernels may use, places for the outputs and the block's operands, and gives for each of `outputs` its rows
    and what they belong to (the Batch, an EdgeSlice, or None for a part of what all rows are reduced to; that is None
    too for a batch without such rows).
    """

    node_set: str
    outputs: tuple[int, ...]
    needs_all: bool
    """Whether no node may be left out, whichever rows are asked for: there are results on edges or of all rows."""
    is_local: bool
    """Whether batches cost the same in any size: nothing is computed for neighbors, and no rows are reduced."""
    keeps_rows: bool
    """Whether there are rows between its operations, which should stay in the cache; kernels alone run on all rows."""
    reduced: tuple[tuple[int, End], ...]
    """Over which edges its fused Convs reduce, by their place among the block's operands, and at which end."""
    samples: tuple[tuple[int, End, Sample], ...]
    """Which samples of edges it looks at, by the edges' place among the block's operands, and at which end."""
    neighbor_demands: tuple[NeighborDemand, ...]
    memory: BatchMemory
    run: BlockFunction
    source: str

    @cached_property
    def cache_rows(self) -> int:
        """Rows of a batch between whose operations CACHE_BYTES lie."""
        scratch = max((point.get(TARGETS, 0) for point in self.memory.of_ranges), default=0)
        return min(MOST_ROWS, max(LEAST_ROWS, CACHE_BYTES // max(1, scratch)))

    @property
    def in_cache(self) -> bool:
        """Whether batches should be small: threads then work on one each."""
        return self.is_local and self.keeps_rows
