"""Models whose forward takes a sparse adjacency matrix; the measure is what they make of torch's own."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Data
from torch_geometric.nn import (
    APPNP,
    GATConv,
    GCN2Conv,
    GCNConv,
    GENConv,
    GINConv,
    GraphConv,
    MessagePassing,
    SAGEConv,
    SGConv,
    TransformerConv,
)
from torch_geometric.utils import spmm

import gnnc
from gnnc.frontend.adjacency import Adjacency
from gnnc.frontend.arguments import bind_arguments

WIDTH = 10


@pytest.fixture
def graphs(nasty_graphs: Mapping[str, gnnc.Graph]) -> dict[str, gnnc.Graph]:
    """Nasty, but for edges that are there more than once, which no matrix has."""
    return {kind: distinct(graph) for kind, graph in nasty_graphs.items()}


def distinct(graph: gnnc.Graph) -> gnnc.Graph:
    return gnnc.Graph(x=graph.x, edge_index=torch.unique(torch.as_tensor(graph.edge_index), dim=1))


def distinct_hetero(graph: gnnc.HeteroGraph) -> gnnc.HeteroGraph:
    edges = {t: {"edge_index": torch.unique(torch.as_tensor(graph[t]["edge_index"]), dim=1)} for t in graph.edge_types}
    return gnnc.HeteroGraph({type_: graph[type_] for type_ in graph.node_types}, edges)


def weighted(graph: gnnc.Graph) -> gnnc.Graph:
    generator = torch.Generator().manual_seed(0)
    weights = torch.rand(graph.num_edges, generator=generator) + 0.1
    return gnnc.Graph(x=graph.x, edge_index=graph.edge_index, edge_weight=weights)


class OneConv(nn.Module):
    def __init__(self, conv: nn.Module) -> None:
        super().__init__()
        self.conv = conv

    def forward(self, x: Tensor, adj_t: Any) -> Tensor:
        return self.conv(x, adj_t)


# whether they take edge weights
CONVS: dict[str, tuple[Any, bool]] = {
    "gcn": (lambda: GCNConv(WIDTH, 8), True),
    "gcn improved": (lambda: GCNConv(WIDTH, 8, improved=True), True),
    "gcn without loops": (lambda: GCNConv(WIDTH, 8, add_self_loops=False), True),
    "gcn cached": (lambda: GCNConv(WIDTH, 8, cached=True), True),
    "sg": (lambda: SGConv(WIDTH, 8, K=2, cached=True), True),
    "appnp": (lambda: APPNP(3, 0.1), True),
    "graph": (lambda: GraphConv(WIDTH, 8), True),
    "sage": (lambda: SAGEConv(WIDTH, 8), False),
    "sage max": (lambda: SAGEConv(WIDTH, 8, aggr="max"), False),
    "gat": (lambda: GATConv(WIDTH, 4, heads=2), False),
    "gin": (lambda: GINConv(nn.Linear(WIDTH, 8)), False),
    "transformer": (lambda: TransformerConv(WIDTH, 8), False),
    "gen": (lambda: GENConv(WIDTH, 8), False),
}


@pytest.mark.parametrize("name", list(CONVS))
def test_convs_take_a_matrix(name: str, graphs: Mapping[str, gnnc.Graph], assert_exact: Any) -> None:
    torch.manual_seed(0)
    make, takes_weights = CONVS[name]
    assert_exact(gnnc.compile(OneConv(make()).eval(), graphs["random"]), graphs)
    if takes_weights:
        program = gnnc.compile(OneConv(make()).eval(), weighted(graphs["random"]))
        assert_exact(program, {kind: weighted(graph) for kind, graph in graphs.items()})


@pytest.mark.parametrize("name", [name for name, (_, takes_weights) in CONVS.items() if not takes_weights])
def test_weights_that_a_conv_has_no_argument_for(name: str, random_graph: gnnc.Graph) -> None:
    """A tensor of torch would multiply by them, one of torch_sparse would not."""
    with pytest.raises(gnnc.CaptureError, match=r"^\w+Conv takes no edge weights.*: give a graph without edge_weight$"):
        gnnc.compile(OneConv(CONVS[name][0]()).eval(), weighted(random_graph))


class InitialResidual(nn.Module):
    """GCNII over a matrix."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.last = nn.Linear(WIDTH, 8), nn.Linear(8, 3)
        self.convs = nn.ModuleList([GCN2Conv(8, 0.1, 0.5, layer) for layer in (1, 2)])

    def forward(self, x: Tensor, adj_t: Any) -> Tensor:
        x = x_0 = self.first(x).relu()
        for conv in self.convs:
            x = conv(x, x_0, adj_t).relu()
        return self.last(x)


