"""Runs with a store in which every node sees a sample of its neighbours: the ones that a run in memory draws."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from backwards import Backwards
from mapped_graphs import mapped
from torch_geometric.nn import GATConv, GCNConv, SAGEConv
from torch_geometric.nn.models import GAT, GCN, GraphSAGE

import gnnc
from gnnc.errors import RunError
from gnnc.targets.gpu.store.array_file import ArrayFile

WIDTH = 10


MODELS: dict[str, Callable[[], torch.nn.Module]] = {
    "gcn": lambda: GCN(WIDTH, 16, 2, 7),
    "gat": lambda: GAT(WIDTH, 16, 2, 7, heads=2),
    "sage": lambda: GraphSAGE(WIDTH, 16, 2, 7, aggr=["mean", "max"]),
    "median": lambda: GraphSAGE(WIDTH, 16, 2, 7, aggr="median"),
    "backwards": lambda: Backwards(WIDTH),
}


def graph_of(nodes: int, edges: int) -> gnnc.Graph:
    """Random edges; a tenth of them meet node 7."""
    generator = torch.Generator().manual_seed(nodes)
    edge_index = torch.randint(0, nodes, (2, edges), generator=generator)
    edge_index[1, ::10] = 7
    return gnnc.Graph(x=torch.randn(nodes, WIDTH, generator=generator), edge_index=edge_index)


@cache
def program_of(name: str) -> gnnc.Program:
    torch.manual_seed(0)
    return gnnc.compile(MODELS[name]().eval(), graph_of(50, 200))


@pytest.mark.parametrize("name", list(MODELS))
def test_a_store_draws_the_same_sample(name: str, nasty_graph: gnnc.Graph, tmp_path: Path) -> None:
    program = program_of(name)
    for fanout in ([2, 3], [-1, 2]):
        expected = program.run(graph=nasty_graph, fanout=fanout, seed=5)
        result = program.run(graph=nasty_graph, fanout=fanout, seed=5, store=tmp_path)
        torch.testing.assert_close(result, expected)


@pytest.mark.parametrize("name", ["gcn", "gat", "sage", "backwards"])
def test_little_memory_draws_the_same_sample(name: str, tmp_path: Path) -> None:
    """With pieces of 1,024 edges and a hub that has several of them."""
    graph, program = graph_of(3000, 60_000), program_of(name)
    expected = program.run(graph=graph, fanout=[3, 4], seed=5)
    stored = mapped(graph, tmp_path / "graph")
    result = program.run(graph=stored, fanout=[3, 4], seed=5, store=tmp_path / "store", memory="300KiB")
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
    assert {block.way for block in program.report.blocks} & {"tiles", "gathered"}
    nodes = [7, 3, 7, 2999]
    result = program.run(graph=stored, fanout=[3, 4], seed=5, store=tmp_path / "store", memory="300KiB", nodes=nodes)
    np.testing.assert_allclose(result, expected[nodes], rtol=1e-4, atol=1e-5)


def test_edges_are_put_in_order_once_for_all_samples(tmp_path: Path) -> None:
    graph, program = graph_of(300, 3000), program_of("sage")
    for seed, fanout in ((0, [2, 2]), (1, [2, 2]), (0, [3, 2])):
        program.run(graph=graph, fanout=fanout, seed=seed, store=tmp_path)
    places = sorted(path.name.split("-", 1)[1] for path in tmp_path.glob("graph-*/*"))
    # (0, 2) and (0, 3) share the second layer's sample
    assert places == ["target"] * 5 + ["target-origins"]


class Stop(BaseException):
    """Ends a run as a signal would, as far as the store can see."""


def test_a_run_with_samples_goes_on_where_it_stopped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, program = mapped(graph_of(500, 4000), tmp_path / "graph"), program_of("gat")

    def run(store: str) -> Any:
        return np.array(program.run(graph=graph, store=tmp_path / store, fanout=[3, 3], seed=2, batch_size=100))

    expected, write, written = run("whole"), ArrayFile.write, 0

    def stopping(self: ArrayFile, start: int, rows: torch.Tensor) -> None:
        nonlocal written
        written += self.path.parent.name.startswith("run-")
        if written == 8:
            raise Stop
        write(self, start, rows)

    with monkeypatch.context() as patched:
        patched.setattr(ArrayFile, "write", stopping)
        with pytest.raises(Stop):
            run("store")
    np.testing.assert_array_equal(run("store"), expected)


def test_values_of_all_edges_are_refused(tmp_path: Path) -> None:
    class Weighted(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = GCNConv(WIDTH, 7, normalize=False)

        def forward(self, x: torch.Tensor, edge_index: torch.Tensor, edge_weight: torch.Tensor) -> torch.Tensor:
            return self.conv(x, edge_index, edge_weight)

    graph = graph_of(300, 900)
    weighted = gnnc.Graph(x=graph.x, edge_index=graph.edge_index, edge_weight=torch.rand(900))
    program = gnnc.compile(Weighted().eval(), weighted)
    with pytest.raises(RunError, match="a value of all edges goes into the model.* run it without a store"):
        program.run(fanout=[3], store=tmp_path)


def test_relations_are_drawn_by_themselves(tmp_path: Path) -> None:
    class OfTwo(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.cites, self.writes = GATConv(WIDTH, 7), SAGEConv((WIDTH, WIDTH), 7)

        def forward(self, x_dict: dict[str, torch.Tensor], edge_index_dict: dict[Any, torch.Tensor]) -> torch.Tensor:
            papers = self.cites(x_dict["paper"], edge_index_dict["paper", "cites", "paper"])
            both = x_dict["author"], x_dict["paper"]
            return papers + self.writes(both, edge_index_dict["author", "writes", "paper"])

    generator = torch.Generator().manual_seed(0)
    counts = {"paper": 200, "author": 100}
    nodes = {name: {"x": torch.randn(count, WIDTH, generator=generator)} for name, count in counts.items()}
    cites, writes = (torch.randint(0, 100, (2, count), generator=generator) for count in (2000, 1500))
    edges = {("paper", "cites", "paper"): cites, ("author", "writes", "paper"): writes}
    graph = gnnc.HeteroGraph(nodes, {type_: {"edge_index": index} for type_, index in edges.items()})
    program = gnnc.compile(OfTwo().eval(), graph)
    expected = program.run(fanout=[3], seed=1)
    torch.testing.assert_close(program.run(fanout=[3], seed=1, store=tmp_path), expected)
