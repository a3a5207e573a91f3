"""Models in plain torch, without a library of layers: however rows are gathered and scattered, it is exact."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils._pytree import tree_leaves, tree_structure

import gnnc
from gnnc.frontend.arguments import bind_arguments

WIDTH = 10

TINY = gnnc.Graph(
    x=torch.zeros(3, WIDTH),
    edge_index=torch.tensor([[0, 1], [1, 2]]),
    edge_weight=torch.zeros(2),
    edge_attr=torch.zeros(2, 4),
    edge_type=torch.zeros(2, dtype=torch.int64),
)


class Base(nn.Module):
    """Weights for all of them."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(WIDTH, 8)
        self.second = nn.Linear(8, 8)
        self.edge = nn.Sequential(nn.Linear(20, 8), nn.ReLU(), nn.Linear(8, 8))
        self.relations = nn.Parameter(torch.randn(3, 8, 8) / 8)
        self.attention = nn.Parameter(torch.randn(2, 4))
        self.lstm = nn.LSTM(8, 4, batch_first=True, bidirectional=True)
        self.eps = nn.Parameter(torch.tensor(0.3))
        self.norm = nn.BatchNorm1d(8)


class IndexAdd(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.first(x)
        h = torch.zeros_like(h).index_add(0, edge_index[1], h.index_select(0, edge_index[0])).relu()
        return torch.zeros_like(h).index_add_(0, edge_index[1], self.second(h).index_select(0, edge_index[0]))


class ScatterAdd(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        source, target = edge_index
        h = self.first(x)
        index = target.unsqueeze(-1).expand(-1, 8)
        h = torch.zeros(x.size(0), 8).scatter_add_(0, index, h[source]).tanh()
        return h.new_zeros(h.shape).scatter_add(0, target.view(-1, 1).expand_as(h[source]), self.second(h)[source])


class ScatterIntoFeatures(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.first(x)
        return h.index_add(0, edge_index[1], self.second(h)[edge_index[0]])


class ScatterReduce(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> list[Tensor]:
        h = self.first(x)
        index = edge_index[1][:, None].expand(-1, h.size(1))
        return [
            start.scatter_reduce(0, index, h[edge_index[0]], reduce, include_self=include_self)
            for start in (torch.zeros_like(h), torch.ones_like(h), self.second(h))
            for reduce in ("sum", "mean", "amax", "amin", "prod")
            for include_self in (True, False)
        ]


class IndexReduce(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> list[Tensor]:
        h = self.first(x)
        return [
            self.second(h).index_reduce(0, edge_index[1], h[edge_index[0]], reduce, include_self=include_self)
            for reduce in ("mean", "amax", "amin", "prod")
            for include_self in (True, False)
        ]


class IndexPut(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.first(x)
        out = torch.zeros_like(h).index_put((edge_index[1],), h[edge_index[0]], accumulate=True)
        return torch.ops.aten.index_put(self.second(out).t(), [None, edge_index[1]], h[edge_index[0]].t(), True).t()


class ScatterWithReduce(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.first(x)
        index = edge_index[1].repeat(8, 1).t()
        h = torch.zeros_like(h).scatter(0, index, h[edge_index[0]], reduce="add")
        return torch.ones_like(h).scatter(0, index, h[edge_index[0]].tanh(), reduce="multiply")


class GatherCall(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.first(x)
        h = torch.zeros_like(h).index_add(0, edge_index[1], h.gather(0, edge_index[0][:, None].expand(-1, 8)))
        return torch.zeros_like(h).index_add(0, edge_index[1], F.embedding(edge_index[0], h))


class MiddleAxis(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.first(x).view(-1, 2, 4).permute(1, 0, 2)
        h = torch.zeros_like(h).index_add(1, edge_index[1], h.index_select(1, edge_index[0])).relu()
        h = torch.zeros_like(h).scatter_add(1, edge_index[1].view(1, -1, 1).expand(2, -1, 4), h[:, edge_index[0]])
        return h.permute(1, 0, 2).reshape(-1, 8)


class LastAxis(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.first.weight @ x.t()
        return torch.zeros_like(h).index_add(1, edge_index[1], h[:, edge_index[0]]).t()


class TargetToSource(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.first(x)
        h = torch.zeros_like(h).index_add(0, edge_index[0], h[edge_index[1]]).relu()
        return torch.zeros_like(h).index_add(0, edge_index[0], h[edge_index[1]])


class BothDirections(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        source, target = edge_index
        h = self.first(x)
        h = torch.zeros_like(h).index_add(0, target, h[source]) - torch.zeros_like(h).index_add(0, source, h[target])
        return self.second(h) + torch.zeros_like(h).index_add(0, source, h[target].relu())


class Weighted(Base):
    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        h = self.first(x)
        messages = h[edge_index[0]] if edge_weight is None else h[edge_index[0]] * edge_weight.unsqueeze(-1)
        return torch.zeros_like(h).index_add(0, edge_index[1], messages)


class EdgeMlp(Base):
    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        source, target = edge_index
        h = self.first(x)
        for _ in range(2):
            messages = self.edge(torch.cat([h[source], h[target], edge_attr], dim=-1))
            h = h + torch.zeros_like(h).index_add(0, target, messages)
        return h


def aggregate(h: Tensor, edge_index: Tensor) -> Tensor:
    return torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]])


class LoopsByStack(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        nodes = torch.arange(x.size(0))
        edge_index = torch.cat([edge_index, torch.stack([nodes, nodes])], dim=1)
        return aggregate(self.second(aggregate(self.first(x), edge_index).relu()), edge_index)


class LoopsByCat(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        nodes = torch.arange(x.size(0))
        source, target = torch.cat([edge_index[0], nodes]), torch.cat([edge_index[1], nodes])
        degree = torch.zeros(x.size(0)).index_add(0, target, torch.ones_like(target, dtype=x.dtype))
        norm = degree.pow(-0.5)
        h = self.first(x)
        for _ in range(2):
            h = torch.zeros_like(h).index_add(0, target, h[source] * (norm[source] * norm[target])[:, None])
        return h


class WithoutLoops(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        edge_index = edge_index[:, edge_index[0] != edge_index[1]]
        return aggregate(self.second(aggregate(self.first(x), edge_index).relu()), edge_index)


class Undirected(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        edge_index = torch.cat([edge_index, edge_index.flip(0)], dim=1)
        return aggregate(self.second(aggregate(self.first(x), edge_index).relu()), edge_index)


class TwoRelations(Base):
    def forward(self, x: Tensor, edge_index: Tensor, edge_type: Tensor) -> Tensor:
        h = self.first(x)
        for _ in range(2):
            new = self.second(h)
            for relation in range(2):
                new = new + aggregate(h @ self.relations[relation], edge_index[:, edge_type == relation])
            h = new.relu()
        return h


class RelationWeights(Base):
    def forward(self, x: Tensor, edge_index: Tensor, edge_type: Tensor) -> Tensor:
        h = self.first(x)
        messages = torch.bmm(h[edge_index[0]].unsqueeze(1), self.relations[edge_type]).squeeze(1)
        h = torch.zeros_like(h).index_add(0, edge_index[1], messages)
        picked = self.relations.index_select(0, edge_type)
        return torch.zeros_like(h).index_add(0, edge_index[1], torch.einsum("ef,efg->eg", h[edge_index[0]], picked))


class DegreeByBincount(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        degree = torch.zeros(x.size(0)).index_add(0, edge_index[1], torch.ones(edge_index.size(1))).clamp(min=1)
        return aggregate(self.first(x), edge_index) / degree[:, None]


class Attention(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        source, target = edge_index
        h = self.first(x).view(-1, 2, 4)
        score = torch.einsum("nhf,hf->nh", h, self.attention)
        score = F.leaky_relu(score[source] + score[target], 0.2)
        index = target[:, None].expand(-1, 2)
        largest = torch.full((x.size(0), 2), -1e30).scatter_reduce(0, index, score, "amax")
        weight = (score - largest[target]).exp()
        total = torch.zeros(x.size(0), 2).scatter_add(0, index, weight)
        alpha = F.dropout(weight / total[target], 0.6, training=self.training)
        return torch.zeros_like(h).index_add(0, target, h[source] * alpha[:, :, None]).flatten(1)


class JumpingLstm(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        hs = [self.first(x)]
        for _ in range(3):
            hs.append(aggregate(hs[-1], edge_index).tanh())
        stacked = torch.stack(hs, dim=1)
        alpha, _ = self.lstm(stacked)
        return (stacked * alpha.sum(-1, keepdim=True).softmax(dim=1)).sum(dim=1)


class InPlace(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = self.first(x).relu_()
        h = aggregate(h, edge_index).mul_(1 + self.eps).add_(h)
        h[:, 0] = 1.0
        h[:, 2:4] = h[:, 4:6]
        h[x[:, 0] > 0] = 0.5
        h[h > 2] = 2.0
        return self.norm(h)


class ChangesItsInput(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        x.mul_(2.0)
        return aggregate(x, edge_index)


class Outputs(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> dict[str, Any]:
        h = aggregate(self.first(x), edge_index)
        return {
            "nothing": None,
            "twice": (h, h),
            "deep": aggregate(h, edge_index),
            "classes": h.argmax(1),
            "own": self.second(h)[:, 0],
        }


class Unchanged(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> tuple[Tensor, Tensor]:
        return x, aggregate(x[: x.size(0)], edge_index)


class CountsInArithmetic(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = aggregate(self.first(x) / x.size(0), edge_index) + edge_index.size(1)
        return h + torch.full((x.size(0), 1), x.size(0)) + x[:, 0:1] * x.size(0)


class WeightForEveryNode(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        start = self.first.bias.expand(x.size(0), 8)
        h = aggregate(torch.cat([self.first(x), start], dim=1), edge_index)
        return h + self.attention.view(1, 8).repeat(x.size(0), 2)


class WithoutEdges(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.second(self.first(x).relu())


class NoRows(Base):
    """Values without rows, each broadcast over all."""

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = F.linear(x, self.first.weight[0]) + torch.arange(3).sum()
        return aggregate(torch.where(h > 0, h, 0.5 * h).unsqueeze(-1) * torch.ones(8), edge_index)


MODELS: dict[str, type[nn.Module]] = {
    c.__name__: c
    for c in (
        IndexAdd,
        ScatterAdd,
        ScatterIntoFeatures,
        ScatterReduce,
        IndexReduce,
        IndexPut,
        GatherCall,
        MiddleAxis,
        LastAxis,
        TargetToSource,
        BothDirections,
        Weighted,
        EdgeMlp,
        LoopsByStack,
        LoopsByCat,
        WithoutLoops,
        Undirected,
        TwoRelations,
        RelationWeights,
        DegreeByBincount,
        Attention,
        JumpingLstm,
        InPlace,
        ChangesItsInput,
        Outputs,
        Unchanged,
        CountsInArithmetic,
        WeightForEveryNode,
        WithoutEdges,
        NoRows,
        ScatterWithReduce,
    )
}


@cache
def model_of(name: str) -> nn.Module:
    torch.manual_seed(0)
    model = MODELS[name]().eval()
    torch.nn.init.uniform_(model.get_buffer("norm.running_var"), 0.5, 2.0)
    return model


@cache
def program_of(name: str) -> gnnc.Program:
    return gnnc.compile(model_of(name), TINY)


def with_edge_values(graph: gnnc.Graph) -> gnnc.Graph:
    """The graph with weights, attributes and one of three types an edge."""
    generator = torch.Generator().manual_seed(graph.num_edges)
    edges = graph.num_edges
    return gnnc.Graph(
        x=graph.x,
        edge_index=graph.edge_index,
        edge_weight=torch.rand(edges, generator=generator),
        edge_attr=torch.randn(edges, 4, generator=generator),
        edge_type=torch.arange(edges) % 3,
    )


def arguments_of(model: nn.Module, graph: gnnc.Graph) -> dict[str, Tensor]:
    given = {"edge_index": graph.edge_index, **graph.attributes}
    return {name: torch.as_tensor(given[name]).clone() for name in bind_arguments(model, graph).recipes}


@pytest.mark.filterwarnings("ignore:index_reduce\\(\\) is in beta", "ignore:The reduce argument of torch.scatter")
@pytest.mark.parametrize("name", list(MODELS))
def test_equals_eager(name: str, nasty_graphs: Mapping[str, gnnc.Graph]) -> None:
    program = program_of(name)
    for kind, nasty in nasty_graphs.items():
        graph = with_edge_values(nasty)
        with torch.no_grad():
            expected = model_of(name)(**arguments_of(model_of(name), graph))
        for batch_size in (1, 3, None):
            result = program.run(graph=graph, batch_size=batch_size)
            assert_equal(result, expected, f"{kind}, batch size {batch_size}")


def assert_equal(result: Any, expected: Any, case: str) -> None:
    assert tree_structure(result) == tree_structure(expected), case
    for actual, wanted in zip(tree_leaves(result), tree_leaves(expected), strict=True):
        torch.testing.assert_close(actual, wanted, rtol=1e-4, atol=1e-4, msg=lambda message: f"{case}: {message}")


def test_edges_may_be_left_out_of_the_graph() -> None:
    """A weight that the graph lacks keeps its default."""
    graph = gnnc.Graph(x=torch.randn(4, WIDTH), edge_index=torch.tensor([[0, 1, 2], [1, 2, 3]]))
    program = gnnc.compile(model_of("Weighted"), graph)
    assert [i.key for i in program.inputs] == ["x", "edge_index"]
    with torch.no_grad():
        expected = model_of("Weighted")(graph.x, graph.edge_index)
    torch.testing.assert_close(program.run(), expected)
