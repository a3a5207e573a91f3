import copy
import pickle
import re
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import pytest
import torch
from scipy.sparse import coo_array, csc_array, csr_array, csr_matrix, dia_array
from torch_geometric.data import Data, HeteroData

from gnnc import Graph, GraphError
from gnnc.graph_checks import as_numpy

GRAPHS = Path(__file__).parents[2] / "examples" / "data" / "graphs"
EDGES = np.array([[0, 1, 2], [1, 2, 3]])
FEATURES = np.ones((4, 2), np.float32)


@pytest.mark.parametrize(
    ("name", "nodes", "edges", "features"),
    [("cora", 2708, 10556, 1433), ("citeseer", 3327, 9104, 3703), ("karate", 34, 156, 34)],
)
def test_load(name: str, nodes: int, edges: int, features: int) -> None:
    graph = Graph.load(GRAPHS / f"{name}.npz")
    assert (graph.num_nodes, graph.num_edges) == (nodes, edges)
    assert graph.x is not None
    assert tuple(graph.x.shape) == (nodes, features)
    assert graph.x.dtype == np.float32
    assert graph.y.shape == graph.train_mask.shape == (nodes,)
    assert set(graph.attributes) == {"x", "y", "train_mask", "val_mask", "test_mask"}


def test_load_reads_dense_features_and_attributes_of_edges(tmp_path: Path) -> None:
    weights = np.arange(3.0)
    np.savez(tmp_path / "g.npz", edge_index=EDGES, x=FEATURES, edge_weight=weights, num_nodes=4)
    graph = Graph.load(str(tmp_path / "g.npz"))
    assert np.array_equal(as_numpy(graph.edge_weight), weights)
    assert np.array_equal(as_numpy(graph.edge_index), EDGES)


def test_load_leaves_out_what_belongs_to_neither_nodes_nor_edges(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "g.npz", edge_index=EDGES, num_relations=3, train_idx=np.arange(2), names=np.array(list("abcd"))
    )
    graph = Graph.load(tmp_path / "g.npz")
    assert graph.attributes == {}
    with pytest.raises(AttributeError, match=r"read without 'train_idx': train_idx has shape \(2,\); pass one row per"):
        _ = graph.train_idx
    with pytest.raises(AttributeError, match=r"read without 'names': names is a numpy array of dtype <U1"):
        _ = graph.names


def test_number_of_nodes() -> None:
    assert Graph(edge_index=EDGES).num_nodes == 4
    assert Graph(edge_index=EDGES, num_nodes=9).num_nodes == 9
    assert Graph(edge_index=EDGES, x=np.ones((5, 1))).num_nodes == 5
    assert Graph(edge_index=np.empty((2, 0), np.int64)).num_nodes == 0
    assert Graph(edge_index=np.empty((2, 0), np.int64), num_nodes=3).num_nodes == 3


@pytest.mark.parametrize("convert", [np.asarray, torch.from_numpy])
def test_arrays_are_kept_as_given(convert: Any) -> None:
    edges, features, weights = convert(EDGES), convert(FEATURES), convert(np.ones(3))
    graph = Graph(edge_index=edges, x=features, edge_weight=weights)
    assert graph.edge_index is edges
    assert graph.x is features
    assert graph.edge_weight is weights
    assert graph.attributes == {"x": features, "edge_weight": weights}


def test_as_numpy_shares_memory() -> None:
    tensor = torch.zeros(3, requires_grad=True)
    array = as_numpy(tensor)
    array[1] = 5
    assert tensor[1] == 5
    assert as_numpy(array) is array


def test_csr_features_turn_dense_once() -> None:
    sparse = csr_array(np.eye(4, dtype=np.float32))
    graph = Graph(edge_index=EDGES, x=sparse)
    assert isinstance(graph.x, np.ndarray)
    assert graph.x.dtype == np.float32
    assert np.array_equal(graph.x, np.eye(4))
    assert graph.x is graph.x
    assert graph.attributes["x"] is graph.x


def test_unknown_attribute_names_those_there_are() -> None:
    graph = Graph(edge_index=EDGES, x=FEATURES, y=np.zeros(4))
    with pytest.raises(AttributeError, match="no attribute 'test_mask'; it has edge_index, x, y"):
        _ = graph.test_mask
    assert not hasattr(graph, "edge_weight")


def test_copies_and_pickles() -> None:
    graph = Graph(edge_index=EDGES, x=FEATURES, y=np.arange(4))
    for other in (copy.copy(graph), copy.deepcopy(graph), pickle.loads(pickle.dumps(graph))):
        assert np.array_equal(as_numpy(other.y), np.arange(4))


