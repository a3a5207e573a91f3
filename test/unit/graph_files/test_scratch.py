"""Text that is read in pieces into mapped arrays, and OGB's folders."""

from __future__ import annotations

import gzip
import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gnnc import Graph, GraphError
from gnnc.graph_checks import as_numpy
from gnnc.graph_files import number_pieces


def write(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text)
    return path


def same(found: Graph, expected: Graph) -> None:
    assert found.num_nodes == expected.num_nodes
    np.testing.assert_array_equal(as_numpy(found.edge_index), as_numpy(expected.edge_index))
    assert set(found.attributes) == set(expected.attributes)
    for name, array in expected.attributes.items():
        np.testing.assert_array_equal(as_numpy(found.attributes[name]), as_numpy(array))
        assert found.attributes[name].dtype == array.dtype


@pytest.mark.parametrize("name", ["edges.csv", "edges.csv.gz", "edges.txt"])
@pytest.mark.parametrize(
    "text",
    [
        "0,1\n1,2\n5,0\n2,2\n0,1\n",
        "source,target,weight,kind\n0,1,0.5,3\n1,2,1.5,4\n2,0,2,5\n",
        "# comment\n0 1\n\n1 2\n",
        "0,1,7\n1,2,8\n",
    ],
)
def test_pieces_give_what_the_whole_does(tmp_path: Path, name: str, text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path / name, text)
    expected = Graph.load(file)
    monkeypatch.setattr(number_pieces, "ROWS", 2)
    same(Graph.load(file), expected)
    same(Graph.load(file, scratch=tmp_path / "scratch"), expected)
    assert isinstance(Graph.load(file, scratch=tmp_path / "scratch").edge_index, np.memmap)


def test_a_node_table_maps_the_ids(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(tmp_path / "g/edges.csv", "source,target\n30,10\n10,20\n20,30\n")
    write(tmp_path / "g/nodes.csv", "id,a,b\n10,1,2\n20,3,4\n30,5,6\n")
    monkeypatch.setattr(number_pieces, "ROWS", 2)
    expected = Graph.load(tmp_path / "g")
    found = Graph.load(tmp_path / "g", scratch=tmp_path / "scratch")
    same(found, expected)
    assert found.node_ids == expected.node_ids
    write(tmp_path / "g/edges.csv", "source,target\n30,10\n10,20\n20,99\n")
    with pytest.raises(GraphError, match=r"line 4, column 'target' is 99, which .* does not have"):
        Graph.load(tmp_path / "g", scratch=tmp_path / "scratch")
    assert len(os.listdir(tmp_path / "scratch")) == 1, "nothing half-written is left"


def test_files_are_read_once_and_again_when_they_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, scratch = write(tmp_path / "edges.csv", "0,1\n1,2\n"), tmp_path / "scratch"
    Graph.load(file, scratch=scratch)

    def never(*arguments: Any) -> Any:
        raise AssertionError("the text is read again")

    with monkeypatch.context() as patch:
        patch.setattr("gnnc.graph_files.scratch.number_pieces", never)
        assert Graph.load(file, scratch=scratch).num_edges == 2
    write(file, "0,1\n1,2\n2,0\n")
    assert Graph.load(file, scratch=scratch).num_edges == 3


@pytest.mark.parametrize("text", ["a,b\nb,c\n", "0,1\n1,x\n", "0,1\n1,2,3\n"])
def test_other_text_is_read_as_always(tmp_path: Path, text: str) -> None:
    file = write(tmp_path / "edges.csv", text)
    assert ids_or_error(file, tmp_path / "scratch") == ids_or_error(file, None)


def ids_or_error(file: Path, scratch: Path | None) -> Any:
    try:
        return Graph.load(file, scratch=scratch).node_ids
    except GraphError as error:
        return str(error)


def ogb(folder: Path, tables: dict[str, str]) -> Path:
    for name, text in tables.items():
        write(folder / "raw" / f"{name}.csv.gz", text)
    return folder


TABLES = {
    "edge": "0,1\n1,2\n3,1\n",
    "num-node-list": "5\n",
    "num-edge-list": "3\n",
    "node-feat": "0.5,1\n1,2\n2,3\n3,4\n4,5\n",
    "node-label": "0\n1\n2\n1\n0\n",
}


@pytest.mark.parametrize("into_files", [False, True])
def test_ogb_folders(tmp_path: Path, into_files: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(number_pieces, "ROWS", 2)
    scratch = tmp_path / "scratch" if into_files else None
    for path in (ogb(tmp_path / "arxiv", TABLES), tmp_path / "arxiv" / "raw"):
        graph = Graph.load(path, scratch=scratch)
        assert as_numpy(graph.edge_index).tolist() == [[0, 1, 3], [1, 2, 1]]
        assert graph.num_nodes == 5
        assert graph.x is not None
        np.testing.assert_array_equal(graph.x, [[0.5, 1], [1, 2], [2, 3], [3, 4], [4, 5]])
        np.testing.assert_array_equal(graph.y, [0, 1, 2, 1, 0])
    both = Graph.load(ogb(tmp_path / "ogbn_products", TABLES), scratch=scratch)
    assert as_numpy(both.edge_index).tolist() == [[0, 1, 1, 2, 3, 1], [1, 0, 2, 1, 1, 3]]


@pytest.mark.parametrize(
    ("name", "text", "message"),
    [
        ("num-node-list", "5\n3\n", "holds 2 graphs"),
        ("edge", "0,x\n", "is no table of numbers"),
        ("edge", "0,1,2\n", "has 3 columns"),
        ("edge", "0,9\n", "9"),
    ],
)
def test_ogb_folders_that_are_damaged(tmp_path: Path, name: str, text: str, message: str) -> None:
    folder = ogb(tmp_path / "arxiv", {**TABLES, name: text})
    for scratch in (None, tmp_path / "scratch"):
        with pytest.raises(GraphError, match=message):
            Graph.load(folder, scratch=scratch)


def test_a_folder_that_cannot_be_written(tmp_path: Path) -> None:
    file = write(tmp_path / "edges.csv", "0,1\n")
    with pytest.raises(GraphError, match="can't be written"):
        Graph.load(file, scratch=file / "below")
