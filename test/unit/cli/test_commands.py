"""The commands, from files to files, and what bad input gets."""

from __future__ import annotations

import csv
import gc
import json
import pickle
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

import gnnc

ROOT = Path(__file__).resolve().parents[3]
CLUB = ROOT / "examples" / "club"
MODEL = f"{CLUB}/model.py:build"
KARATE = ROOT / "examples" / "data" / "graphs" / "karate.npz"

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="session")
def club(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The artifact of the club's model, with reference rows."""
    from gnnc.model_files import load_model

    path = tmp_path_factory.mktemp("club") / "club.gnnc"
    graph = gnnc.Graph.load(CLUB)
    gnnc.compile(load_model(MODEL, CLUB / "weights.pt"), graph, keep_reference=5).save(path)
    return path


def expected_scores() -> Any:
    from gnnc.model_files import load_model

    graph = gnnc.Graph.load(CLUB)
    with torch.no_grad():
        return load_model(MODEL, CLUB / "weights.pt")(
            torch.as_tensor(graph.x), torch.as_tensor(graph.edge_index)
        ).numpy()


def test_a_run_with_fan_outs_draws_the_same_neighbors_again(run: Run, club: Path) -> None:
    command = ("run", club, "--graph", CLUB, "--fanout", "2,3", "--seed", "4")
    assert run(*command, "-o", "a.npy", "--batch-size", "5")[0] == 0
    assert run(*command, "-o", "b.npy", "--batch-size", "34")[0] == 0
    expected = gnnc.load(club).run(graph=gnnc.Graph.load(CLUB), fanout=[2, 3], seed=4)
    np.testing.assert_allclose(np.load("a.npy"), expected, rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(np.load("b.npy"), expected, rtol=1e-5, atol=1e-6)
    assert not np.allclose(expected, expected_scores(), rtol=1e-3)


@pytest.mark.parametrize(
    ("fanout", "message"),
    [
        ("ten", "--fanout ten: give whole numbers, one for each layer, such as 10,10"),
        ("10", "1 fan-outs are given and the model has 2 layers of Convs"),
    ],
)
def test_wrong_fan_outs_are_said(run: Run, club: Path, fanout: str, message: str) -> None:
    code, _, err = run("run", club, "--graph", CLUB, "-o", "a.npy", "--fanout", fanout)
    assert code == 2
    assert message in err
    assert not list(Path().iterdir())


def test_two_csv_files_and_a_state_dict_become_a_csv_of_scores(run: Run) -> None:
    code, out, err = run("compile", MODEL, "--weights", CLUB / "weights.pt", "--graph", CLUB, "-o", "club.gnnc")
    assert (code, err) == (0, "")
    assert out == "club.gnnc: compiled for 2 inputs, 6 weights\n"
    assert run("run", "club.gnnc", "--graph", CLUB, "-o", "scores.csv") == (0, "scores.csv\n", "")
    with Path("scores.csv").open(newline="") as stream:
        header, *rows = csv.reader(stream)
    assert header == ["id", "score_0", "score_1", "score_2", "score_3"]
    assert [row[0] for row in rows] == [f"member-{number:02}" for number in range(34)]
    scores = np.array([[np.float32(cell) for cell in row[1:]] for row in rows])
    np.testing.assert_allclose(scores, expected_scores(), rtol=1e-5, atol=1e-5)
    assert sorted(path.name for path in Path().iterdir()) == ["club.gnnc", "scores.csv"]


def test_edges_and_table_as_two_files(run: Run, club: Path) -> None:
    shutil.copy(CLUB / "edges.csv", "e.csv")
    shutil.copy(CLUB / "nodes.csv", "n.csv")
    code, out, _ = run("run", club, "--graph", "e.csv", "--node-table", "n.csv", "-o", "scores.npy", "--batch-size", 7)
    assert (code, out) == (0, "scores.npy\nscores.ids.csv\n")
    np.testing.assert_allclose(np.load("scores.npy"), expected_scores(), rtol=1e-4, atol=1e-4)
    assert Path("scores.ids.csv").read_text().splitlines()[:2] == ["row,id", "0,member-00"]


def test_some_nodes_by_id_and_by_number(run: Run, club: Path) -> None:
    Path("ids.txt").write_text("member-03\nmember-00\nmember-03\n")
    assert run("run", club, "-g", CLUB, "-o", "some.csv", "--nodes", "ids.txt")[0] == 0
    assert [line.split(",")[0] for line in Path("some.csv").read_text().splitlines()] == [
        "id",
        "member-03",
        "member-00",
        "member-03",
    ]
    np.save("ids.npy", np.array([33, 2]))
    assert run("run", club, "-g", CLUB, "-o", "some.npy", "--nodes", "ids.npy")[0] == 0
    np.testing.assert_allclose(np.load("some.npy"), expected_scores()[[33, 2]], rtol=1e-4, atol=1e-4)


def test_a_folder_of_mapped_arrays(run: Run, club: Path) -> None:
    graph = gnnc.Graph.load(CLUB)
    Path("arrays").mkdir()
    np.save("arrays/x.npy", np.asarray(graph.x))
    np.save("arrays/edge_index.npy", np.asarray(graph.edge_index))
    assert run("run", club, "--graph", "arrays", "-o", "out.npy", "--batch-size", 5) == (0, "out.npy\n", "")
    np.testing.assert_allclose(np.load("out.npy"), expected_scores(), rtol=1e-4, atol=1e-4)


def test_several_outputs_go_into_an_npz(run: Run, tmp_path: Path) -> None:
    (tmp_path / "two.py").write_text(
        "import torch\n"
        "class Two(torch.nn.Module):\n"
        "    def forward(self, x, edge_index):\n"
        "        return {'twice': x * 2, 'relu': x.relu()}\n"
    )
    assert run("compile", "two.py:Two", "-g", CLUB, "-o", "two.gnnc")[0] == 0
    code, _, err = run("run", "two.gnnc", "-g", CLUB, "-o", "two.npy")
    assert (code, err) == (
        2,
        "error: two.npy can hold one output, the model returns output.twice, output.relu: "
        "give a name that ends in .npz\n",
    )
    assert run("run", "two.gnnc", "-g", CLUB, "-o", "two.npz")[0] == 0
    assert sorted(np.load("two.npz").files) == ["output.relu", "output.twice"]


def test_verify(run: Run, club: Path) -> None:
    code, out, _ = run("verify", club, "--graph", CLUB)
    assert code == 0 and out.startswith("compared 5 rows\noutput: error ") and out.endswith(": ok\n")
    code, out, _ = run("verify", club, "-g", CLUB, "--model", MODEL, "--weights", CLUB / "weights.pt", "--json")
    assert code == 0 and json.loads(out)["passed"] and json.loads(out)["rows"] == 34


def test_verify_exits_1_on_a_difference(run: Run, club: Path) -> None:
    """A model without its weights is another model."""
    code, out, _ = run("verify", club, "-g", CLUB, "--model", MODEL)
    assert code == 1
    assert "over the tolerance 0.0001" in out and "largest at node" in out


def test_explain_and_inspect_agree(run: Run, club: Path) -> None:
    code, out, _ = run("explain", MODEL, "--graph", CLUB)
    assert code == 0
    assert "conv 0  layer 1  mean over edges" in out
    assert "loads for neighbors: x 8 bytes a node" in out
    code, inspected, _ = run("inspect", club)
    assert code == 0 and out.strip() in inspected
    assert "x: float32 [nodes, 2]" in inspected and "edge_index: int64 [2, edges]" in inspected
    explained = json.loads(run("explain", MODEL, "--graph", CLUB, "--json")[1])
    assert explained.items() <= json.loads(run("inspect", club, "--json")[1]).items()
    assert "gnn.conv_block layer 1" in run("inspect", club, "--ir")[1]


def test_frozen_features(run: Run, club: Path, tmp_path: Path) -> None:
    out = tmp_path / "frozen.gnnc"
    weights = ("--weights", CLUB / "weights.pt", "--graph", CLUB)
    assert run("compile", MODEL, *weights, "--freeze-features", "-o", out)[0] == 0
    assert run("verify", out, "--model", MODEL, *weights)[0] == 0
    assert "computed when compiled" in run("inspect", out, "--decisions")[1]


def test_precision(run: Run, club: Path, tmp_path: Path) -> None:
    out = tmp_path / "half.gnnc"
    weights = ("--weights", CLUB / "weights.pt", "--graph", CLUB)
    assert run("compile", MODEL, *weights, "--precision", "bf16", "-o", out)[0] == 0
    code, text_of_verify, _ = run("verify", out, "--model", MODEL, *weights)
    assert code == 0 and "numbers stored as bf16" in text_of_verify
    assert run("verify", out, "--model", MODEL, *weights, "--tolerance", "1e-7")[0] == 1
    assert json.loads(run("verify", out, "--model", MODEL, *weights, "--json")[1])["precision"] == "bf16"


def test_decisions(run: Run, club: Path) -> None:
    code, out, _ = run("inspect", club, "--decisions")
    assert code == 0
    assert "gnn-split-conv-blocks: after layer 1 keep" in out and "  -> minimum cut" in out
    assert "-> one loop" in out and "ps an edge predicted" in out
    log = json.loads(run("inspect", club, "--decisions", "--json")[1])
    assert [decision["made_by"] for decision in log][-1] == "gnn-fuse-conv"
    assert all(d["choice"] in {**d["predicted"], **d["measured"]} for d in log)
    assert len(out.splitlines()) == sum(1 + len({**d["predicted"], **d["measured"]}) for d in log)


def test_help_is_fast_and_has_examples() -> None:
    code = (
        "import sys, gnnc.cli.main as m\n"
        "try: m.main(['--help'])\n"
        "finally: print('torch' in sys.modules, 'numpy' in sys.modules)"
    )
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "gnnc run out.gnnc --graph graph.npz -o embeddings.npy" in result.stdout
    assert result.stdout.endswith("False False\n")


@pytest.mark.parametrize("command", ["compile", "run", "verify", "inspect", "explain"])
def test_every_command_has_help_with_an_example(command: str, run: Run) -> None:
    code, out, _ = run(command, "--help")
    assert code == 0
    assert f"gnnc {command} " in out.split("Options:")[0].split("\n", 1)[1]


# Bad input: one sentence that names it, exit code 2, nothing half-written.


def npz(**arrays: Any) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        np.savez(folder / "graph.npz", **arrays)
        return folder / "graph.npz"

    return write


def text(name: str, content: str | bytes) -> Callable[[Path], Path]:
    def write(folder: Path) -> Path:
        (folder / name).write_bytes(content.encode() if isinstance(content, str) else content)
        return folder / name

    return write


X = np.zeros((3, 2), np.float32)
EDGES = np.array([[0, 1], [1, 2]])

GRAPHS: dict[str, tuple[Callable[[Path], Path], str]] = {
    "missing": (lambda folder: folder / "nothing.npz", "nothing.npz"),
    "no zip": (text("graph.npz", "not a zip"), "graph.npz"),
    "truncated": (text("graph.npz", KARATE.read_bytes()[:900]), "graph.npz"),
    "pickled": (npz(edge_index=EDGES, x=np.array([{}], dtype=object)), "pickle"),
    "no edges": (npz(x=X), "edge_index"),
    "negative": (npz(x=X, edge_index=EDGES - 1), "edge_index"),
    "out of range": (npz(x=X, edge_index=EDGES + 1), "edge_index"),
    "float": (npz(x=X, edge_index=EDGES + 0.5), "edge_index"),
    "shape": (npz(x=X, edge_index=EDGES[:1]), "edge_index"),
    "width": (npz(x=np.zeros((3, 5), np.float32), edge_index=EDGES), r"x has shape \[3, 5\], .* \[\?, 2\]"),
    "type": (npz(x=X.astype(np.float64), edge_index=EDGES), "x has type torch.float64"),
    "no features": (npz(edge_index=EDGES), "the graph has no x"),
    "nan ids": (text("edges.csv", "source,target\n1,nan\n"), "edges.csv"),
    "planetoid": (text("ind.cora.x", pickle.dumps(X)), "ind.cora.x"),
}


@pytest.mark.parametrize("name", list(GRAPHS))
def test_bad_graphs(name: str, run: Run, club: Path, tmp_path: Path) -> None:
    write, message = GRAPHS[name]
    path = write(tmp_path)
    before = sorted(tmp_path.iterdir())
    assert_refused(run("run", club, "--graph", path, "-o", "out.npy"), message)
    assert sorted(tmp_path.iterdir()) == before


def assert_refused(result: tuple[int, str, str], message: str) -> None:
    code, out, err = result
    assert code == 2 and out == ""
    assert err.startswith("error: ") and err.count("\n") == 1 and "Traceback" not in err
    assert re.search(message, err), err


def model(body: str) -> str:
    Path("made.py").write_text("import torch\nfrom torch_geometric.nn import GCNConv\n" + body)
    return "made.py:build"


MODELS: dict[str, tuple[str, str]] = {
    "no such callable": ("", "made.py has no 'build'"),
    "raises": ("def build():\n    raise RuntimeError('no luck')\n", "no luck"),
    "no module": ("def build():\n    return 7\n", "build"),
    "control flow on data": (
        "class build(torch.nn.Module):\n"
        "    def forward(self, x, edge_index):\n"
        "        if x.sum() > 0:\n"
        "            return x\n"
        "        return -x\n",
        r"build can't be captured.*made.py:5",
    ),
    "live dropout": (
        "class build(torch.nn.Module):\n"
        "    def forward(self, x, edge_index):\n"
        "        return torch.nn.functional.dropout(x, 0.5)\n",
        r"dropout.*made.py:5.*random",
    ),
    "cached": (
        "def build():\n"
        "    conv = GCNConv(2, 2, cached=True)\n"
        "    conv(torch.zeros(3, 2), torch.tensor([[0, 1], [1, 2]]))\n"
        "    return conv\n",
        "cached",
    ),
    "missing argument": (
        "class build(torch.nn.Module):\n    def forward(self, x, edge_index, pos):\n        return x + pos\n",
        "argument 'pos' of build.forward matches nothing in the graph",
    ),
    "feature width": (
        "def build():\n    return GCNConv(5, 2)\n",
        r"GCNConv fails on rows as wide as the graph's \(x \[2\]\)",
    ),
}


@pytest.mark.parametrize("name", list(MODELS))
def test_bad_models(name: str, run: Run, tmp_path: Path) -> None:
    body, message = MODELS[name]
    spec = model(body)
    assert_refused(run("compile", spec, "--graph", CLUB, "-o", "out.gnnc"), message)
    assert not (tmp_path / "out.gnnc").exists()


def weights_file(change: Callable[[dict[str, torch.Tensor]], dict[str, torch.Tensor]]) -> Path:
    state = torch.load(CLUB / "weights.pt", weights_only=True)
    save_file(change(state), "weights.safetensors")
    return Path("weights.safetensors")


WEIGHTS: dict[str, tuple[Callable[[], Path], str]] = {
    "missing file": (lambda: Path("nothing.pt"), "nothing.pt"),
    "missing weights": (lambda: weights_file(lambda s: dict(list(s.items())[1:])), "convs.0"),
    "unexpected weights": (lambda: weights_file(lambda s: {**s, "extra": torch.zeros(1)}), "extra"),
    "wrong shape": (
        lambda: weights_file(lambda s: {k: torch.zeros(2, 3) if v.dim() == 2 else v for k, v in s.items()}),
        "convs.0.*2, 3|2, 3.*convs.0",
    ),
    "a pickle": (lambda: text("w.pt", pickle.dumps({"a": Path()}))(Path()), "w.pt"),
}


@pytest.mark.parametrize("name", list(WEIGHTS))
def test_bad_weights(name: str, run: Run) -> None:
    write, message = WEIGHTS[name]
    assert_refused(run("compile", MODEL, "--weights", write(), "--graph", CLUB, "-o", "out.gnnc"), message)
    assert not Path("out.gnnc").exists()


def test_state_dicts_of_every_kind(run: Run) -> None:
    state = torch.load(CLUB / "weights.pt", weights_only=True)
    torch.save({"model_state_dict": state, "epoch": 3}, "a.pt")
    torch.save({"state_dict": {f"module.{key}": value for key, value in state.items()}}, "b.pth")
    save_file(state, "c.safetensors")
    for path in ("a.pt", "b.pth", "c.safetensors"):
        assert run("compile", MODEL, "-w", path, "-g", CLUB, "-o", "out.gnnc")[0] == 0
        assert load_file("out.gnnc/weights.safetensors").keys() == state.keys()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-o", "out.txt"], "out.txt has no known format"),
        (["-o", "nowhere/out.npy"], "there is no folder nowhere"),
        (["-o", "out.npy", "--nodes", "nothing.npy"], "nothing.npy can't be read"),
        (["-o", "out.npy", "--nodes", "nan.npy"], "nan.npy holds float64"),
        (["-o", "out.npy", "--nodes", "range.npy"], r"nodes\[1\] is 34, the graph has nodes 0 to 33"),
        (["-o", "out.npy", "--nodes", "names.txt"], "names.txt, line 2: 'nobody' is no node of the graph"),
        (["-o", "out.npy", "--batch-size", "0"], "batch_size is 0"),
        (["-o", "out.npy", "--device", "tpu"], "device 'tpu' is unknown"),
    ],
)
def test_bad_arguments_of_run(arguments: list[str], message: str, run: Run, club: Path) -> None:
    np.save("nan.npy", np.array([0.0, np.nan]))
    np.save("range.npy", np.array([0, 34]))
    Path("names.txt").write_text("member-00\nnobody\n")
    before = sorted(Path().iterdir())
    assert_refused(run("run", club, "--graph", CLUB, *arguments), message)
    assert sorted(Path().iterdir()) == before