def test_repr() -> None:
    graph = Graph(edge_index=EDGES, x=FEATURES, y=np.zeros(4))
    assert repr(graph) == "Graph(num_nodes=4, num_edges=3, x[4, 2], y)"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"edge_index": EDGES.T}, r"edge_index has shape \(3, 2\), not \(2, E\); transpose it"),
        ({"edge_index": np.zeros(4, np.int64)}, r"edge_index has shape \(4,\), not \(2, E\); row 0"),
        ({"edge_index": EDGES.astype(np.float32)}, "edge_index has dtype float32; convert"),
        ({"edge_index": torch.zeros(2, 3)}, "edge_index has dtype torch.float32; convert"),
        ({"edge_index": EDGES > 0}, "edge_index has dtype bool; convert"),
        ({"edge_index": [[0], [1]]}, "edge_index is of type list; pass"),
        ({"edge_index": None}, "edge_index is None; pass"),
        ({"edge_index": EDGES - 1}, r"edge_index column 0 is \(-1, 0\), but node ids start at 0"),
        ({"edge_index": torch.tensor([[0, 0], [1, -7]])}, r"edge_index column 1 is \(0, -7\), but node ids start"),
        ({"edge_index": EDGES, "num_nodes": 3}, r"edge_index column 2 is \(2, 3\), but num_nodes is 3"),
        ({"edge_index": EDGES, "x": FEATURES[:2]}, r"edge_index column 1 is \(1, 2\), but the rows of x are 2"),
        ({"edge_index": EDGES, "x": FEATURES, "num_nodes": 5}, "x has 4 rows, but num_nodes is 5; pass"),
        ({"edge_index": EDGES, "num_nodes": 4.0}, "num_nodes is 4.0; pass a whole number"),
        ({"edge_index": EDGES, "num_nodes": -1}, "num_nodes is -1; pass 0 or more"),
        ({"edge_index": EDGES, "x": "x.npy"}, "x is of type str; pass"),
        ({"edge_index": EDGES, "x": np.array([None] * 4)}, "x is a numpy array of dtype object; pass"),
        ({"edge_index": EDGES, "x": np.ones(())}, "x is a single number; pass"),
        ({"edge_index": EDGES, "edge_weight": np.ones(4)}, r"edge_weight has shape \(4,\); pass one row per edge, 3"),
        ({"edge_index": EDGES, "y": np.ones(3)}, r"y has shape \(3,\); pass one row per node, 4"),
        ({"edge_index": EDGES, "y": [1, 2, 3, 4]}, "y is of type list; pass"),
        ({"edge_index": EDGES, "load": np.ones(4)}, "cannot be called 'load'"),
    ],
)
def test_refusals(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(GraphError, match=message):
        Graph(**arguments)


def test_load_refuses_a_file_that_is_missing(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match=r"none\.npz does not exist or may not be read; check"):
        Graph.load(tmp_path / "none.npz")
    with pytest.raises(GraphError, match=r"is a folder without edge_index\.npy, edges\.csv or adj\.npz; pass"):
        Graph.load(tmp_path)


@pytest.mark.parametrize("content", [b"", b"hello, world", b"\x93NUMPY"])
def test_load_refuses_a_file_that_is_no_npz(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "g.npz").write_bytes(content)
    with pytest.raises(GraphError, match=r"g\.npz is no \.npz file"):
        Graph.load(tmp_path / "g.npz")


@pytest.mark.parametrize("share", [0.01, 0.5, 0.999])
def test_load_refuses_a_truncated_file(tmp_path: Path, share: float) -> None:
    whole = (GRAPHS / "cora.npz").read_bytes()
    (tmp_path / "g.npz").write_bytes(whole[: int(len(whole) * share)])
    with pytest.raises(GraphError, match=r"g\.npz is truncated"):
        Graph.load(tmp_path / "g.npz")


def test_load_refuses_a_damaged_file(tmp_path: Path) -> None:
    content = bytearray((GRAPHS / "cora.npz").read_bytes())
    content[2000:2100] = bytes(100)
    (tmp_path / "g.npz").write_bytes(content)
    with pytest.raises(GraphError, match=r"g\.npz is damaged"):
        Graph.load(tmp_path / "g.npz")


def test_load_never_unpickles(tmp_path: Path) -> None:
    np.savez(tmp_path / "g.npz", edge_index=EDGES, x=np.array([{}] * 4))
    with pytest.raises(GraphError, match=r"g\.npz holds Python objects as array 'x', which gnnc never unpickles; save"):
        Graph.load(tmp_path / "g.npz")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"x": FEATURES}, "has no array 'edge_index', only x; save"),
        ({}, "has no array 'edge_index', only nothing; save"),
        ({"edge_index": EDGES, "x_data": np.ones(1)}, "features lack x_indices, x_indptr, x_shape; save all four"),
        ({"edge_index": EDGES, "num_nodes": 2}, r"edge_index column 1 is \(1, 2\), but num_nodes is 2"),
        ({"edge_index": EDGES, "num_nodes": 4.5}, "num_nodes is .*4.5.*; pass a whole number"),
    ],
)
def test_load_refuses_malformed_graphs(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    np.savez(tmp_path / "g.npz", **arrays)
    with pytest.raises(GraphError, match=rf"g\.npz.*{message}"):
        Graph.load(tmp_path / "g.npz")


@pytest.mark.parametrize(
    "change",
    [
        {"x_indices": np.array([0, 999])},
        {"x_indices": np.array([0, -1])},
        {"x_indptr": np.array([0, 1, 2])},
        {"x_indptr": np.array([0, 1, 1, 1, 9])},
        {"x_shape": np.array([4])},
        {"x_shape": np.array([4.0, 2.5])},
    ],
)
def test_load_refuses_csr_features_that_do_not_fit_together(tmp_path: Path, change: dict[str, Any]) -> None:
    parts: dict[str, Any] = {
        "x_data": np.ones(2, np.float32),
        "x_indices": np.array([0, 1]),
        "x_indptr": np.array([0, 1, 1, 2, 2]),
        "x_shape": np.array([4, 2]),
    }
    np.savez(tmp_path / "good.npz", edge_index=EDGES, **parts)
    assert Graph.load(tmp_path / "good.npz").num_nodes == 4
    np.savez(tmp_path / "bad.npz", edge_index=EDGES, **{**parts, **change})
    with pytest.raises(GraphError, match=r"bad\.npz: "):
        Graph.load(tmp_path / "bad.npz")


def test_of_takes_graphs_and_tuples() -> None:
    graph = Graph(edge_index=EDGES, x=FEATURES)
    assert Graph.of(graph) is graph
    pair = Graph.of((FEATURES, EDGES))
    assert pair.x is FEATURES
    assert pair.edge_index is EDGES


def test_of_takes_pyg_data() -> None:
    data = Data(
        x=torch.ones(4, 2),
        edge_index=torch.from_numpy(EDGES),
        edge_attr=torch.ones(3, 5),
        y=torch.zeros(1),
        edge_label_index=torch.zeros(2, 7),
        name="a name",
    )
    graph = Graph.of(data)
    assert graph.x is data.x
    assert graph.edge_index is data.edge_index
    assert set(graph.attributes) == {"x", "edge_attr"}
    with pytest.raises(AttributeError, match="read without 'y': y has shape"):
        _ = graph.y
    with pytest.raises(AttributeError, match="read without 'edge_label_index'"):
        _ = graph.edge_label_index
    with pytest.raises(AttributeError, match="no attribute 'name'"):
        _ = graph.name


def test_of_asks_pyg_data_for_its_number_of_nodes() -> None:
    edge_index = torch.from_numpy(EDGES)
    assert Graph.of(Data(edge_index=edge_index, num_nodes=9)).num_nodes == 9
    graph = Graph.of(Data(edge_index=edge_index, pos=torch.ones(6, 3)))
    assert graph.num_nodes == 6
    assert set(graph.attributes) == {"pos"}


@pytest.mark.parametrize("thing", [None, 3, "cora.npz", (EDGES,), EDGES, HeteroData()])
def test_of_refuses_anything_else(thing: Any) -> None:
    accepted = (
        "pass a gnnc.Graph, a torch_geometric.data.Data, a sparse matrix of scipy or torch, a networkx graph, or a "
        "tuple (x, edge_index) or (x, graph)"
    )
    with pytest.raises(GraphError, match=re.escape(accepted)):
        Graph.of(thing)


def test_of_refuses_data_without_edges() -> None:
    with pytest.raises(GraphError, match="edge_index is None"):
        Graph.of(Data(x=torch.ones(4, 2)))


# entry (0, 1) is an edge from 0 to 1
ADJACENCY = csr_array((np.array([0.5, 2.0, 1.0]), (EDGES[0], EDGES[1])), shape=(4, 4))


@pytest.mark.parametrize("convert", [csr_array, csr_matrix, csc_array, coo_array, dia_array])
def test_of_takes_scipy_matrices(convert: Any) -> None:
    graph = Graph.of(convert(ADJACENCY))
    assert graph.num_nodes == 4
    assert edges_of(graph) == [(0, 1), (1, 2), (2, 3)]
    assert sorted(as_numpy(graph.edge_weight).tolist()) == [0.5, 1.0, 2.0]


def test_weights_that_are_all_one_are_left_out() -> None:
    graph = Graph.of(csr_array(ADJACENCY > 0))
    assert graph.attributes == {}
    with pytest.raises(AttributeError, match="without 'edge_weight': every value of the adjacency matrix is 1"):
        _ = graph.edge_weight


@pytest.mark.filterwarnings("ignore:Sparse CS[RC] tensor support")
@pytest.mark.parametrize("layout", [torch.sparse_coo, torch.sparse_csr, torch.sparse_csc])
def test_of_takes_sparse_tensors(layout: torch.layout) -> None:
    graph = Graph.of(torch.from_numpy(ADJACENCY.toarray()).to_sparse(layout=layout))
    assert graph.num_nodes == 4
    assert edges_of(graph) == [(0, 1), (1, 2), (2, 3)]
    assert isinstance(graph.edge_weight, torch.Tensor)


def test_of_takes_the_transposed_adjacency_of_pyg() -> None:
    adj_t = torch.from_numpy(ADJACENCY.toarray().T.copy()).to_sparse_coo()
    data = Data(x=torch.ones(4, 2), adj_t=adj_t, y=torch.arange(4))
    graph = Graph.of(data)
    assert edges_of(graph) == [(0, 1), (1, 2), (2, 3)]
    assert graph.x is data.x
    assert set(graph.attributes) == {"x", "y", "edge_weight"}
    with pytest.raises(AttributeError, match="without 'adj_t': the edges were taken from edge_index"):
        _ = Graph.of(Data(x=torch.ones(4, 2), adj_t=adj_t, edge_index=torch.from_numpy(EDGES))).adj_t


def test_of_takes_networkx_graphs() -> None:
    directed = nx.DiGraph([("b", "a"), ("a", "c"), ("c", "c")])
    graph = Graph.of(directed)
    assert graph.node_ids == ["b", "a", "c"]
    assert edges_of(graph) == [(0, 1), (1, 2), (2, 2)]
    graph = Graph.of(directed.to_undirected())
    assert edges_of(graph) == [(0, 1), (1, 0), (1, 2), (2, 1), (2, 2)]
    graph = Graph.of(nx.path_graph(3))
    assert graph.node_ids is None
    assert graph.num_edges == 4
    assert Graph.of(nx.MultiDiGraph([(0, 1), (0, 1)])).num_edges == 2
    assert Graph.of(nx.empty_graph(3)).num_nodes == 3


@pytest.mark.parametrize(
    "structure",
    [
        ADJACENCY,
        torch.from_numpy(ADJACENCY.toarray()).to_sparse(),
        nx.DiGraph([(0, 1), (1, 2), (2, 3)]),
        Data(edge_index=torch.from_numpy(EDGES), x=torch.zeros(4, 7)),
        Graph(edge_index=EDGES, x=np.zeros((4, 7))),
    ],
)
def test_of_takes_features_with_any_of_these(structure: Any) -> None:
    graph = Graph.of((FEATURES, structure))
    assert graph.x is FEATURES
    assert edges_of(graph) == [(0, 1), (1, 2), (2, 3)]


def test_features_beside_a_graph_keep_the_rest_of_it() -> None:
    graph = Graph(edge_index=EDGES, y=np.arange(4), node_ids=list("abcd"), label_names=["p", "q"])
    other = Graph.of((FEATURES, graph))
    assert set(other.attributes) == {"x", "y"}
    assert (other.node_ids, other.label_names) == (list("abcd"), ["p", "q"])


@pytest.mark.parametrize(
    ("thing", "message"),
    [
        (csr_array((2, 3)), r"The adjacency matrix has shape \(2, 3\); pass a square one"),
        (torch.ones(2, 3).to_sparse(), r"The adjacency tensor has shape \(2, 3\); pass a square one"),
        ((FEATURES[:2], ADJACENCY), "x has 2 rows, but num_nodes is 4; pass one row of x per node"),
        ((FEATURES, EDGES.tolist()), "edge_index is of type list; pass"),
        ((torch.ones(4, 4).to_sparse(), EDGES), "x is a sparse tensor; pass"),
        (Data(adj_t=np.eye(3), num_nodes=3), "adj_t is of type ndarray; pass edge_index or a sparse torch tensor"),
        (torch.ones(2, 3), "The graph is of type Tensor; pass"),
    ],
)
def test_of_refuses_structures_that_are_none(thing: Any, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        Graph.of(thing)


def test_node_ids_are_one_per_node() -> None:
    assert Graph(edge_index=EDGES, node_ids=list("abcd")).node_ids == ["a", "b", "c", "d"]
    assert Graph(edge_index=EDGES).node_ids is None
    with pytest.raises(GraphError, match="node_ids has 3 entries; pass one per node, 4 in all"):
        Graph(edge_index=EDGES, node_ids=list("abc"))


def edges_of(graph: Graph) -> list[tuple[int, ...]]:
    """The edges, sorted by source and target."""
    return sorted(map(tuple, as_numpy(graph.edge_index).T.tolist()))
