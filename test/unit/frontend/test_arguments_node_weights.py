"""Weights with a row a node: the sizes of the trace are not the graph's, and where there is a doubt, gnnc asks."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.nn import GCNConv, HeteroConv, SAGEConv

import gnnc

WIDTH = 10
NODES = 30


def graph_of(nodes: int = NODES, edges: int = 90) -> gnnc.Graph:
    generator = torch.Generator().manual_seed(nodes)
    edge_index = torch.randint(0, nodes, (2, edges), generator=generator)
    return gnnc.Graph(x=torch.randn(nodes, WIDTH, generator=generator), edge_index=edge_index)


class Base(nn.Module):
    def __init__(self, nodes: int = NODES, width: int = WIDTH) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.nodes = nodes
        self.emb = nn.Embedding(nodes, width)
        self.conv = GCNConv(width, 4)


class TableAsFeatures(Base):
    """No features in the graph at all."""

    def forward(self, edge_index: Tensor) -> Tensor:
        return self.conv(self.emb.weight, edge_index)


class AddedToFeatures(Base):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.conv(x + self.emb.weight, edge_index)


class Buffer(Base):
    """Labels as inputs, masked by what was trained on."""

    mask: Tensor
    labels: Tensor

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("mask", torch.arange(NODES) % 3 == 0)
        self.register_buffer("labels", torch.arange(NODES) % 4)
        self.classes = nn.Embedding(4, WIDTH)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        label = torch.where(self.mask.unsqueeze(-1), self.classes(self.labels), torch.zeros(WIDTH))
        return self.conv(x + label, edge_index)


class PlainParameter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.pe = nn.Parameter(torch.randn(NODES, WIDTH))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        h = x * self.pe
        return torch.zeros_like(h).index_add(0, edge_index[1], self.pe[edge_index[0]] + h[edge_index[0]])


class AnotherAxis(Base):
    """An encoding with the nodes on its second axis."""

    def __init__(self) -> None:
        super().__init__()
        self.pe = nn.Parameter(torch.randn(1, NODES, WIDTH))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return self.conv(x + self.pe[0], edge_index)


@pytest.mark.parametrize("model", [TableAsFeatures, AddedToFeatures, Buffer, PlainParameter, AnotherAxis])
def test_a_row_a_node(model: type[nn.Module], assert_exact: Any, tmp_path: Path) -> None:
    graphs = {f"{edges} edges": graph_of(edges=edges) for edges in (0, NODES, 90)}
    program = gnnc.compile(model().eval(), graphs["90 edges"])
    assert_exact(program, graphs)
    program.save(tmp_path / "a.gnnc")
    loaded = gnnc.load(tmp_path / "a.gnnc")
    assert torch.equal(loaded.run(graph=graph_of(), batch_size=7), program.run(batch_size=7))
    some = [4, 29, 4, 0]
    torch.testing.assert_close(loaded.run(graph=graph_of(), nodes=some), program.run()[some])


def test_no_features_and_no_node_tensor() -> None:
    graph = gnnc.Graph(edge_index=torch.tensor([[0, 1, 5], [1, 2, 0]]), num_nodes=NODES)
    program = gnnc.compile(TableAsFeatures().eval(), graph)
    assert program.verify().passed
    assert program.run().shape == (NODES, 4)


def test_the_program_is_tied_to_the_number_of_nodes() -> None:
    program = gnnc.compile(AddedToFeatures().eval(), graph_of())
    message = (
        "the model has a row of emb.weight a node, 30 in all: the graph must have as many nodes of 'nodes', and has 29"
    )
    with pytest.raises(gnnc.RunError, match=message):
        program.run(graph=graph_of(29))


def test_training_on_leaves_the_program_as_it_is() -> None:
    model = TableAsFeatures().eval()
    program = gnnc.compile(model, graph_of())
    before = program.run()
    with torch.no_grad():
        model.emb.weight.add_(1.0)
    assert torch.equal(program.run(), before)


def test_a_weight_that_is_as_long_by_chance(assert_exact: Any) -> None:
    """As many hidden features as nodes: the first capture works, and nothing is tied to the graph."""

    class Wide(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = GCNConv(WIDTH, NODES)
            self.lin = nn.Linear(NODES, NODES)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return self.lin(self.conv(x, edge_index).relu())

    program = gnnc.compile(Wide().eval(), graph_of())
    assert_exact(program, {"same": graph_of(), "other": graph_of(17)})


def test_only_the_weight_that_has_to_be() -> None:
    class Both(Base):
        """Beside the encoding, the projection has as many rows as there are nodes."""

        def __init__(self) -> None:
            super().__init__()
            self.lin = nn.Linear(WIDTH, NODES)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return self.lin(self.emb.weight + x.index_add(0, edge_index[1], x[edge_index[0]]))

    program = gnnc.compile(Both().eval(), graph_of())
    assert [i.key for i in program.inputs if i.is_weight] == ["model.emb.weight"]
    assert program.verify().passed


class Tables(nn.Module):
    def __init__(self, counts: dict[str, int]) -> None:
        super().__init__()
        self.tables = nn.ModuleDict({type_: nn.Embedding(count, WIDTH) for type_, count in counts.items()})
        self.conv = HeteroConv(
            {
                ("author", "writes", "paper"): SAGEConv((WIDTH, WIDTH), 4),
                ("paper", "rev_writes", "author"): SAGEConv((WIDTH, WIDTH), 4),
            }
        )

    def forward(self, edge_index_dict: Any) -> Any:
        return self.conv({type_: table.weight for type_, table in self.tables.items()}, edge_index_dict)


def edges_of(graph: gnnc.HeteroGraph) -> gnnc.HeteroGraph:
    """The graph without features."""
    edges = {type_: {"edge_index": graph[type_]["edge_index"]} for type_ in graph.edge_types[:2]}
    return gnnc.HeteroGraph({type_: {} for type_ in graph.node_types}, edges, graph.node_counts)


def test_a_table_for_each_node_type(hetero_graph: gnnc.HeteroGraph) -> None:
    graph = edges_of(hetero_graph)
    program = gnnc.compile(Tables(dict(graph.node_counts)).eval(), graph)
    for batch_size in (1, 3, None):
        assert program.verify(batch_size=batch_size).passed


def test_types_of_one_size_are_asked_about(hetero_graphs: Any) -> None:
    graph = edges_of(hetero_graphs["as many authors as papers as edges"])
    assert graph.node_counts == {"author": 7, "paper": 7}
    model = Tables({"author": 7, "paper": 7}).eval()
    given = {"tables.author.weight": "author", "tables.paper.weight": "paper"}
    with pytest.raises(gnnc.CaptureError, match=r"more than one way: tell gnnc.compile .* node_weights={.*} or"):
        gnnc.compile(model, graph)
    assert gnnc.compile(model, graph, node_weights=given).verify().passed


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"table": "nodes"}, "node_weights names table, which TableAsFeatures does not have"),
        ({"emb.weight": "papers"}, "node_weights names the node type 'papers', the graph has nodes"),
        ({"conv.bias": "nodes"}, r"names conv.bias, whose shape is \[4\]; the graph has 30 nodes of 'nodes'"),
    ],
)
def test_what_the_caller_names_must_be_there(given: dict[str, str], message: str) -> None:
    with pytest.raises(gnnc.CaptureError, match=message):
        gnnc.compile(TableAsFeatures().eval(), graph_of(), node_weights=given)


class FixedScatter(nn.Module):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        degree = torch.zeros(40).index_add(0, edge_index[1], torch.ones(edge_index.shape[1]))
        return x / degree[edge_index[1]].sum()


class FixedGather(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table = nn.Embedding(40, WIDTH)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return x.index_add(0, edge_index[1], self.table(edge_index.flip(0)[1]))


@pytest.mark.parametrize(
    ("model", "message"),
    [
        (FixedScatter, r"rows are scattered into a tensor of fixed shape \[40\] by the ends of edges \(in .*\.py:\d+"),
        (FixedGather, r"rows are gathered from a tensor of fixed shape \[40, 10\] .* node_weights={'emb.weight'"),
    ],
)
def test_fixed_rows_are_asked_about(model: type[nn.Module], message: str) -> None:
    with pytest.raises(gnnc.CaptureError, match=message):
        gnnc.compile(model().eval(), graph_of())


class LookedUp(Base):
    def forward(self, n_id: Tensor, edge_index: Tensor) -> Tensor:
        return self.conv(self.emb(n_id), edge_index)


class LookedUpByName(Base):
    def forward(self, x: Tensor, node_id: Tensor, edge_index: Tensor) -> Tensor:
        return self.conv(self.emb(node_id) + x, edge_index)


@pytest.mark.parametrize("model", [LookedUp, LookedUpByName])
def test_tables_by_node_id(model: type[nn.Module], nasty_graphs: Any, assert_exact: Any) -> None:
    program = gnnc.compile(model(50).eval(), nasty_graphs["random"])
    assert not any(i.is_weight for i in program.inputs)
    assert_exact(program, nasty_graphs)


def test_ids_of_the_graph_itself(assert_exact: Any) -> None:
    graph = graph_of()
    ids = torch.randperm(50)[:NODES]
    own = gnnc.Graph(x=graph.x, edge_index=graph.edge_index, n_id=ids)
    assert_exact(gnnc.compile(LookedUp(50).eval(), own), {"own": own, "default": graph})


def test_ids_beyond_the_table(tmp_path: Path) -> None:
    program = gnnc.compile(LookedUp(50).eval(), graph_of())
    program.save(tmp_path / "a.gnnc")
    for each in (program, gnnc.load(tmp_path / "a.gnnc")):
        with pytest.raises(gnnc.RunError, match="n_id is 59 at 59: the model looks it up in a table of 50 rows"):
            each.run(graph=graph_of(60))


def test_counted_ids_beyond_the_table() -> None:
    class Counting(Base):
        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return self.conv(x + self.emb(torch.arange(x.size(0))), edge_index)

    program = gnnc.compile(Counting(50).eval(), graph_of())
    assert program.verify(batch_size=4).passed
    with pytest.raises(gnnc.RunError, match="the graph has more nodes than a table of the model has rows"):
        program.run(graph=graph_of(60))


def test_other_numbers_beyond_a_table() -> None:
    class Typed(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.relations = nn.Embedding(3, WIDTH)

        def forward(self, x: Tensor, edge_index: Tensor, edge_type: Tensor) -> Tensor:
            return x.index_add(0, edge_index[1], self.relations(edge_type) * x[edge_index[0]])

    def typed(largest: int) -> gnnc.Graph:
        graph = graph_of()
        types = torch.arange(graph.num_edges) % (largest + 1)
        return gnnc.Graph(x=graph.x, edge_index=graph.edge_index, edge_type=types)

    program = gnnc.compile(Typed().eval(), typed(2))
    assert program.verify().passed
    with pytest.raises(gnnc.RunError, match="edge_type is 3 at 3: the model looks it up in a table of 3 rows"):
        program.run(graph=typed(3))


class Counted(nn.Module):
    def forward(self, x: Tensor, edge_index: Tensor, num_nodes: int) -> Tensor:
        return x.new_zeros(num_nodes, x.size(1)).index_add(0, edge_index[1], x[edge_index[0]]) / num_nodes


def test_the_number_of_nodes_is_an_argument(nasty_graphs: Any, assert_exact: Any) -> None:
    assert_exact(gnnc.compile(Counted().eval(), nasty_graphs["random"]), nasty_graphs)
