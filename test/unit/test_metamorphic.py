"""What must not matter does not: how nodes are numbered, what else is in the graph, how it is run, how edges lie.

No model is run itself here: each property compares a program with itself on two graphs, or on one graph in two ways.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from random import Random

import pytest
import torch
from academic_graph import WIDTH
from batched_runs import assert_same
from deeper_gcn import DeeperGcn
from gat_heads import Gat
from gated_gcn import GatedGcn
from gcn_two_layers import Gcn
from hypothesis import given, settings
from hypothesis import strategies as st
from relational_attention import RelationalAttention
from residual_layer_norm import ResidualLayerNorm
from sgformer import SgFormer
from torch import Tensor, nn
from torch_geometric.nn import GraphNorm, PNAConv, SAGEConv

import gnnc

CLASSES, EDGE_WIDTH, RELATIONS = 4, 3, 3


class PrincipalAggregation(nn.Module):
    """Corso et al., Principal Neighbourhood Aggregation for Graph Nets (2020): several order-free aggregations."""

    def __init__(self) -> None:
        super().__init__()
        scalers, aggregators = ["identity", "amplification"], ["mean", "max", "min", "std"]
        self.conv = PNAConv(WIDTH, CLASSES, aggregators, scalers, torch.tensor([1, 3, 2]), edge_dim=EDGE_WIDTH)

    def forward(self, x: Tensor, edge_index: Tensor, edge_attr: Tensor) -> Tensor:
        return self.conv(x, edge_index, edge_attr)


class Normalised(nn.Module):
    """Every layer is normalised over all nodes."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm, self.second = SAGEConv(WIDTH, 8, aggr="max"), GraphNorm(8), SAGEConv(8, CLASSES)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.second(self.norm(self.first(x, edge_index)).relu(), edge_index)


LOCAL: dict[str, Callable[[], nn.Module]] = {
    "GCN": lambda: Gcn(WIDTH, 8, CLASSES),
    "GAT": lambda: Gat(WIDTH, 4, CLASSES, 2),
    "PNA": PrincipalAggregation,
    "DeeperGCN": lambda: DeeperGcn(WIDTH, EDGE_WIDTH, 8, CLASSES, 2),
    "GatedGCN": lambda: GatedGcn(WIDTH, EDGE_WIDTH, 8, CLASSES, 3),
    "relational attention": lambda: RelationalAttention(WIDTH, 8, CLASSES, RELATIONS),
    "residual, layer norm, sum": lambda: ResidualLayerNorm(WIDTH, 8, CLASSES, 2),
}
GLOBAL: dict[str, Callable[[], nn.Module]] = {"SGFormer": lambda: SgFormer(WIDTH, 8, CLASSES), "GraphNorm": Normalised}
MODELS = {**LOCAL, **GLOBAL}

EXAMPLES = settings(max_examples=6, deadline=None)


@dataclass(frozen=True)
class Case:
    """A graph as tensors."""

    x: Tensor
    edge_index: Tensor
    edge_attr: Tensor
    edge_type: Tensor

    @property
    def nodes(self) -> int:
        return self.x.size(0)

    @property
    def edges(self) -> int:
        return self.edge_index.size(1)

    def graph(self) -> gnnc.Graph:
        return gnnc.Graph(x=self.x, edge_index=self.edge_index, edge_attr=self.edge_attr, edge_type=self.edge_type)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Loops, duplicates and isolated nodes come of themselves."""
    nodes = draw(st.integers(1, 9))
    node = st.integers(0, nodes - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=25))
    generator = torch.Generator().manual_seed(draw(st.integers(0, 1000)))
    return Case(
        torch.randn(nodes, WIDTH, generator=generator),
        torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T.contiguous(),
        torch.randn(len(pairs), EDGE_WIDTH, generator=generator),
        torch.randint(0, RELATIONS, (len(pairs),), generator=generator),
    )


@cache
def program_of(name: str) -> gnnc.Program:
    torch.manual_seed(0)
    edge_index = torch.tensor([[0, 1, 2], [1, 2, 0]])
    small = Case(torch.zeros(3, WIDTH), edge_index, torch.zeros(3, EDGE_WIDTH), torch.tensor([0, 1, 2]))
    return gnnc.compile(MODELS[name]().eval(), small.graph())


def run(name: str, case: Case, batch_size: int | None = None, nodes: list[int] | None = None) -> Tensor:
    return torch.as_tensor(program_of(name).run(graph=case.graph(), batch_size=batch_size, nodes=nodes))


@pytest.mark.parametrize("name", list(MODELS))
@EXAMPLES
@given(cases(), st.randoms(use_true_random=False))
def test_renumbered_nodes_permute_the_output(name: str, case: Case, random: Random) -> None:
    numbers = torch.tensor(random.sample(range(case.nodes), case.nodes))
    x = torch.empty_like(case.x)
    x[numbers] = case.x
    renumbered = Case(x, numbers[case.edge_index], case.edge_attr, case.edge_type)
    assert_same(run(name, renumbered)[numbers], run(name, case), "renumbered")


@pytest.mark.parametrize("name", list(LOCAL))
@EXAMPLES
@given(cases(), cases())
def test_what_is_not_connected_changes_nothing(name: str, case: Case, other: Case) -> None:
    """An isolated node, or any graph beside this one."""
    both = Case(
        torch.cat([case.x, other.x]),
        torch.cat([case.edge_index, other.edge_index + case.nodes], dim=1),
        torch.cat([case.edge_attr, other.edge_attr]),
        torch.cat([case.edge_type, other.edge_type]),
    )
    alone = Case(torch.cat([case.x, other.x[:1]]), case.edge_index, case.edge_attr, case.edge_type)
    expected = run(name, case)
    assert_same(run(name, both, batch_size=4)[: case.nodes], expected, "beside another graph")
    assert_same(run(name, alone)[: case.nodes], expected, "with an isolated node")


@pytest.mark.parametrize("name", list(MODELS))
@EXAMPLES
@given(cases(), st.integers(1, 10))
def test_the_batch_size_does_not_matter(name: str, case: Case, batch_size: int) -> None:
    assert_same(run(name, case, batch_size), run(name, case), f"batch size {batch_size}")


@pytest.mark.parametrize("name", list(MODELS))
@EXAMPLES
@given(cases(), st.data())
def test_some_nodes_are_rows_of_all(name: str, case: Case, data: st.DataObject) -> None:
    """In the order asked for, and as often."""
    ids = data.draw(st.lists(st.integers(0, case.nodes - 1), min_size=1, max_size=6))
    assert_same(run(name, case, batch_size=2, nodes=ids), run(name, case)[ids], f"nodes {ids}")


@pytest.mark.parametrize("name", list(MODELS))
@EXAMPLES
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_edges_does_not_matter(name: str, case: Case, random: Random) -> None:
    order = torch.tensor(random.sample(range(case.edges), case.edges), dtype=torch.int64)
    shuffled = Case(case.x, case.edge_index[:, order], case.edge_attr[order], case.edge_type[order])
    assert_same(run(name, shuffled), run(name, case), "another order of edges")


def test_global_models_do_see_an_isolated_node() -> None:
    """The property that holds for the others can fail."""
    case = Case(torch.ones(2, WIDTH), torch.tensor([[0], [1]]), torch.zeros(1, EDGE_WIDTH), torch.tensor([0]))
    more = Case(torch.cat([case.x, -case.x]), case.edge_index, case.edge_attr, case.edge_type)
    for name in GLOBAL:
        assert not torch.allclose(run(name, more)[:2], run(name, case), atol=1e-3)
