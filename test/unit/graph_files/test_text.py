"""Edge lists and node tables in text."""

import gzip
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from gnnc import Graph, GraphError
from gnnc.graph_checks import as_numpy


def load(folder: Path, edges: str | bytes, nodes: str | None = None, name: str = "edges.csv") -> Graph:
    (folder / name).write_bytes(edges.encode() if isinstance(edges, str) else edges)
    if nodes is None:
        return Graph.load(folder / name)
    (folder / "table.csv").write_text(nodes)
    return Graph.load(folder / name, node_table=folder / "table.csv")


def edges_of(graph: Graph) -> list[list[int]]:
    return as_numpy(graph.edge_index).T.tolist()


@pytest.mark.parametrize(
    "text",
    [
        "0,1\n1,2\n",
        "source,target\n0,1\n1,2\n",
        "Target,Source\n1,0\n2,1",
        "person,friend\n0,1\n1,2\n",
        ",src,dst\n0,0,1\n1,1,2\n",
        ",a,b\n0,0,1\n1,1,2\n",
        "0\t1\n1\t2\n",
        "from;to\r\n0;1\r\n1;2\r\n",
        "# Directed graph\n# FromNodeId\tToNodeId\n0\t1\n1\t2\n",
        "% sym unweighted\n0 1\n\n1 2 \n\n",
        '"0","1"\n"1","2"\n',
        "\ufeffsource,target\n0,1\n1,2\n",
        "0.0,1.0\n1.0,2.0\n",
        "source,target\n0, 1\n1, 2.0\n",
    ],
)
def test_numbers(tmp_path: Path, text: str) -> None:
    graph = load(tmp_path, text)
    assert edges_of(graph) == [[0, 1], [1, 2]]
    assert as_numpy(graph.edge_index).dtype == np.int64
    assert graph.node_ids is None
    assert graph.attributes == {}


def test_gaps_are_nodes(tmp_path: Path) -> None:
    assert load(tmp_path, "0,9\n").num_nodes == 10


@pytest.mark.parametrize(
    "text",
    [
        "ann,bob\nbob,carl\n",
        "src,dst\nann,bob\nbob,carl\n",
        "ann bob\nbob carl\n",
        '"ann","bob"\nbob,"carl"\n',
    ],
)
def test_names_are_numbered_as_they_come(tmp_path: Path, text: str) -> None:
    graph = load(tmp_path, text)
    assert graph.node_ids == ["ann", "bob", "carl"]
    assert edges_of(graph) == [[0, 1], [1, 2]]


def test_further_columns(tmp_path: Path) -> None:
    text = "source,target,weight,kind,edge_time,note,Score\n0,1,1,4,17,x,1\n1,0,2,5,18,y,0.5\n"
    graph = load(tmp_path, text)
    expected = {"edge_weight": [1, 2], "edge_kind": [4, 5], "edge_time": [17, 18], "edge_Score": [1, 0.5]}
    assert {name: as_numpy(array).tolist() for name, array in graph.attributes.items()} == expected
    dtypes = {name: as_numpy(array).dtype.name for name, array in graph.attributes.items()}
    assert dtypes == dict.fromkeys(("edge_weight", "edge_Score"), "float32") | dict.fromkeys(
        ("edge_kind", "edge_time"), "int64"
    )
    with pytest.raises(AttributeError, match="without 'edge_note': column 'note' is text"):
        _ = graph.edge_note


def test_numpy_and_the_csv_module_read_the_same(tmp_path: Path) -> None:
    # the text in a last column keeps numpy from reading the file
    plain = "source,target,weight,kind,score\n0,1,1,4,1\n1,0,2,5,0.25\n"
    with_text = "\n".join(line + ",text" for line in plain.splitlines())
    fast, slow = load(tmp_path, plain), load(tmp_path, with_text)
    assert edges_of(fast) == edges_of(slow)
    assert fast.attributes.keys() == slow.attributes.keys()
    for name, array in fast.attributes.items():
        assert as_numpy(array).dtype == as_numpy(slow.attributes[name]).dtype
        assert np.array_equal(as_numpy(array), as_numpy(slow.attributes[name]))


def test_further_columns_without_a_header(tmp_path: Path) -> None:
    assert as_numpy(load(tmp_path, "0 1 3\n1 0 4\n").edge_weight).tolist() == [3, 4]
    assert as_numpy(load(tmp_path, "a,b,0.5\nb,a,4\n").edge_weight).tolist() == [0.5, 4]
    assert as_numpy(load(tmp_path, "0,1,3,5\n1,0,4,6\n").edge_attr).tolist() == [[3, 5], [4, 6]]
    assert load(tmp_path, "0 1 {}\n1 0 {}\n").attributes == {}


