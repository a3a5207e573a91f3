"""The FPGA target from the command line, and what bad input gets."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.nn.models import GCN

import gnnc
from gnnc.cli.main import main
from gnnc.fpga_program import FpgaProgram

CLUB = Path(__file__).resolve().parents[3] / "examples" / "club"
MODEL = f"{CLUB}/model.py:build"
COMPILE = ("compile", MODEL, "--weights", CLUB / "weights.pt", "--graph", CLUB, "--target", "fpga")

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture(scope="module")
def artifact(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fpga") / "club.gnnc"
    with pytest.raises(SystemExit) as ended:
        main([str(a) for a in (*COMPILE, "--partition", "search", "-o", path)])
    assert not ended.value.code
    return path


def expected() -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    from gnnc.model_files import load_model

    graph = gnnc.Graph.load(CLUB)
    with torch.no_grad():
        model = load_model(MODEL, CLUB / "weights.pt")
        return model(torch.as_tensor(graph.x), torch.as_tensor(graph.edge_index)).numpy()


def test_artifact(artifact: Path) -> None:
    files = {"module.mlir", "weights.safetensors", "manifest.json", "stream.bin", "reference.mlir", "architecture.toml"}
    assert {file.name for file in artifact.iterdir()} == files
    assert "task.range" in (artifact / "module.mlir").read_text()
    assert "gnn.conv_block" in (artifact / "reference.mlir").read_text()


@pytest.mark.parametrize("loads", ["literal", "resident", "lean"])
def test_simulate(loads: str, run: Run, artifact: Path) -> None:
    code, out, err = run("simulate", artifact, "-g", CLUB, "--loads", loads, "--json", "-o", "scores.npy")
    assert (code, err) == (0, "")
    result = json.loads(out)
    assert result["status"] == "uncalibrated: no RTL, no board"
    assert {"n1", "n2", "cycles", "compute_cycles", "bytes", "bounds", "kernels"} <= set(result)
    assert all(result["cycles"] >= bound for bound in result["bounds"].values())
    assert result["error"] <= 1e-4
    theirs = expected()
    assert np.abs(np.load("scores.npy") - theirs).max() <= 1e-4 * np.abs(theirs).max()


def test_reports(run: Run, artifact: Path) -> None:
    code, out, err = run(
        "simulate", artifact, "-g", CLUB, "--reorder", "auto", "--report", "r.html", "--trace", "t.json"
    )
    assert (code, err) == (0, "")
    assert "uncalibrated" in out
    page = Path("r.html").read_text()
    assert "<b>uncalibrated: no RTL, no board</b>" in page
    assert page.count("<svg") > 5
    assert "<script" not in page
    events = json.loads(Path("t.json").read_text())["traceEvents"]
    assert {event["ph"] for event in events} == {"M", "B", "E", "i"}
    begins, ends = ([event["ts"] for event in events if event["ph"] == phase] for phase in "BE")
    assert len(begins) == len(ends) and all(end >= begin for begin, end in zip(begins, ends, strict=True))


def test_decisions(run: Run, artifact: Path) -> None:
    """Both orders, the sizes that each method gives, the loads of each kernel: prices are simulated cycles or bytes."""
    code, out, err = run("inspect", artifact, "--decisions")
    assert (code, err) == (0, "")
    assert "convert-gnn-to-kernel: order of products in 2 layers\n" in out
    log = json.loads(run("inspect", artifact, "--decisions", "--json")[1])
    order, sizes, *loads = log
    assert set(order["predicted"]) == {"AH_W", "A_HW"}
    assert order["choice"] == min(order["predicted"], key=order["predicted"].get)
    assert all(any(method in choice for choice in sizes["predicted"]) for method in ("alg9", "alg9-exact", "search"))
    assert "search" in sizes["choice"] and sizes["predicted"][sizes["choice"]] == min(sizes["predicted"].values())
    simulated = json.loads(run("simulate", artifact, "-g", CLUB, "--loads", "lean", "--json")[1])
    assert order["predicted"][order["choice"]] == sizes["predicted"][sizes["choice"]] == simulated["cycles"]
    assert sizes["choice"].startswith(f"{simulated['n1']}, {simulated['n2']} (")
    assert len(loads) == len(simulated["kernels"]) and loads == simulated["choices"]
    assert all(decision["predicted"][decision["choice"]] == min(decision["predicted"].values()) for decision in loads)
    assert [decision["choice"].split(",")[0] for decision in loads] == [k["order"] for k in simulated["kernels"]]


def test_decisions_of_a_run(run: Run, artifact: Path) -> None:
    found = json.loads(run("simulate", artifact, "-g", CLUB, "--reorder", "auto", "--json")[1])
    (order,) = found["choices"]
    assert order["choice"] == found["reorder"]
    assert order["predicted"][order["choice"]] == min(order["predicted"].values()) == found["cycles"]
    assert json.loads(run("simulate", artifact, "-g", CLUB, "--json")[1])["choices"] == []


def test_what_is_given_is_no_decision(run: Run) -> None:
    """Nothing is simulated where there is nothing to compare."""
    assert run(*COMPILE, "--order", "A_HW", "-o", "given.gnnc")[0] == 0
    (sizes,) = json.loads(run("inspect", "given.gnnc", "--decisions", "--json")[1])
    assert sizes["made_by"] == "kernel-partition" and "alg9" in sizes["choice"] and not sizes["predicted"]


def test_inspect(run: Run, artifact: Path) -> None:
    code, out, err = run("inspect", artifact / "stream.bin")
    assert (code, err) == (0, "")
    assert out.startswith("task stream 1.0, 34 nodes, ")
    assert run("inspect", artifact) == (0, out, "")
    code, out, _ = run("inspect", artifact / "stream.bin", "--json")
    assert code == 0
    assert json.loads(out)["nodes"] == 34


def test_no_code_for_a_processor(run: Run, artifact: Path) -> None:
    code, out, err = run("inspect", artifact, "--emit", "loops")
    assert (code, out) == (2, "")
    assert err == "error: --emit shows code for CPUs and GPUs: print the kernels of an FPGA artifact with --ir\n"


def test_damaged_stream_is_refused(run: Run, artifact: Path) -> None:
    data = bytearray((artifact / "stream.bin").read_bytes())
    data[300] ^= 1
    Path("stream.bin").write_bytes(data)
    code, out, err = run("inspect", "stream.bin")
    assert (code, out) == (2, "")
    assert err.startswith("error: stream.bin is no task stream that can be used (byte ")
    assert err.count("\n") == 1
    assert run("inspect", "missing.bin")[0] == 2


def test_run_and_verify_point_to_simulate(run: Run, artifact: Path) -> None:
    code, _, err = run("run", artifact, "-g", CLUB, "-o", "scores.npy")
    assert code == 2
    assert "use gnnc simulate" in err
    code, _, err = run("verify", artifact, "-g", CLUB)
    assert code == 2
    assert "gnnc simulate compares every run" in err
    assert not Path("scores.npy").exists()


def test_an_artifact_for_the_gpu_is_not_simulated(run: Run) -> None:
    assert run(*COMPILE[:-2], "-o", "gpu.gnnc")[0] == 0
    code, _, err = run("simulate", "gpu.gnnc", "-g", CLUB)
    assert (code, err) == (
        2,
        "error: gpu.gnnc is for the target gpu: run it with gnnc run, or compile with --target fpga\n",
    )


def test_another_graph_is_refused(run: Run, artifact: Path) -> None:
    np.savez("other.npz", x=np.zeros((3, 34), np.float32), edge_index=np.zeros((2, 1), np.int64))
    code, _, err = run("simulate", artifact, "-g", "other.npz")
    assert (code, err) == (2, "error: the stream is of a graph of 34 nodes, this one has 3: compile again\n")


def test_edges_must_be_those_of_the_stream(run: Run, artifact: Path) -> None:
    graph = gnnc.Graph.load(CLUB)
    x, edges = np.asarray(graph.x), np.asarray(graph.edge_index)
    np.savez("shuffled.npz", x=x + 1, edge_index=edges[:, ::-1])
    code, out, _ = run("simulate", artifact, "-g", "shuffled.npz", "--json")
    assert (code, json.loads(out)["nodes"]) == (0, 34)
    other = edges.copy()
    other[1, 3] = (other[1, 3] + 1) % 34
    for name, changed in (("other.npz", other), ("turned.npz", np.sort(edges, axis=0)), ("less.npz", edges[:, 1:])):
        np.savez(name, x=x, edge_index=changed)
        code, out, err = run("simulate", artifact, "-g", name)
        assert (code, out) == (2, "")
        assert err == "error: the stream is of a graph with other edges or values on them: compile again for this one\n"


def test_a_program_that_is_not_saved_knows_its_edges() -> None:
    generator = np.random.default_rng(0)
    edges, x = generator.integers(0, 9, (2, 20)), generator.random((9, 5)).astype(np.float32)
    torch.manual_seed(0)
    program = gnnc.compile(GCN(5, 4, 2, 3).eval(), gnnc.Graph(x=x, edge_index=edges), "fpga", order="A_HW")
    assert isinstance(program, FpgaProgram)
    assert program.simulate(gnnc.Graph(x=x, edge_index=edges[:, ::-1])).verification.passed
    with pytest.raises(gnnc.RunError, match="other edges"):
        program.simulate(gnnc.Graph(x=x, edge_index=edges[::-1]))


def test_what_does_not_fold_is_refused_with_its_line(run: Run) -> None:
    Path("gat.py").write_text(
        "from torch_geometric.nn import GATConv\nimport torch\n\n\nclass Model(torch.nn.Module):\n"
        "    def __init__(self):\n        super().__init__()\n        self.conv = GATConv(2, 4)\n\n"
        "    def forward(self, x, edge_index):\n        return self.conv(x, edge_index)\n\n\n"
        "def build():\n    return Model().eval()\n"
    )
    code, out, err = run("compile", "gat.py:build", "--graph", CLUB, "--target", "fpga", "-o", "gat.gnnc")
    assert (code, out) == (2, "")
    assert err.startswith("error: gnn.edge_softmax at ")
    assert "gat.py:11: attention computes its matrix from features" in err
    assert err.count("\n") == 1
    assert not Path("gat.gnnc").exists()


def test_a_bad_architecture_is_refused(run: Run) -> None:
    Path("board.toml").write_text("[accelerator]\np_sys = 16\n")
    code, _, err = run(*COMPILE, "--arch", "board.toml", "-o", "club.gnnc")
    assert (code, err) == (2, "error: board.toml has no accelerator.cores: add it\n")
    assert not Path("club.gnnc").exists()


def test_an_architecture_needs_its_target(run: Run) -> None:
    code, _, err = run(*COMPILE[:-2], "--arch", "board.toml", "-o", "club.gnnc")
    assert code == 2
    assert err == "error: arch board.toml is for the target fpga: leave it out, or compile for that target\n"


@pytest.mark.parametrize("option", ["--report", "--trace"])
def test_places_of_reports_are_checked_before_anything_runs(option: str, run: Run, artifact: Path) -> None:
    code, out, err = run("simulate", artifact, "-g", CLUB, option, "missing/r.html")
    assert (code, out) == (2, "")
    assert err == "error: missing/r.html can't be written: there is no folder missing\n"


def test_rows_of_the_model_are_not_kept_for_a_simulation() -> None:
    graph = gnnc.Graph.load(CLUB)
    with pytest.raises(gnnc.GnncError, match="keep_reference is for the target gpu"):
        gnnc.compile(torch.nn.Identity(), graph, "fpga", keep_reference=3)