def test_other_bad_arguments(run: Run, club: Path) -> None:
    assert_refused(run("run", "nothing.gnnc", "--graph", CLUB, "-o", "out.npy"), "nothing.gnnc is no folder")
    assert_refused(run("verify", club, "-g", CLUB, "--weights", CLUB / "weights.pt"), "give --model, too")
    Path("taken").mkdir()
    assert_refused(run("compile", MODEL, "-g", CLUB, "-o", "taken"), "taken exists and is no artifact")
    assert_refused(run("compile", MODEL, "-g", CLUB, "-o", "out.gnnc", "--target", "tpu"), "target 'tpu'")


def test_a_model_left_in_training_mode_is_evaluated(run: Run) -> None:
    """What a file's callable returns is put into evaluation mode without a word."""
    spec = model("def build():\n    return GCNConv(2, 2).train()\n")
    code, _, err = run("compile", spec, "-g", CLUB, "-o", "out.gnnc")
    assert (code, err) == (0, "")


HETERO = """
import torch
from torch_geometric.nn import HeteroConv, SAGEConv

class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        relations = [("author", "writes", "paper"), ("paper", "rev", "author")]
        self.conv = HeteroConv({relation: SAGEConv((4, 4), 3) for relation in relations})

    def forward(self, x_dict, edge_index_dict):
        return self.conv(x_dict, edge_index_dict)

class Papers(Model):
    def forward(self, x_dict, edge_index_dict):
        return self.conv(x_dict, edge_index_dict)["paper"]

def build():
    torch.manual_seed(0)
    return Model()

def papers():
    torch.manual_seed(0)
    return Papers()
"""


