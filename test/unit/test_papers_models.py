"""The models that the papers run: DGI's five, one to four layers deep, and Dynasparse's four."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

import pytest
import torch
from academic_graph import RELATIONS, WIDTH, WIDTHS, edge_indices, features, papers_and_authors
from batched_runs import assert_exact
from hgt import Hgt
from torch import Tensor, nn
from torch_geometric.nn import GATConv, GCNConv, GINConv, RGCNConv, SAGEConv, SGConv

import gnnc

HIDDEN, CLASSES, RELATION_COUNT = 8, 5, 2
TYPES = ["paper", "author"]


class Layers(nn.Module):
    """Convs one after the other, with ReLU between them."""

    def __init__(self, conv: Callable[[int, int], nn.Module], layers: int):
        super().__init__()
        widths = [WIDTH, *[HIDDEN] * (layers - 1), CLASSES]
        self.convs = nn.ModuleList(conv(a, b) for a, b in pairwise(widths))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        for place, conv in enumerate(self.convs):
            x = conv(x if place == 0 else x.relu(), edge_index)
        return x


class JkNet(Layers):
    """What all layers made goes into the last linear layer."""

    def __init__(self, layers: int):
        super().__init__(GCNConv, 1)
        self.convs = nn.ModuleList(GCNConv(WIDTH if place == 0 else HIDDEN, HIDDEN) for place in range(layers))
        self.out = nn.Linear(layers * HIDDEN, CLASSES)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        made: list[Tensor] = []
        for conv in self.convs:
            x = conv(x, edge_index).relu()
            made.append(x)
        return self.out(torch.cat(made, dim=-1))


class Rgcn(nn.Module):
    def __init__(self, layers: int):
        super().__init__()
        widths = [WIDTH, *[HIDDEN] * (layers - 1), CLASSES]
        self.convs = nn.ModuleList(RGCNConv(a, b, RELATION_COUNT) for a, b in pairwise(widths))

    def forward(self, x: Tensor, edge_index: Tensor, edge_type: Tensor) -> Tensor:
        for place, conv in enumerate(self.convs):
            x = conv(x if place == 0 else x.relu(), edge_index, edge_type)
        return x


def gin(inputs: int, outputs: int) -> nn.Module:
    return GINConv(nn.Sequential(nn.Linear(inputs, HIDDEN), nn.ReLU(), nn.Linear(HIDDEN, outputs)), train_eps=True)


DGI: dict[str, Callable[[int], nn.Module]] = {
    "GCN": lambda layers: Layers(GCNConv, layers),
    "GAT": lambda layers: Layers(lambda a, b: GATConv(a, b, heads=2, concat=False), layers),
    "JKNet": JkNet,
    "RGCN": Rgcn,
    "HGT": lambda layers: Hgt({t: WIDTHS[t] for t in TYPES}, (TYPES, RELATIONS[1:3]), HIDDEN, CLASSES, layers),
}

DYNASPARSE: dict[str, Callable[[], nn.Module]] = {
    "GCN": lambda: Layers(GCNConv, 2),
    "GraphSAGE": lambda: Layers(SAGEConv, 2),
    "GIN": lambda: Layers(gin, 2),
    "SGC": lambda: SGConv(WIDTH, CLASSES, K=2),
}


def large() -> gnnc.Graph:
    """More nodes than any batch but the last has; a few have no edges, some edges are there twice."""
    generator = torch.Generator().manual_seed(0)
    edge_index = torch.randint(0, 90, (2, 300), generator=generator)
    return gnnc.Graph(x=torch.randn(100, WIDTH, generator=generator), edge_index=edge_index)


def check(model: nn.Module, graphs: Mapping[str, Any], call: Callable[[Any], Any]) -> None:
    program = gnnc.compile(model.eval(), graphs["large"])
    for kind, graph in graphs.items():
        with torch.no_grad():
            expected = call(graph)
        assert_exact(program, graph, expected, kind)


def homogeneous(nasty: Mapping[str, gnnc.Graph]) -> dict[str, gnnc.Graph]:
    return {"large": large(), **{kind: nasty[kind] for kind in ("one node", "self-loops", "hub")}}


def with_types(graph: gnnc.Graph) -> gnnc.Graph:
    edge_type = torch.arange(graph.num_edges) % RELATION_COUNT
    return gnnc.Graph(x=graph.x, edge_index=graph.edge_index, edge_type=edge_type)


@pytest.mark.parametrize("layers", [1, 2, 3, 4])
@pytest.mark.parametrize("name", list(DGI))
def test_dgi(name: str, layers: int, nasty_graphs: Mapping[str, gnnc.Graph]) -> None:
    torch.manual_seed(layers)
    model = DGI[name](layers)
    if name == "HGT":
        few = {"large": large(), "duplicate edges": nasty_graphs["duplicate edges"]}
        academic = {kind: papers_and_authors(graph) for kind, graph in few.items()}
        check(model, academic, lambda g: model(features(g), edge_indices(g)))
        return
    graphs = homogeneous(nasty_graphs)
    if name == "RGCN":
        typed = {kind: with_types(graph) for kind, graph in graphs.items()}
        check(model, typed, lambda g: model(g.x, g.edge_index, g.edge_type))
        return
    check(model, graphs, lambda g: model(g.x, g.edge_index))


@pytest.mark.parametrize("name", list(DYNASPARSE))
def test_dynasparse(name: str, nasty_graphs: Mapping[str, gnnc.Graph]) -> None:
    torch.manual_seed(0)
    model = DYNASPARSE[name]()
    check(model, homogeneous(nasty_graphs), lambda g: model(g.x, g.edge_index))