def test_packed(tmp_path: Path) -> None:
    graph = load(tmp_path, gzip.compress(b"source,target\n0,1\n"), name="edges.csv.gz")
    assert edges_of(graph) == [[0, 1]]


def test_headers_without_edges(tmp_path: Path) -> None:
    assert load(tmp_path, "source,target,weight\n").num_nodes == 0
    graph = load(tmp_path, "source,target\n", "id,age\na,1\nb,2\n")
    assert (graph.num_nodes, graph.num_edges) == (2, 0)


TABLE = "id,age,city,label,split,tall\nu7,30,Rome,cat,train,True\nu3,40.5,Oslo,ant,valid,false\nu5,50,Rome,cat,,True\n"


@pytest.mark.parametrize("header", ["", "source,target\n", "some,thing\n"])
def test_node_table(tmp_path: Path, header: str) -> None:
    if header == "some,thing\n":
        with pytest.raises(GraphError, match=r"edges\.csv, line 1, column 1 is some, which .*table\.csv does not have"):
            load(tmp_path, header + "u3,u7\n", TABLE)
        return
    graph = load(tmp_path, header + "u3,u7\nu5,u3\n", TABLE)
    assert graph.node_ids == ["u7", "u3", "u5"]
    assert edges_of(graph) == [[1, 0], [2, 1]]
    assert as_numpy(graph.y).tolist() == [1, 0, 1]
    assert graph.label_names == ["ant", "cat"]
    assert graph.x is not None
    assert graph.x.dtype == np.float32
    assert as_numpy(graph.x).tolist() == [[30, 1], [40.5, 0], [50, 1]]
    masks = [as_numpy(graph.attributes[f"{name}_mask"]).tolist() for name in ("train", "val", "test")]
    assert masks == [[True, False, False], [False, True, False], [False, False, False]]
    with pytest.raises(AttributeError, match="without 'city': column 'city' is text"):
        _ = graph.city


@pytest.mark.parametrize(
    ("ids", "edges"),
    [
        (("10", "5", "7"), "5,7\n7,10\n"),
        (("10", "5", "7"), "5.0,7.0\n7.0,10.0\n"),
        (("0", "1", "2"), "1,2\n2,0\n"),
        (("c", "a", "b"), "a,b\nb,c\n"),
        (("010", "5", "7"), "5,7\n7,010\n"),
    ],
)
def test_ids_are_mapped_to_rows(tmp_path: Path, ids: tuple[str, ...], edges: str) -> None:
    graph = load(tmp_path, edges, "name,f\n" + "".join(f"{name},1\n" for name in ids))
    assert edges_of(graph) == [[1, 2], [2, 0]]
    assert graph.node_ids == list(ids)


@pytest.mark.parametrize(
    ("labels", "expected", "dtype"),
    [
        (["3", "", "1"], [3, -1, 1], "int64"),
        (["0.5", "2", "1"], [0.5, 2, 1], "float32"),
        (["b", "", "a"], [1, -1, 0], "int64"),
    ],
)
def test_labels(tmp_path: Path, labels: list[str], expected: list[Any], dtype: str) -> None:
    graph = load(tmp_path, "0,1\n", "id,y\n" + "".join(f"{i},{label}\n" for i, label in enumerate(labels)))
    assert as_numpy(graph.y).tolist() == expected
    assert graph.y.dtype == dtype
    assert graph.x is None


