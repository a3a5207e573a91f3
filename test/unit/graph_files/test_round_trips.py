"""One graph, written in every layout, is read back equal."""

import csv
import gzip
import shutil
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import mmwrite
from scipy.sparse import coo_array, csr_array, save_npz

from gnnc import Graph
from gnnc.graph_checks import as_numpy

MASKS = ("train_mask", "val_mask", "test_mask")


def ends(graph: Graph) -> np.ndarray:
    return as_numpy(graph.edge_index)


def features(graph: Graph) -> np.ndarray:
    assert graph.x is not None
    return as_numpy(graph.x)


def adjacency(graph: Graph) -> coo_array:
    ones = np.ones(graph.num_edges, np.float32)
    return coo_array((ones, (ends(graph)[0], ends(graph)[1])), shape=(graph.num_nodes, graph.num_nodes))


def sorted_edges(edges: np.ndarray) -> list[list[int]]:
    return sorted(edges.T.tolist())


def own(graph: Graph, folder: Path) -> Path:
    arrays: dict[str, Any] = {name: as_numpy(array) for name, array in graph.attributes.items()}
    np.savez(folder / "g.npz", edge_index=ends(graph), **arrays)
    return folder / "g.npz"


def adjacency_and_attributes(graph: Graph, folder: Path, adj: str = "adj_", attr: str = "attr_") -> Path:
    arrays: dict[str, Any] = {}
    for prefix, matrix in ((adj, csr_array(adjacency(graph))), (attr, csr_array(features(graph)))):
        parts = {"data": matrix.data, "indices": matrix.indices, "indptr": matrix.indptr, "shape": matrix.shape}
        arrays.update((prefix + name, np.asarray(part)) for name, part in parts.items())
    masks: dict[str, Any] = {name: as_numpy(graph.attributes[name]) for name in MASKS}
    # the published files have names in arrays of objects beside all this
    objects = np.array([{"a": 1}], dtype=object)
    np.savez(folder / "g.npz", labels=as_numpy(graph.y), class_names=objects, **arrays, **masks)
    return folder / "g.npz"


def dotted(graph: Graph, folder: Path) -> Path:
    return adjacency_and_attributes(graph, folder, "adj_matrix.", "attr_matrix.")


def edge_list_npz(graph: Graph, folder: Path) -> Path:
    once = ends(graph)[:, ends(graph)[0] < ends(graph)[1]]
    masks: dict[str, Any] = {f"{name}s": np.stack([as_numpy(graph.attributes[name])] * 10) for name in MASKS}
    arrays: dict[str, Any] = {"node_features": features(graph), "node_labels": as_numpy(graph.y)}
    np.savez(folder / "g.npz", edges=once.T, **arrays, **masks)
    return folder / "g.npz"


def matrices(graph: Graph, folder: Path) -> Path:
    save_npz(folder / "adj.npz", csr_array(adjacency(graph)))
    save_npz(folder / "features.npz", csr_array(features(graph)))
    np.save(folder / "labels.npy", as_numpy(graph.y))
    for name in MASKS:
        np.save(folder / f"{name}.npy", as_numpy(graph.attributes[name]))
    return folder


def arrays_in_folder(graph: Graph, folder: Path) -> Path:
    for name, array in graph.attributes.items():
        np.save(folder / f"{name}.npy", as_numpy(array))
    np.save(folder / "edge_index.npy", ends(graph))
    return folder


def node_rows(graph: Graph, name: Callable[[int], str]) -> list[list[Any]]:
    x, y = features(graph), as_numpy(graph.y).tolist()
    split = ["train" if t else "val" if v else "test" for t, v in zip(graph.train_mask, graph.val_mask, strict=True)]
    header: list[Any] = ["id", "label", *(f"x{i}" for i in range(x.shape[1])), "split"]
    return [header, *([name(i), y[i], *x[i].tolist(), split[i]] for i in range(graph.num_nodes))]


def write_csv(file: Path, rows: Sequence[Sequence[object]], delimiter: str = ",") -> None:
    with file.open("w", newline="") as stream:
        csv.writer(stream, delimiter=delimiter).writerows(rows)


def tables(graph: Graph, folder: Path) -> Path:
    write_csv(folder / "edges.csv", [["source", "target"], *ends(graph).T.tolist()])
    write_csv(folder / "nodes.csv", node_rows(graph, str))
    return folder


