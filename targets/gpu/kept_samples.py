"""Samples of the neighbours of all nodes, drawn once and kept beside the edges that they are of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import torch

from gnnc.dialects.gnn import End
from gnnc.targets.edge_sets import EdgeSet, Incidence
from gnnc.targets.gpu.batch import edges_of
from gnnc.targets.gpu.compiled_block import CompiledBlock
from gnnc.targets.gpu.kernels.threads import run_ranges
from gnnc.targets.gpu.workers import torch_threads
from gnnc.targets.neighbor_sampling import Sample, draw

PIECE = 2**20
"""Edges of which samples are drawn together."""


def keep_samples(functions: Iterable[CompiledBlock], operands: Sequence[Any], threads: int) -> None:
    """Draws the samples of a block for all nodes, if they have not been drawn before."""
    for place, end, sample in {sampled for function in functions for sampled in function.samples}:
        edges = operands[place]
        if (end, sample) not in edges.samples:
            edges.samples[end, sample] = sampled_incidence(edges, end, sample, threads)


def forget_samples(values: Iterable[Any]) -> None:
    """Leaves no samples with edge sets: a budget has no room for them."""
    for value in values:
        if isinstance(value, EdgeSet):
            value.samples.clear()


def sampled_incidence(edges: EdgeSet, end: End, sample: Sample, threads: int) -> Incidence:
    """The edges of a sample by the node at one end."""
    incidence = edges.incidence(end)
    edges.numbers()  # once, before threads ask for it
    starts = torch.arange(0, max(1, edges.edge_count), PIECE)
    bounds = [*torch.searchsorted(incidence.offsets, starts).unique().tolist(), edges.node_count(end)]
    counts = torch.empty(edges.node_count(end), dtype=torch.int64)
    drawn: dict[int, torch.Tensor] = {}

    def draw_some(first: int, stop: int) -> None:
        counts[first:stop], drawn[first] = draw(sample, edges, end, *edges_of(incidence, range(first, stop)))

    with torch_threads(1):
        run_ranges(draw_some, [(a, b) for a, b in zip(bounds, bounds[1:], strict=False) if a < b], threads)
    offsets = torch.zeros(counts.shape[0] + 1, dtype=torch.int64)
    torch.cumsum(counts, 0, out=offsets[1:])
    ids = [drawn[first] for first in sorted(drawn)]
    return Incidence(offsets, torch.cat(ids) if ids else torch.empty(0, dtype=torch.int64))
