"""Every aggregation of torch-geometric on graphs where aggregating goes wrong easily: exact, or refused by name."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from torch_geometric.nn import MessagePassing, aggr

import gnnc
from gnnc.errors import UnsupportedModelError
from gnnc.sampling import sampled_module
from gnnc.targets import aggregations
from gnnc.targets.reference.run import run_model

# torch says so of every such LSTM, ours and the model's
pytestmark = pytest.mark.filterwarnings("ignore:LSTM with projections is not supported with oneDNN:UserWarning")

WIDTH = 10
DEGREES = torch.tensor([1, 2, 3, 4, 2])


def mlp(outputs: int) -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(WIDTH, WIDTH), torch.nn.ReLU(), torch.nn.Linear(WIDTH, outputs))


class Aggregated(MessagePassing):
    """A conv whose messages are the neighbours' features."""

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.propagate(edge_index, x=x)

    def message(self, x_j: torch.Tensor) -> torch.Tensor:
        return x_j


class InHeads(torch.nn.Module):
    """Two heads a node: messages with two row axes."""

    def __init__(self, aggregation: aggr.Aggregation):
        super().__init__()
        self.conv = Aggregated(aggr=aggregation, node_dim=0)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.conv(x.view(-1, 2, WIDTH // 2), edge_index)


class TwoLayers(torch.nn.Module):
    def __init__(self, first: aggr.Aggregation, second: aggr.Aggregation):
        super().__init__()
        self.first, self.second = Aggregated(aggr=first), Aggregated(aggr=second)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.second(self.first(x, edge_index).tanh() + x, edge_index) - x


Make = Callable[[], Any]

ORDER_FREE: dict[str, Make] = {
    "sum": lambda: "sum",
    "mean": lambda: "mean",
    "max": lambda: "max",
    "min": lambda: "min",
    "mul": lambda: "mul",
    "var": lambda: "var",
    "std": lambda: "std",
    "softmax": lambda: aggr.SoftmaxAggregation(t=0.5),
    "softmax with a temperature a channel": lambda: aggr.SoftmaxAggregation(learn=True, channels=WIDTH),
    "softmax, semi-gradient": lambda: aggr.SoftmaxAggregation(semi_grad=True),
    "power mean": lambda: aggr.PowerMeanAggregation(p=2.0, learn=True),
    "median": aggr.MedianAggregation,
    "median filled": lambda: aggr.MedianAggregation(fill_value=-3.0),
    "quantile": lambda: aggr.QuantileAggregation(0.3),
    "quantiles": lambda: aggr.QuantileAggregation([0.0, 0.25, 0.6, 1.0], fill_value=0.5),
    "quantile lower": lambda: aggr.QuantileAggregation(0.7, "lower"),
    "quantile higher": lambda: aggr.QuantileAggregation(0.7, "higher"),
    "quantiles nearest": lambda: aggr.QuantileAggregation([0.25, 0.5], "nearest"),
    "quantile midpoint": lambda: aggr.QuantileAggregation(0.5, "midpoint"),
    "several": lambda: ["mean", "max", "std"],
    "several, added up": lambda: aggr.MultiAggregation(["mean", "median", "max"], mode="sum"),
    "several, projected": lambda: aggr.MultiAggregation(
        ["mean", "median"], mode="proj", mode_kwargs={"in_channels": WIDTH, "out_channels": 4}
    ),
    "degree scalers": lambda: aggr.DegreeScalerAggregation(
        ["mean", "min", "max", "std"],
        ["identity", "amplification", "attenuation", "linear", "inverse_linear"],
        DEGREES,
    ),
    "attention": lambda: aggr.AttentionalAggregation(mlp(1), mlp(WIDTH)),
    "deep sets": lambda: aggr.DeepSetsAggregation(mlp(WIDTH), mlp(4)),
    "set to set": lambda: aggr.Set2Set(WIDTH, 3),
    "variance preserving": aggr.VariancePreservingAggregation,
}

IN_ORDER: dict[str, Make] = {
    "lstm": lambda: aggr.LSTMAggregation(WIDTH, 6),
    "lstm of two layers": lambda: aggr.LSTMAggregation(WIDTH, 6, num_layers=2, bias=False),
    "lstm in both directions": lambda: aggr.LSTMAggregation(WIDTH, 6, bidirectional=True),
    "lstm projected": lambda: aggr.LSTMAggregation(WIDTH, 6, proj_size=3),
    "gru": lambda: aggr.GRUAggregation(WIDTH, 6),
    "gru in both directions": lambda: aggr.GRUAggregation(WIDTH, 6, num_layers=2, bidirectional=True),
    "mlp": lambda: aggr.MLPAggregation(WIDTH, 4, 3, num_layers=2, hidden_channels=8),
    "sort": lambda: aggr.SortAggregation(2),
    "sort of more than any node has": lambda: aggr.SortAggregation(50),
    "lstm and mean": lambda: aggr.MultiAggregation([aggr.LSTMAggregation(WIDTH, WIDTH), "mean"]),
}

MODELS: dict[str, Callable[[], torch.nn.Module]] = {
    **{name: (lambda make=make: Aggregated(aggr=make())) for name, make in (ORDER_FREE | IN_ORDER).items()},
    "median in heads": lambda: InHeads(aggr.MedianAggregation()),
    "quantiles in heads": lambda: InHeads(aggr.QuantileAggregation([0.2, 0.9])),
    "two layers of medians": lambda: TwoLayers(aggr.MedianAggregation(), aggr.QuantileAggregation(0.9)),
    "two layers of lstms": lambda: TwoLayers(aggr.LSTMAggregation(WIDTH, WIDTH), aggr.LSTMAggregation(WIDTH, WIDTH)),
}

REFUSED: dict[str, tuple[Make, str]] = {
    "multiset transformer": (lambda: aggr.GraphMultisetTransformer(WIDTH, k=2), "GraphMultisetTransformer lays all"),
    "set transformer": (lambda: aggr.SetTransformerAggregation(WIDTH, heads=2), "SetTransformerAggregation lays all"),
    "patch transformer": (lambda: aggr.PatchTransformerAggregation(WIDTH, 4, 2, 4), "PatchTransformerAggregation lays"),
    "commutative monoid": (lambda: aggr.LCMAggregation(WIDTH, 4), "LCMAggregation lays all"),
    "equilibrium": (lambda: aggr.EquilibriumAggregation(WIDTH, 4, [4]), "EquilibriumAggregation descends the gradient"),
    "several, attended over": (
        lambda: aggr.MultiAggregation(
            ["mean", "max"], mode="attn", mode_kwargs={"in_channels": WIDTH, "out_channels": WIDTH, "num_heads": 2}
        ),
        "it folds rows into another axis",
    ),
}


@cache
def model_of(name: str) -> torch.nn.Module:
    torch.manual_seed(0)
    model = MODELS[name]()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(torch.randn_like(parameter), alpha=0.1)
    return model.eval()


@cache
def program_of(name: str) -> gnnc.Program:
    graph = gnnc.Graph(x=torch.zeros(3, WIDTH), edge_index=torch.tensor([[0, 1], [1, 1]]))
    return gnnc.compile(model_of(name), graph)


def sorted_edges(graph: gnnc.Graph) -> torch.Tensor:
    """The edges by target, in their order at each target: what the order-sensitive aggregations demand."""
    edge_index = torch.as_tensor(graph.edge_index)
    return edge_index[:, edge_index[1].argsort(stable=True)]


def eager(model: torch.nn.Module, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor | None:
    """What the model computes; None where it raises: then there is nothing to match."""
    try:
        with torch.no_grad():
            return model(x, edge_index)
    except (RuntimeError, IndexError, ValueError):
        return None


def assert_equal(result: torch.Tensor, expected: torch.Tensor) -> None:
    torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize("name", list(MODELS))
def test_an_aggregation_is_exact_at_any_batch_size(name: str, nasty_graphs: dict[str, gnnc.Graph]) -> None:
    model, program, compared = model_of(name), program_of(name), 0
    for graph in nasty_graphs.values():
        expected = eager(model, torch.as_tensor(graph.x), sorted_edges(graph))
        if expected is None:
            continue
        compared += 1
        for batch_size in (1, 3, None):
            assert_equal(program.run(graph=graph, batch_size=batch_size), expected)
    assert compared >= 5


@pytest.mark.parametrize("name", ["median", "quantiles nearest", "lstm", "gru in both directions", "mlp", "sort"])
def test_some_nodes_and_the_reference(name: str, nasty_graphs: dict[str, gnnc.Graph]) -> None:
    program = program_of(name)
    for graph in nasty_graphs.values():
        full = program.run(graph=graph)
        nodes = [graph.num_nodes - 1, 0]
        assert_equal(program.run(graph=graph, nodes=nodes), full[nodes])
        inputs = {"x": torch.as_tensor(graph.x), "edge_index": torch.as_tensor(graph.edge_index)}
        (reference,) = run_model(program.module, inputs, program.weights, {"nodes": graph.num_nodes})
        assert_equal(reference, full)


@pytest.mark.parametrize("name", ["median", "quantiles", "lstm", "sort", "two layers of medians"])
def test_a_sample_is_aggregated_in_every_batch_alike(name: str, random_graph: gnnc.Graph) -> None:
    program = program_of(name)
    fanout = (2,) * (2 if name.startswith("two") else 1)
    whole = program.run(graph=random_graph, fanout=fanout)
    assert not torch.allclose(whole, program.run(graph=random_graph), equal_nan=True)
    assert_equal(program.run(graph=random_graph, fanout=fanout, batch_size=4), whole)
    inputs = {"x": torch.as_tensor(random_graph.x), "edge_index": torch.as_tensor(random_graph.edge_index)}
    sampled = sampled_module(program.module, fanout, 0)
    (reference,) = run_model(sampled, inputs, program.weights, {"nodes": random_graph.num_nodes})
    assert_equal(reference, whole)


def test_the_largest_degree_is_that_of_the_whole_graph() -> None:
    """An LSTM takes as many steps for every node as the node with most messages needs."""
    x = torch.randn(12, WIDTH, generator=torch.Generator().manual_seed(0))
    small = torch.tensor([[1, 2], [0, 0]])
    hub = torch.cat([small, torch.stack([torch.arange(1, 11), torch.full((10,), 11)])], 1)
    program, model = program_of("lstm"), model_of("lstm")
    rows: list[torch.Tensor] = []
    for edges in (small, hub):
        rows.append(program.run(graph=gnnc.Graph(x=x, edge_index=edges), nodes=[0]))
        with torch.no_grad():
            assert_equal(rows[-1], model(x, edges)[[0]])
    assert not torch.allclose(rows[0], rows[1])


@pytest.mark.parametrize("name", ["lstm projected", "gru"])
def test_large_tables_are_made_piece_by_piece(
    name: str, nasty_graphs: dict[str, gnnc.Graph], monkeypatch: pytest.MonkeyPatch
) -> None:
    graph = nasty_graphs["hub"]
    whole = program_of(name).run(graph=graph)
    monkeypatch.setattr(aggregations, "PIECE_BYTES", 1)
    assert_equal(program_of(name).run(graph=graph), whole)


@pytest.mark.parametrize("name", ["quantiles", "lstm"])
def test_an_artifact_knows_the_aggregation(name: str, random_graph: gnnc.Graph, tmp_path: Path) -> None:
    program_of(name).save(tmp_path / "program.gnnc")
    loaded = gnnc.load(tmp_path / "program.gnnc")
    assert_equal(loaded.run(graph=random_graph), program_of(name).run(graph=random_graph))


@pytest.mark.parametrize("name", list(REFUSED))
def test_what_is_not_exact_is_refused_by_name(name: str, random_graph: gnnc.Graph) -> None:
    make, message = REFUSED[name]
    with pytest.raises(UnsupportedModelError, match=message):
        gnnc.compile(Aggregated(aggr=make()).eval(), random_graph)


def test_every_aggregation_has_a_case() -> None:
    tried = {type(module).__name__ for model in MODELS.values() for module in model().modules()}
    refused = {type(make()).__name__ for make, _ in REFUSED.values()}
    assert set(aggr.__all__) - {"Aggregation", "FusedAggregation"} <= tried | refused


class OfStructure(torch.nn.Module):
    """The median of edge attributes: known before features are."""

    def __init__(self) -> None:
        super().__init__()
        self.median = aggr.MedianAggregation()

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor, edge_attr: torch.Tensor) -> torch.Tensor:
        return x * self.median(edge_attr, edge_index[1], dim_size=x.size(0))


def test_an_aggregation_of_the_structure_is_computed_once(random_graph: gnnc.Graph) -> None:
    generator = torch.Generator().manual_seed(0)
    attributes = torch.randn(random_graph.num_edges, WIDTH, generator=generator)
    x, edge_index = torch.as_tensor(random_graph.x), torch.as_tensor(random_graph.edge_index)
    graph = gnnc.Graph(x=x, edge_index=edge_index, edge_attr=attributes)
    program = gnnc.compile(OfStructure().eval(), graph)
    assert_equal(program.run(batch_size=3), OfStructure()(x, edge_index, attributes))


class OverClusters(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.median = aggr.MedianAggregation()

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.median(x, x.argmax(-1), dim_size=x.size(0))


def test_an_index_made_of_features_is_refused(random_graph: gnnc.Graph) -> None:
    with pytest.raises(UnsupportedModelError, match="aggregates by an index that is no end of the graph's edges"):
        gnnc.compile(OverClusters().eval(), random_graph)


def test_the_classes_are_as_they_were(random_graph: gnnc.Graph) -> None:
    before = aggr.LSTMAggregation.forward, aggr.Aggregation.to_dense_batch
    program_of("lstm")
    with pytest.raises(UnsupportedModelError):
        gnnc.compile(Aggregated(aggr=aggr.LCMAggregation(WIDTH, 4)).eval(), random_graph)
    assert (aggr.LSTMAggregation.forward, aggr.Aggregation.to_dense_batch) == before
