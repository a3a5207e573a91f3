"""Products on the host: sparse features, widths that are no multiple of a vector."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.nn.models import GAT, GCN, GraphSAGE

import gnnc
from gnnc.dialects.gnn import LinearOp
from gnnc.targets.gpu import out_functions
from gnnc.targets.gpu.arena import Arena, RowsOf
from gnnc.targets.gpu.batch import Union
from gnnc.targets.gpu.kernels import dense_product, sparse_product
from gnnc.targets.gpu.out_functions import whole_lines
from gnnc.targets.gpu.sparse_rows import SparseRows, sparse_features, sparse_rows


def sparse_graph(nodes: int = 60, features: int = 300) -> gnnc.Graph:
    generator = torch.Generator().manual_seed(0)
    x = torch.rand(nodes, features, generator=generator)
    x[x < 0.97] = 0
    return gnnc.Graph(x=x, edge_index=torch.randint(0, nodes, (2, 4 * nodes), generator=generator))


def eager(model: torch.nn.Module, graph: gnnc.Graph) -> torch.Tensor:
    with torch.no_grad():
        return model(graph.x, graph.edge_index)


@pytest.mark.parametrize("model", [GCN, GraphSAGE, GAT])
@pytest.mark.parametrize("run", [{}, {"batch_size": 7}, {"nodes": [3, 1, 3]}])
def test_sparse_features(model: Any, run: dict[str, Any]) -> None:
    graph = sparse_graph()
    network = model(300, 24, 2, 5).eval()
    program = gnnc.compile(network, graph)
    expected = eager(network, graph)
    expected = expected if "nodes" not in run else expected[run["nodes"]]
    for _ in range(2):
        assert torch.allclose(program.run(**run), expected, atol=1e-5)


def test_features_that_are_given_may_change_in_place() -> None:
    graph = sparse_graph()
    network = GCN(300, 24, 2, 5).eval()
    program = gnnc.compile(network, graph)
    x = torch.as_tensor(graph.x).clone()
    program.run(x)
    x[:, :150] = 0
    assert torch.allclose(program.run(x), network(x, graph.edge_index), atol=1e-5)


HALF = torch.eye(200).repeat(20, 1)[:, :100]


@pytest.mark.parametrize(
    ("x", "crossover", "is_sparse"),
    [
        (torch.zeros(5, 200), 0.1, True),
        (torch.ones(5, 200), 0.1, False),
        (torch.ones(5, 200), 1.0, False),
        (torch.zeros(5, 200), 0.0, False),
        (torch.zeros(5, 200).index_fill(1, torch.tensor([3]), torch.nan), 0.1, True),
        (HALF, 0.0051, True),
        (HALF, 0.005, False),
        (HALF.index_fill(0, torch.arange(1, 4000, 4), 1), 0.1, False),
        (torch.zeros(0, 200), 0.1, True),
    ],
)
def test_what_is_held_as_sparse_rows(x: torch.Tensor, crossover: float, is_sparse: bool) -> None:
    found = sparse_features({"x": x, "y": x}, {"x": crossover, "z": 1.0})
    assert bool(found) == is_sparse
    for sparse in found.values():
        assert np.array_equal(sparse.matrix().to_dense().numpy(), x.numpy(), equal_nan=True)
        assert sparse.density == pytest.approx(int(x.count_nonzero()) / max(1, x.numel()))


@pytest.mark.parametrize("added", [None, 1, 2])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("width", [1, 7, 16, 128])
def test_sparse_products(added: int | None, dtype: torch.dtype, width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """By a kernel and by torch, of all rows and of some."""
    generator = torch.Generator().manual_seed(width)
    x = torch.rand(30, 50, generator=generator, dtype=dtype)
    x[x < 0.8] = 0
    x[3] = 0
    weight = torch.rand(width, 50, generator=generator, dtype=dtype)
    shape = {None: (), 1: (width,), 2: (30, width)}[added]
    bias = None if added is None else torch.rand(shape, generator=generator, dtype=dtype)
    expected = x @ weight.t() + (0 if bias is None else bias)
    for has_kernel in (True, False):
        monkeypatch.setattr(sparse_product.compiler, "is_available", lambda known=has_kernel: known)
        for start, stop in ((0, 30), (0, 7), (11, 30), (3, 4), (5, 5)):
            out = torch.empty(stop - start, width, dtype=dtype)
            rows = bias[start:stop] if bias is not None and bias.dim() == 2 else bias
            assert sparse_rows(x).rows(start, stop).times(weight, rows, out) is out
            torch.testing.assert_close(out, expected[start:stop])


def test_a_graph_with_other_features_is_decided_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    times: list[SparseRows] = []
    compute = SparseRows.times

    def counted(self: SparseRows, *rest: Any) -> torch.Tensor:
        times.append(self)
        return compute(self, *rest)

    monkeypatch.setattr(SparseRows, "times", counted)
    sparse = sparse_graph()
    dense = gnnc.Graph(x=torch.rand(60, 300), edge_index=sparse.edge_index)
    network = GCN(300, 24, 2, 5).eval()
    for compiled, primitive in ((sparse, "csr"), (dense, "dense")):
        program = gnnc.compile(network, compiled)
        (found,) = [op.primitive for op in program.module.walk() if isinstance(op, LinearOp) and op.primitive]
        assert found.kind.data == primitive
        for graph, calls in ((sparse, 1), (dense, 0)):
            times.clear()
            assert torch.allclose(program.run(graph=graph), eager(network, graph), atol=1e-5)
            assert len(times) == calls


def test_zeros_are_not_skipped_where_a_weight_is_infinite() -> None:
    graph = sparse_graph()
    network = GCN(300, 24, 2, 5).eval()
    with torch.no_grad():
        network.get_parameter("convs.0.lin.weight")[3, 7] = torch.inf
    expected = eager(network, graph)
    assert expected.isnan().any()
    assert torch.allclose(gnnc.compile(network, graph).run(), expected, atol=1e-5, equal_nan=True)


@pytest.mark.parametrize("value", [torch.nan, torch.inf])
def test_features_that_are_no_numbers(value: float) -> None:
    graph = sparse_graph()
    x = torch.as_tensor(graph.x).clone()
    x[7, 9] = value
    network, edited = GCN(300, 24, 2, 5).eval(), gnnc.Graph(x=x, edge_index=graph.edge_index)
    result = gnnc.compile(network, edited).run()
    assert torch.allclose(result, eager(network, edited), atol=1e-5, equal_nan=True)


def test_rows_of_the_arena_are_computed_to_the_end_of_their_line() -> None:
    arena = Arena()
    rows = arena.empty(RowsOf((47,), torch.float32), 10)
    wide = whole_lines(rows)
    assert wide is not None and wide.shape == (10, 48) and wide.data_ptr() == rows.data_ptr()
    assert whole_lines(arena.empty(RowsOf((48,), torch.float32), 10)) is None
    assert whole_lines(torch.empty(10, 47)) is None
    assert whole_lines(torch.empty(10, 96)[:, :47]) is None


class Scaled(torch.nn.Module):
    """A weight without axes scales what is summed."""

    def __init__(self) -> None:
        super().__init__()
        self.scale = torch.nn.Parameter(torch.tensor(1.5))

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        total = torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
        return total * self.scale


def test_a_weight_without_axes() -> None:
    graph = sparse_graph()
    model = Scaled().eval()
    assert torch.allclose(gnnc.compile(model, graph).run(), eager(model, graph), atol=1e-5)


class Relations(torch.nn.Module):
    """A sum of products: over relations, of the node itself, with a bias added last."""

    def __init__(self, width: int, out: int, count: int):
        super().__init__()
        self.weights = torch.nn.ParameterList([torch.randn(width, out) for _ in range(count)])
        self.own = torch.nn.Linear(width, out, bias=False)
        self.bias = torch.nn.Parameter(torch.randn(out))

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor, edge_type: torch.Tensor) -> torch.Tensor:
        out = torch.zeros(x.shape[0], self.bias.shape[0])
        for relation, weight in enumerate(self.weights):
            source, target = edge_index[:, edge_type == relation]
            out = out + torch.zeros_like(x).index_add(0, target, x[source]) @ weight
        return out + self.own(x) + self.bias


@pytest.mark.parametrize("out", [7, 16, 40])
@pytest.mark.parametrize("run", [{}, {"batch_size": 7}, {"device": "cpu:0", "batch_size": 7}])
def test_sums_of_products(out: int, run: dict[str, Any]) -> None:
    """Also on `cpu:0`, which is to gnnc what a device is, so that rows of one source are loaded once."""
    generator = torch.Generator().manual_seed(0)
    edge_index = torch.randint(0, 60, (2, 300), generator=generator)
    edge_type = torch.randint(0, 3, (300,), generator=generator)
    graph = gnnc.Graph(x=torch.rand(60, 24, generator=generator), edge_index=edge_index, edge_type=edge_type)
    model = Relations(24, out, 3).eval()
    program = gnnc.compile(model, graph)
    with torch.no_grad():
        expected = model(graph.x, edge_index, edge_type)
    for _ in range(2):
        assert torch.allclose(torch.as_tensor(program.run(**run)), expected, atol=1e-4)


def test_rows_of_one_source_are_loaded_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """By three relations between the same nodes: each is in a batch's union once, where torch's operations run."""
    monkeypatch.delenv("TRITON_INTERPRET")
    loaded: list[int] = []
    load = Union.load

    def noted(union: Union, values: torch.Tensor, axis: int) -> torch.Tensor:
        loaded.append(len(union.nodes))
        return load(union, values, axis)

    monkeypatch.setattr(Union, "load", noted)
    edge_index = torch.tensor([[0, 1, 1, 2, 2, 0], [3, 3, 3, 3, 3, 3]])
    edge_type = torch.tensor([0, 0, 1, 1, 2, 2])
    graph = gnnc.Graph(x=torch.rand(4, 24), edge_index=edge_index, edge_type=edge_type)
    model = Relations(24, 40, 3).eval()
    program = gnnc.compile(model, graph)
    result = program.run(device="cpu:0", batch_size=1, nodes=[3])
    assert loaded == [3]
    with torch.no_grad():
        assert torch.allclose(torch.as_tensor(result), model(graph.x, edge_index, edge_type)[3:], atol=1e-4)


def test_torchs_products_of_any_width_have_whole_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also the last one, whose rows lie side by side in what is returned."""
    generator = torch.Generator().manual_seed(0)
    x, edges = torch.randn(50, 32, generator=generator), torch.randint(0, 50, (2, 200), generator=generator)
    network = GraphSAGE(32, 24, 2, 47).eval()
    program = gnnc.compile(network, gnnc.Graph(x=x, edge_index=edges))
    found: list[bool] = []

    def noted(out: torch.Tensor) -> torch.Tensor | None:
        lines = whole_lines(out)
        found.append(lines is not None)
        return lines

    monkeypatch.setattr(dense_product, "has_registers", lambda: False)
    monkeypatch.setattr(out_functions, "whole_lines", noted)
    result = program.run()
    assert len(found) == 4 and all(found)
    assert result.is_contiguous() and torch.allclose(result, network(x, edges), atol=1e-5)
