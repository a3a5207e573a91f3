"""Values on edges: results in the order of the user's edges, states that one layer hands to the next."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.nn import GATConv, GCNConv, TransformerConv
from torch_geometric.utils import softmax

import gnnc
from gnnc.dialects.gnn import ConvBlockOp
from gnnc.errors import RunError

WIDTH = 10
EDGE_WIDTH = 4

TINY = gnnc.Graph(
    x=torch.zeros(3, WIDTH), edge_index=torch.tensor([[0, 1], [1, 2]]), edge_attr=torch.zeros(2, EDGE_WIDTH)
)


class AttentionWeights(nn.Module):
    """GAT, with what its first layer attends to; there the edges have self-loops, and are returned, too."""

    def __init__(self) -> None:
        super().__init__()
        self.first = GATConv(WIDTH, 8, heads=2, concat=False)
        self.second = GATConv(8, 4)

    def forward(self, x: Tensor, edge_index: Tensor) -> Any:
        h, (edges, alpha) = self.first(x, edge_index, return_attention_weights=True)
        return self.second(h.relu(), edge_index), edges, alpha


class AttentionOfEveryLayer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.convs = nn.ModuleList(TransformerConv(WIDTH, 5, heads=2, edge_dim=EDGE_WIDTH) for _ in range(2))

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> dict[str, Tensor]:
        found: dict[str, Tensor] = {}
        for place, conv in enumerate(self.convs):
            x, (_, alpha) = conv(x, edge_index, edge_attr, return_attention_weights=True)
            found[f"layer {place}"] = alpha
        return {"x": x, **found}


class Scores(nn.Module):
    """A score for every edge of the graph."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = GCNConv(WIDTH, 8)
        self.score = nn.Linear(16, 1)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        z = self.conv(x, edge_index).relu()
        return self.score(torch.cat([z[edge_index[0]], z[edge_index[1]]], dim=-1)).squeeze(-1)


class EdgeStates(nn.Module):
    """States of nodes and edges, each updated by the other, in some layers."""

    def __init__(self, layers: int, *, both: bool = True, width: int = 8):
        super().__init__()
        self.both = both
        self.nodes, self.edges = nn.Linear(WIDTH, width), nn.Linear(EDGE_WIDTH, width)
        self.updates = nn.ModuleList(nn.Linear(width, 5 * width) for _ in range(layers))

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Any:
        source, target = edge_index
        h, e = self.nodes(x), self.edges(edge_attr)
        for update in self.updates:
            a, b, c, d, own = update(h).chunk(5, dim=1)
            new = a[source] + b[target] + update(e).chunk(5, dim=1)[2]
            gate = new.sigmoid()
            total = torch.zeros_like(h).index_add(0, target, gate * d[source])
            gates = torch.zeros_like(h).index_add(0, target, gate)
            h = h + (own + total / (gates + 1e-6) + c).relu()
            e = e + new.relu()
        return (h, e) if self.both else h


class MeanOfEdges(nn.Module):
    """What all edges are reduced to, seen by all nodes."""

    def __init__(self) -> None:
        super().__init__()
        self.edge = nn.Linear(EDGE_WIDTH, WIDTH)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        e = (self.edge(edge_attr) + x[edge_index[0]] - x[edge_index[1]]).tanh()
        return x + e.mean(0) + e.square().sum() / 100


class LargestEdge(nn.Module):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return x - (x[edge_index[0]] * x[edge_index[1]]).amax(0)


class NormalisedAtSources(nn.Module):
    """A softmax over the edges that leave a node, summed where they arrive."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Any:
        source, target = edge_index
        alpha = softmax((x[source] * x[target]).sum(-1), source, num_nodes=x.size(0))
        return torch.zeros_like(x).index_add(0, target, alpha[:, None] * x[source]), alpha


class StateOfOtherEnd(nn.Module):
    """A state made for the targets, reduced at the sources one layer later, and returned."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Any:
        source, target = edge_index
        state = (x[source] - 2 * x[target]).tanh()
        h = torch.zeros_like(x).index_add(0, target, state)
        state = state * h[target]
        back = torch.zeros_like(x).index_add(0, source, state + h[source])
        return back, state


