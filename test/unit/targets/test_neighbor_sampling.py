"""Which edges a sample has, by another way of computing it, and as the properties of a sample."""

from __future__ import annotations

import hashlib
from collections import Counter

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gnnc.dialects.gnn import End
from gnnc.targets.edge_origins import Part
from gnnc.targets.edge_sets import EdgeSet
from gnnc.targets.gpu import kept_samples
from gnnc.targets.gpu.batch import sampled_edges_of
from gnnc.targets.neighbor_sampling import Sample, edge_hashes

MASK = 2**64 - 1


def hash_in_plain_python(sample: Sample, relation: str, node: int, edge: int) -> int:
    """The same hash as signed Python numbers, after SplitMix64's published form."""

    def mix(z: int) -> int:
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & MASK
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & MASK
        return z ^ (z >> 31)

    text = f"{sample.seed}/{sample.layer}/{relation}".encode()
    key = int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")
    step = 0x9E3779B97F4A7C15
    result = mix((mix((node * step + key) & MASK) + edge * step) & MASK)
    return result - 2**64 if result >= 2**63 else result


@given(st.integers(-(2**31), 2**31), st.integers(1, 50), st.integers(0, 2**40), st.integers(0, 2**40))
def test_the_hash_is_that_of_splitmix64(seed: int, layer: int, node: int, edge: int) -> None:
    sample = Sample(3, seed, layer)
    hashed = edge_hashes(sample, "cites", torch.tensor([node]), torch.tensor([edge]))
    assert int(hashed) == hash_in_plain_python(sample, "cites", node, edge)


def test_the_hash_is_the_same_in_every_release() -> None:
    hashed = edge_hashes(Sample(10, 0, 1), "edges", torch.tensor([0, 7]), torch.tensor([0, 7]))
    assert hashed.tolist() == [-911116910857400464, -7048845121678761254]


@st.composite
def edge_sets(draw: st.DrawFn) -> EdgeSet:
    """Some edges of one relation, or of two, perhaps without loops, masked, or with loops added."""
    nodes = draw(st.integers(1, 5))
    edges = relation(draw, nodes, "e")
    steps = st.sampled_from(["without_loops", "with_loops", "where", "union", "reverse"])
    for step in draw(st.lists(steps, max_size=3)):
        if step == "where":
            flags = draw(st.lists(st.booleans(), min_size=edges.edge_count, max_size=edges.edge_count))
            edges = edges.where(torch.tensor(flags, dtype=torch.bool))
        elif step == "union":
            edges = edges.union(relation(draw, nodes, "f"))
        else:
            edges = getattr(edges, step)()
    return edges


def relation(draw: st.DrawFn, nodes: int, name: str) -> EdgeSet:
    node = st.integers(0, nodes - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=14))
    sources, targets = torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T
    return EdgeSet(sources, targets, nodes, nodes, (Part(name, len(pairs)),))


def drawn(edges: EdgeSet, end: End, sample: Sample, nodes: range | torch.Tensor | None = None) -> dict[int, list[int]]:
    """The edges in the sample by the node at one end."""
    chosen = range(edges.node_count(end)) if nodes is None else nodes
    counts, ids = sampled_edges_of(edges, end, chosen, sample)
    split = ids.split(counts.tolist())
    return {int(node): own.tolist() for node, own in zip(chosen, split, strict=True)}


SAMPLES = st.builds(Sample, st.integers(1, 4), st.integers(0, 3), st.integers(1, 3))
ENDS = st.sampled_from(list(End))


@given(edge_sets(), ENDS, SAMPLES)
def test_a_node_keeps_the_edges_of_the_smallest_hashes(edges: EdgeSet, end: End, sample: Sample) -> None:
    names = [part.relation for part in edges.parts for _ in range(part.count)]
    numbers = edges.numbers().tolist() if edges.parts else []
    nodes = edges.index(end).tolist()
    expected: dict[int, list[int]] = {}
    for node in range(edges.node_count(end)):
        own = [e for e in range(edges.edge_count) if nodes[e] == node]
        kept = {e for e in own if names[e] is None}
        for place, part in enumerate(edges.parts):
            start = sum(p.count for p in edges.parts[:place])
            of_part = [e for e in own if start <= e < start + part.count]
            if part.relation is not None:
                name = part.relation
                of_part.sort(key=lambda e, n=name, v=node: hash_in_plain_python(sample, n, v, numbers[e]))
                kept |= set(of_part[: sample.fanout])
        expected[node] = sorted(kept)
    assert drawn(edges, end, sample) == expected


