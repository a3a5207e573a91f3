"""Runs whose nodes are processed in another order: the results of the graph's own."""

from __future__ import annotations

import os
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np
import pytest
import torch
from mapped_graphs import mapped
from torch_geometric.nn import GATConv, GCNConv, SAGEConv
from torch_geometric.nn.models import GAT, GraphSAGE

import gnnc
from gnnc.errors import RunError
from gnnc.targets.gpu import reordering, stored_ways
from gnnc.targets.gpu.reordering import REORDERS
from gnnc.targets.gpu.store.csc_file import CscFile

WIDTH = 10
ORDERS = [name for name in REORDERS if name != "none"]


class Everything(torch.nn.Module):
    """Edge weights, a table that is looked up by node, a second set of pairs, values on edges, a value of the graph."""

    def __init__(self) -> None:
        super().__init__()
        self.table = torch.nn.Embedding(400, WIDTH)
        self.conv, self.attention = GCNConv(WIDTH, 8), GATConv(8, 8)

    def forward(
        self,
        x: torch.Tensor,
        edge_index: torch.Tensor,
        edge_weight: torch.Tensor,
        n_id: torch.Tensor,
        edge_label_index: torch.Tensor,
    ) -> dict[str, torch.Tensor]:
        h = self.conv(x + self.table(n_id), edge_index, edge_weight).relu()
        h = self.attention(h, edge_index)
        first, second = edge_label_index
        return {"h": h, "scores": (h[first] * h[second]).sum(1), "mean": h.mean(0)}


