"""Compiling and running from Python."""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.data import Data
from torch_geometric.nn import GATConv, GCNConv, GPSConv, SGConv
from torch_geometric.nn.models import GAT, GCN, GIN, GraphSAGE
from torch_geometric.utils import add_self_loops

import gnnc
from benchmarks.splitting import CountMatmulRows
from gnnc.dialects.gnn import AggregateOp, ConvBlockOp, ConvOperation, Reduction
from gnnc.targets.gpu.executor import BatchedExecutor

WIDTH = 10

MODELS: dict[str, Callable[[], torch.nn.Module]] = {
    "gcn": lambda: GCN(WIDTH, 16, 2, 7),
    "gat": lambda: GAT(WIDTH, 16, 2, 7, heads=2),
    "sage": lambda: GraphSAGE(WIDTH, 16, 2, 7),
    "sage max": lambda: GraphSAGE(WIDTH, 16, 2, 7, aggr="max"),
    "gin with batch norm": lambda: GIN(WIDTH, 16, 2, 7, norm="batch_norm"),
    "sgc": lambda: SGConv(WIDTH, 7, K=2),
    "jumping knowledge": lambda: GCN(WIDTH, 16, 3, 7, jk="max"),
}


@cache
def model_of(name: str) -> torch.nn.Module:
    torch.manual_seed(0)
    return MODELS[name]().eval()


@cache
def program_of(name: str) -> gnnc.Program:
    """Compiled for one graph; every test runs it on others."""
    graph = gnnc.Graph(x=torch.zeros(3, WIDTH), edge_index=torch.tensor([[0, 1], [1, 2]]))
    return gnnc.compile(model_of(name), graph)


def eager(model: torch.nn.Module, graph: gnnc.Graph) -> Any:
    with torch.no_grad():
        return model(graph.x, graph.edge_index)


def assert_equal(result: torch.Tensor, expected: torch.Tensor) -> None:
    assert result.shape == expected.shape
    assert result.dtype == expected.dtype
    scale = max(float(expected.abs().max()) if expected.numel() else 0.0, 1e-30)
    assert float((result - expected).abs().max() if expected.numel() else 0.0) <= 1e-4 * scale


@pytest.mark.parametrize("name", list(MODELS))
@pytest.mark.parametrize("batch_size", [1, 3, None])
def test_equals_the_model_on_nasty_graphs(name: str, batch_size: int | None, nasty_graph: gnnc.Graph) -> None:
    result = program_of(name).run(graph=nasty_graph, batch_size=batch_size)
    assert_equal(result, eager(model_of(name), nasty_graph))


def test_takes_numpy_and_gives_numpy(random_graph: gnnc.Graph) -> None:
    x, edge_index = np.asarray(random_graph.x), np.asarray(random_graph.edge_index)
    program = gnnc.compile(model_of("gcn"), gnnc.Graph(x=x, edge_index=edge_index))
    result = program.run(x)
    assert isinstance(result, np.ndarray)
    assert_equal(torch.as_tensor(result), eager(model_of("gcn"), random_graph))


def test_takes_tensors_and_gives_tensors(random_graph: gnnc.Graph) -> None:
    x = torch.randn(random_graph.num_nodes, WIDTH)
    program = gnnc.compile(model_of("gcn"), random_graph)
    result = program.run(x)
    assert isinstance(result, torch.Tensor)
    with torch.no_grad():
        assert_equal(result, model_of("gcn")(x, random_graph.edge_index))


def test_takes_pyg_data_and_pairs(random_graph: gnnc.Graph) -> None:
    expected = eager(model_of("gcn"), random_graph)
    data = Data(x=torch.as_tensor(random_graph.x), edge_index=torch.as_tensor(random_graph.edge_index))
    assert_equal(gnnc.compile(model_of("gcn"), data).run(), expected)
    assert_equal(gnnc.compile(model_of("gcn"), (random_graph.x, random_graph.edge_index)).run(), expected)


