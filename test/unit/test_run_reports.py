"""Reports of runs within a budget, as files."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
import torch
from torch_geometric.nn.models import GCN

import gnnc
from gnnc.cli.main import main


@pytest.fixture
def command(tmp_path: Path) -> list[str]:
    """gnnc run on a graph of 900 nodes."""
    torch.manual_seed(0)
    folder = tmp_path / "graph"
    folder.mkdir()
    np.save(folder / "x.npy", np.ones((900, 4), np.float32))
    np.save(folder / "edge_index.npy", np.random.default_rng(0).integers(0, 900, (2, 3000)))
    gnnc.compile(GCN(4, 8, 2, 3).eval(), gnnc.Graph.load(folder)).save(tmp_path / "program.gnnc")
    return ["run", str(tmp_path / "program.gnnc"), "-g", str(folder), "-o", str(tmp_path / "out.npy")]


def run(arguments: list[str]) -> object:
    """The exit code of the command."""
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    return ended.value.code


def test_json_and_html(command: list[str], tmp_path: Path) -> None:
    store = ["--store", str(tmp_path / "store"), "--memory", "60KiB"]
    assert not run([*command, *store, "--report", str(tmp_path / "r.json")])
    report = json.loads((tmp_path / "r.json").read_text())
    assert report["memory"] == 60 * 1024
    assert [block["layer"] for block in report["blocks"]] == [0, 1, 2]
    for block in report["blocks"]:
        assert sum(batch["nodes"] for batch in block["batches"]) == 900
        assert block["layer"] == 0 or len(block["batches"]) > 1
        assert all(batch["moved"] > 0 for batch in block["batches"])
        assert sum(moment["nodes"] for moment in block["took"]) == 900
        ends = [moment["end"] for moment in block["took"]]
        assert all(0 < moment["seconds"] <= moment["end"] for moment in block["took"])
        assert max(ends) < 60
    assert report["timeline"][-1]["at"] > 0
    assert not run([*command, "--memory", "10MiB", "--report", str(tmp_path / "r.html")])
    page = (tmp_path / "r.html").read_text()
    assert page.count("<svg") == 10, "two over time, and four for each layer"
    assert page.count("<polyline") == 2
    assert "Memory: 10 MiB" in page


@pytest.mark.parametrize(
    ("options", "message"),
    [(["--report", "r.json"], "give --memory or --store"), (["--memory", "9MiB", "--report", "r.txt"], "not r.txt")],
)
def test_what_is_no_report(
    command: list[str], options: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*command, *options]) == 2
    assert message in capsys.readouterr().err
