"""Runs in which every node sees a sample of its neighbours."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.nn import GATConv, GCNConv, RGCNConv, SAGEConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.nn.models import GAT, GCN, GraphSAGE

import gnnc
from gnnc.dialects.gnn import ConvOperation, End
from gnnc.errors import RunError
from gnnc.sampling import fan_outs, sampled_module
from gnnc.targets.edge_origins import Part
from gnnc.targets.edge_sets import EdgeSet
from gnnc.targets.gpu.batch import sampled_edges_of
from gnnc.targets.neighbor_sampling import Sample
from gnnc.targets.reference.run import run_model

WIDTH = 10

MODELS: dict[str, Callable[[], torch.nn.Module]] = {
    "gcn": lambda: GCN(WIDTH, 16, 2, 7),
    "gat": lambda: GAT(WIDTH, 16, 2, 7, heads=2),
    "sage": lambda: GraphSAGE(WIDTH, 16, 2, 7),
    "sage with several reductions": lambda: GraphSAGE(WIDTH, 16, 2, 7, aggr=["mean", "max", "std"]),
}


def graph_of(nodes: int, edges: torch.Tensor) -> gnnc.Graph:
    generator = torch.Generator().manual_seed(nodes)
    return gnnc.Graph(x=torch.randn(nodes, WIDTH, generator=generator), edge_index=edges, num_nodes=nodes)


def dense_graph() -> gnnc.Graph:
    """30 nodes with about 8 in-neighbours each, loops and duplicates among them."""
    return graph_of(30, torch.randint(0, 30, (2, 240), generator=torch.Generator().manual_seed(1)))


@cache
def program_of(name: str) -> gnnc.Program:
    torch.manual_seed(0)
    return gnnc.compile(MODELS[name]().eval(), dense_graph())


@st.composite
def graphs(draw: st.DrawFn) -> gnnc.Graph:
    nodes = draw(st.integers(1, 6))
    node = st.integers(0, nodes - 1)
    pairs = draw(st.lists(st.tuples(node, node), max_size=20))
    return graph_of(nodes, torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T.contiguous())


def sampled_edge_index(graph: gnnc.Graph, fanout: int, seed: int, layer: int, *, loops: bool = True) -> torch.Tensor:
    """The graph's own edges that a layer sees; without its self-loops where the model takes them out first."""
    source, target = torch.as_tensor(graph.edge_index)
    edges = EdgeSet(source, target, graph.num_nodes, graph.num_nodes, (Part("edges", graph.num_edges),))
    edges = edges if loops else edges.without_loops()
    _, ids = sampled_edges_of(edges, End.TARGET, range(graph.num_nodes), Sample(fanout, seed, layer))
    kept = ids.sort().values
    return torch.stack([edges.sources[kept], edges.targets[kept]])


def features(graph: gnnc.Graph) -> torch.Tensor:
    return torch.as_tensor(graph.x)


@pytest.mark.parametrize("name", list(MODELS))
def test_a_large_fan_out_gives_the_full_result(name: str, nasty_graph: gnnc.Graph) -> None:
    program = program_of(name)
    full = program.run(graph=nasty_graph)
    for fanout in ([1000, 1000], [-1, -1]):
        torch.testing.assert_close(program.run(graph=nasty_graph, fanout=fanout), full)


@pytest.mark.parametrize("name", list(MODELS))
@settings(max_examples=25, deadline=None)
@given(
    graph=graphs(), fanout=st.lists(st.integers(1, 4), min_size=2, max_size=2), seed=st.integers(0, 9), data=st.data()
)
def test_batches_and_nodes_never_change_a_sample(
    name: str, graph: gnnc.Graph, fanout: list[int], seed: int, data: st.DataObject
) -> None:
    program = program_of(name)
    whole = program.run(graph=graph, fanout=fanout, seed=seed)
    for batch_size in (1, 3):
        result = program.run(graph=graph, fanout=fanout, seed=seed, batch_size=batch_size)
        torch.testing.assert_close(result, whole)
    nodes = data.draw(st.lists(st.integers(0, graph.num_nodes - 1), min_size=1, max_size=4))
    result = program.run(graph=graph, fanout=fanout, seed=seed, nodes=nodes, batch_size=2)
    torch.testing.assert_close(result, whole[nodes])


