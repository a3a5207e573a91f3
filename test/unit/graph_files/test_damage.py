"""Damaged files raise GraphError, or ModelError for weights, and nothing else."""

import io
import tempfile
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from safetensors.torch import save
from scipy.io import mmwrite
from scipy.sparse import csr_array, save_npz

from gnnc import Graph, GraphError, ModelError
from gnnc.graph import load_graph
from gnnc.model_files import load_weights

EDGES = np.array([[0, 1, 2], [1, 2, 0]])
MATRIX = csr_array(np.array([[0, 2, 0], [0, 0, 1], [3, 0, 0]], np.float32))
PARTS = ("data", "indices", "indptr", "shape")


def written(write: Callable[[io.BytesIO], object]) -> bytes:
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


def npy_folder(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "edge_index.npy").write_bytes(content)
        Graph.load(folder)


def graph_file(name: str) -> Callable[[bytes], None]:
    def load(content: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / name).write_bytes(content)
            load_graph(Path(folder) / name)

    return load


def node_table(content: bytes) -> None:
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "edges.csv").write_text("a,b\nb,c\n")
        (Path(folder) / "nodes.csv").write_bytes(content)
        Graph.load(folder)


def weights(suffix: str) -> Callable[[bytes], None]:
    def load(content: bytes) -> None:
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / f"w{suffix}"
            file.write_bytes(content)
            load_weights(file)

    return load


# for each kind of file
EXAMPLES = 250
STATE = {"lin.weight": torch.ones(3, 2), "lin.bias": torch.zeros(3)}
ADJ = {f"adj_{part}": getattr(MATRIX, part) for part in PARTS}
TYPED: dict[str, Any] = {
    "edge_index__a__r__b": EDGES,
    "num_nodes__b": np.array(3),
    "x__b": np.ones((3, 2)),
    **{f"x__a__{part}": np.asarray(getattr(MATRIX, part)) for part in PARTS},
}
KINDS: dict[str, tuple[Callable[[bytes], None], bytes]] = {
    "npz": (graph_file("g.npz"), written(lambda f: np.savez(f, edge_index=EDGES, x=np.ones((3, 2)), y=np.arange(3)))),
    "adjacency npz": (graph_file("g.npz"), written(lambda f: np.savez(f, **ADJ))),
    "npz of types": (graph_file("g.npz"), written(lambda f: np.savez(f, **TYPED))),
    "packed npz": (graph_file("g.npz"), written(lambda f: save_npz(f, MATRIX))),
    "npy": (npy_folder, written(lambda f: np.save(f, EDGES))),
    "csv": (graph_file("g.csv"), b"source,target,weight,kind\n0,1,0.5,3\n1,2,0.25,4\n2,0,1e3,5\n"),
    "csv of names": (graph_file("g.csv"), b'# edges\nsource\ttarget\n"ann"\tbob\nbob\tcarl\n'),
    "node table": (node_table, b"id,f,label,split\na,1,cat,train\nb,0.5,dog,val\nc,true,cat,\n"),
    "mtx": (graph_file("g.mtx"), written(lambda f: mmwrite(f, MATRIX))),
    "safetensors": (weights(".safetensors"), save(STATE)),
    "pt": (weights(".pt"), written(lambda f: torch.save({"state_dict": STATE, "epoch": 3}, f))),
    "old pt": (weights(".pth"), written(lambda f: torch.save(STATE, f, _use_new_zipfile_serialization=False))),
}


@st.composite
def mutations(draw: st.DrawFn, original: bytes) -> bytes:
    """The bytes with some of them changed, put in or cut out, or truncated."""
    content = bytearray(original)
    for _ in range(draw(st.integers(1, 3))):
        place = draw(st.integers(0, max(len(content) - 1, 0)))
        kind = draw(st.sampled_from(["change", "insert", "cut", "truncate"]))
        if kind == "truncate":
            del content[place:]
            continue
        end = place if kind == "insert" else place + draw(st.integers(1, 4))
        content[place:end] = b"" if kind == "cut" else draw(st.binary(min_size=1, max_size=4))
    return bytes(content)


@pytest.mark.parametrize("kind", KINDS)
def test_mutated_bytes(kind: str) -> None:
    load, original = KINDS[kind]
    load(original)

    @settings(max_examples=EXAMPLES, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
    @given(mutations(original))
    def check(content: bytes) -> None:
        with suppress(GraphError, ModelError):
            load(content)

    check()