class GivenAndComputed(nn.Module):
    """Edge values that depend on no feature beside one that does."""

    def __init__(self) -> None:
        super().__init__()
        self.edge = nn.Linear(EDGE_WIDTH, 3)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Any:
        return self.edge(edge_attr), edge_index, x[edge_index[0]].sum(-1)


MODELS: dict[str, Callable[[], nn.Module]] = {
    "attention weights": AttentionWeights,
    "attention of every layer": AttentionOfEveryLayer,
    "scores": Scores,
    "edge states": lambda: EdgeStates(3),
    "edge states for nodes": lambda: EdgeStates(4, both=False),
    "mean of edges": MeanOfEdges,
    "largest edge": LargestEdge,
    "normalised at sources": NormalisedAtSources,
    "state of the other end": StateOfOtherEnd,
    "given and computed": GivenAndComputed,
}


@cache
def program_of(name: str) -> tuple[gnnc.Program, nn.Module]:
    torch.manual_seed(0)
    model = MODELS[name]().eval()
    return gnnc.compile(model, TINY), model


def with_attributes(graph: gnnc.Graph) -> gnnc.Graph:
    generator = torch.Generator().manual_seed(graph.num_edges)
    edge_attr = torch.randn(graph.num_edges, EDGE_WIDTH, generator=generator)
    return gnnc.Graph(x=graph.x, edge_index=graph.edge_index, edge_attr=edge_attr)


def eager(model: nn.Module, program: gnnc.Program, graph: gnnc.Graph) -> Any:
    given = {"x": graph.x, "edge_index": graph.edge_index, **graph.attributes}
    with torch.no_grad():
        return model(**{i.key: given[i.key] for i in program.inputs})


@pytest.mark.parametrize("name", list(MODELS))
def test_equals_eager(name: str, nasty_graphs: Mapping[str, gnnc.Graph]) -> None:
    program, model = program_of(name)
    for kind, nasty in nasty_graphs.items():
        graph = with_attributes(nasty)
        if name == "largest edge" and graph.num_edges == 0:
            continue  # there torch raises
        expected = eager(model, program, graph)
        for batch_size in (1, 3, None):
            result = program.run(graph=graph, batch_size=batch_size)
            torch.testing.assert_close(
                result,
                expected,
                rtol=1e-4,
                atol=1e-4,
                equal_nan=True,
                msg=lambda m, case=f"{kind}, batch size {batch_size}": f"{case}: {m}",
            )


def test_rows_are_in_the_order_of_the_edges(random_graph: gnnc.Graph) -> None:
    """Another order of the same edges gives the same rows in that order."""
    program, _ = program_of("edge states")
    graph = with_attributes(random_graph)
    order = torch.randperm(graph.num_edges, generator=torch.Generator().manual_seed(0))
    edge_attr = torch.as_tensor(graph.attributes["edge_attr"])
    shuffled = gnnc.Graph(x=graph.x, edge_index=graph.edge_index[:, order], edge_attr=edge_attr[order])
    h, e = program.run(graph=graph)
    other_h, other_e = program.run(graph=shuffled, batch_size=4)
    torch.testing.assert_close(other_h, h, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(other_e, e[order], rtol=1e-4, atol=1e-4)


def test_edge_states_are_stored_between_blocks() -> None:
    """A state that is made from neighbours of neighbours is loaded with the edges."""
    program, _ = program_of("edge states for nodes")
    blocks = [op for op in program.module.walk() if isinstance(op, ConvBlockOp)]
    loads_edges = {block.layer_index: bool(block.edges) for block in blocks}
    assert not loads_edges[1]
    assert loads_edges[3] and loads_edges[4]


def test_nodes_do_not_name_edges(random_graph: gnnc.Graph) -> None:
    program, _ = program_of("scores")
    with pytest.raises(RunError, match="the program returns values on edges, which nodes don't name: run it without"):
        program.run(graph=random_graph, nodes=[1, 2])


def test_nodes_can_be_asked_for_where_states_are_inside(random_graph: gnnc.Graph) -> None:
    program, model = program_of("edge states for nodes")
    graph = with_attributes(random_graph)
    ids = [3, 17, 3]
    result = program.run(graph=graph, nodes=ids, batch_size=2)
    torch.testing.assert_close(result, eager(model, program, graph)[ids], rtol=1e-4, atol=1e-4)