@pytest.fixture
def library(tmp_path: Path) -> gnnc.HeteroGraph:
    """A graph with two types, as g.npz beside a model of it."""
    (tmp_path / "model.py").write_text(HETERO)
    edges = np.array([[0, 1, 2, 2], [3, 3, 0, 1]])
    graph = gnnc.HeteroGraph(
        {
            "author": {"x": np.arange(12, dtype=np.float32).reshape(3, 4)},
            "paper": {"x": np.ones((5, 4), np.float32)},
        },
        {
            ("author", "writes", "paper"): {"edge_index": edges},
            ("paper", "rev", "author"): {"edge_index": edges[::-1].copy()},
        },
    )
    graph.save(tmp_path / "g.npz")
    return graph


def test_a_heterogeneous_graph(run: Run, library: gnnc.HeteroGraph) -> None:
    code, out, err = run("compile", "model.py:build", "-g", "g.npz", "-o", "m.gnnc", "--keep-reference", 3)
    assert (code, err) == (0, "")
    assert out == "m.gnnc: compiled for 4 inputs, 6 weights\n"
    assert run("run", "m.gnnc", "-g", "g.npz", "-o", "out.npz", "--batch-size", 2) == (0, "out.npz\n", "")
    result: Any = gnnc.load("m.gnnc").run(graph=library)
    written = np.load("out.npz")
    assert set(written.files) == {"output.author", "output.paper"}
    for type_ in ("author", "paper"):
        np.testing.assert_allclose(written[f"output.{type_}"], result[type_], rtol=1e-5, atol=1e-6)
    assert run("verify", "m.gnnc", "-g", "g.npz")[0] == 0
    assert run("verify", "m.gnnc", "-g", "g.npz", "--model", "model.py:build")[0] == 0
    assert "x__author: float32 [author, 4]" in run("inspect", "m.gnnc")[1]
    code, _, err = run("run", "m.gnnc", "-g", "g.npz", "-o", "out.npy")
    assert code == 2 and "can hold one output, the model returns output.paper, output.author" in err