@given(edge_sets(), ENDS, SAMPLES, st.data())
def test_a_node_has_the_same_sample_in_every_batch(
    edges: EdgeSet, end: End, sample: Sample, data: st.DataObject
) -> None:
    count = edges.node_count(end)
    whole = drawn(edges, end, sample)
    start = data.draw(st.integers(0, count))
    stop = data.draw(st.integers(start, count))
    assert drawn(edges, end, sample, range(start, stop)) == {v: whole[v] for v in range(start, stop)}
    some = data.draw(st.sets(st.integers(0, count - 1)))
    assert drawn(edges, end, sample, torch.tensor(sorted(some), dtype=torch.int64)) == {v: whole[v] for v in some}


def star(leaves: int) -> EdgeSet:
    return EdgeSet(
        torch.arange(1, leaves + 1),
        torch.zeros(leaves, dtype=torch.int64),
        leaves + 1,
        leaves + 1,
        (Part("e", leaves),),
    )


def test_no_edge_is_drawn_twice_and_none_is_missing() -> None:
    edges = star(30).without_loops().with_loops()
    for fanout in (1, 7, 29, 30, 31):
        own = drawn(edges, End.TARGET, Sample(fanout, 0, 1))[0]
        loop = 30  # the first of the loops, which come after the edges
        assert len(own) == len(set(own)) == min(fanout, 30) + 1
        assert loop in own


def test_samples_differ_from_seed_to_seed_layer_to_layer_and_relation_to_relation() -> None:
    edges = star(30)
    other = EdgeSet(edges.sources, edges.targets, 31, 31, (Part("f", 30),))
    samples = [
        drawn(edges, End.TARGET, Sample(10, 0, 1)),
        drawn(edges, End.TARGET, Sample(10, 1, 1)),
        drawn(edges, End.TARGET, Sample(10, 0, 2)),
        drawn(other, End.TARGET, Sample(10, 0, 1)),
    ]
    assert len({tuple(sample[0]) for sample in samples}) == 4


def test_the_same_edges_are_drawn_whether_or_not_loops_are_added() -> None:
    edges = star(30)
    sample = Sample(10, 0, 1)
    assert drawn(edges.with_loops(), End.TARGET, sample)[0] == [*drawn(edges, End.TARGET, sample)[0], 30]


def test_every_edge_and_every_pair_is_as_likely_as_any_other() -> None:
    """3 of 6 neighbours, for 4,000 seeds: an edge is drawn with probability 1/2, a pair with 1/5."""
    edges, draws = star(6), 4000
    single: Counter[int] = Counter()
    pairs: Counter[tuple[int, int]] = Counter()
    for seed in range(draws):
        own = drawn(edges, End.TARGET, Sample(3, seed, 1))[0]
        single.update(own)
        pairs.update((a, b) for a in own for b in own if a < b)
    # five standard deviations of a binomial count; the hash is fixed, so this holds always or never
    assert all(abs(single[e] - draws / 2) < 5 * (draws / 4) ** 0.5 for e in range(6))
    assert len(pairs) == 15
    assert all(abs(count - draws / 5) < 5 * (draws * 4 / 25) ** 0.5 for count in pairs.values())


def test_nodes_draw_independently() -> None:
    """Two nodes with the same neighbours: they draw the same third of 9 about once in 84 times."""
    targets = torch.arange(300).repeat_interleave(9)
    edges = EdgeSet(torch.arange(9).repeat(300), targets, 9, 300, (Part("e", 2700),))
    own = drawn(edges, End.TARGET, Sample(3, 0, 1))
    chosen = Counter(tuple(e % 9 for e in ids) for ids in own.values())
    assert len(chosen) > 70
    assert max(chosen.values()) < 15


def test_edges_of_no_known_relation_have_no_sample() -> None:
    edges = EdgeSet(torch.tensor([0, 1]), torch.tensor([1, 0]), 2, 2)
    with pytest.raises(ValueError, match="no known relation"):
        drawn(edges, End.TARGET, Sample(1, 0, 1))


@given(edge_sets(), st.sampled_from(End), st.integers(1, 4), st.integers(1, 9), st.data())
def test_what_is_kept_is_what_would_be_drawn(
    edges: EdgeSet, end: End, fanout: int, together: int, data: st.DataObject
) -> None:
    sample, count = Sample(fanout, 3, 1), edges.node_count(end)
    nodes = torch.tensor(sorted(data.draw(st.sets(st.integers(0, count - 1)))), dtype=torch.int64)
    anew = drawn(edges, end, sample), drawn(edges, end, sample, nodes)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kept_samples, "PIECE", together)
        edges.samples[end, sample] = kept_samples.sampled_incidence(edges, end, sample, threads=2)
    assert (drawn(edges, end, sample), drawn(edges, end, sample, nodes)) == anew
