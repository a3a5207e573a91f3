"""Fused operations that say the same share a kernel; those that say anything else do not."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest
import torch
from torch_geometric.nn import RGCNConv
from torch_geometric.nn.models import GCN
from xdsl.dialects.builtin import ModuleOp

import gnnc
from gnnc.targets.gpu.fused_executor import collections_paused, fused_module, kernels_of
from gnnc.targets.gpu.kernels import machine_code
from gnnc.targets.gpu.kernels.work_text import text_of


class Slopes(torch.nn.Module):
    """Two rounds of sums over neighbors, with a slope each below zero."""

    def __init__(self, first: float, second: float):
        super().__init__()
        self.first, self.second = first, second

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        for slope in (self.first, self.second):
            sums = torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
            x = torch.nn.functional.leaky_relu(sums, slope)
        return x


@pytest.fixture
def graph() -> gnnc.Graph:
    torch.manual_seed(0)
    return gnnc.Graph(x=torch.randn(30, 16), edge_index=torch.randint(0, 30, (2, 100)))


def number_of_kernels(program: gnnc.Program) -> int:
    kernels = kernels_of(fused_module(program.module), text_of)
    return len(set(kernels.values()))


def test_layers_of_one_shape_share_a_kernel(graph: gnnc.Graph) -> None:
    """The first layer of a GCN computes its weights of edges before the message, others after: the order is no part."""
    model = GCN(16, 16, 7, 16).eval()
    assert number_of_kernels(gnnc.compile(model, graph)) == 2  # the last has no activation


@pytest.mark.parametrize(("second", "kernels"), [(0.1, 1), (0.2, 2)])
def test_another_number_is_another_kernel(graph: gnnc.Graph, second: float, kernels: int) -> None:
    model = Slopes(0.1, second).eval()
    program = gnnc.compile(model, graph)
    assert number_of_kernels(program) == kernels
    torch.testing.assert_close(program.run(), model(graph.x, graph.edge_index))


def test_relations_share_a_kernel(graph: gnnc.Graph) -> None:
    torch.manual_seed(0)
    model = RGCNConv(16, 16, num_relations=5).eval()
    edge_type = torch.arange(100) % 5
    program = gnnc.compile(model, gnnc.Graph(x=graph.x, edge_index=graph.edge_index, edge_type=edge_type))
    assert number_of_kernels(program) == 1
    torch.testing.assert_close(program.run(), model(graph.x, graph.edge_index, edge_type))


def test_machine_code_is_made_once(graph: gnnc.Graph, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[str] = []
    of_text = machine_code.machine_code

    def counted(text: str, loops: Callable[[], ModuleOp]) -> object:
        made.append(text)
        return of_text(text, loops)

    monkeypatch.setattr(machine_code, "machine_code", counted)
    gnnc.compile(Slopes(0.1, 0.1).eval(), graph).run()
    assert len([text for text in made if text.startswith("gnn.")]) == 1


def test_the_garbage_collector_goes_on_as_before() -> None:
    for enabled in (True, False):
        (gc.enable if enabled else gc.disable)()
        with pytest.raises(ZeroDivisionError), collections_paused():
            assert not gc.isenabled()
            raise ZeroDivisionError
        assert gc.isenabled() is enabled
    gc.enable()
