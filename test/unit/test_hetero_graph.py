"""Graphs with several types: what is taken, what is refused, and files of them."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from torch_geometric.data import HeteroData

import gnnc
from gnnc import GraphError, HeteroGraph
from gnnc.graph import graph_of, load_graph
from gnnc.graph_checks import as_numpy

Nodes = dict[str, dict[str, Any]]
WRITES = ("author", "writes", "paper")
NO_EDGES = np.empty((2, 0), np.int64)


def library() -> HeteroGraph:
    generator = np.random.default_rng(0)
    return HeteroGraph(
        {
            "author": {"x": generator.random((3, 2), np.float32)},
            "paper": {"x": generator.random((4, 5), np.float32), "y": np.arange(4), "train_mask": np.arange(4) > 1},
            "venue": {},
        },
        {
            WRITES: {"edge_index": np.array([[0, 2, 2], [3, 0, 1]]), "edge_attr": np.ones((3, 2), np.float32)},
            ("paper", "cites", "paper"): {"edge_index": NO_EDGES},
            ("paper", "in", "venue"): {"edge_index": np.array([[0], [6]])},
        },
    )


def test_what_it_has() -> None:
    graph = library()
    assert graph.node_counts == {"author": 3, "paper": 4, "venue": 7}
    assert (graph.num_nodes, graph.num_edges) == (14, 4)
    assert graph.node_types == ["author", "paper", "venue"]
    assert graph.edge_types[0] == WRITES
    assert list(graph["paper"]) == ["x", "y", "train_mask"]
    assert graph[WRITES]["edge_index"].shape == (2, 3)
    assert repr(graph).startswith("HeteroGraph(nodes={'author': 3, 'paper': 4, 'venue': 7}, edges=['author__writes__p")
    with pytest.raises(KeyError, match="no type 'editor'; it has author, paper, venue, "):
        _ = graph["editor"]


def test_keys() -> None:
    keys = {entry.key: (entry.kind, entry.set_name, entry.index_into) for entry in library().entries()}
    assert keys["x__paper"] == ("nodes", "paper", None)
    assert keys["edge_attr__author__writes__paper"] == ("edges", "author__writes__paper", None)
    assert keys["edge_index__author__writes__paper"] == ("edges", "author__writes__paper", ("author", "paper"))


@pytest.mark.parametrize(
    ("nodes", "edges", "counts", "expected"),
    [
        ({"a": {}}, {}, None, {"a": 0}),
        ({"a": {}}, {}, {"a": 4}, {"a": 4}),
        ({"a": {"x": np.zeros((5, 0))}}, {}, None, {"a": 5}),
        ({"a": {}, "b": {}}, {("a", "r", "b"): {"edge_index": np.array([[3], [1]])}}, None, {"a": 4, "b": 2}),
        ({"a": {}}, {("a", "r", "a"): {"edge_index": np.array([[3], [8]])}}, None, {"a": 9}),
        ({"a": {}}, {("a", "r", "a"): {"edge_index": np.array([[3], [8]])}}, {"a": 20}, {"a": 20}),
        ({"a": {"y": np.zeros(9)}}, {("a", "r", "a"): {"edge_index": np.array([[3], [8]])}}, None, {"a": 9}),
        ({"": {}, "a b": {}}, {("", "", "a b"): {"edge_index": NO_EDGES}}, None, {"": 0, "a b": 0}),
    ],
)
def test_how_many_nodes(nodes: Nodes, edges: Any, counts: Any, expected: dict[str, int]) -> None:
    assert HeteroGraph(nodes, edges, counts).node_counts == expected


@pytest.mark.parametrize(
    ("nodes", "edges", "counts", "message"),
    [
        (
            {},
            {WRITES: {"edge_index": NO_EDGES}},
            None,
            "joins nodes of type 'author', which has no",
        ),
        ({"a": {}}, {("a", "a"): {"edge_index": NO_EDGES}}, None, r"edge type \('a', 'a'\) is no triple of names"),
        ({"a": {}}, {("a", "r", "a"): {}}, None, "edge type a__r__a has no edge_index; pass one of shape"),
        ({"a": {}}, {("a", "r", "a"): {"edge_index": np.zeros((3, 2), int)}}, None, "edge_index has shape"),
        ({"a": {}}, {("a", "r", "a"): {"edge_index": np.zeros((2, 2))}}, None, "edge_index has dtype float64"),
        (
            {"a": {"x": np.zeros((2, 1))}},
            {("a", "r", "a"): {"edge_index": np.array([[0], [2]])}},
            None,
            "a__r__a: edge_index names the node 2 in column 0, but the rows of x are 2",
        ),
        ({"a": {}}, {("a", "r", "a"): {"edge_index": np.array([[0], [-1]])}}, None, "node ids start at 0"),
        (
            {"a": {"x": np.zeros((2, 1)), "y": np.zeros(3)}},
            {},
            None,
            r"y of a has shape \(3,\); pass one row",
        ),
        ({"a": {"x": np.zeros(())}}, {}, None, "x is a single number"),
        ({"a": {"x": [1.0]}}, {}, None, "x is of type list"),
        ({"a": {"x": np.zeros((2, 1))}}, {}, {"a": 3}, r"x of a has shape \(2, 1\); pass one row per node, 3 in all"),
        ({"a": {}}, {}, {"a": -1}, "num_nodes is -1; pass 0 or more"),
        ({"a": {}}, {}, {"b": 1}, "num_nodes has a node type 'b' that nodes has not"),
        (
            {"a": {}},
            {("a", "r", "a"): {"edge_index": np.array([[0], [0]]), "edge_attr": np.zeros((2, 1))}},
            None,
            r"edge_attr of a__r__a has shape \(2, 1\); pass one row per edge, 1 in all",
        ),
        (
            {"a__b__a": {}, "a": {}},
            {("a", "b", "a"): {"edge_index": NO_EDGES}},
            None,
            "are written 'a__b__a'; rename one",
        ),
    ],
)
def test_what_is_refused(nodes: Nodes, edges: Any, counts: Any, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        HeteroGraph(nodes, edges, counts)


def test_of_pyg() -> None:
    data = HeteroData()
    data["author"].x = torch.rand(3, 2)
    data["author"].name = ["a", "b", "c"]
    data["venue"].num_nodes = 5
    data["author", "writes", "venue"].edge_index = torch.tensor([[0, 2, 2], [4, 1, 0]])
    data["author", "writes", "venue"].edge_weight = torch.rand(3)
    data["author", "writes", "venue"].edge_label_index = torch.zeros(2, 9, dtype=torch.int64)
    graph = graph_of(data)
    assert isinstance(graph, HeteroGraph)
    assert graph.node_counts == {"author": 3, "venue": 5}
    assert list(graph["author"]) == ["x"]
    assert set(graph["author", "writes", "venue"]) == {"edge_index", "edge_weight"}
    assert graph["author"]["x"] is data["author"].x
    assert graph_of(graph) is graph


def assert_same(a: HeteroGraph, b: HeteroGraph) -> None:
    assert dict(a.node_counts) == dict(b.node_counts)
    entries, others = ({entry.key: entry for entry in graph.entries()} for graph in (a, b))
    assert set(entries) == set(others)
    for key, entry in entries.items():
        assert (entry.name, entry.type, entry.kind) == (others[key].name, others[key].type, others[key].kind)
        assert np.array_equal(as_numpy(entry.array), as_numpy(others[key].array))
        assert as_numpy(entry.array).dtype == as_numpy(others[key].array).dtype


def test_files(tmp_path: Path) -> None:
    graph = library()
    graph.save(tmp_path / "g.npz")
    assert_same(HeteroGraph.load(tmp_path / "g.npz"), graph)
    assert_same(load_graph(tmp_path / "g.npz"), graph)  # type: ignore[arg-type]


def test_a_folder_is_mapped(tmp_path: Path) -> None:
    graph = library()
    for entry in graph.entries():
        np.save(tmp_path / f"{entry.key}.npy", as_numpy(entry.array))
    np.save(tmp_path / "num_nodes__venue.npy", np.array(7))
    loaded = load_graph(tmp_path)
    assert isinstance(loaded, HeteroGraph)
    assert_same(loaded, graph)
    assert isinstance(loaded["paper"]["x"], np.memmap)


NAMES = st.text(st.characters(exclude_characters="\0", codec="utf-8"), max_size=6)


@given(st.lists(NAMES, min_size=1, max_size=3, unique=True), NAMES)
@settings(max_examples=60, deadline=None)
def test_any_names(tmp_path_factory: pytest.TempPathFactory, types: list[str], relation: str) -> None:
    """Where the names could be read otherwise, saving says so."""
    file = tmp_path_factory.mktemp("names") / "g.npz"
    edges = {(types[0], relation, types[-1]): {"edge_index": np.array([[0, 1], [1, 0]])}}
    graph = HeteroGraph({type_: {"x": np.full((2, 1), i)} for i, type_ in enumerate(types)}, edges)
    try:
        graph.save(file)
    except GraphError as error:
        assert re.search("several ways", str(error))
        return
    assert_same(HeteroGraph.load(file), graph)


def test_sparse_features_and_what_belongs_to_no_type(tmp_path: Path) -> None:
    matrix = csr_array(np.array([[0, 2.0], [1, 0], [0, 0]]))
    parts = {f"x__a__{part}": np.asarray(getattr(matrix, part)) for part in ("data", "indices", "indptr", "shape")}
    arrays: dict[str, Any] = {"edge_index__a__to__b": np.array([[0], [1]]), "comment": np.array("text"), **parts}
    np.savez(tmp_path / "g.npz", **arrays)
    graph = HeteroGraph.load(tmp_path / "g.npz")
    assert graph.node_counts == {"a": 3, "b": 2}
    assert np.array_equal(graph["a"]["x"], matrix.toarray())
    assert [entry.key for entry in graph.entries()] == ["x__a", "edge_index__a__to__b"]


def test_types_with_underscores(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "g.npz",
        edge_index__big__a__to__b__c=np.array([[0], [1]]),
        edge_attr__big__a__to__b__c=np.ones((1, 2)),
        num_nodes__big__a=np.array(2),
        num_nodes__b__c=np.array(2),
        y__b__c=np.arange(2),
    )
    graph = HeteroGraph.load(tmp_path / "g.npz")
    assert graph.edge_types == [("big__a", "to", "b__c")]
    assert list(graph["b__c"]) == ["y"]
    assert list(graph["big__a", "to", "b__c"]) == ["edge_index", "edge_attr"]


EDGE = np.array([[0], [1]])


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"edge_index": EDGE}, "holds no graph with several types; save edge_index__SOURCE__RELATION__TARGET"),
        (
            {"edge_index__a__to__b__c": EDGE},
            "a__to__b__c joins no node types that have num_nodes or x",
        ),
        (
            {"edge_index__a__b__c__d__a": EDGE, "num_nodes__a": 2, "num_nodes__a__b": 2},
            "edge type of edge_index__a__b__c__d__a can be read in several ways",
        ),
        ({"edge_index__a": EDGE, "num_nodes__a": 2}, "edge type of edge_index__a joins no node types"),
        ({"edge_index__a__r__a": EDGE + 0.5}, "edge_index__a__r__a is 0.5 at"),
        ({"edge_index__a__r__a": EDGE.T}, r"g.npz: edge_index has shape \(1, 2\)"),
        (
            {"edge_index__a__r__a": EDGE, "num_nodes__a": np.array([1, 2])},
            r"num_nodes__a has shape \(2,\); save one",
        ),
        ({"edge_index__a__r__a": EDGE, "num_nodes__a": 1}, "g.npz: a__r__a: edge_index names the node 1 in column 0"),
        ({"edge_index__a__r__a": EDGE, "y__a": np.arange(3), "x__a": np.zeros((2, 2))}, r"y of a has shape \(3,\)"),
        (
            {
                "edge_index__a__r__a": EDGE,
                "x__a__data": np.ones(1),
                "x__a__indices": np.zeros(1, int),
                "x__a__indptr": EDGE,
            },
            "the CSR features of a lack x__a__shape; save all four arrays",
        ),
    ],
)
def test_files_that_are_refused(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    np.savez(tmp_path / "g.npz", **arrays)
    with pytest.raises(GraphError, match=message):
        HeteroGraph.load(tmp_path / "g.npz")


def test_files_are_read_by_the_class_they_are_for(tmp_path: Path) -> None:
    library().save(tmp_path / "g.npz")
    with pytest.raises(GraphError, match="holds a graph with several types .*; read it with gnnc.HeteroGraph.load"):
        gnnc.Graph.load(tmp_path / "g.npz")
    with pytest.raises(GraphError, match="several types.*leave out the table nodes.csv"):
        load_graph(tmp_path / "g.npz", "nodes.csv")
    with pytest.raises(GraphError, match=r"none\.npz does not exist"):
        HeteroGraph.load(tmp_path / "none.npz")


def test_pickles_never_run(tmp_path: Path) -> None:
    np.savez(tmp_path / "g.npz", edge_index__a__r__a=EDGE, x__a=np.array([{}]))
    with pytest.raises(GraphError, match="holds Python objects as array 'x__a', which gnnc never unpickles"):
        HeteroGraph.load(tmp_path / "g.npz")
