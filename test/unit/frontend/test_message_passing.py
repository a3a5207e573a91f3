"""Which calls move rows along edges, and which only look as if they did."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from gnnc.dialects.gnn import End, Reduction
from gnnc.frontend.message_passing import EdgeSets, find_edge_sets, match_gather, match_scatter, peel_index
from gnnc.frontend.traced_values import Shape, Size, TracedValue

N, E, K = Size("n"), Size("e"), Size("k")
LONG = torch.int64


def value(op: str, shape: Shape, *args: Any, dtype: torch.dtype = torch.float32, **kwargs: Any) -> TracedValue:
    return TracedValue(op, op, args, kwargs, ((shape, dtype),))


def given(*shape: int | Size, dtype: torch.dtype = torch.float32) -> TracedValue:
    return value("input", shape, dtype=dtype)


def ids(*shape: int | Size) -> TracedValue:
    return given(*shape, dtype=LONG)


X, H, INDEX = given(N, 8), given(2, N, 4), ids(E)
MESSAGES = given(E, 8)


def unsqueezed(index: TracedValue = INDEX) -> TracedValue:
    return value("aten.unsqueeze.default", (E, 1), index, 1, dtype=LONG)


def spread(width: int = 8, index: TracedValue = INDEX) -> TracedValue:
    return value("aten.expand.default", (E, width), unsqueezed(index), (-1, width), dtype=LONG)


GATHERS = {
    "index_select": value("aten.index_select.default", (E, 8), X, 0, INDEX),
    "negative axis": value("aten.index_select.default", (E, 8), X, -2, INDEX),
    "index": value("aten.index.Tensor", (E, 8), X, (INDEX,)),
    "index on a middle axis": value("aten.index.Tensor", (2, E, 4), H, (None, INDEX)),
    "gather": value("aten.gather.default", (E, 8), X, 0, spread()),
    "embedding": value("aten.embedding.default", (E, 8), X, INDEX),
    "scalars": value("aten.index.Tensor", (E,), given(N), (INDEX,)),
}

NO_GATHERS = {
    "from a weight": value("aten.index_select.default", (E, 8), given(5, 8), 0, INDEX),
    "along another axis": value("aten.index_select.default", (N, E), X, 1, INDEX),
    "by a mask": value("aten.index.Tensor", (K, 8), X, (given(N, dtype=torch.bool),)),
    "by two indices": value("aten.index.Tensor", (E,), X, (INDEX, INDEX)),
    "by both ends at once": value("aten.index.Tensor", (2, E, 8), X, (ids(2, E),)),
    "fixed rows": value("aten.index.Tensor", (3, 8), X, (ids(3),)),
    "some columns": value("aten.gather.default", (E, 4), X, 0, spread(4)),
    "an index of its own for each column": value("aten.gather.default", (E, 8), X, 0, ids(E, 8)),
}


@pytest.mark.parametrize("name", list(GATHERS))
def test_is_a_gather(name: str) -> None:
    gather = match_gather(GATHERS[name])
    assert gather is not None
    assert gather.nodes is GATHERS[name].args[0]
    assert gather.index is INDEX
    assert match_scatter(GATHERS[name]) is None


@pytest.mark.parametrize("name", list(NO_GATHERS))
def test_is_no_gather(name: str) -> None:
    assert match_gather(NO_GATHERS[name]) is None


INTO = given(N, 8)
SCATTERS = {
    "index_add": (value("aten.index_add.default", (N, 8), INTO, 0, INDEX, MESSAGES), Reduction.SUM, True),
    "scatter_add": (value("aten.scatter_add.default", (N, 8), INTO, 0, spread(), MESSAGES), Reduction.SUM, True),
    "scatter_reduce": (
        value("aten.scatter_reduce.two", (N, 8), INTO, 0, spread(), MESSAGES, "amax", include_self=False),
        Reduction.MAX,
        False,
    ),
    "scatter_reduce with itself": (
        value("aten.scatter_reduce.two", (N, 8), INTO, 0, spread(), MESSAGES, "mean"),
        Reduction.MEAN,
        True,
    ),
    "index_reduce": (
        value("aten.index_reduce.default", (N, 8), INTO, -2, INDEX, MESSAGES, "prod", include_self=False),
        Reduction.MUL,
        False,
    ),
    "scatter with reduce": (
        value("aten.scatter.reduce", (N, 8), INTO, 0, spread(), MESSAGES, reduce="add"),
        Reduction.SUM,
        True,
    ),
    "index_put": (value("aten.index_put.default", (N, 8), INTO, (INDEX,), MESSAGES, True), Reduction.SUM, True),
    "middle axis": (
        value("aten.index_add.default", (2, N, 4), given(2, N, 4), 1, INDEX, given(2, E, 4)),
        Reduction.SUM,
        True,
    ),
}

NO_SCATTERS = {
    "scaled": value("aten.index_add.default", (N, 8), INTO, 0, INDEX, MESSAGES, alpha=2),
    "overwriting": value("aten.index_put.default", (N, 8), INTO, (INDEX,), MESSAGES),
    "overwriting by scatter": value("aten.scatter.src", (N, 8), INTO, 0, spread(), MESSAGES),
    "into a weight": value("aten.index_add.default", (5, 8), given(5, 8), 0, INDEX, MESSAGES),
    "along another axis": value("aten.index_add.default", (N, 8), INTO, 1, ids(3), given(N, 3)),
    "messages of another width": value("aten.scatter_add.default", (N, 8), INTO, 0, spread(), given(E, 9)),
    "some columns": value("aten.scatter_add.default", (N, 8), INTO, 0, spread(4), MESSAGES),
    "some messages": value("aten.scatter_add.default", (N, 8), INTO, 0, spread(), given(K, 8)),
    "one message for all": value("aten.index_put.default", (N, 8), INTO, (INDEX,), given(8), True),
    "an index of its own for each column": value("aten.scatter_add.default", (N, 8), INTO, 0, ids(E, 8), MESSAGES),
}


@pytest.mark.parametrize("name", list(SCATTERS))
def test_is_a_scatter(name: str) -> None:
    call, reduction, with_init = SCATTERS[name]
    scatter = match_scatter(call)
    assert scatter is not None
    assert scatter.init is call.args[0]
    assert (scatter.reduction, scatter.with_init) == (reduction, with_init)
    assert scatter.index is INDEX
    assert match_gather(call) is None


@pytest.mark.parametrize("name", list(NO_SCATTERS))
def test_is_no_scatter(name: str) -> None:
    assert match_scatter(NO_SCATTERS[name]) is None


def test_peels_what_only_repeats_an_index() -> None:
    viewed = value("aten.view.default", (1, E, 1), INDEX, (1, -1, 1), dtype=LONG)
    repeated = value("aten.repeat.default", (2, E, 4), viewed, (2, 1, 4), dtype=LONG)
    turned = value("aten.t.default", (8, E), spread(), dtype=LONG)
    assert peel_index(repeated, 1) is INDEX
    assert peel_index(turned, 1) is INDEX
    assert peel_index(turned, 0) is None


def test_does_not_peel_a_reshape_that_moves_entries_to_other_rows() -> None:
    across = value("aten.expand.default", (8, E), INDEX, (8, -1), dtype=LONG)
    mixed = value("aten.view.default", (E, 8), across, (-1, 8), dtype=LONG)
    assert peel_index(across, 1) is INDEX
    assert peel_index(mixed, 0) is None


def test_an_index_holds_integers() -> None:
    assert peel_index(given(E, dtype=torch.bool), 0) is None
    assert peel_index(given(E), 0) is None


def gather(index: TracedValue, nodes: TracedValue = X) -> TracedValue:
    return value("aten.index_select.default", (index.shape[0], 8), nodes, 0, index)


def scatter(index: TracedValue) -> TracedValue:
    return value("aten.index_add.default", (N, 8), INTO, 0, index, given(index.shape[0], 8))


def edge_sets_of(values: list[TracedValue]) -> EdgeSets:
    return find_edge_sets(values, lambda size: size == N)


def test_an_edge_set_goes_from_what_is_gathered_to_what_is_scattered() -> None:
    source, target = ids(E), ids(E)
    sets = edge_sets_of([gather(source), gather(target), scatter(target)])
    edges, end = sets.end_of(source)
    assert (edges.sources, edges.targets, end) == (source, target, End.SOURCE)
    assert sets.end_of(target) == (edges, End.TARGET)
    assert (edges.domain, edges.source_nodes, edges.target_nodes) == (E, N, N)


def test_scatters_at_both_ends_share_an_edge_set() -> None:
    source, target = ids(E), ids(E)
    sets = edge_sets_of([gather(source), scatter(target), gather(target), scatter(source)])
    assert sets.end_of(source)[0] is sets.end_of(target)[0]
    assert {sets.end_of(source)[1], sets.end_of(target)[1]} == {End.SOURCE, End.TARGET}


def test_edges_of_another_number_are_another_set() -> None:
    source, target, kept_source, kept_target = ids(E), ids(E), ids(K), ids(K)
    calls = [gather(source), scatter(target), gather(kept_source), scatter(kept_target)]
    sets = edge_sets_of(calls)
    assert sets.end_of(source)[0].domain == E
    assert sets.end_of(kept_source)[0].domain == K
    assert sets.end_of(kept_source)[0].targets is kept_target


def test_a_third_index_makes_a_set_with_the_same_targets() -> None:
    source, other, target = ids(E), ids(E), ids(E)
    sets = edge_sets_of([gather(source), gather(other), scatter(target)])
    assert sets.end_of(source)[0].targets is sets.end_of(other)[0].targets is target
    assert sets.end_of(other)[0].sources is other


def test_one_index_for_both_ends() -> None:
    index = ids(E)
    edges, _ = edge_sets_of([gather(index), scatter(index)]).end_of(index)
    assert edges.sources is edges.targets is index


def test_an_index_that_puts_edges_in_another_order_is_no_end() -> None:
    index, order = ids(E), ids(E)
    sets = edge_sets_of([gather(order, given(E, 8)), gather(index), scatter(index)])
    assert not sets.has(order)
    assert sets.has(index)
