"""Graphs with several types, and the comparison with the model itself that many tests make."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pytest
import torch

import gnnc

WIDTH = 10
NODE_TYPES = ("author", "paper")
EDGE_TYPES = (("author", "writes", "paper"), ("paper", "rev_writes", "author"), ("paper", "cites", "paper"))


def hetero_graph_of(authors: int, papers: int, counts: tuple[int, int, int]) -> gnnc.HeteroGraph:
    """So many edges of each type, at random; without nodes at an end there can be none."""
    generator = torch.Generator().manual_seed(authors + papers)
    nodes = {"author": authors, "paper": papers}
    edges: dict[tuple[str, str, str], Any] = {}
    for (source, relation, target), count in zip(EDGE_TYPES, counts, strict=True):
        ends = [torch.randint(0, nodes[end], (count,), generator=generator) for end in (source, target) if count]
        edge_index = torch.stack(ends) if count else torch.empty(2, 0, dtype=torch.int64)
        weights = torch.rand(count, generator=generator)
        edges[source, relation, target] = {"edge_index": edge_index, "edge_weight": weights}
    features = {type_: {"x": torch.randn(count, WIDTH, generator=generator)} for type_, count in nodes.items()}
    return gnnc.HeteroGraph(features, edges)


HETERO: dict[str, gnnc.HeteroGraph] = {
    "small": hetero_graph_of(6, 9, (14, 12, 20)),
    "as many authors as papers as edges": hetero_graph_of(7, 7, (7, 7, 7)),
    "no edges": hetero_graph_of(3, 4, (0, 0, 0)),
    "no authors": hetero_graph_of(0, 4, (0, 0, 5)),
    "no papers": hetero_graph_of(4, 0, (0, 0, 0)),
    "one paper": hetero_graph_of(12, 1, (12, 3, 2)),
}


@pytest.fixture
def hetero_graphs() -> Mapping[str, gnnc.HeteroGraph]:
    return HETERO


@pytest.fixture
def hetero_graph() -> gnnc.HeteroGraph:
    return HETERO["small"]


@pytest.fixture
def assert_exact() -> Callable[[gnnc.Program, Mapping[str, Any]], None]:
    return compare_on_all


def compare_on_all(program: gnnc.Program, graphs: Mapping[str, Any]) -> None:
    """The program computes what its model does on every graph, whatever the batch size."""
    for name, graph in graphs.items():
        for batch_size in (1, 3, None):
            verification = program.verify(graph=graph, batch_size=batch_size)
            assert verification.passed, f"{name}, batch size {batch_size}: {verification}"