def tables_with_names(graph: Graph, folder: Path) -> Path:
    edges = [[f"v{s}", f"v{t}"] for s, t in ends(graph).T.tolist()]
    write_csv(folder / "edges.tsv", edges, "\t")
    write_csv(folder / "nodes.tsv", node_rows(graph, "v{}".format), "\t")
    for name in ("edges.tsv", "nodes.tsv"):
        with (folder / name).open("rb") as plain, gzip.open(folder / f"{name}.gz", "wb") as packed:
            shutil.copyfileobj(plain, packed)
        (folder / name).unlink()
    return folder


WRITERS = [own, adjacency_and_attributes, dotted, edge_list_npz, matrices, arrays_in_folder, tables, tables_with_names]


@pytest.mark.parametrize("write", WRITERS)
def test_whole_graph(karate: Graph, tmp_path: Path, write: Callable[[Graph, Path], Path]) -> None:
    graph = Graph.load(write(karate, tmp_path))
    assert graph.num_nodes == karate.num_nodes
    assert ends(graph).dtype == np.int64
    assert sorted_edges(ends(graph)) == sorted_edges(ends(karate))
    assert set(graph.attributes) == set(karate.attributes)
    for name, array in karate.attributes.items():
        read = as_numpy(graph.attributes[name])
        assert read.dtype == as_numpy(array).dtype
        assert np.array_equal(read, as_numpy(array))


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_adjacency_by_scipy(karate: Graph, tmp_path: Path, form: str) -> None:
    save_npz(tmp_path / "g.npz", adjacency(karate).asformat(form))
    graph = Graph.load(tmp_path / "g.npz")
    assert sorted_edges(ends(graph)) == sorted_edges(ends(karate))
    assert graph.attributes == {}


@pytest.mark.parametrize("symmetry", ["general", "symmetric"])
def test_matrix_market(karate: Graph, tmp_path: Path, symmetry: str) -> None:
    mmwrite(tmp_path / "g.mtx", adjacency(karate), field="pattern", symmetry=symmetry)
    write_csv(tmp_path / "table.csv", node_rows(karate, "v{}".format))
    graph = Graph.load(tmp_path / "g.mtx", node_table=tmp_path / "table.csv")
    assert sorted_edges(ends(graph)) == sorted_edges(ends(karate))
    assert np.array_equal(features(graph), features(karate))
    assert graph.node_ids == [f"v{i}" for i in range(34)]
    assert "edge_weight" not in graph.attributes


@pytest.mark.parametrize(
    ("symmetry", "expected"),
    [
        ("general", [0, 1, 0.5]),
        ("symmetric", [0, 1, 0.5, 1, 0.5]),
        ("skew-symmetric", [0, 1, 0.5, -1, -0.5]),
    ],
)
def test_matrix_market_values(tmp_path: Path, symmetry: str, expected: list[float]) -> None:
    text = f"%%MatrixMarket matrix coordinate real {symmetry}\n% comment\n\n3 3 3\n1 1 0\n2 1 1\n3 2 5e-1"
    (tmp_path / "g.mtx.gz").write_bytes(gzip.compress(text.encode()))
    graph = Graph.load(tmp_path / "g.mtx.gz")
    assert as_numpy(graph.edge_weight).tolist() == expected
    assert ends(graph).T.tolist() == [[0, 0], [1, 0], [2, 1], [0, 1], [1, 2]][: len(expected)]
    (tmp_path / "empty.mtx").write_text(f"%%MatrixMarket matrix coordinate real {symmetry}\n3 3 0\n")
    assert Graph.load(tmp_path / "empty.mtx").num_nodes == 3


def test_directions(tmp_path: Path) -> None:
    matrix = coo_array((np.array([0.5]), ([0], [2])), shape=(3, 3))
    save_npz(tmp_path / "csr.npz", csr_array(matrix))
    save_npz(tmp_path / "csc.npz", matrix.tocsc())
    mmwrite(tmp_path / "g.mtx", matrix)
    for name in ("csr.npz", "csc.npz", "g.mtx"):
        graph = Graph.load(tmp_path / name)
        assert ends(graph).tolist() == [[0], [2]]
        assert as_numpy(graph.edge_weight).tolist() == [0.5]
    assert graph.edge_weight.dtype == np.float32


def test_arrays_in_a_folder_are_mapped_not_read(karate: Graph, tmp_path: Path) -> None:
    graph = Graph.load(arrays_in_folder(karate, tmp_path))
    assert isinstance(graph.edge_index, np.memmap)
    assert isinstance(graph.x, np.memmap)
    graph.x[:] = 7
    assert np.array_equal(np.load(tmp_path / "x.npy"), features(karate))