@pytest.mark.parametrize("name", list(MODELS))
def test_the_reference_computes_the_same(name: str, nasty_graph: gnnc.Graph) -> None:
    program = program_of(name)
    inputs = {"x": features(nasty_graph), "edge_index": torch.as_tensor(nasty_graph.edge_index)}
    module = sampled_module(program.module, (2, 3), 5)
    (expected,) = run_model(module, inputs, program.weights, {"nodes": nasty_graph.num_nodes})
    torch.testing.assert_close(program.run(graph=nasty_graph, fanout=(2, 3), seed=5, batch_size=4), expected)


@pytest.mark.parametrize("name", list(MODELS))
def test_seeds_and_fan_outs_change_the_result(name: str) -> None:
    program = program_of(name)
    runs = [program.run(fanout=f, seed=s) for f, s in (([3, 3], 0), ([3, 3], 1), ([3, 4], 0), ([4, 3], 0))]
    assert not any(torch.equal(a, b) for i, a in enumerate(runs) for b in runs[:i])
    assert torch.equal(program.run(fanout=[3, 3], seed=0), runs[0])


@pytest.mark.parametrize("name", ["gcn", "sage"])
def test_samples_of_all_nodes_are_drawn_once(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    graph, program = dense_graph(), program_of(name)
    run = partial(program.run, graph=graph, fanout=[3, 2], batch_size=7)

    def keep_none(*_: Any) -> None:
        """Each batch draws its own."""

    with monkeypatch.context() as patch:
        patch.setattr("gnnc.targets.gpu.executor.keep_samples", keep_none)
        expected = run(seed=1)
    assert torch.equal(run(seed=1), expected)
    with monkeypatch.context() as patch:
        patch.setattr("gnnc.targets.gpu.batch.draw", None)
        patch.setattr("gnnc.targets.gpu.kept_samples.draw", None)
        assert torch.equal(run(seed=1), expected)
        torch.testing.assert_close(run(seed=1, nodes=[4, 29]), expected[[4, 29]])
        with pytest.raises(TypeError):
            run(seed=2)
    torch.testing.assert_close(run(seed=1, memory="1MiB"), expected)
    edges = [value for value in program.structure(graph, {}) if isinstance(value, EdgeSet)]
    assert edges and not any(edge_set.samples for edge_set in edges), "a budget has no room for them"


# Against the layers themselves, on the edges that are drawn.


def test_a_mean_is_that_of_the_sample() -> None:
    torch.manual_seed(0)
    graph, first, second = dense_graph(), SAGEConv(WIDTH, 8).eval(), SAGEConv(8, 3).eval()

    class TwoLayers(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = first, second

        def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
            return self.second(self.first(x, edge_index).relu(), edge_index)

    result = gnnc.compile(TwoLayers().eval(), graph).run(fanout=[2, 4], seed=3)
    with torch.no_grad():
        hidden = first(features(graph), sampled_edge_index(graph, 2, 3, 1)).relu()
        expected = second(hidden, sampled_edge_index(graph, 4, 3, 2))
    torch.testing.assert_close(result, expected)


def test_attention_is_that_of_the_sample_and_of_the_self_loop() -> None:
    torch.manual_seed(0)
    graph, conv = dense_graph(), GATConv(WIDTH, 4, heads=2).eval()
    result = gnnc.compile(conv, graph).run(fanout=[2], seed=1)
    with torch.no_grad():
        expected = conv(features(graph), sampled_edge_index(graph, 2, 1, 1, loops=False))
    torch.testing.assert_close(result, expected)


def test_the_norm_of_gcn_is_that_of_the_whole_graph() -> None:
    torch.manual_seed(0)
    graph, conv = dense_graph(), GCNConv(WIDTH, 4).eval()
    result = gnnc.compile(conv, graph).run(fanout=[2], seed=1)
    nodes = graph.num_nodes
    edge_index, norm = gcn_norm(torch.as_tensor(graph.edge_index), num_nodes=nodes)
    drawn = sampled_edge_index(graph, 2, 1, 1, loops=False)
    assert isinstance(edge_index, torch.Tensor)
    assert norm is not None
    norm_of = {(int(s), int(t)): float(n) for (s, t), n in zip(edge_index.T, norm, strict=True)}
    matrix = torch.zeros(nodes, nodes)
    for s, t in [*drawn.T.tolist(), *((v, v) for v in range(nodes))]:
        matrix[t, s] += norm_of[s, t]
    with torch.no_grad():
        expected = matrix @ conv.lin(features(graph)) + conv.bias
    torch.testing.assert_close(result, expected)


def test_every_relation_has_a_sample_of_its_own() -> None:
    torch.manual_seed(0)
    graph = dense_graph()
    types = torch.arange(graph.num_edges) % 2
    typed = gnnc.Graph(x=features(graph), edge_index=torch.as_tensor(graph.edge_index), edge_type=types)
    conv = RGCNConv(WIDTH, 4, 2, aggr="sum").eval()
    result = gnnc.compile(conv, typed).run(fanout=[2], seed=0)
    source, target = torch.as_tensor(graph.edge_index)
    edges = EdgeSet(source, target, 30, 30, (Part("edges", graph.num_edges),))
    drawn = torch.cat(
        [
            (types == kind)
            .nonzero()
            .squeeze(1)[sampled_edges_of(edges.where(types == kind), End.TARGET, range(30), Sample(2, 0, 1))[1]]
            for kind in (0, 1)
        ]
    )
    assert torch.bincount(target[drawn], minlength=30).max() == 4
    with torch.no_grad():
        expected = conv(features(graph), torch.as_tensor(graph.edge_index)[:, drawn], types[drawn])
    torch.testing.assert_close(result, expected)


def test_all_reductions_of_a_conv_carry_one_sample() -> None:
    module = sampled_module(program_of("sage with several reductions").module, (2, 3), 0)
    samples = {(op.conv_index, op.layer_index, op.sample) for op in module.walk() if isinstance(op, ConvOperation)}
    assert len(samples) == 2


def test_the_program_itself_stays_as_it_is() -> None:
    program = program_of("gat")
    before, full = str(program.module), program.run()
    program.run(fanout=[1, 1])
    assert str(program.module) == before
    assert torch.equal(program.run(), full)


def test_a_sampled_program_is_made_once() -> None:
    program = program_of("gcn")
    executor = program.executor_for([2, 2], 0)
    assert program.executor_for((2, 2), 0) is executor
    assert program.executor_for((2, 2), 1) is not executor


def test_partial_inference_computes_the_sampled_neighbors_alone() -> None:
    """A path of hubs: with one neighbour each, node 0 needs itself and one other."""
    hubs = [(10 * v + 10 + i, 10 * v) for v in range(3) for i in range(1, 10)] + [(10, 0), (20, 10)]
    graph = graph_of(60, torch.tensor(hubs).T.contiguous())
    program = program_of("sage")
    full = program.run(graph=graph, fanout=[1, 1], seed=2)
    torch.testing.assert_close(program.run(graph=graph, fanout=[1, 1], seed=2, nodes=[0]), full[[0]])
    executor = program.executor_for([1, 1], 2)
    counts = {"nodes": 60}
    structure = executor.structure({"edge_index": torch.as_tensor(graph.edge_index)}, counts)
    values = executor.arguments({"x": features(graph)}, structure)
    targets = executor.targets_of_blocks(values, counts, {"nodes": torch.tensor([0])}, "cpu")
    assert sorted(len(nodes) for nodes in targets.values()) == [1, 2]


@pytest.mark.parametrize(
    ("fanout", "message"),
    [
        ([5], "fanout=[5]: 1 fan-outs are given and the model has 2 layers of Convs"),
        ([5, 5, 5], "3 fan-outs are given and the model has 2 layers of Convs"),
        ([5, 0], "0 is no fan-out: give how many neighbours to draw, or -1 for all of them"),
        (5, "fanout is 5: give a list with a whole number for each layer"),
        ("5,5", "fanout is '5,5': give a list with a whole number for each layer"),
        ([5.0, 5], "fanout is [5.0, 5]: give a list with a whole number for each layer"),
        ([True, 5], "fanout is [True, 5]: give a list with a whole number for each layer"),
    ],
)
def test_wrong_fan_outs_are_refused(fanout: Any, message: str) -> None:
    with pytest.raises(RunError) as error:
        program_of("gcn").run(fanout=fanout)
    assert message in str(error.value)


def test_fan_outs_may_be_numpy_integers() -> None:
    import numpy as np

    assert fan_outs([np.int64(3), 4]) == (3, 4)


class SortedEdges(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = SAGEConv(WIDTH, 4)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.conv(x, edge_index[:, edge_index[1].argsort(stable=True)])


def test_edges_that_the_model_makes_up_are_refused() -> None:
    program = gnnc.compile(SortedEdges().eval(), dense_graph())
    program.run()
    with pytest.raises(RunError, match="edges that the model makes up by index arithmetic"):
        program.run(fanout=[2])
