"""The vertex cut against the paper's figure, against exhaustive search, and on malformed graphs."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from itertools import combinations
from typing import TypeAlias

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from gnnc.passes.analysis import vertex_cut
from gnnc.passes.analysis.vertex_cut import Cut, DataflowGraph, Vertex, minimum_vertex_cut

Names: TypeAlias = frozenset[Hashable]
Halves: TypeAlias = frozenset[tuple[str, Hashable]]

searched = settings(max_examples=400, deadline=None)


def dataflow(prices: dict[str, int | tuple[int, int]], edges: str, available: str, needed: str) -> DataflowGraph:
    """A graph from prices `store` or `(store, recompute)` and words such as "conv>relu"."""
    pairs = {name: price if isinstance(price, tuple) else (price, 0) for name, price in prices.items()}
    return DataflowGraph(
        vertices=tuple(Vertex(name, *pair) for name, pair in pairs.items()),
        edges=tuple((a, b) for a, b in (word.split(">") for word in edges.split())),
        available=frozenset(available.split()),
        needed=frozenset(needed.split()),
    )


# Exhaustive search, with nothing in common with flows.


def subsets(names: Names) -> Iterator[Names]:
    for size in range(len(names) + 1):
        yield from map(frozenset, combinations(sorted(names, key=repr), size))


def operands(graph: DataflowGraph, name: Hashable) -> Names:
    return frozenset(a for a, b in graph.edges if b == name)


def downstream(graph: DataflowGraph, start: Names, without: Names = frozenset()) -> Names:
    """All that is computed from `start` along paths that avoid `without`."""
    reached = start - without
    for _ in graph.vertices:
        reached |= {b for a, b in graph.edges if a in reached} - without
    return reached


def demanded(graph: DataflowGraph, kept: Names) -> Names:
    """What a consumer asks for that starts from the needed values and goes no further up than the kept ones."""
    reachable = downstream(graph, graph.available)
    asked = graph.needed & reachable
    for _ in graph.vertices:
        asked |= {a for a, b in graph.edges if b in asked - kept and a in reachable}
    return asked


def sink_side(graph: DataflowGraph, kept: Names) -> Halves:
    asked = demanded(graph, kept)
    return frozenset({("out", name) for name in asked} | {("in", name) for name in asked - kept})


def price_of(graph: DataflowGraph, kept: Names) -> int | None:
    """The price of keeping these values, or None if they do not separate."""
    recomputed = demanded(graph, kept) - kept
    if recomputed & graph.available:
        return None
    return sum(v.store * (v.name in kept) + v.recompute * (v.name in recomputed) for v in graph.vertices)


def cheapest_by_kept_values(graph: DataflowGraph) -> int:
    names = frozenset(v.name for v in graph.vertices)
    return min(price for kept in subsets(names) if (price := price_of(graph, kept)) is not None)


def cheapest_partitions(graph: DataflowGraph) -> tuple[int, Halves]:
    """The minimum price over all closed partitions, and what the sink sides at that price have in common."""
    reachable = downstream(graph, graph.available)
    must = graph.needed & reachable
    best: int | None = None
    common: Halves = frozenset()
    for ins, outs, price in closed_partitions(graph, reachable, must):
        side = frozenset({("in", name) for name in ins} | {("out", name) for name in outs})
        if best is None or price < best:
            best, common = price, side
        elif price == best:
            common &= side
    assert best is not None
    return best, common


def closed_partitions(graph: DataflowGraph, reachable: Names, must: Names) -> Iterator[tuple[Names, Names, int]]:
    """In halves and out halves of every sink side that no infinite arc enters, with its price."""
    store = {v.name: v.store for v in graph.vertices}
    recompute = {v.name: v.recompute for v in graph.vertices}
    for ins in subsets(reachable - graph.available):
        forced = must.union(*(operands(graph, name) & reachable for name in ins))
        recomputation = sum(recompute[name] for name in ins)
        for free in subsets(reachable - forced):
            outs = forced | free
            yield ins, outs, recomputation + sum(store[name] for name in outs - ins)


@st.composite
def dataflow_graphs(draw: st.DrawFn, most: int) -> DataflowGraph:
    """Graphs in which most questions have an answer: some value is available and some later one is needed."""
    order = draw(st.permutations(range(draw(st.integers(1, most)))))
    recompute = st.sampled_from([0, 0, 1, 1, 2, 3, 4])
    fewest = draw(st.sampled_from([1, 1, 1, 0]))
    return DataflowGraph(
        vertices=tuple(Vertex(n, draw(st.integers(0, 5)), draw(recompute)) for n in range(len(order))),
        edges=tuple(pair for pair in combinations(order, 2) if draw(st.booleans())),
        available=draw(st.frozensets(st.sampled_from(order[: len(order) // 2 + 1]), min_size=fewest, max_size=2)),
        needed=draw(st.frozensets(st.sampled_from(order), min_size=fewest, max_size=3)),
    )


# The paper's figure 5.


def test_one_tensor_beats_two_although_two_operators_fall_downstream() -> None:
    graph = dataflow({"conv": 1, "relu": 1, "norm": 1}, "conv>relu conv>norm", "conv", "relu norm")
    assert minimum_vertex_cut(graph) == Cut(("conv",), 1)


def test_ties_bind_upstream() -> None:
    graph = dataflow({"conv": 1, "relu": 1}, "conv>relu", "conv", "relu")
    assert minimum_vertex_cut(graph) == Cut(("relu",), 1)


# Single rules, each on the smallest graph that shows it.


def test_recomputation_moves_the_cut_behind_a_widening_projection() -> None:
    widening = "x>projected"
    assert minimum_vertex_cut(dataflow({"x": 2, "projected": 3}, widening, "x", "projected")).values == ("x",)
    dear = dataflow({"x": 2, "projected": (3, 5)}, widening, "x", "projected")
    assert minimum_vertex_cut(dear) == Cut(("projected",), 3)


def test_recomputation_is_part_of_the_price() -> None:
    graph = dataflow({"x": 2, "projected": (9, 5)}, "x>projected", "x", "projected")
    assert minimum_vertex_cut(graph) == Cut(("x",), 7)


def test_an_available_and_needed_value_is_kept() -> None:
    graph = dataflow({"x": 7, "h": 1}, "x>h", "x", "x h")
    assert minimum_vertex_cut(graph) == Cut(("x",), 7)


def test_a_fresh_value_stops_the_search_upwards() -> None:
    graph = dataflow({"x": 0, "fresh": 4}, "x>fresh", "x fresh", "fresh")
    assert minimum_vertex_cut(graph) == Cut(("fresh",), 4)


def test_free_values_tie_towards_the_sink() -> None:
    graph = dataflow({"a": 0, "b": 0, "c": 3, "d": 0}, "a>b b>c c>d", "a", "d")
    assert minimum_vertex_cut(graph) == Cut(("d",), 0)


def test_a_free_value_upstream_of_a_dear_one_is_kept() -> None:
    graph = dataflow({"a": 2, "b": 0, "c": 3}, "a>b b>c", "a", "c")
    assert minimum_vertex_cut(graph) == Cut(("b",), 0)


@pytest.mark.parametrize("needed", ["", "constant"])
def test_nothing_is_kept_where_no_available_value_is_asked_for(needed: str) -> None:
    graph = dataflow({"x": 1, "constant": (0, 3), "h": 1}, "x>h", "x", needed)
    assert minimum_vertex_cut(graph) == Cut((), 0)


def test_values_that_no_available_one_reaches_are_never_kept() -> None:
    graph = dataflow({"constant": (0, 3), "x": 1, "sum": 4}, "constant>sum x>sum", "x", "sum constant")
    assert minimum_vertex_cut(graph) == Cut(("x",), 1)


def test_values_come_in_the_order_of_the_vertices() -> None:
    graph = dataflow({"c": 1, "a": 1, "b": 1}, "", "a b c", "a b c")
    assert minimum_vertex_cut(graph).values == ("c", "a", "b")


# Against exhaustive search.


@searched
@given(dataflow_graphs(most=8))
def test_the_price_is_the_exhaustive_minimum(graph: DataflowGraph) -> None:
    cut = minimum_vertex_cut(graph)
    assert cut.price == cheapest_by_kept_values(graph)
    assert cut.price == price_of(graph, frozenset(cut.values)) == vertex_cut.price_of(graph, cut.values)
    assert cut.price <= min(vertex_cut.price_of(graph, kept) for kept in ((), graph.needed))


@settings(searched, max_examples=250)
@given(dataflow_graphs(most=6))
@example(dataflow({"a": 1, "b": 1, "c": 0, "d": 1}, "a>b b>c b>d", "a", "c d"))
def test_the_sink_side_is_common_to_all_minimum_cuts(graph: DataflowGraph) -> None:
    price, common = cheapest_partitions(graph)
    cut = minimum_vertex_cut(graph)
    assert cut.price == price
    assert sink_side(graph, frozenset(cut.values)) == common
    assert set(cut.values) == {name for half, name in common if half == "out" and ("in", name) not in common}


@searched
@given(dataflow_graphs(most=8))
def test_the_kept_values_separate_available_from_needed(graph: DataflowGraph) -> None:
    kept = frozenset(minimum_vertex_cut(graph).values)
    assert not downstream(graph, graph.available, without=kept) & graph.needed


@searched
@given(st.data())
def test_the_order_of_vertices_and_edges_does_not_matter(data: st.DataObject) -> None:
    graph = data.draw(dataflow_graphs(most=8))
    vertices = tuple(data.draw(st.permutations(graph.vertices)))
    edges = tuple(data.draw(st.permutations(graph.edges)))
    cut = minimum_vertex_cut(graph)
    permuted = minimum_vertex_cut(DataflowGraph(vertices, edges, graph.available, graph.needed))
    assert permuted.price == cut.price
    assert set(permuted.values) == set(cut.values)
    assert permuted.values == tuple(v.name for v in vertices if v.name in set(cut.values))


# Malformed graphs.


@pytest.mark.parametrize(
    ("graph", "message"),
    [
        (dataflow({"a": 1}, "a>z", "a", "a"), "The name 'z' in an edge is not a vertex"),
        (dataflow({"a": 1}, "z>a", "a", "a"), "The name 'z' in an edge is not a vertex"),
        (dataflow({"a": 1}, "", "a z", "a"), "The name 'z' in the available values is not a vertex"),
        (dataflow({"a": 1}, "", "a", "a z"), "The name 'z' in the needed values is not a vertex"),
        (dataflow({"a": -1}, "", "a", "a"), "The vertex 'a' has a negative price"),
        (dataflow({"a": (1, -1)}, "", "a", "a"), "The vertex 'a' has a negative price"),
        (dataflow({"a": 1}, "a>a", "a", "a"), "has a cycle: 'a' -> 'a'"),
        (dataflow({"a": 1, "b": 1}, "a>b b>a", "a", "b"), "has a cycle: "),
        (DataflowGraph((Vertex("a", 1), Vertex("a", 2)), (), frozenset(), frozenset()), "the same name"),
    ],
)
def test_a_malformed_graph_is_refused_in_one_sentence(graph: DataflowGraph, message: str) -> None:
    with pytest.raises(ValueError, match=message) as refusal:
        minimum_vertex_cut(graph)
    assert str(refusal.value).endswith(".")
    assert "\n" not in str(refusal.value)
