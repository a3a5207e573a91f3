"""Edges by the node at one end."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from gnnc.targets.edge_order import ordered_by


@given(
    st.integers(0, 20).flatmap(lambda n: st.tuples(st.just(n), st.lists(st.integers(0, max(0, n - 1)), max_size=60)))
)
def test_as_a_stable_sort(case: tuple[int, list[int]]) -> None:
    count, listed = case
    nodes = torch.tensor(listed if count else [], dtype=torch.int64)
    offsets, edges = ordered_by(nodes, count)
    assert offsets.dtype == edges.dtype == torch.int64
    assert edges.tolist() == torch.argsort(nodes, stable=True).tolist()
    assert offsets.diff().tolist() == torch.bincount(nodes, minlength=count).tolist() and offsets[0] == 0


@pytest.mark.parametrize("node", [-1, 3])
def test_nodes_that_there_are_not(node: int) -> None:
    with pytest.raises(IndexError, match=f"node .*{node}.*of 3"):
        ordered_by(torch.tensor([0, node, 1]), 3)
