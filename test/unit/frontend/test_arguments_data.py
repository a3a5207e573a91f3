"""Models whose forward takes the whole graph as one object."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Mapping
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch_geometric.data import Batch, Data, HeteroData
from torch_geometric.nn import GCNConv, HeteroConv, SAGEConv

import gnnc
from gnnc.frontend.data_objects import PlainData, is_data

WIDTH = 10


class Base(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = GCNConv(WIDTH, 8), GCNConv(8, 3)
        self.relation = SAGEConv((WIDTH, WIDTH), 4)
        self.table = nn.Embedding(50, WIDTH)


class FromData(Base):
    def forward(self, data: Any) -> Tensor:
        x, edge_index, batch = data.x, data.edge_index, data.batch
        assert batch is None and data.edge_attr is None and "y" in data and "pos" not in data
        h = self.first(x, edge_index, data.edge_weight).relu()
        return self.second(h, edge_index)[: data.batch_size] / data.num_nodes


class Items(Base):
    def forward(self, batched_data: Any) -> Tensor:
        return self.first(batched_data["x"], batched_data["edge_index"]).relu()


class Annotated(Base):
    def forward(self, g: Data) -> Tensor:
        assert isinstance(g, Data)
        g.x = self.first(g.x, g.edge_index).relu()
        return self.second(g.x, g.edge_index)


class AnnotatedByName(Base):
    def forward(self, g: Batch, scale: float = 2.0) -> Tensor:
        return self.first(g["x"], g["edge_index"]) * scale


class OnlyArgument(Base):
    def forward(self, anything: Any) -> Tensor:
        return self.first(anything.x, anything.edge_index)


class GraphDict(Base):
    """As code for OGB's datasets has it."""

    def forward(self, dataset: Any) -> Tensor:
        graph = dataset.graph
        assert graph["edge_feat"] is None
        h = self.first(graph["node_feat"], graph["edge_index"]).relu()
        return self.second(h, graph["edge_index"]) * graph["num_nodes"]


class NodeIds(Base):
    def forward(self, data: Any) -> Tensor:
        return self.first(self.table(data.n_id), data.edge_index) + self.table(data.node_id).sum(1, keepdim=True)


MODELS = (FromData, Items, Annotated, AnnotatedByName, OnlyArgument, GraphDict, NodeIds)


def with_labels(graph: gnnc.Graph) -> gnnc.Graph:
    weights = torch.rand(graph.num_edges)
    labels = torch.zeros(graph.num_nodes, dtype=torch.int64)
    return gnnc.Graph(x=graph.x, edge_index=graph.edge_index, y=labels, edge_weight=weights)


@pytest.mark.parametrize("model", MODELS)
def test_a_graph_as_one_object(
    model: type[nn.Module], nasty_graphs: Mapping[str, gnnc.Graph], random_graph: gnnc.Graph, assert_exact: Any
) -> None:
    program = gnnc.compile(model().eval(), with_labels(random_graph))
    assert_exact(program, {name: with_labels(graph) for name, graph in nasty_graphs.items()})


def test_only_what_is_used_is_taken(random_graph: gnnc.Graph) -> None:
    program = gnnc.compile(FromData().eval(), with_labels(random_graph))
    assert {i.key for i in program.inputs} == {"x", "edge_index", "edge_weight"}
    assert {i.key for i in gnnc.compile(NodeIds().eval(), random_graph).inputs} == {"n_id", "edge_index"}


def test_a_program_with_node_ids_is_saved(random_graph: gnnc.Graph, tmp_path: Any) -> None:
    program = gnnc.compile(NodeIds().eval(), random_graph)
    program.save(tmp_path / "a.gnnc")
    assert torch.equal(gnnc.load(tmp_path / "a.gnnc").run(graph=random_graph), program.run())


def test_an_attribute_that_is_not_there_is_named(random_graph: gnnc.Graph) -> None:
    class Missing(Base):
        def forward(self, data: Any) -> Tensor:
            return self.first(data.x, data.edge_index) + data.positions

    with pytest.raises(gnnc.CaptureError, match="no attribute 'positions'"):
        gnnc.compile(Missing().eval(), random_graph)


class HeteroBase(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = HeteroConv(
            {
                ("author", "writes", "paper"): SAGEConv((WIDTH, WIDTH), 4),
                ("paper", "rev_writes", "author"): SAGEConv((WIDTH, WIDTH), 4),
                ("paper", "cites", "paper"): SAGEConv((WIDTH, WIDTH), 4),
            }
        )
        self.table = nn.Embedding(20, WIDTH)


class Dicts(HeteroBase):
    def forward(self, data: HeteroData) -> dict[str, Tensor]:
        return self.conv(data.x_dict, data.edge_index_dict)


class ItemsByType(HeteroBase):
    def forward(self, batch: Any) -> Tensor:
        x = {"author": self.table(batch["author"].n_id), "paper": batch["paper"].x}
        edges = {type_: batch[type_].edge_index for type_ in batch.edge_types}
        return self.conv(x, edges)["paper"] / batch["paper"].num_nodes


@pytest.mark.parametrize("model", [Dicts, ItemsByType])
def test_a_heterogeneous_graph_as_one_object(
    model: type[nn.Module],
    hetero_graphs: Mapping[str, gnnc.HeteroGraph],
    hetero_graph: gnnc.HeteroGraph,
    assert_exact: Any,
) -> None:
    program = gnnc.compile(model().eval(), hetero_graph)
    assert_exact(program, hetero_graphs)


class PlainSum(nn.Module):
    """Needs no PyG."""

    def forward(self, data: Any) -> Tensor:
        assert isinstance(data, PlainData) and "x" in data and data.pos is None
        return data.x.index_add(0, data["edge_index"][1], data.x[data.edge_index[0]]) / data.num_nodes


class PlainByType(nn.Module):
    def forward(self, data: Any) -> Tensor:
        assert set(data.x_dict) == {"author", "paper"} and list(data.keys())[0] == "author"
        sources, targets = data["author", "writes", "paper"].edge_index
        return data["paper"].x.index_add(0, targets, data.x_dict["author"][sources])


def test_without_pyg(
    nasty_graphs: Mapping[str, gnnc.Graph],
    hetero_graphs: Mapping[str, gnnc.HeteroGraph],
    assert_exact: Any,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delitem(sys.modules, "torch_geometric.data")
    assert_exact(gnnc.compile(PlainSum().eval(), nasty_graphs["random"]), nasty_graphs)
    assert_exact(gnnc.compile(PlainByType().eval(), hetero_graphs["small"]), hetero_graphs)


def test_plain_data_names_what_it_has() -> None:
    data = PlainData({"x": 1}, {"size": lambda: 2})
    assert (data.x, data.size, data["size"], data.keys()) == (1, 2, 2, ["x"])
    with pytest.raises(AttributeError, match="no attribute 'z'; it has x"):
        _ = data.z
    with pytest.raises(KeyError, match="no 'z'; it has x"):
        _ = data["z"]


@pytest.mark.parametrize(
    ("name", "annotation", "is_only", "expected"),
    [
        ("data", Any, False, True),
        ("batch", Any, True, True),
        ("batch", Any, False, False),
        ("g", Data, False, True),
        ("g", "torch_geometric.data.HeteroData", False, True),
        ("g", Tensor, False, False),
    ],
)
def test_what_takes_the_whole_graph(name: str, annotation: Any, is_only: bool, expected: bool) -> None:
    parameter = inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation=annotation)
    assert is_data(parameter, is_only) is expected