def test_some_nodes_of_each_type(run: Run, library: gnnc.HeteroGraph) -> None:
    assert run("compile", "model.py:build", "-g", "g.npz", "-o", "m.gnnc")[0] == 0
    np.savez("ids.npz", paper=np.array([3, 0, 3]), author=np.array([2]))
    assert run("run", "m.gnnc", "-g", "g.npz", "-o", "out.npz", "--nodes", "ids.npz")[0] == 0
    result: Any = gnnc.load("m.gnnc").run(graph=library)
    written = np.load("out.npz")
    np.testing.assert_allclose(written["output.paper"], result["paper"][[3, 0, 3]], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(written["output.author"], result["author"][[2]], rtol=1e-5, atol=1e-6)
    np.save("ids.npy", np.array([1]))
    code, _, err = run("run", "m.gnnc", "-g", "g.npz", "-o", "out.npz", "--nodes", "ids.npy")
    assert code == 2 and "give nodes as a dict of ids by node type" in err
    unfit: dict[str, dict[str, Any]] = {"wrong": {"venue": np.array([1])}, "float": {"paper": np.array([0.5])}}
    for name, arrays in unfit.items():
        np.savez(f"{name}.npz", **arrays)
        code, _, err = run("run", "m.gnnc", "-g", "g.npz", "-o", "out.npz", "--nodes", f"{name}.npz")
        assert code == 2 and ("nodes has ids of 'venue'" in err or "give one-dimensional integer ids" in err)
    Path("damaged.npz").write_bytes(Path("ids.npz").read_bytes()[:40])
    code, _, err = run("run", "m.gnnc", "-g", "g.npz", "-o", "out.npz", "--nodes", "damaged.npz")
    assert code == 2 and "damaged.npz can't be read" in err
    gc.collect()  # a file that was left open is an error here, not in some later test


def test_one_type_as_csv(run: Run, library: gnnc.HeteroGraph) -> None:
    assert run("compile", "model.py:papers", "-g", "g.npz", "-o", "m.gnnc")[0] == 0
    assert run("run", "m.gnnc", "-g", "g.npz", "-o", "out.csv")[0] == 0
    assert [line.split(",")[0] for line in Path("out.csv").read_text().splitlines()] == ["id", *map(str, range(5))]
    np.savez("ids.npz", paper=np.array([3, 0]))
    assert run("run", "m.gnnc", "-g", "g.npz", "-o", "out.csv", "--nodes", "ids.npz")[0] == 0
    assert [line.split(",")[0] for line in Path("out.csv").read_text().splitlines()] == ["id", "3", "0"]
    np.save("ids.npy", np.array([4]))
    assert run("run", "m.gnnc", "-g", "g.npz", "-o", "out.csv", "--nodes", "ids.npy")[0] == 0
    assert [line.split(",")[0] for line in Path("out.csv").read_text().splitlines()] == ["id", "4"]
    code, _, err = run("run", "m.gnnc", "-g", "g.npz", "--node-table", "n.csv", "-o", "out.csv")
    assert code == 2 and "leave out the table n.csv" in err
