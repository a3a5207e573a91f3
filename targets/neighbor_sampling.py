"""Samples of neighbours: which of a node's edges a Conv sees, as `#gnn.sample` in the IR says.

A node keeps the edges of the smallest hashes. With independent uniform hashes that is a draw without replacement, and
it needs no state: every batch, order and thread draws the same. Edges of a node have different hashes, for hashing can
be undone.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from gnnc.dialects.gnn import ConvOperation, End

if TYPE_CHECKING:
    from gnnc.targets.edge_sets import EdgeSet

# The finaliser of SplitMix64 (Steele, Lea and Flood, *Fast Splittable Pseudorandom Number Generators*, 2014).
GOLDEN = 0x9E3779B97F4A7C15
MULTIPLIERS = (0xBF58476D1CE4E5B9, 0x94D049BB133111EB)
SHIFTS = (30, 27, 31)


LOOKED_AT = 2**18
"""Hashes that are compared at a time: they stay in the cache."""

LARGEST = 2**63 - 1


@dataclass(frozen=True)
class Sample:
    """At most `fanout` edges a node and relation, for one layer."""

    fanout: int
    seed: int
    layer: int


def sample_of(op: ConvOperation) -> Sample | None:
    """The sample that a reduction sees, or None if it sees all edges."""
    if op.sample is None:
        return None
    assert op.layer_index is not None
    return Sample(op.sample.fanout.data, op.sample.seed.data, op.layer_index)


def signed(number: int) -> int:
    """The int64 of the same bits as the lowest 64 of a Python number."""
    number &= 2**64 - 1
    return number - 2**64 if number >= 2**63 else number


def mixed(numbers: torch.Tensor) -> torch.Tensor:
    """SplitMix64's finaliser of int64 numbers."""
    for shift, multiplier in zip(SHIFTS, (*MULTIPLIERS, 1), strict=True):
        # torch shifts the sign in; the mask takes it out again
        shifted = (numbers >> shift).bitwise_and_((1 << (64 - shift)) - 1)
        numbers = shifted.bitwise_xor_(numbers).mul_(signed(multiplier))
    return numbers


def edge_hashes(sample: Sample, relation: str, nodes: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
    """hash(seed, layer, relation, node, edge), int64, for edges that meet `nodes`; `edges` by place in the relation."""
    text = f"{sample.seed}/{sample.layer}/{relation}"
    key = int.from_bytes(hashlib.blake2b(text.encode(), digest_size=8).digest(), "little", signed=True)
    of_nodes = mixed(nodes * signed(GOLDEN) + key)
    return mixed(of_nodes + edges * signed(GOLDEN))


def draw(
    sample: Sample, edges: EdgeSet, end: End, counts: torch.Tensor, edge_ids: torch.Tensor
) -> tuple[torch.Tensor, torch.Tensor]:
    """What is left of some nodes' edges: `counts` a node and `edge_ids`, node by node in the set's order.

    Self-loops that were added are kept. Raises ValueError for edges of no known relation, which the pass refuses.
    """
    if sum(part.count for part in edges.parts) != edges.edge_count:
        raise ValueError("the edges are of no known relation")
    places = torch.repeat_interleave(torch.arange(counts.shape[0]), counts)
    kept = torch.ones(edge_ids.shape[0], dtype=torch.bool)
    start = 0
    for part in edges.parts:
        if part.relation is not None:
            inside = ((edge_ids >= start) & (edge_ids < start + part.count)).nonzero().squeeze(1)
            crowded = inside[in_crowds(places[inside], counts.shape[0], sample.fanout)]
            ids = edge_ids[crowded]
            hashes = edge_hashes(sample, part.relation, edges.index(end)[ids], edges.numbers()[ids])
            kept[crowded] = smallest(hashes, places[crowded], counts.shape[0], sample.fanout)
        start += part.count
    return torch.bincount(places[kept], minlength=counts.shape[0]), edge_ids[kept]


def kept_by_origin(
    sample: Sample, relations: Sequence[tuple[str, int]], first: int, counts: torch.Tensor, origins: torch.Tensor
) -> torch.Tensor:
    """The same draw as a mask over the edges of `counts.shape[0]` nodes from `first` on, node by node. `origins` are
    places among the edges of all `relations`, one relation after the other, negative for loops that were added."""
    places = torch.repeat_interleave(torch.arange(counts.shape[0]), counts)
    kept = torch.ones(origins.shape[0], dtype=torch.bool)
    start = 0
    for relation, count in relations:
        inside = ((origins >= start) & (origins < start + count)).nonzero().squeeze(1)
        crowded = inside[in_crowds(places[inside], counts.shape[0], sample.fanout)]
        hashes = edge_hashes(sample, relation, first + places[crowded], origins[crowded] - start)
        kept[crowded] = smallest(hashes, places[crowded], counts.shape[0], sample.fanout)
        start += count
    return kept


def in_crowds(places: torch.Tensor, count: int, fanout: int) -> torch.Tensor:
    """For each entry whether its place, of `count`, has more than `fanout` of them: others need no draw."""
    return (torch.bincount(places, minlength=count) > fanout)[places]


def smallest(hashes: torch.Tensor, places: torch.Tensor, count: int, fanout: int) -> torch.Tensor:
    """For each entry whether it is among the `fanout` smallest of its place. Entries come place by place, more than
    `fanout` of each place that has any, with a hash of its own each."""
    if not hashes.shape[0]:
        return torch.empty(0, dtype=torch.bool)
    sizes = torch.bincount(places, minlength=count)
    starts = sizes.cumsum(0) - sizes
    limits = torch.empty(count, dtype=torch.int64)
    for bits in range(fanout.bit_length(), int(sizes.max()).bit_length() + 1):
        width = 1 << bits
        alike = ((sizes > max(fanout, width // 2)) & (sizes <= width)).nonzero().squeeze(1)
        for some in alike.split(max(1, LOOKED_AT // width)):
            limits[some] = nth_smallest(hashes, starts[some, None], sizes[some, None], width, fanout)
    return hashes <= limits[places]


def nth_smallest(
    hashes: torch.Tensor, starts: torch.Tensor, sizes: torch.Tensor, width: int, fanout: int
) -> torch.Tensor:
    """The largest hash that is kept of each of some places, which have `width` entries at most."""
    column = torch.arange(width)
    rows = hashes[(starts + column).clamp_(max=hashes.shape[0] - 1)]
    return rows.masked_fill_(column >= sizes, LARGEST).kthvalue(fanout, dim=1).values
