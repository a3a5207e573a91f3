"""What is no graph is refused by name, and nothing in it runs."""

import os
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import mmwrite
from scipy.sparse import bsr_array, coo_array, csr_array, save_npz

from gnnc import Graph, GraphError

EDGES = np.array([[0, 1], [1, 2]])
PARTS = ("data", "indices", "indptr", "shape")


class Trap:
    """Unpickled, it makes a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __reduce__(self) -> tuple[Callable[..., Any], tuple[Any, ...]]:
        return os.mkdir, (str(self.folder / "sprung"),)


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("g.pkl", "is a pickle, which can run code when it is read, and gnnc never does; open it where you trust it"),
        ("ind.cora.x", "is a pickle, which can run code"),
        ("ind.cora.test.index", "is a pickle, which can run code"),
        ("g.pt", "is a file of torch; load it in Python and pass the Data object"),
        ("g.bin", "is a file of DGL; load it with dgl.load_graphs"),
        ("g.mat", "is a file of MATLAB; load it with scipy.io.loadmat"),
        ("edge_index.npy", "is a single array; name the arrays edge_index.npy"),
        ("g.xyz", "is no graph file that gnnc reads; pass .npz, .mtx, .csv, .tsv, .txt or a folder"),
        ("g", "is no graph file that gnnc reads"),
        ("g.npz", "is no .npz file"),
        ("g.csv", "is not UTF-8 text"),
        ("g.mtx", "is not UTF-8 text|is no Matrix Market file"),
    ],
)
def test_pickles_never_run(tmp_path: Path, name: str, message: str) -> None:
    (tmp_path / name).write_bytes(pickle.dumps(Trap(tmp_path)))
    with pytest.raises(GraphError, match=message):
        Graph.load(tmp_path / name)
    assert not (tmp_path / "sprung").exists()


def test_pickles_in_arrays_never_run(tmp_path: Path) -> None:
    trap = np.array([Trap(tmp_path)], dtype=object)
    np.savez(tmp_path / "g.npz", edge_index=EDGES, names=trap)
    with pytest.raises(AttributeError, match="names.*never unpickles"):
        _ = Graph.load(tmp_path / "g.npz").names
    np.savez(tmp_path / "g.npz", edge_index=trap)
    with pytest.raises(GraphError, match=r"g\.npz holds Python objects as array 'edge_index', which gnnc never"):
        Graph.load(tmp_path / "g.npz")

    folder = tmp_path / "arrays"
    folder.mkdir()
    np.save(folder / "edge_index.npy", trap)
    with pytest.raises(GraphError, match=r"edge_index\.npy holds Python objects, which gnnc never unpickles"):
        Graph.load(folder)
    (folder / "edge_index.npy").write_bytes(pickle.dumps(Trap(tmp_path)))
    with pytest.raises(GraphError, match=r"edge_index\.npy is damaged or no \.npy file"):
        Graph.load(folder)
    assert not (tmp_path / "sprung").exists()


def test_folders(tmp_path: Path) -> None:
    with pytest.raises(GraphError, match=r"is a folder without edge_index\.npy, edges\.csv or adj\.npz"):
        Graph.load(tmp_path)
    np.save(tmp_path / "edge_index.npy", EDGES)
    (tmp_path / "edges.csv").write_text("0,1\n")
    with pytest.raises(GraphError, match=r"holds edge_index\.npy and edges\.csv; pass a folder with one graph"):
        Graph.load(tmp_path)
    (tmp_path / "ind.cora.graph").write_bytes(b"")
    with pytest.raises(GraphError, match=r"ind\.cora\.graph is a pickle"):
        Graph.load(tmp_path)


@pytest.mark.parametrize("name", ["g.npz", "g.csv", "g.mtx", "edges.csv.gz", "folder", "folder/edge_index.npy"])
def test_files_that_may_not_be_read(tmp_path: Path, name: str) -> None:
    file = tmp_path / name
    if name == "folder":
        file.mkdir()
    else:
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(b"0,1\n")
    file.chmod(0)
    if os.access(file, os.R_OK):
        pytest.skip("this user may read everything")
    with pytest.raises(GraphError, match=r"cannot be opened \(Permission denied\); check the path and who may read it"):
        Graph.load(file.parent if name.endswith(".npy") else file)


def csr_parts(prefix: str, matrix: csr_array) -> dict[str, Any]:
    return {f"{prefix}{part}": getattr(matrix, part) for part in PARTS}


ADJ = csr_parts("adj_", csr_array(np.eye(3)))


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"edge_index": EDGES.T[:, :1]}, r"edge_index has shape \(2, 1\)|column"),
        ({"edge_index": np.zeros((3, 2), np.int64)}, r"edge_index has shape \(3, 2\), not \(2, E\); transpose it"),
        ({"edge_index": EDGES - 1}, r"edge_index column 0 is \(-1, 0\), but node ids start at 0"),
        ({"edge_index": EDGES, "num_nodes": 2}, r"edge_index column 1 is \(1, 2\), but num_nodes is 2"),
        ({"edge_index": EDGES + 0.5}, r"edge_index is 0\.5 at \[0, 0\]; node ids are whole numbers"),
        ({"edge_index": np.array([[0, np.nan], [1, 2]])}, r"edge_index is nan at \[0, 1\]; node ids are whole"),
        ({"edge_index": EDGES.astype(str)}, "edge_index has dtype <U.*; save the node ids as integers"),
        ({"edge_index": EDGES, "x": np.ones((2, 2))}, r"column 1 is \(1, 2\), but the rows of x are 2"),
        ({"edge_index__a__to__b": EDGES}, r"holds a graph with several types \(edge_index__a__to__b"),
        ({"edges": EDGES[0]}, r"edges has shape \(2,\); save one row \(source, target\) per edge"),
        ({"edges": EDGES.T - 1}, r"\(-1, 0\), but node ids start at 0"),
        ({"edges": EDGES.T, "train_masks": np.ones(3, bool)}, r"train_masks has shape \(3,\); save one row of node"),
        ({"adj_data": np.ones(3)}, "the adjacency matrix lacks adj_indices, adj_indptr, adj_shape; save all four"),
        ({**ADJ, "adj_indices": np.array([0, 1, 7])}, "the adj_. arrays do not fit together"),
        ({**ADJ, "adj_indices": np.array([0.0, 1, 2])}, "the adj_. arrays are indexed with numbers of dtype float64"),
        ({**ADJ, "attr_data": np.ones(3)}, "the attribute matrix lacks attr_indices"),
        (
            csr_parts("adj_matrix.", csr_array(np.ones((2, 3)))),
            r"the adjacency matrix has shape \(2, 3\); pass a square",
        ),
        ({**ADJ, **csr_parts("attr_", csr_array(np.ones((2, 3))))}, "x has 2 rows, but num_nodes is 3"),
    ],
)
def test_npz(tmp_path: Path, arrays: dict[str, Any], message: str) -> None:
    np.savez(tmp_path / "g.npz", **arrays)
    if arrays.get("edge_index") is not None and arrays["edge_index"].shape == (2, 1):
        assert Graph.load(tmp_path / "g.npz").num_edges == 1
        return
    with pytest.raises(GraphError, match=rf"g\.npz.*{message}"):
        Graph.load(tmp_path / "g.npz")


def test_whole_floats_are_node_ids(tmp_path: Path) -> None:
    np.savez(tmp_path / "g.npz", edge_index=EDGES.astype(np.float64), node_ids=np.array(["a", "b", "c"]))
    graph = Graph.load(tmp_path / "g.npz")
    assert graph.edge_index.dtype == np.int64
    assert graph.node_ids == ["a", "b", "c"]


def test_matrices(tmp_path: Path) -> None:
    save_npz(tmp_path / "g.npz", csr_array(np.ones((2, 3))))
    with pytest.raises(GraphError, match=r"g\.npz: the adjacency matrix has shape \(2, 3\); pass a square one"):
        Graph.load(tmp_path / "g.npz")
    save_npz(tmp_path / "g.npz", bsr_array(np.eye(4)))
    with pytest.raises(GraphError, match=r"g\.npz is a bsr matrix; save it as CSR, with save_npz\(path, matrix.tocsr"):
        Graph.load(tmp_path / "g.npz")
    np.savez(
        tmp_path / "g.npz", format=b"coo", shape=(3, 3), data=np.ones(2), row=np.zeros(1, int), col=np.zeros(2, int)
    )
    with pytest.raises(GraphError, match=r"has row, column and value arrays of shapes \(1,\), \(2,\) and \(2,\)"):
        Graph.load(tmp_path / "g.npz")
    np.savez(tmp_path / "g.npz", format=b"coo", shape=(3, 3), data=np.ones(1), row=[7], col=[0])
    with pytest.raises(GraphError, match=r"edge_index column 0 is \(7, 0\), but num_nodes is 3"):
        Graph.load(tmp_path / "g.npz")


def test_features_beside_an_adjacency(tmp_path: Path) -> None:
    save_npz(tmp_path / "adj.npz", csr_array(np.eye(3)))
    save_npz(tmp_path / "x.npz", coo_array(np.eye(3)))
    with pytest.raises(GraphError, match=r"x\.npz is no CSR matrix; save the features with"):
        Graph.load(tmp_path)
    np.savez(tmp_path / "x.npz", a=EDGES)
    with pytest.raises(GraphError, match=r"x\.npz holds no sparse matrix; write the features with"):
        Graph.load(tmp_path)
    save_npz(tmp_path / "x.npz", csr_array(np.ones((4, 2))))
    with pytest.raises(GraphError, match="x has 4 rows, but num_nodes is 3"):
        Graph.load(tmp_path)


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (coo_array(np.ones((2, 3))), r"the adjacency matrix has shape \(2, 3\)"),
        (np.eye(3), "is a matrix of kind 'array real symmetric'; write a sparse one"),
        (coo_array(np.eye(3) * 1j), "is a matrix of kind 'coordinate complex symmetric'; write a sparse one"),
    ],
)
def test_matrix_market(tmp_path: Path, matrix: Any, message: str) -> None:
    mmwrite(tmp_path / "g.mtx", matrix)
    with pytest.raises(GraphError, match=rf"g\.mtx:? {message}"):
        Graph.load(tmp_path / "g.mtx")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"g\.mtx is no Matrix Market file; line 1 must begin with"),
        ("% no header\n3 3 0\n", r"g\.mtx is no Matrix Market file; line 1 must begin with"),
        ("HEADER%\n", r"g\.mtx ends before its sizes"),
        ("HEADER3 3\n", r"g\.mtx, line 2 is '3 3'; write the rows, columns and entries"),
        ("HEADER3 3 -1\n", r"g\.mtx, line 2 is '3 3 -1'; write the rows, columns and entries"),
        ("HEADER%\n3 3 2\n1 2 1\n", r"g\.mtx has 1 entries, but line 3 says 2; write it again"),
        ("HEADER3 3 2\n1 2 1\n1 x 1\n", r"g\.mtx, line 4 is '1 x 1'; write the row, column and value of one entry"),
        ("HEADER3 3 2\n1 2 1\n1 1.5 1\n", r"g\.mtx, line 4 is '1 1\.5 1'; write the row"),
        ("HEADER3 3 2\n1 2 1\n\n1 2\n", r"g\.mtx, line 5 is '1 2'; write the row"),
        ("HEADER3 3 2\n1 2 1\n\n1 4 1\n", r"g\.mtx, line 5 is entry \(1, 4\); indices run from 1 to 3"),
        ("HEADER3 3 2\n0 2 1\n1 4 1\n", r"g\.mtx, line 3 is entry \(0, 2\); indices run from 1 to 3"),
        # scipy 1.17 crashes on this one
        ("HEADER3 3 1\n3 1 3-", r"g\.mtx, line 3 is '3 1 3-'; write the row"),
    ],
)
def test_damaged_matrix_market_names_the_line(tmp_path: Path, text: str, message: str) -> None:
    header = "%%MatrixMarket matrix coordinate real general\n"
    (tmp_path / "g.mtx").write_text(text.replace("HEADER", header))
    with pytest.raises(GraphError, match=message):
        Graph.load(tmp_path / "g.mtx")


def test_node_tables_that_contradict_the_graph(tmp_path: Path) -> None:
    (tmp_path / "n.csv").write_text("id,f\na,1\nb,2\n")
    np.savez(tmp_path / "g.npz", edge_index=EDGES, num_nodes=3)
    with pytest.raises(GraphError, match=r"n\.csv has 2 rows, but .*g\.npz has 3 nodes; give one per node"):
        Graph.load(tmp_path / "g.npz", tmp_path / "n.csv")
    np.savez(tmp_path / "g.npz", edge_index=EDGES[:, :1], x=np.ones((2, 2)))
    with pytest.raises(GraphError, match=r"g\.npz and .*n\.csv both have x; leave out one"):
        Graph.load(tmp_path / "g.npz", tmp_path / "n.csv")
