"""Columns of sparse features in another order: the same numbers; left alone where something takes them as they are."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from scipy.sparse import csr_array
from torch_geometric.nn import GCNConv
from torch_geometric.nn.models import GCN, GIN, GraphSAGE

import gnnc
from gnnc.fpga_compile import compile_for_fpga
from gnnc.passes.analysis.linear_forms import Order
from gnnc.targets.fpga.feature_order import followers
from gnnc.targets.fpga.simulator import Setting

WIDTH = 40


def graph() -> gnnc.Graph:
    generator = np.random.default_rng(0)
    x = np.where(generator.random((60, WIDTH)) < generator.random(WIDTH) * 0.3, 1, 0).astype(np.float32)
    return gnnc.Graph(x=x, edge_index=generator.integers(0, 60, (2, 200)))


MODELS = {
    "gcn": lambda: GCN(WIDTH, 6, 2, 3),
    "sage": lambda: GraphSAGE(WIDTH, 6, 2, 3),
    "gin": lambda: GIN(WIDTH, 6, 2, 3),
}


@pytest.mark.parametrize("order", ["AH_W", "A_HW"])
@pytest.mark.parametrize("kind", MODELS)
def test_the_model_computes_the_same(kind: str, order: Order) -> None:
    torch.manual_seed(0)
    program = compile_for_fpga(MODELS[kind]().eval(), graph(), order=order)
    used = program.graph_for(None)
    (features,) = [place for place, o in enumerate(program.plan.operands) if o.role == "features"]
    plain, ordered = program.numbers(used), program.numbers(used, by_frequency=True)
    assert followers(program.plan, features)
    counts = np.diff(csr_array(ordered.matrix(features).T).indptr)
    assert (np.diff(counts) <= 0).all()
    assert sorted(counts) == sorted(np.diff(csr_array(plain.matrix(features).T).indptr))
    assert program.simulate(reorder="features", setting=Setting(loads="lean")).verification.passed


class Residual(torch.nn.Module):
    """Adds its features to what a layer makes of them."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = GCNConv(WIDTH, WIDTH)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.conv(x, edge_index) + x


class Aggregated(torch.nn.Module):
    """Returns what it aggregates, whose columns must be in their own order."""

    def __init__(self) -> None:
        super().__init__()
        self.conv = GCNConv(WIDTH, WIDTH, bias=False)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        sums = torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])
        return self.conv(sums, edge_index), sums


@pytest.mark.parametrize("model", [Residual, Aggregated])
def test_features_that_are_taken_as_they_are_stay(model: type[torch.nn.Module]) -> None:
    torch.manual_seed(0)
    program = compile_for_fpga(model().eval(), graph(), order="AH_W")
    places = [place for place, o in enumerate(program.plan.operands) if o.role == "features"]
    assert not any(followers(program.plan, place) for place in places)
    assert program.simulate(reorder="features").verification.passed
