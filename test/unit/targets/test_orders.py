"""Orders of nodes, and what batches load in them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gnnc.targets.gpu.reordering import ORDERS, Load, choose_order, neighborhoods_of
from gnnc.targets.orders import shared_inputs
from gnnc.targets.orders.neighborhoods import Neighborhoods
from gnnc.targets.orders.shared_inputs import communities, shared_inputs_order
from gnnc.targets.orders.unique_inputs import best_order, inputs_per_node


@st.composite
def graphs(draw: Callable[..., list[int]]) -> Neighborhoods:
    nodes = len(draw(st.lists(st.just(0), min_size=1, max_size=40)))
    ends = st.lists(st.integers(0, nodes - 1), max_size=120)
    sources = draw(ends)
    targets = draw(st.lists(st.integers(0, nodes - 1), min_size=len(sources), max_size=len(sources)))
    return neighborhoods_of(torch.tensor([sources, targets], dtype=torch.int64), nodes)


def planted(count: int, size: int, edges: int, inside: float = 1) -> tuple[Neighborhoods, NDArray[np.int64]]:
    """Communities whose nodes are in no order, and the community of each node; a share of the edges is inside."""
    random = np.random.default_rng(0)
    nodes = count * size
    ids = random.permutation(nodes)
    first = random.integers(0, nodes, edges)
    second = first // size * size + random.integers(0, size, edges)
    second = np.where(random.random(edges) < inside, second, random.integers(0, nodes, edges))
    of_node = np.empty(nodes, np.int64)
    of_node[ids] = np.arange(nodes) // size
    return neighborhoods_of(torch.from_numpy(np.stack([ids[first], ids[second]])), nodes), of_node


@pytest.mark.parametrize("name", list(ORDERS))
@settings(deadline=None)
@given(graph=graphs())
def test_an_order_has_every_node_once(name: str, graph: Neighborhoods) -> None:
    order = next(order_of for known, order_of in ORDERS.items() if known == name)(graph)
    assert order.dtype == np.int64
    assert np.array_equal(np.sort(order), np.arange(graph.nodes))


@settings(deadline=None)
@given(graph=graphs())
def test_neighborhoods(graph: Neighborhoods) -> None:
    nodes = np.arange(graph.nodes)[::-1]
    expected = [n for v in nodes for n in graph.neighbors[graph.offsets[v] : graph.offsets[v + 1]]]
    assert graph.of(nodes).tolist() == expected
    for size in (1, 7, 1000):
        pieces = list(graph.pieces(size))
        assert [node for first, last in pieces for node in range(first, last)] == list(range(graph.nodes))


def test_communities_are_found() -> None:
    graph, of_node = planted(20, 60, 12_000)
    order = shared_inputs_order(graph)
    changes = np.count_nonzero(np.diff(of_node[order]))
    assert changes < 60, "20 communities, one after the other, with few nodes astray"


def test_no_community_grows_much_beyond_its_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shared_inputs, "COMMUNITY", 30)
    monkeypatch.setattr(shared_inputs, "PIECE", 100)
    graph, _ = planted(2, 400, 16_000)
    assert np.bincount(communities(graph)).max() <= 45


def test_a_hub_and_pieces_without_edges() -> None:
    edges = torch.stack([torch.arange(1, 5000), torch.zeros(4999, dtype=torch.int64)])
    assert len(shared_inputs_order(neighborhoods_of(edges, 9000))) == 9000


def distinct_inputs(graph: Neighborhoods, order: NDArray[np.int64], size: int) -> float:
    """Of batches of so many targets, counted one by one."""
    batches = [order[i : i + size] for i in range(0, len(order), size)]
    return sum(len(np.unique(graph.of(batch))) for batch in batches) / len(order)


def test_the_estimate_is_near_what_batches_load() -> None:
    graph, of_node = planted(50, 40, 20_000)
    orders = {"community": np.argsort(of_node, kind="stable"), "random": np.random.default_rng(1).permutation(2000)}
    for room in (300, 600):
        estimates = {name: inputs_per_node(graph, order, room) for name, order in orders.items()}
        assert estimates["community"] < 0.5 * estimates["random"]
    assert inputs_per_node(graph, orders["random"], 10**9) == distinct_inputs(graph, orders["random"], 2000)


def test_the_best_order_is_never_worse_than_the_graphs_own() -> None:
    graph, of_node = planted(50, 40, 20_000)
    by_community = np.argsort(of_node, kind="stable")

    def good(_: Neighborhoods) -> NDArray[np.int64]:
        return by_community

    def same(given: Neighborhoods) -> NDArray[np.int64]:
        return np.arange(given.nodes)

    def inputs(order: NDArray[np.int64], room: int = 300) -> float:
        return inputs_per_node(graph, order, room)

    found = best_order(graph, inputs, 1.0, {"random": same, "stream": good})
    assert found is not None
    assert found[0] == "stream"
    assert best_order(graph, inputs, 1.0, {"random": same}) is None
    assert best_order(graph, partial(inputs, room=10**9), 1.0, {"stream": good}) is None, "one batch loads all"


def test_auto_looks_at_the_budget() -> None:
    graph, _ = planted(50, 40, 20_000)
    assert choose_order("auto", graph, None, [Load(64)]) == ("none", None)
    assert choose_order("auto", graph, 10**9, [Load(64)]) == ("none", None)
    name, order = choose_order("auto", graph, 2000 * 48, [Load(512)])
    assert name == "stream"
    assert order is not None
    assert choose_order("auto", graph, 1000, [Load(512)]) == ("none", None), "there is no room to find an order"


def test_auto_leaves_the_nodes_where_tiles_are_cheaper_than_any_order() -> None:
    graph, _ = planted(40, 50, 30_000, inside=0.8)
    memory = 2000 * 200
    assert choose_order("auto", graph, memory, [Load(512)])[0] == "stream"
    assert choose_order("auto", graph, memory, [Load(512, 512)]) == ("none", None)
    assert choose_order("auto", graph, memory, [Load(512, 2**16)])[0] == "stream", "sums leave room for short ranges"
