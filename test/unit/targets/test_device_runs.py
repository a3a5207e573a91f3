"""Runs on a device that is not there: what is copied to it, what stays on it, and what comes back."""

from __future__ import annotations

from collections.abc import Generator
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from pretended_device import copied, pretended_device
from torch_geometric.nn.models import GAT, GCN
from triton_stand_in import triton_stand_in

import gnnc
from gnnc.targets.gpu import block_results, executor, residence
from gnnc.targets.gpu.memory_meter import MemoryMeter
from gnnc.targets.gpu.residence import SHARE, fits

WIDTH = 6


@pytest.fixture
def device() -> Generator[str]:
    with triton_stand_in(), pretended_device() as name:
        yield name


@pytest.fixture
def program() -> gnnc.Program:
    torch.manual_seed(0)
    edge_index = torch.randint(0, 30, (2, 120))
    edge_index[1, :40] = 3
    graph = gnnc.Graph(x=torch.randn(32, WIDTH), edge_index=edge_index)
    return gnnc.compile(GCN(WIDTH, 16, 2, 5).eval(), graph)


def test_results_come_to_the_host(program: gnnc.Program, device: str) -> None:
    expected = program.run()
    assert torch.allclose(program.run(device=device), expected, atol=1e-5)
    assert torch.allclose(program.run(device=device, nodes=[3, 1, 3]), expected[[3, 1, 3]], atol=1e-5)


def test_features_on_the_device_give_results_there(program: gnnc.Program, device: str) -> None:
    x = torch.randn(32, WIDTH)
    expected = program.run(x)
    for nodes in (None, [3, 1, 3]):
        result = program.run(x.to(device), device=device, nodes=nodes)
        assert result.device.type == device
        assert torch.allclose(result.cpu(), expected if nodes is None else expected[nodes], atol=1e-5)
    assert torch.allclose(program.run(x.to(device)), expected)


def test_a_graph_is_copied_once(program: gnnc.Program, device: str) -> None:
    copied.clear()
    program.run(device=device)
    assert copied.count((32, WIDTH)) == 1
    copied.clear()
    program.run(device=device)
    assert not copied
    program.run(torch.randn(32, WIDTH), device=device)
    assert copied == [(32, WIDTH)]


@pytest.mark.parametrize("model", [GCN, GAT])
def test_budgets(model: type[GCN | GAT], program: gnnc.Program, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of earlier runs stays, and a hub is computed from parts of its edges."""
    assert program.graph is not None
    program = gnnc.compile(model(WIDTH, 16, 2, 5).eval(), program.graph)
    expected = program.run()
    program.run(device=device)
    monkeypatch.setattr(executor, "MemoryMeter", Mock(return_value=MemoryMeter("cpu")))
    monkeypatch.setattr(MemoryMeter, "peak", None)
    assert torch.allclose(program.run(device=device, memory=3000), expected, atol=1e-5)
    assert any(batch.is_hub for block in program.report.blocks for batch in block.batches)
    assert not program.executor(device).copies.known
    edges = [value for value in program.structure(program.graph_for(None), {}) if hasattr(value, "csrs")]
    assert all(key[1] == "cpu" for value in edges for key in value.csrs)


def test_what_fits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Free memory is what the system says, and what torch holds without using it."""
    monkeypatch.setattr(torch.cuda, "mem_get_info", Mock(return_value=(700, 2000)))
    monkeypatch.setattr(torch.cuda, "memory_reserved", Mock(return_value=500))
    monkeypatch.setattr(torch.cuda, "memory_allocated", Mock(return_value=200))
    assert fits("cuda", int(1000 * SHARE))
    assert not residence.fits("cuda", int(1000 * SHARE) + 1)


def test_a_device_without_room_after_all(program: gnnc.Program, device: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Then each batch brings its rows."""
    expected = program.run()
    used, empty = program.executor(device), torch.empty

    def full(*shape: Any, **options: Any) -> torch.Tensor:
        if options.get("device") == device and shape[0][0] == 32:
            raise torch.OutOfMemoryError("CUDA out of memory")
        return empty(*shape, **options)

    monkeypatch.setattr(block_results.torch, "empty", full)
    assert torch.allclose(program.run(device=device, batch_size=9), expected, atol=1e-5)
    assert not used.copies.known
