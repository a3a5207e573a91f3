"""An order that puts nodes together whose neighbors are the same: communities by label propagation, read as a stream.

Each node takes the label that most of its neighbors have (Raghavan, Albert and Kumara, *Near linear time algorithm to
detect community structures in large-scale networks*, 2007), less willingly the fuller that community is, as in linear
deterministic greedy partitioning (Stanton and Kliot, *Streaming graph partitioning for large distributed graphs*,
2012). The edges are read from front to back once a round; what stays in memory are two numbers a node. Communities
that are joined by many edges are put side by side by reverse Cuthill-McKee on a sample of the edges between them.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from gnnc.targets.orders.neighborhoods import Neighborhoods

COMMUNITY = 2048
"""The most nodes of a community."""

ROUNDS = 6
ENOUGH = 0.02
"""Once fewer than this share of the nodes move, the rounds end."""

PIECE = 2**14
"""Edges that are looked at together: they are sorted, which is fastest in the cache."""

SAMPLED_EDGES = 2**22
"""Edges between communities that their order is found by."""


def shared_inputs_order(graph: Neighborhoods) -> NDArray[np.int64]:
    """The nodes in order, int64 [nodes]."""
    labels = communities(graph)
    return np.argsort(places_of_communities(graph, labels)[labels], kind="stable")


def communities(graph: Neighborhoods) -> NDArray[np.int32]:
    """The label of each node's community, int32 [nodes]."""
    labels = np.arange(graph.nodes, dtype=np.int32)
    sizes = np.ones(graph.nodes, np.int32)
    for _ in range(ROUNDS):
        moved = sum(move(graph, first, last, labels, sizes) for first, last in graph.pieces(PIECE))
        if moved < ENOUGH * graph.nodes:
            break
    return labels


def move(graph: Neighborhoods, first: int, last: int, labels: NDArray[np.int32], sizes: NDArray[np.int32]) -> int:
    """Gives the nodes of a range their neighbors' most frequent label; says how many change theirs."""
    offsets = graph.offsets[first : last + 1]
    if offsets[0] == offsets[-1]:
        return 0
    keys = np.repeat(np.arange(last - first, dtype=np.int64) << 32, np.diff(offsets))
    keys |= labels[graph.neighbors[offsets[0] : offsets[-1]]]
    keys.sort()
    begins = run_begins(keys)
    counts = np.diff(begins, append=len(keys))
    nodes, candidates = keys[begins] >> 32, keys[begins] & (2**32 - 1)
    own = labels[first:last]
    others = sizes[candidates] - (own[nodes] == candidates)
    scores = counts * np.maximum(0.0, 1 - others / COMMUNITY)
    of_node = run_begins(nodes)
    best = np.maximum.reduceat(scores, of_node)
    winning = (scores == np.repeat(best, np.diff(of_node, append=len(nodes)))) & (scores > 0)
    chosen = own.copy()
    chosen[nodes[winning]] = candidates[winning]
    changed = np.flatnonzero(chosen != own)
    np.subtract.at(sizes, own[changed], 1)
    np.add.at(sizes, chosen[changed], 1)
    labels[first:last] = chosen
    return len(changed)


def run_begins(keys: NDArray[np.int64]) -> NDArray[np.int64]:
    """Where equal numbers that follow each other begin."""
    begins = np.empty(len(keys), np.bool_)
    begins[:1] = True
    np.not_equal(keys[1:], keys[:-1], out=begins[1:])
    return np.flatnonzero(begins)


def places_of_communities(graph: Neighborhoods, labels: NDArray[np.int32]) -> NDArray[np.int64]:
    """The place of each label among the communities, int64 [nodes]; 0 for labels that nobody has."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    present, numbers = np.unique(labels, return_inverse=True)
    sample = np.arange(0, graph.edges, max(1, -(-graph.edges // SAMPLED_EDGES)))
    targets = np.searchsorted(graph.offsets, sample, side="right") - 1
    ends = numbers[targets], numbers[graph.neighbors[sample]]
    between = coo_array((np.ones(len(sample), np.int8), ends), shape=(len(present), len(present))).tocsr()
    places = np.zeros(graph.nodes, np.int64)
    places[present[reverse_cuthill_mckee(between, symmetric_mode=False)]] = np.arange(len(present))
    return places
