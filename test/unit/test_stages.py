"""Stages of a program's code."""

from __future__ import annotations

import pytest
import torch
from torch_geometric.nn.models import GCN

import gnnc
from gnnc.stages import object_file, stage_text
from gnnc.targets.gpu.kernels import cache, compiler


@pytest.fixture(scope="module")
def program() -> gnnc.Program:
    return gnnc.compile(GCN(16, 16, 2, 3).eval(), gnnc.Graph(x=torch.randn(5, 16), edge_index=torch.zeros(2, 0).long()))


def test_each_stage_shows_more_than_the_one_before(program: gnnc.Program) -> None:
    assert "gnn.fused_conv" not in stage_text(program.module, "blocks")
    assert "gnn.fused_conv(" in stage_text(program.module, "fused")
    assert "scf.for" in stage_text(program.module, "loops")
    assert "llvm.func" in stage_text(program.module, "llvm")
    assert "gnn.fused_conv" not in str(program.module)


def test_an_object_file_has_a_function_a_kernel(program: gnnc.Program) -> None:
    code = object_file(program.module)
    assert code.startswith(b"\x7fELF")
    assert all(f"_mlir_ciface_kernel_{number}".encode() in code for number in (0, 1))


def test_llvm_needs_mlir(program: gnnc.Program, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiler, "is_available", lambda: False)
    with pytest.raises(gnnc.RunError, match="stage llvm is made by MLIR: install torch-mlir"):
        stage_text(program.module, "llvm")
    with pytest.raises(gnnc.RunError, match="stage object is made by MLIR: install torch-mlir"):
        object_file(program.module)


def test_without_mlir_torch_serves(monkeypatch: pytest.MonkeyPatch) -> None:
    model, x, edges = GCN(9, 11, 2, 3).eval(), torch.randn(20, 9), torch.randint(0, 20, (2, 70))
    monkeypatch.setattr(compiler, "is_available", lambda: False)
    with pytest.warns(UserWarning, match="torch-mlir is not installed"):
        result = gnnc.compile(model, (x, edges)).run()
    with torch.no_grad():
        assert torch.allclose(result, model(x, edges), atol=1e-6)


def test_kernels_run_where_they_cannot_be_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    def nowhere(name: str = "kernels") -> None:
        return None

    monkeypatch.setattr(cache, "folder", nowhere)
    torch.manual_seed(0)
    model, x, edges = GCN(9, 11, 2, 3).eval(), torch.randn(20, 9), torch.randint(0, 20, (2, 70))
    result = gnnc.compile(model, (x, edges)).run()
    with torch.no_grad():
        assert torch.allclose(result, model(x, edges), atol=1e-6)
