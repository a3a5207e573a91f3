"""Arguments of forward are found in the graph by name."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import gnnc
from gnnc.errors import CaptureError
from gnnc.frontend.arguments import Leaf, bind_arguments
from gnnc.frontend.inputs import EDGES, NODES, ModelInput, trace_sizes

GRAPH = gnnc.Graph(
    x=torch.zeros(3, 4),
    edge_index=torch.tensor([[0, 1], [1, 2]]),
    edge_weight=torch.zeros(2),
    edge_attr=np.zeros((2, 5)),
    y=torch.zeros(3, dtype=torch.int64),
)

SIZES = trace_sizes(
    (
        ModelInput("edge_attr", EDGES, EDGES, 0, (), torch.float32),
        ModelInput("x", NODES, NODES, 0, (), torch.float32),
    )
)


def model_of(source: str) -> torch.nn.Module:
    """A module with a forward of these arguments."""
    scope: dict[str, Any] = {}
    exec(f"def forward({source}): pass", scope)
    return type("Model", (torch.nn.Module,), {"forward": scope["forward"]})()


def keys(source: str, graph: gnnc.Graph = GRAPH) -> dict[str, str]:
    recipes = bind_arguments(model_of(source), graph).recipes
    return {parameter: recipe.key for parameter, recipe in recipes.items() if isinstance(recipe, Leaf)}


def test_names_of_the_graph() -> None:
    assert keys("self, x, edge_index") == {"x": "x", "edge_index": "edge_index"}


@pytest.mark.parametrize("name", ["feat", "feats", "features", "inputs", "h", "in_feat"])
def test_other_names_of_features(name: str) -> None:
    assert keys(f"self, {name}, edge_index")[name] == "x"


@pytest.mark.parametrize("name", ["edges", "edge_list", "ei"])
def test_other_names_of_edges(name: str) -> None:
    assert keys(f"self, x, {name}")[name] == "edge_index"


def test_a_name_of_the_graph_is_never_another_name() -> None:
    graph = gnnc.Graph(x=torch.zeros(3, 4), edge_index=GRAPH.edge_index, h=torch.ones(3, 2))
    assert keys("self, h, edge_index", graph) == {"h": "h", "edge_index": "edge_index"}


def test_the_order_is_that_of_forward() -> None:
    assert list(keys("self, edge_index, edge_weight, x")) == ["edge_index", "edge_weight", "x"]


def test_optional_arguments_are_taken_where_the_graph_has_them() -> None:
    source = "self, x, edge_index, edge_weight=None, batch=None, *args, size=None, **others"
    assert list(keys(source)) == ["x", "edge_index", "edge_weight"]
    plain = gnnc.Graph(x=torch.zeros(3, 4), edge_index=GRAPH.edge_index)
    assert list(keys(source, plain)) == ["x", "edge_index"]


def test_a_required_argument_must_be_there() -> None:
    with pytest.raises(
        CaptureError, match="argument 'batch' of Model.forward.*has edge_attr, edge_index, edge_weight, x, y"
    ):
        keys("self, x, edge_index, batch")


def test_there_must_be_features() -> None:
    with pytest.raises(CaptureError, match="takes no node features"):
        gnnc.compile(model_of("self, edge_index, edge_weight").eval(), GRAPH)


def test_shapes_and_types_come_from_the_graph() -> None:
    arguments = bind_arguments(model_of("self, x, edge_index, edge_attr, edge_weight, y"), GRAPH)
    found = {i.key: i for i in arguments.inputs}
    assert found["x"] == ModelInput("x", NODES, NODES, 0, (4,), torch.float32)
    assert found["edge_index"] == ModelInput("edge_index", EDGES, EDGES, 1, (2,), torch.int64, (NODES, NODES))
    assert found["edge_attr"] == ModelInput("edge_attr", EDGES, EDGES, 0, (5,), torch.float64)
    assert found["edge_weight"] == ModelInput("edge_weight", EDGES, EDGES, 0, (), torch.float32)
    assert found["y"] == ModelInput("y", NODES, NODES, 0, (), torch.int64)
    assert {key for key, i in found.items() if i.is_feature} == {"x", "y"}


def test_a_read_only_array_is_no_reason_to_warn(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", np.zeros((3, 4), dtype=np.float32))
    graph = gnnc.Graph(x=np.load(tmp_path / "x.npy", mmap_mode="r"), edge_index=GRAPH.edge_index)
    assert bind_arguments(model_of("self, x, edge_index"), graph).inputs[0].row_shape == (4,)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float16, torch.float64, torch.int64, torch.int32, torch.bool])
@pytest.mark.parametrize("row_shape", [(), (4,), (0,), (2, 3)])
def test_synthetic_values_have_their_shape_and_type(dtype: torch.dtype, row_shape: tuple[int, ...]) -> None:
    nodes = ModelInput("x", NODES, NODES, 0, row_shape, dtype).synthetic(SIZES)
    assert (nodes.shape, nodes.dtype) == ((SIZES[NODES], *row_shape), dtype)
    edges = ModelInput("edge_attr", EDGES, EDGES, 0, row_shape, dtype).synthetic(SIZES)
    assert (edges.shape, edges.dtype) == ((SIZES[EDGES], *row_shape), dtype)


@pytest.mark.parametrize("dtype", [torch.int64, torch.int32])
def test_synthetic_edges_name_synthetic_nodes(dtype: torch.dtype) -> None:
    edges = ModelInput("edge_index", EDGES, EDGES, 1, (2,), dtype, (NODES, NODES)).synthetic(SIZES)
    assert (edges.shape, edges.dtype) == ((2, SIZES[EDGES]), dtype)
    assert set(edges.flatten().tolist()) == set(range(SIZES[NODES]))
    assert SIZES[NODES] != SIZES[EDGES]