def test_masks_by_name(tmp_path: Path) -> None:
    graph = load(tmp_path, "0,1\n", "id,train_mask,test_mask\n0,1,False\n1,0,true\n")
    assert as_numpy(graph.train_mask).tolist() == [True, False]
    assert as_numpy(graph.test_mask).tolist() == [False, True]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"edges\.csv is empty; write one row per line"),
        ("# nothing else\n\n", r"edges\.csv is empty"),
        ("0\n1\n", r"edges\.csv, line 1 has one column; an edge list has two"),
        ("0,1\n1,2,3\n", r"edges\.csv, line 2 has 3 columns, but the lines before have 2; give"),
        ("source,target\n\n0,1\n1\n", r"line 4 has 1 column, but the lines before have 2; give"),
        ("0,1\n2,\n", r"line 2, column 2 is empty; write"),
        ("0,1\nnan,2\n", r"line 2, column 1 is empty; write"),
        ("src,dst\na,b\nNaN,b\n", r"line 3, column 'src' is empty; write the id of a node"),
        ("a,b\n,b\n", r"line 2, column 1 is empty; write the id of a node"),
        ("0,1\n2,-3\n", r"line 2, column 2 is -3, but node numbers start at 0; drop or renumber"),
        ("0,1\n2,0.5\n", r"line 2, column 2 is '0\.5', while the first ids are numbers; write a whole number"),
        ("0,1\n2,x4\n", r"line 2, column 2 is 'x4', while the first ids are numbers; write a whole number, or give a"),
        ("0,1\n2,99999999999999999999\n", r"line 2, column 2 is '9+', while"),
        ("source,target,weight\n0,1,2\n1,0,\n", r"line 3, column 'weight' is ''; write a number"),
        ("source,target,weight\n0,1,2\n1,0,heavy\n", r"line 3, column 'weight' is 'heavy'; write a number"),
        ("source,target,w,w\n0,1,2,3\n", r"line 1 has two columns 'w'; rename one"),
        ('a,"b\nc,d\n', r"edges\.csv, line 2 cannot be read \(unexpected end of data\); check its quotes"),
        (b"a,b\nc,\xff\n", r"edges\.csv, line 2 is not UTF-8 text; save the file as UTF-8"),
        ("a,b\n".encode("utf-16"), r"edges\.csv, line 1 is not UTF-8 text"),
    ],
)
def test_edge_lists_that_are_refused(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        load(tmp_path, text)


def test_an_id_of_a_later_line_is_named(tmp_path: Path) -> None:
    text = "# comment\nsource,target\n" + "0,1\n" * 5000 + "0,-1\n" + "0,1\n" * 5000
    with pytest.raises(GraphError, match=r"line 5003, column 'target' is -1"):
        load(tmp_path, text)


@pytest.mark.parametrize(
    ("edges", "nodes", "message"),
    [
        ("a,b\nc,a\n", "id\na\nb\n", r"edges\.csv, line 2, column 1 is c, which .*table\.csv does not have; add a row"),
        ("0,1\n1,5\n", "id,f\n0,1\n1,1\n", r"edges\.csv, line 2, column 2 is 5, which .*table\.csv does not have"),
        ("0,1\n1,5\n", "id,f\n3,1\n1,1\n", r"edges\.csv, line 1, column 1 is 0, which .*table\.csv does not have"),
        ("0,1\n", "id,f\n", r"edges\.csv, line 1, column 1 is 0, which .*table\.csv does not have"),
        (
            "a,b\n",
            "id,f\na,1\nb,1\na,2\n",
            r"table\.csv, line 4, column 'id' is 'a' as in line 2; give every node an id",
        ),
        ("a,b\n", "id,f\na,1\n,1\n", r"table\.csv, line 3, column 'id' is empty; give every node an id"),
        ("a,b\n", "id,f\na,1\nnan,1\n", r"table\.csv, line 3, column 'id' is empty"),
        ("a,b\n", "id,f\na,1\nb,x\n", r"table\.csv, line 3, column 'f' is 'x'; write a number"),
        ("a,b\n", "id,f\na,1\nb,\n", r"table\.csv, line 3, column 'f' is ''; write a number"),
        ("a,b\n", "id,f\na,1\nb\n", r"table\.csv, line 3 has 1 column, but the lines before have 2"),
        ("a,b\n", "id,split\na,train\nb,Monday\n", r"table\.csv, line 3, column 'split' is 'Monday'; write train, val"),
        ("a,b\n", "id,val_mask\na,1\nb,2\n", r"table\.csv, line 3, column 'val_mask' is '2'; write 0 or 1"),
        ("0,1\n", "0,0.5\n1,0.7\n", r"table\.csv, line 1 has numbers only; begin with a header"),
        ("a,b\n", "id,y,label\na,1,1\nb,1,1\n", r"table\.csv, line 1 has columns 'label' and 'y', both for the labels"),
        ("a,b\n", "", r"table\.csv is empty"),
    ],
)
def test_node_tables_that_are_refused(tmp_path: Path, edges: str, nodes: str, message: str) -> None:
    with pytest.raises(GraphError, match=message):
        load(tmp_path, edges, nodes)


def test_damaged_gzip_is_refused(tmp_path: Path) -> None:
    packed = gzip.compress(b"0,1\n" * 1000)
    for content in (packed[:-9], b"0,1\n", packed[:10] + b"\xff" * 20):
        with pytest.raises(GraphError, match=r"edges\.csv\.gz is damaged or no gzip file"):
            load(tmp_path, content, name="edges.csv.gz")


def test_a_missing_node_table_is_refused(tmp_path: Path) -> None:
    (tmp_path / "edges.csv").write_text("0,1\n")
    with pytest.raises(GraphError, match=r"none\.csv cannot be opened \(No such file or directory\); check the path"):
        Graph.load(tmp_path / "edges.csv", node_table=tmp_path / "none.csv")


def test_a_million_edges_take_seconds(tmp_path: Path) -> None:
    lines = [f"{i % 1000},{i % 977}" for i in range(1_000_000)]
    (tmp_path / "edges.csv").write_text("source,target\n" + "\n".join(lines))
    start = time.perf_counter()
    assert Graph.load(tmp_path / "edges.csv").num_edges == 1_000_000
    assert time.perf_counter() - start < 10
