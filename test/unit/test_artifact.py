"""Artifacts: written whole, read back equal, refused when anything in them changed."""

from __future__ import annotations

import json
import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.nn.models import GAT, GCN

import gnnc
from gnnc.artifact import FORMAT, MANIFEST, MODULE, REFERENCE, WEIGHTS, sealed

GRAPH = gnnc.Graph(
    x=torch.randn(12, 5, generator=torch.Generator().manual_seed(0)),
    edge_index=torch.tensor([[0, 1, 2, 3, 4, 5, 6, 0], [1, 2, 3, 4, 5, 6, 0, 0]]),
)


@cache
def program() -> gnnc.Program:
    torch.manual_seed(0)
    return gnnc.compile(GAT(5, 4, 2, 3, heads=2).eval(), GRAPH, keep_reference=4)


@pytest.fixture
def artifact(tmp_path: Path) -> Path:
    path = tmp_path / "out.gnnc"
    program().save(path)
    return path


def test_what_is_loaded_computes_the_same(artifact: Path) -> None:
    loaded = gnnc.load(artifact)
    assert torch.equal(loaded.run(graph=GRAPH, batch_size=5), program().run(batch_size=5))
    assert str(loaded.module) == str(program().module)
    assert loaded.inputs == program().inputs


def test_locations_survive(artifact: Path) -> None:
    text = (artifact / MODULE).read_text()
    assert "basic_gnn.py" in text
    gnnc.load(artifact).save(artifact)
    assert (artifact / MODULE).read_text() == text


def test_saving_is_deterministic_and_leaves_nothing_else(artifact: Path) -> None:
    before = {file.name: file.read_bytes() for file in artifact.iterdir()}
    program().save(artifact)
    assert {file.name: file.read_bytes() for file in artifact.iterdir()} == before
    assert [path.name for path in artifact.parent.iterdir()] == ["out.gnnc"]


def test_a_loaded_program_asks_for_a_graph(artifact: Path) -> None:
    with pytest.raises(gnnc.RunError, match="was loaded from a file and knows no graph: give graph="):
        gnnc.load(artifact).run()