def communities(nodes: int, edges: int, size: int = 100, width: int = WIDTH) -> gnnc.Graph:
    """A graph of communities whose ids are in no order."""
    random = np.random.default_rng(nodes)
    first = random.integers(0, nodes, edges)
    near = np.minimum(first // size * size + random.integers(0, size, edges), nodes - 1)
    second = np.where(random.random(edges) < 0.8, near, random.integers(0, nodes, edges))
    ids = random.permutation(nodes)
    x = torch.from_numpy(random.standard_normal((nodes, width), dtype=np.float32))
    return gnnc.Graph(x=x, edge_index=torch.from_numpy(np.stack([ids[first], ids[second]])))


@cache
def sage(width: int = WIDTH) -> gnnc.Program:
    torch.manual_seed(0)
    return gnnc.compile(GraphSAGE(width, 16, 2, 7).eval(), communities(50, 200, width=width))


@pytest.mark.parametrize("reorder", ORDERS)
def test_no_order_changes_a_result(reorder: str, nasty_graph: gnnc.Graph, tmp_path: Path) -> None:
    program = sage()
    expected = program.run(graph=nasty_graph)
    torch.testing.assert_close(program.run(graph=nasty_graph, reorder=reorder), expected)
    result = program.run(graph=nasty_graph, reorder=reorder, store=tmp_path, memory="1MiB")
    torch.testing.assert_close(result, expected)


@pytest.mark.parametrize("reorder", ["stream", "rcmk", "degree", "random"])
def test_everything_that_has_rows_is_renamed(reorder: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    plain = communities(300, 900)
    pairs, weights = torch.randint(0, 300, (2, 40)), torch.rand(900)
    graph = gnnc.Graph(x=plain.x, edge_index=plain.edge_index, edge_weight=weights, edge_label_index=pairs)
    program = gnnc.compile(Everything().eval(), graph)
    expected, found = program.run(), program.run(reorder=reorder)
    for name, values in expected.items():
        torch.testing.assert_close(found[name], values, rtol=1e-4, atol=1e-5)


def test_features_of_a_run_and_some_nodes(tmp_path: Path) -> None:
    graph, program = communities(300, 900), sage()
    x = torch.randn(300, WIDTH)
    expected = program.run(x, graph=graph)[[7, 3, 7, 250]]
    options: dict[str, Any] = {"graph": graph, "nodes": [7, 3, 7, 250], "reorder": "stream"}
    torch.testing.assert_close(program.run(x, **options), expected)
    torch.testing.assert_close(program.run(x, **options, store=tmp_path, memory="1MiB"), expected)
    options["graph"] = gnnc.Graph(x=x.numpy(), edge_index=np.asarray(graph.edge_index))
    np.testing.assert_allclose(program.run(**options), expected.numpy(), rtol=1e-5, atol=1e-6)


def test_batches_load_fewer_inputs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where inputs are gathered; tiles read all of them in any order."""
    for module, name in ((stored_ways, "tiled_convs"), (reordering, "kernels_in_parts")):
        monkeypatch.setattr(module, name, Mock(return_value=None))
    graph, program = mapped(communities(4000, 40_000, width=64), tmp_path / "graph"), sage(64)
    unique: dict[str, int] = {}
    expected = np.array(program.run(graph=graph))
    for reorder in ("random", "auto"):
        result = program.run(graph=graph, store=tmp_path / "store", memory="300KiB", reorder=reorder)
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
        unique[reorder] = sum(b.neighbors for block in program.report.blocks for b in block.batches)
    assert program.report.reorder == "stream"
    assert unique["auto"] <= 0.6 * unique["random"]


def test_auto_leaves_the_nodes_where_tiles_are_cheaper(tmp_path: Path) -> None:
    graph, program = mapped(communities(20_000, 200_000, width=64), tmp_path / "graph"), sage(64)
    program.run(graph=graph, store=tmp_path / "store", memory="1MiB", reorder="auto")
    assert program.report.reorder == "none"
    assert "tiles" in {block.way for block in program.report.blocks}


def test_auto_leaves_the_nodes_where_everything_fits(tmp_path: Path) -> None:
    graph, program = communities(4000, 40_000), sage()
    program.run(graph=graph, reorder="auto")
    program.run(graph=graph, reorder="auto", memory="1GiB")
    assert program.report.reorder == "none"
    program.run(graph=graph, reorder="auto", store=tmp_path, memory="64MiB")
    assert program.report.reorder == "none"


def test_the_order_is_kept_beside_the_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph = mapped(communities(1000, 4000), tmp_path / "graph")
    options: dict[str, Any] = {"graph": graph, "store": tmp_path / "store", "memory": "1MiB", "reorder": "stream"}
    expected = np.array(sage().run(**options))

    def never(*arguments: Any, **named: Any) -> CscFile:
        raise AssertionError("the edges are put in order again")

    monkeypatch.setattr("gnnc.targets.gpu.out_of_core.build_csc", never)
    monkeypatch.setattr("gnnc.reordered_graphs.build_csc", never)
    again = sage().run(**options)
    assert again.tobytes() == expected.tobytes()


def test_an_interrupted_order_is_made_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, program = mapped(communities(1000, 4000), tmp_path / "graph"), sage()
    options: dict[str, Any] = {"graph": graph, "store": tmp_path / "store", "memory": "1MiB", "reorder": "stream"}
    expected = np.array(program.run(graph=graph))
    for calls in (0, 3, 5):
        write, left = os.pwrite, [calls]

        def failing(*arguments: Any, left: list[int] = left, write: Any = write) -> int:
            left[0] -= 1
            if left[0] < 0:
                raise OSError(28, os.strerror(28))
            return write(*arguments)

        with monkeypatch.context() as patch:
            patch.setattr(os, "pwrite", failing)
            with pytest.raises(RunError, match="the disk is full"):
                program.run(**options)
    np.testing.assert_allclose(program.run(**options), expected, rtol=1e-4, atol=1e-5)


def test_copies_count(tmp_path: Path) -> None:
    graph, program = communities(4000, 40_000), sage()
    program.run(graph=graph, reorder="stream", memory="40MiB")
    report = program.report
    assert report.memory == 40 * 2**20
    assert report.held >= 4000 * WIDTH * 4 + 40_000 * 16
    with pytest.raises(RunError, match="edges and features in another order take"):
        program.run(graph=graph, reorder="stream", memory="500KiB")
    with pytest.raises(RunError, match="the order 'rcmk' takes"):
        program.run(graph=graph, reorder="rcmk", memory="500KiB", store=tmp_path)


def test_what_has_no_other_order_is_refused() -> None:
    with pytest.raises(RunError, match="give one of none, auto"):
        sage().run(reorder="sideways")
    with pytest.raises(RunError, match="a sample of neighbours"):
        sage().run(reorder="stream", fanout=[1, 1])
    assert torch.equal(sage().run(reorder="auto", fanout=[1, 1]), sage().run(fanout=[1, 1]))


def test_attention_within_a_budget_in_memory(tmp_path: Path) -> None:
    graph = communities(2000, 20_000)
    torch.manual_seed(0)
    program = gnnc.compile(GAT(WIDTH, 16, 2, 7, heads=2).eval(), graph)
    expected = program.run()
    torch.testing.assert_close(program.run(reorder="stream", memory="4MiB"), expected, rtol=1e-4, atol=1e-5)


def test_a_mean_over_relations_keeps_the_order_of_edges() -> None:
    """An aggregation that depends on the order of a node's edges."""
    torch.manual_seed(0)
    graph = communities(100, 400)
    program = gnnc.compile(SAGEConv(WIDTH, 4, aggr="lstm").eval(), graph)
    torch.testing.assert_close(program.run(reorder="random"), program.run())
