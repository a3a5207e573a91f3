"""Programs whose first layers are computed when they are compiled: the same numbers, on one graph only."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv, SGConv
from torch_geometric.nn.models import GCN, GIN, GraphSAGE

import gnnc
from gnnc.dialects.gnn import AggregateOp
from gnnc.errors import ArtifactError, GnncError, RunError

EDGES = {
    "no edge": np.zeros((2, 0), np.int64),
    "hub": np.stack([np.arange(6), np.zeros(6, np.int64)]),
    "loops and duplicates": np.array([[0, 0, 1, 1, 5, 2], [0, 0, 2, 2, 5, 3]]),
}
MODELS: dict[str, tuple[Any, int]] = {
    "sgc": (lambda: SGConv(5, 3, K=3), 1),
    "sage": (lambda: GraphSAGE(5, 8, 2, 3), 1),
    "sage max": (lambda: SAGEConv(5, 3, aggr="max"), 1),
    "gin": (lambda: GIN(5, 8, 2, 3, norm="batch_norm"), 1),
    "gin trained eps": (lambda: GINConv(torch.nn.Linear(5, 3), train_eps=True), 1),
    "gcn": (lambda: GCN(5, 8, 2, 3), 0),
    "gat": (lambda: GATConv(5, 3), 0),
}


def graph_of(edges: np.ndarray[Any, Any], seed: int = 0) -> gnnc.Graph:
    return gnnc.Graph(edge_index=edges, x=np.random.default_rng(seed).standard_normal((6, 5)).astype(np.float32))


@pytest.mark.parametrize("edges", EDGES)
@pytest.mark.parametrize("name", MODELS)
def test_the_same_numbers(name: str, edges: str, tmp_path: Path) -> None:
    graph = graph_of(EDGES[edges])
    make, count = MODELS[name]
    model = make().eval()
    program = gnnc.compile(model, graph, freeze_features=True)
    assert len(program.frozen.keys if program.frozen else ()) == count
    assert program.verify(tolerance=1e-5).passed
    whole = program.run()
    np.testing.assert_allclose(program.run(nodes=[3, 0, 3]), whole[[3, 0, 3]], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(program.run(batch_size=2), whole, rtol=1e-5, atol=1e-6)
    program.save(tmp_path / "m.gnnc")
    loaded = gnnc.load(tmp_path / "m.gnnc")
    assert np.array_equal(loaded.run(graph=graph), whole)


def test_what_is_frozen_is_gone_from_the_program() -> None:
    graph = graph_of(EDGES["hub"])
    frozen = gnnc.compile(SGConv(5, 3, K=3).eval(), graph, freeze_features=True)
    assert not any(isinstance(op, AggregateOp) for op in frozen.module.walk())
    layers = [sum(isinstance(op, AggregateOp) for op in p.module.walk()) for p in sage_programs(graph)]
    assert layers == [2, 1]


def sage_programs(graph: gnnc.Graph) -> list[gnnc.Program]:
    model = GraphSAGE(5, 8, 2, 3).eval()
    return [gnnc.compile(model, graph, freeze_features=frozen) for frozen in (False, True)]


@pytest.mark.parametrize("saved", [False, True])
def test_another_graph_is_refused(saved: bool, tmp_path: Path) -> None:
    graph = graph_of(EDGES["hub"])
    program = gnnc.compile(SGConv(5, 3).eval(), graph, freeze_features=True)
    expected = program.run()
    if saved:
        program.save(tmp_path / "m.gnnc")
        program = gnnc.load(tmp_path / "m.gnnc")
    x = np.array(graph.x)
    others: list[dict[str, Any]] = [
        {"graph": graph_of(EDGES["hub"], seed=1)},
        {"graph": graph_of(EDGES["no edge"])},
        {"graph": graph, "x": x + 1},
        {"graph": gnnc.Graph(edge_index=np.zeros((2, 1), np.int64), x=x[:3])},
    ]
    for given in others:
        with pytest.raises(RunError, match="compiled with freeze_features for one graph and its features, and these"):
            program.run(**given)
        # what was looked at before stays known
        assert np.array_equal(program.run(graph=graph), expected)
    assert np.array_equal(program.run(graph=graph, x=x), expected)
    assert np.array_equal(program.run(graph=graph_of(EDGES["hub"])), expected)
    with pytest.raises(RunError, match="compiled with freeze_features for one graph"):
        program.verify(graph=others[0]["graph"], model=SGConv(5, 3).eval())
    with pytest.raises(RunError, match="compiled with freeze_features, for all neighbours"):
        program.run(graph=graph, fanout=[2])


def test_what_can_not_be_frozen_is_said(tmp_path: Path) -> None:
    graph = graph_of(EDGES["hub"])
    with pytest.raises(GnncError, match="freeze_features is for the target gpu"):
        gnnc.compile(GCNConv(5, 3).eval(), graph, "fpga", freeze_features=True)
    program = gnnc.compile(GCNConv(5, 3).eval(), graph, freeze_features=True)
    assert program.run(graph=graph_of(EDGES["no edge"])).shape == (6, 3)


def test_an_artifact_without_its_frozen_numbers_is_refused(tmp_path: Path) -> None:
    from gnnc.artifact import sealed

    program = gnnc.compile(SGConv(5, 3).eval(), graph_of(EDGES["hub"]), freeze_features=True)
    program.save(tmp_path / "m.gnnc")
    file = tmp_path / "m.gnnc" / "manifest.json"
    manifest = json.loads(file.read_bytes())
    manifest["frozen"]["keys"].append("frozen.1")
    file.write_bytes(sealed(manifest))
    with pytest.raises(ArtifactError, match="compile again"):
        gnnc.load(tmp_path / "m.gnnc")