def test_tied_weights_are_stored(tmp_path: Path) -> None:
    class Tied(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first = torch.nn.Linear(5, 5)
            self.second = torch.nn.Linear(5, 5)
            self.second.weight = self.first.weight

        def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
            return self.second(self.first(x))

    tied = gnnc.compile(Tied().eval(), GRAPH)
    tied.save(tmp_path / "tied.gnnc")
    assert torch.equal(gnnc.load(tmp_path / "tied.gnnc").run(graph=GRAPH), tied.run())


def test_containers_are_rebuilt(tmp_path: Path) -> None:
    class Several(torch.nn.Module):
        def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> dict[str, Any]:
            return {"b": [x * 2, None], "a": (x.relu(),)}

    several = gnnc.compile(Several().eval(), GRAPH)
    several.save(tmp_path / "several.gnnc")
    result = gnnc.load(tmp_path / "several.gnnc").run(graph=GRAPH)
    x = torch.as_tensor(GRAPH.x)
    assert list(result) == ["b", "a"]
    assert isinstance(result["b"], list) and result["b"][1] is None and torch.equal(result["b"][0], x * 2)
    assert isinstance(result["a"], tuple) and torch.equal(result["a"][0], x.relu())


# Verification.


def test_verify_with_the_model_and_with_stored_rows(artifact: Path) -> None:
    assert program().verify().passed
    assert program().verify(nodes=[3, 3, 1]).rows == 3
    loaded = gnnc.load(artifact)
    stored = loaded.verify(graph=GRAPH)
    assert stored.passed and stored.rows == 4


def test_verify_finds_a_difference() -> None:
    torch.manual_seed(1)
    other = GAT(5, 4, 2, 3, heads=2).eval()
    verification = program().verify(model=other)
    assert not verification.passed
    (output,) = verification.outputs
    with torch.no_grad():
        error = (other(GRAPH.x, GRAPH.edge_index) - program().run()).abs()
    assert output.absolute == pytest.approx(float(error.max()), rel=1e-3)
    assert output.row == int(error.amax(1).argmax())


def test_verify_finds_nan() -> None:
    from gnnc.output_rows import OutputRows
    from gnnc.verification import compare_one

    ours, theirs = torch.tensor([[1.0], [float("nan")]]), torch.tensor([[1.0], [2.0]])
    rows, ids = OutputRows("nodes", "nodes", 0), {"nodes": torch.arange(2)}
    assert not compare_one("output", ours, theirs, rows, ids, 1e-4).passed
    assert compare_one("output", ours, ours, rows, ids, 1e-4).passed


def test_stored_rows_are_of_one_graph(artifact: Path) -> None:
    other = gnnc.Graph(x=torch.zeros(12, 5), edge_index=GRAPH.edge_index)
    with pytest.raises(gnnc.RunError, match="the reference rows are of another graph"):
        gnnc.load(artifact).verify(graph=other)


def test_nothing_to_compare_with(tmp_path: Path) -> None:
    gnnc.compile(GCN(5, 4, 2, 3).eval(), GRAPH).save(tmp_path / "bare.gnnc")
    with pytest.raises(gnnc.RunError, match="there is nothing to compare with: give the model"):
        gnnc.load(tmp_path / "bare.gnnc").verify(graph=GRAPH)


# What is refused.


def test_no_artifact(tmp_path: Path) -> None:
    with pytest.raises(gnnc.ArtifactError, match="nothing.gnnc is no folder: give an artifact"):
        gnnc.load(tmp_path / "nothing.gnnc")
    with pytest.raises(gnnc.ArtifactError, match="has no manifest.json: it is no artifact, or an incomplete one"):
        gnnc.load(tmp_path)


@pytest.mark.parametrize("name", [MODULE, WEIGHTS, REFERENCE])
def test_a_missing_file(artifact: Path, name: str) -> None:
    (artifact / name).unlink()
    with pytest.raises(gnnc.ArtifactError, match=f"has no {name}"):
        gnnc.load(artifact)


def test_a_newer_format(artifact: Path) -> None:
    manifest = json.loads((artifact / MANIFEST).read_text())
    (artifact / MANIFEST).write_bytes(sealed({**manifest, "format": FORMAT + 1, "gnnc": "9.0"}))
    with pytest.raises(gnnc.ArtifactError, match=f"has format {FORMAT + 1}, made by gnnc 9.0; .* install a newer gnnc"):
        gnnc.load(artifact)


def test_an_older_format(artifact: Path) -> None:
    manifest = json.loads((artifact / MANIFEST).read_text())
    (artifact / MANIFEST).write_bytes(sealed({**manifest, "format": FORMAT - 1}))
    with pytest.raises(gnnc.ArtifactError, match=f"has format {FORMAT - 1}, .* compile again"):
        gnnc.load(artifact)


def test_a_weight_that_is_not_there(artifact: Path) -> None:
    from gnnc.artifact import file_hash, write_tensors

    write_tensors({"other": torch.zeros(1)}, artifact / WEIGHTS)
    manifest = json.loads((artifact / MANIFEST).read_text())
    manifest["files"][WEIGHTS] = file_hash(artifact / WEIGHTS)
    (artifact / MANIFEST).write_bytes(sealed(manifest))
    with pytest.raises(gnnc.ArtifactError, match="weights.safetensors has no .* of type tensor"):
        gnnc.load(artifact)


def test_a_place_that_is_taken(tmp_path: Path) -> None:
    (tmp_path / "taken").mkdir()
    (tmp_path / "taken" / "thesis.tex").write_text("years of work")
    with pytest.raises(gnnc.ArtifactError, match="taken exists and is no artifact: give another path"):
        program().save(tmp_path / "taken")
    assert (tmp_path / "taken" / "thesis.tex").read_text() == "years of work"


def test_a_place_below_a_file(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(gnnc.ArtifactError, match="can't be written"):
        program().save(tmp_path / "file" / "out.gnnc")


@pytest.fixture(scope="module")
def mutable(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("mutable") / "out.gnnc"
    program().save(path)
    return path


@settings(max_examples=1000, deadline=None)
@given(data=st.data())
def test_any_changed_byte_is_noticed(mutable: Path, data: st.DataObject) -> None:
    file = data.draw(st.sampled_from(sorted(mutable.iterdir())))
    whole = file.read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    flip = data.draw(st.integers(1, 255))
    try:
        file.write_bytes(whole[:place] + bytes([whole[place] ^ flip]) + whole[place + 1 :])
        with pytest.raises(gnnc.ArtifactError):
            gnnc.load(mutable)
    finally:
        file.write_bytes(whole)


@settings(max_examples=100, deadline=None)
@given(data=st.data())
def test_a_truncated_file_is_noticed(mutable: Path, data: st.DataObject) -> None:
    file = data.draw(st.sampled_from(sorted(mutable.iterdir())))
    whole = file.read_bytes()
    length = data.draw(st.integers(0, len(whole) - 1))
    try:
        file.write_bytes(whole[:length])
        with pytest.raises(gnnc.ArtifactError):
            gnnc.load(mutable)
    finally:
        file.write_bytes(whole)


def test_an_interrupted_save_leaves_the_old_artifact(artifact: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import gnnc.artifact

    before = {file.name: file.read_bytes() for file in artifact.iterdir()}

    def full_disk(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(gnnc.artifact, "write_tensors", full_disk)
    with pytest.raises(gnnc.ArtifactError, match="can't be written: No space left on device"):
        program().save(artifact)
    assert {file.name: file.read_bytes() for file in artifact.iterdir()} == before
    assert [path.name for path in artifact.parent.iterdir()] == ["out.gnnc"]
    shutil.rmtree(artifact)