class FromData(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.model = InitialResidual()

    def forward(self, data: Any) -> Tensor:
        return self.model(data.x, data.adj_t)


class Multiply(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.lin = nn.Linear(WIDTH, 4)


class Operator(Multiply):
    def forward(self, x: Tensor, adj_t: Any) -> Tensor:
        return adj_t @ self.lin(adj_t @ x).relu()


class TorchFunctions(Multiply):
    def forward(self, x: Tensor, adj: Any) -> Tensor:
        h = torch.sparse.mm(adj, self.lin(x))
        return torch.spmm(adj.to(torch.float32), h) + torch.mm(adj, h) + torch.matmul(adj.t(), h) + adj.matmul(h)


class LibraryFunction(Multiply):
    def forward(self, x: Tensor, adj_t: Any) -> Tensor:
        return spmm(adj_t, self.lin(x)) + spmm(adj_t, x, reduce="mean")[:, :4]


class Vector(Multiply):
    def forward(self, x: Tensor, adj_t: Any) -> Tensor:
        return adj_t @ self.lin(x).sum(1)


class OwnConv(MessagePassing):
    def __init__(self) -> None:
        super().__init__(aggr="max")
        self.lin = nn.Linear(WIDTH, 8)

    def forward(self, x: Tensor, adj_t: Any) -> Tensor:
        return self.propagate(adj_t, x=self.lin(x), edge_weight=None)

    def message(self, x_j: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        return x_j if edge_weight is None else x_j * edge_weight.view(-1, 1)


@pytest.mark.parametrize(
    "model", [InitialResidual, FromData, Operator, TorchFunctions, LibraryFunction, Vector, OwnConv]
)
@pytest.mark.parametrize("with_weights", [False, True])
def test_models_of_a_matrix(
    model: type[nn.Module], with_weights: bool, graphs: Mapping[str, gnnc.Graph], assert_exact: Any
) -> None:
    torch.manual_seed(0)
    graphs = {kind: weighted(graph) if with_weights else graph for kind, graph in graphs.items()}
    assert_exact(gnnc.compile(model().eval(), graphs["random"]), graphs)


class TorchSparse(Multiply):
    """What only the matrices of torch_sparse can do."""

    def forward(self, x: Tensor, adj_t: Any) -> Tensor:
        adj_t = adj_t.fill_diag(1.0)
        degree = adj_t.sum(dim=1).clamp(min=1).pow(-0.5)
        adj_t = adj_t.mul(degree.view(-1, 1)).mul(degree.view(1, -1))
        row, col, value = adj_t.coo()
        assert adj_t.has_value() and value is adj_t.storage.value() and row is not None and col is not None
        assert adj_t.size(0) == adj_t.sparse_size(1) == x.size(0)
        h = self.lin(x)
        return adj_t.matmul(h) + adj_t.set_value(None).matmul(h, reduce="mean") + adj_t.matmul(h, reduce="max")


def dense(graph: gnnc.Graph) -> Tensor:
    edge_index = torch.as_tensor(graph.edge_index)
    matrix = torch.zeros(graph.num_nodes, graph.num_nodes)
    return matrix.index_put((edge_index[1], edge_index[0]), torch.ones(graph.num_edges), accumulate=True)


def test_what_torch_sparse_offers(graphs: Mapping[str, gnnc.Graph]) -> None:
    model = TorchSparse().eval()
    program = gnnc.compile(model, graphs["random"])
    for kind, graph in graphs.items():
        matrix = dense(graph)
        matrix.fill_diagonal_(1.0)
        degree = matrix.sum(1).clamp(min=1).pow(-0.5)
        scaled = degree.view(-1, 1) * matrix * degree
        with torch.no_grad():
            h = model.lin(torch.as_tensor(graph.x))
        candidates = torch.where(
            (matrix > 0)[:, :, None], ((degree.view(-1, 1) * degree)[:, :, None] * h[None]), -torch.inf
        )
        expected = scaled @ h + matrix @ h / matrix.sum(1, keepdim=True) + candidates.amax(1)
        for batch_size in (1, None):
            result = program.run(graph=graph, batch_size=batch_size)
            torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-4, msg=kind)
        assert program.verify(graph=graph).passed


class ByRelation(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = SAGEConv((WIDTH, WIDTH), 4)

    def forward(self, x_dict: dict[str, Tensor], adj_t_dict: dict[Any, Any]) -> dict[str, Tensor]:
        out: dict[str, Tensor] = {}
        for (source, _, target), adj_t in adj_t_dict.items():
            h = self.conv((x_dict[source], x_dict[target]), adj_t)
            out[target] = out[target] + h if target in out else h
        return out


class ByRelationOfData(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.model = ByRelation()

    def forward(self, data: Any) -> dict[str, Tensor]:
        return self.model(data.x_dict, data.adj_t_dict)


@pytest.mark.parametrize("model", [ByRelation, ByRelationOfData])
def test_a_dict_of_matrices(
    model: type[nn.Module], hetero_graphs: Mapping[str, gnnc.HeteroGraph], assert_exact: Any
) -> None:
    torch.manual_seed(0)
    graphs = {kind: distinct_hetero(graph) for kind, graph in hetero_graphs.items()}
    assert_exact(gnnc.compile(model().eval(), graphs["small"]), graphs)


def test_a_conv_that_makes_something_else_of_a_matrix(random_graph: gnnc.Graph) -> None:
    random_graph = distinct(random_graph)

    class Different(nn.Module):
        def forward(self, x: Tensor, adj_t: Any) -> Tensor:
            return adj_t @ x if isinstance(adj_t, Tensor) else adj_t @ x * 2

    with pytest.raises(gnnc.UnsupportedModelError, match="computes something else from a sparse adjacency matrix"):
        gnnc.compile(Different().eval(), random_graph)


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("adj_t.saint_subgraph(3)", "saint_subgraph of an adjacency matrix is not supported: let forward take edge_i"),
        ("adj_t.storage.rowptr()", "storage.rowptr of an adjacency matrix is not supported"),
        ("torch.exp(adj_t)", "exp of an adjacency matrix is not supported"),
        ("adj_t.set_diag(x[:, 0]) @ x", "set_diag with values"),
        ("adj_t.fill_diag(1.0, k=1) @ x", "only the main diagonal"),
    ],
)
def test_what_a_matrix_can_not_do(code: str, message: str, random_graph: gnnc.Graph) -> None:
    class Fails(nn.Module):
        def forward(self, x: Tensor, adj_t: Any) -> Tensor:
            return eval(code)  # noqa: S307

    with pytest.raises(gnnc.CaptureError, match=message):
        gnnc.compile(Fails().eval(), random_graph)


def test_the_model_is_left_without_hooks_and_caches(random_graph: gnnc.Graph) -> None:
    random_graph = distinct(random_graph)
    model = OneConv(GCNConv(WIDTH, 4, cached=True)).eval()
    assert gnnc.compile(model, random_graph).verify().passed
    assert not vars(model.conv)["_forward_pre_hooks"]
    assert model.conv._cached_edge_index is None
    own = OwnConv().eval()
    gnnc.compile(own, random_graph)
    assert "propagate" not in own.__dict__


def test_a_graph_that_came_with_a_matrix(random_graph: gnnc.Graph, assert_exact: Any) -> None:
    edge_index = torch.unique(torch.as_tensor(random_graph.edge_index), dim=1)
    adj_t = torch.sparse_coo_tensor(edge_index.flip(0), torch.ones(edge_index.shape[1]), (30, 30)).to_sparse_csr()
    data = Data(x=torch.as_tensor(random_graph.x), adj_t=adj_t)
    model = InitialResidual().eval()
    program = gnnc.compile(model, data)
    with torch.no_grad():
        torch.testing.assert_close(program.run(), model(data.x, adj_t), rtol=1e-4, atol=1e-5)


def test_the_matrix_of_a_run_is_that_of_torch(random_graph: gnnc.Graph) -> None:
    random_graph = distinct(random_graph)
    arguments = bind_arguments(OneConv(GCNConv(WIDTH, 4)), random_graph)
    tensors = {
        "edge_index": torch.as_tensor(random_graph.edge_index),
        "x": torch.as_tensor(random_graph.x),
    }
    matrix = arguments.build(tensors, eager=True)["adj_t"]
    assert matrix.layout == torch.sparse_csr
    assert torch.equal(matrix.to_dense(), dense(random_graph))
    assert isinstance(arguments.build(tensors)["adj_t"], Adjacency)


def test_an_edge_that_is_there_twice(random_graph: gnnc.Graph) -> None:
    """torch sums what is on one place of a matrix, or doesn't; it depends on the operation."""
    repeated = gnnc.Graph(x=torch.zeros(5, WIDTH), edge_index=torch.tensor([[0, 3, 1, 3], [1, 4, 0, 4]]))
    with pytest.raises(gnnc.GraphError, match="the edge from 3 to 4 is there more than once; leave out repeated edges"):
        gnnc.compile(OneConv(GCNConv(WIDTH, 4)).eval(), repeated)
    program = gnnc.compile(OneConv(GCNConv(WIDTH, 4)).eval(), distinct(random_graph))
    with pytest.raises(gnnc.GraphError, match="the edge from 3 to 4 is there more than once"):
        program.verify(graph=repeated)


class PartOfData(nn.Module):
    """Takes the matrix of a whole graph, or its edges."""

    def __init__(self, name: str):
        super().__init__()
        self.conv = GCNConv(WIDTH, 4)
        self.name = name

    def forward(self, data: Data) -> Tensor:
        return self.conv(data.x, getattr(data, self.name))


def test_repeated_edges_behind_a_data_object(random_graph: gnnc.Graph, tmp_path: Path) -> None:
    repeated = gnnc.Graph(x=torch.zeros(5, WIDTH), edge_index=torch.tensor([[0, 3, 1, 3], [1, 4, 0, 4]]))
    with pytest.raises(gnnc.GraphError, match="the edge from 3 to 4 is there more than once"):
        gnnc.compile(PartOfData("adj_t").eval(), repeated)
    program = gnnc.compile(PartOfData("adj_t").eval(), distinct(random_graph))
    program.save(tmp_path / "p.gnnc")
    for one in (program, gnnc.load(tmp_path / "p.gnnc")):
        with pytest.raises(gnnc.GraphError, match="the edge from 3 to 4 is there more than once"):
            one.run(graph=repeated)
    assert gnnc.compile(PartOfData("edge_index").eval(), repeated).verify().passed