class TwoOutputs(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv1 = GCNConv(WIDTH, 8)
        self.conv2 = GCNConv(8, 4)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> dict[str, Any]:
        hidden = self.conv1(x, edge_index).relu()
        return {"hidden": hidden, "rest": (self.conv2(hidden, edge_index), x)}


def test_returns_what_the_model_returns(random_graph: gnnc.Graph) -> None:
    model = TwoOutputs().eval()
    result, expected = gnnc.compile(model, random_graph).run(batch_size=4), eager(model, random_graph)
    assert list(result) == ["hidden", "rest"]
    assert isinstance(result["rest"], tuple)
    assert_equal(result["hidden"], expected["hidden"])
    assert_equal(result["rest"][0], expected["rest"][0])
    assert_equal(result["rest"][1], expected["rest"][1])


def test_a_model_without_convs(random_graph: gnnc.Graph) -> None:
    class RowWise(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lin = torch.nn.Linear(WIDTH, 3)

        def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
            return self.lin(x).log_softmax(-1)

    model = RowWise().eval()
    assert_equal(gnnc.compile(model, random_graph).run(batch_size=4), eager(model, random_graph))


def test_degrees_counted_over_added_loops(nasty_graph: gnnc.Graph) -> None:
    """The counted ones are filled on an edge set that has to exist first."""

    class ScaledByDegree(torch.nn.Module):
        def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
            edges, _ = add_self_loops(edge_index, num_nodes=x.size(0))
            degree = x.new_zeros(x.size(0)).scatter_add(0, edges[1], x.new_ones(edges.size(1)))
            scaled = x * degree.view(-1, 1)
            return torch.zeros_like(scaled).index_add(0, edges[1], scaled[edges[0]])

    model = ScaledByDegree().eval()
    assert_equal(gnnc.compile(model, nasty_graph).run(batch_size=3), eager(model, nasty_graph))


def test_features_of_another_name(random_graph: gnnc.Graph) -> None:
    class Positions(torch.nn.Module):
        def forward(self, pos: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
            return pos.index_add(0, edge_index[1], pos[edge_index[0]])

    pos, other = torch.rand(30, 3), torch.rand(30, 3)
    program = gnnc.compile(Positions().eval(), gnnc.Graph(edge_index=random_graph.edge_index, pos=pos))
    with torch.no_grad():
        assert_equal(program.run(other, batch_size=4), Positions()(other, random_graph.edge_index))


def test_features_that_are_ambiguous(random_graph: gnnc.Graph) -> None:
    class Two(torch.nn.Module):
        def forward(self, a: torch.Tensor, b: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
            return a + b

    graph = gnnc.Graph(edge_index=random_graph.edge_index, a=torch.rand(30, 3), b=torch.rand(30, 3))
    program = gnnc.compile(Two().eval(), graph)
    assert torch.equal(program.run(), torch.as_tensor(graph.a) + torch.as_tensor(graph.b))
    with pytest.raises(gnnc.RunError, match="the program takes a, b and no x: give a graph that has them"):
        program.run(torch.rand(30, 3))


def test_training_on_leaves_the_program_as_it_is(random_graph: gnnc.Graph) -> None:
    torch.manual_seed(0)
    model = GCN(WIDTH, 16, 2, 7).eval()
    program, expected = gnnc.compile(model, random_graph), eager(model, random_graph)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.add_(1.0)
    assert_equal(program.run(), expected)
    assert not program.verify().passed


def test_training_mode_is_said_and_left_as_it_was(random_graph: gnnc.Graph) -> None:
    model = GCN(WIDTH, 16, 2, 7, dropout=0.5).train()
    with pytest.warns(UserWarning, match="GCN is in training mode: it is compiled in evaluation mode"):
        program = gnnc.compile(model, random_graph)
    assert all(module.training for module in model.modules())
    assert_equal(program.run(), eager(model.eval(), random_graph))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gnnc.compile(model, random_graph)


# Some nodes only.


@pytest.mark.parametrize("name", list(MODELS))
@pytest.mark.parametrize("batch_size", [1, 3, None])
def test_some_nodes_are_rows_of_all(name: str, batch_size: int | None, nasty_graph: gnnc.Graph) -> None:
    expected = eager(model_of(name), nasty_graph)
    last = nasty_graph.num_nodes - 1
    asked = torch.tensor([last, 0, last, last // 2])
    result = program_of(name).run(graph=nasty_graph, nodes=asked, batch_size=batch_size)
    assert_equal(result, expected[asked])


def test_no_node_gives_no_row(random_graph: gnnc.Graph) -> None:
    assert program_of("gcn").run(graph=random_graph, nodes=[]).shape == (0, 7)


def test_some_nodes_touch_only_their_neighborhood() -> None:
    """On a path, the last node of a 2-layer model needs 3 nodes of the first layer's products and 2 of the second's."""
    count = 100
    path = torch.arange(count)
    graph = gnnc.Graph(x=torch.randn(count, WIDTH), edge_index=torch.stack([path[:-1], path[1:]]))
    model = GraphSAGE(WIDTH, WIDTH, 2, 7).eval()
    program = gnnc.compile(model, graph)
    with CountMatmulRows() as counted:
        result = program.run(nodes=[count - 1])
    assert_equal(result, eager(model, graph)[-1:])
    assert 0 < counted.rows <= 2 * (3 + 2)


def test_threads_change_no_number(random_graph: gnnc.Graph) -> None:
    program = program_of("gcn")
    result = program.run(graph=random_graph, threads=1, batch_size=4)
    assert np.array_equal(np.asarray(result), np.asarray(program.run(graph=random_graph, threads=3, batch_size=4)))
    with pytest.raises(gnnc.RunError, match="threads is 0"):
        program.run(graph=random_graph, threads=0)


# What the IR says.


def conv_operations(program: gnnc.Program) -> list[ConvOperation]:
    return [op for op in program.module.walk() if isinstance(op, ConvOperation) and op.conv is not None]


def test_a_gat_layer_is_one_conv(random_graph: gnnc.Graph) -> None:
    program = gnnc.compile(GAT(WIDTH, 16, 3, 7, heads=2).eval(), random_graph)
    operations = conv_operations(program)
    assert {op.conv_index for op in operations} == {0, 1, 2}
    assert sorted({op.layer_index for op in operations if op.layer_index is not None}) == [1, 2, 3]


def test_a_degree_count_is_no_conv(random_graph: gnnc.Graph) -> None:
    program = gnnc.compile(GraphSAGE(WIDTH, 16, 2, 7).eval(), random_graph)
    operations = conv_operations(program)
    assert [(op.conv_index, op.layer_index) for op in operations] == [(0, 1), (1, 2)]
    assert all(isinstance(op, AggregateOp) and op.reduction.data is Reduction.MEAN for op in operations)


def test_attention_over_all_nodes_is_refused_by_name(random_graph: gnnc.Graph) -> None:
    class Attending(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.lin = torch.nn.Linear(WIDTH, 8)
            self.gps = GPSConv(8, GCNConv(8, 8), heads=2)

        def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
            return self.gps(self.lin(x), edge_index)

    with pytest.raises(gnnc.UnsupportedModelError) as error:
        gnnc.compile(Attending().eval(), random_graph)
    assert error.value.op == "aten.scaled_dot_product_attention.default"
    assert "test_api.py" in error.value.source and "self.gps(self.lin(x), edge_index)" in error.value.source
    assert "all pairs of nodes" in error.value.reason


def test_a_widening_projection_runs_once_a_node() -> None:
    nodes, edges = 3_000, 90_000
    generator = torch.Generator().manual_seed(0)
    graph = gnnc.Graph(
        x=torch.randn(nodes, 96, generator=generator),
        edge_index=torch.randint(0, nodes, (2, edges), generator=generator),
    )
    model = GATConv(96, 64, heads=2).eval()
    rows: dict[str, int] = {}
    for cost in ("time", "bytes"):
        program = gnnc.compile(model, graph, cost=cost)
        with CountMatmulRows() as counted:
            result = program.run(batch_size=50)
        rows[cost] = counted.rows
        assert_equal(result, eager(model, graph))
    assert rows["time"] == nodes  # the layer; a loop over its rows projects them on attention vectors
    assert rows["bytes"] > 10 * nodes


def test_a_block_output_is_freed_after_its_last_use(random_graph: gnnc.Graph) -> None:
    alive: list[int] = []
    outputs: list[weakref.ref[torch.Tensor]] = []

    class Watched(BatchedExecutor):
        def run_block(
            self,
            op: ConvBlockOp,
            operands: Any,
            counts: Any,
            targets: Any,
            how: Any,
            advance: Any,
        ) -> list[torch.Tensor]:
            alive.append(sum(ref() is not None for ref in outputs))
            results = super().run_block(op, operands, counts, targets, how, advance)
            outputs.extend(weakref.ref(r) for r in results)
            return results

    program = gnnc.compile(GCN(WIDTH, 16, 5, 7).eval(), random_graph)
    program.executor("cpu").__class__ = Watched
    program.run()
    assert len(alive) >= 5
    assert max(alive) == 1


# What does not fit.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": torch.zeros(30, 9)}, r"x has shape \[30, 9\], the program was compiled for \[\?, 10\]"),
        ({"x": torch.zeros(30)}, r"x has shape \[30\]"),
        ({"x": torch.zeros(29, 10)}, "x has 29 rows, the graph has 30 nodes"),
        ({"x": torch.zeros(30, 10, dtype=torch.float64)}, "x has type torch.float64, .* torch.float32: convert it"),
        ({"x": [[1.0]]}, "x is a list: give a numpy array or a torch tensor"),
        ({"nodes": [0, 30]}, r"nodes\[1\] is 30, the graph has nodes 0 to 29"),
        ({"nodes": [-1]}, r"nodes\[0\] is -1"),
        ({"nodes": [0.5, float("nan")]}, "nodes has type torch.float64: give integer ids"),
        ({"nodes": [[1]]}, r"nodes has shape \[1, 1\]: give a one-dimensional array"),
        ({"nodes": torch.ones(30, dtype=torch.bool)}, "nodes has type torch.bool: .* indices where it is true"),
        ({"batch_size": 0}, "batch_size is 0: give the number of nodes a batch, 1 or more"),
        ({"device": "tpu"}, "device 'tpu' is unknown: use 'cpu' or 'cuda'"),
    ],
)
def test_what_does_not_fit_is_refused(arguments: dict[str, Any], message: str, random_graph: gnnc.Graph) -> None:
    with pytest.raises(gnnc.RunError, match=message):
        program_of("gcn").run(graph=random_graph, **arguments)


@pytest.mark.skipif(torch.cuda.is_available(), reason="there is a CUDA device")
def test_cuda_without_a_device_is_refused(random_graph: gnnc.Graph) -> None:
    with pytest.raises(gnnc.RunError, match="device 'cuda' is not available on this machine: use 'cpu'"):
        program_of("gcn").run(graph=random_graph, device="cuda")


def test_swapped_arguments_are_refused(random_graph: gnnc.Graph) -> None:
    with pytest.raises(gnnc.CaptureError, match="takes a torch.nn.Module, then a graph: it was given Graph"):
        gnnc.compile(random_graph, model_of("gcn"))  # type: ignore[arg-type]


def test_a_missing_graph_is_refused() -> None:
    with pytest.raises(gnnc.GraphError, match="compile takes a model and a graph: give a gnnc.Graph"):
        gnnc.compile(model_of("gcn"))


def test_a_swapped_pair_is_refused(random_graph: gnnc.Graph) -> None:
    with pytest.raises(gnnc.GraphError, match="edge_index has shape"):
        gnnc.compile(model_of("gcn"), (random_graph.edge_index, random_graph.x))


@pytest.mark.skipif(not torch.cuda.is_available(), reason="there is no CUDA device")
@pytest.mark.parametrize("name", list(MODELS))
def test_cuda_equals_the_model(name: str, random_graph: gnnc.Graph) -> None:
    result = program_of(name).run(graph=random_graph, batch_size=3, device="cuda")
    assert_equal(result, eager(model_of(name), random_graph))


def test_an_unknown_target_is_refused(random_graph: gnnc.Graph) -> None:
    with pytest.raises(gnnc.GnncError, match="target 'tpu' is not available"):
        gnnc.compile(model_of("gcn"), random_graph, target="tpu")
