"""What works over all nodes or edges is exact, at any batch size, whatever the graph."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any, TypeAlias

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import (
    DiffGroupNorm,
    GraphNorm,
    InstanceNorm,
    LayerNorm,
    MeanSubtractionNorm,
    PairNorm,
    global_add_pool,
    global_max_pool,
    global_mean_pool,
)

import gnnc
from gnnc.frontend import global_rules, lower
from gnnc.frontend.traced_values import TracedModel

WIDTH = 10
ATEN = torch.ops.aten

TINY = gnnc.Graph(x=torch.zeros(3, WIDTH), edge_index=torch.tensor([[0, 1], [1, 2]]))


class Norms(nn.Module):
    """Layers and weights for all cases."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(WIDTH, WIDTH)
        self.graph_layer_norm = LayerNorm(WIDTH, mode="graph")
        self.graph_norm = GraphNorm(WIDTH)
        self.pair_norm = PairNorm()
        self.pair_norm_of_rows = PairNorm(scale_individually=True)
        self.instance_norm = InstanceNorm(WIDTH, affine=True)
        self.tracked_norm = InstanceNorm(WIDTH, affine=True, track_running_stats=True)
        self.untracked_norm = nn.BatchNorm1d(WIDTH, track_running_stats=False)
        self.mean_subtraction = MeanSubtractionNorm()
        self.group_norm = DiffGroupNorm(WIDTH, 3)
        for name, parameter in self.named_parameters():
            if "mean_scale" in name or "bias" in name or "weight" in name:
                nn.init.uniform_(parameter, 0.5, 1.5)


Case: TypeAlias = Callable[[Norms, Tensor], Any]

# Cases by the operator that each is about, as torch.export writes it.
CASES: dict[str, Sequence[Case]] = {
    "aten.sum.dim_IntList": [
        lambda s, h: h - h.sum(0),
        lambda s, h: h.t().sum(-1, keepdim=True).t() + h,
        lambda s, h: h - h.sum((0, 1)) / h.size(0),
        lambda s, h: h * h.sum(()),
    ],
    "aten.sum.default": [lambda s, h: h - h.sum()],
    "aten.amax.default": [lambda s, h: h - h.amax(0), lambda s, h: h - h.amax((0, 1))],
    "aten.amin.default": [lambda s, h: h - h.amin(0, keepdim=True)],
    "aten.max.default": [lambda s, h: h / (1 + h.max().abs())],
    "aten.min.default": [lambda s, h: h / (1 + h.min().abs())],
    "aten.prod.dim_int": [lambda s, h: h + h.sigmoid().prod(0)],
    "aten.prod.default": [lambda s, h: h + (1 + 0.01 * h).prod()],
    "aten.any.dim": [lambda s, h: torch.where((h > 0.9).any(0), h, -h)],
    "aten.any.default": [lambda s, h: torch.where((h > 0.99).any(), h, -h)],
    "aten.all.dim": [lambda s, h: torch.where((h > -0.9).all(0), h, -h)],
    "aten.all.default": [lambda s, h: torch.where((h > -0.99).all(), h, -h)],
    "aten.matmul.default": [lambda s, h: h @ (h.t() @ h), lambda s, h: h + h[:, 0] @ h],
    "aten.mm.default": [lambda s, h: ATEN.mm(h, ATEN.mm(h.t(), h.relu()))],
    "aten.mv.default": [lambda s, h: h + ATEN.mv(h.t(), h[:, 1])],
    "aten.bmm.default": [lambda s, h: h @ ATEN.bmm(h.t()[None], h[None])[0]],
    "aten.einsum.default": [
        lambda s, h: h @ torch.einsum("nd,nk->dk", h, h.relu()),
        lambda s, h: h + torch.einsum("nd,nd,d->d", h, h, s.linear.bias),
        lambda s, h: h * torch.einsum("nd->", h),
    ],
    "aten.mean.dim": [
        lambda s, h: h + s.linear(h.mean(0)),
        lambda s, h: h - h.mean((-1, -2)),
        lambda s, h: h.double() - h.mean(0, dtype=torch.float64),
        lambda s, h: torch.cat([h, h.mean(0, keepdim=True).expand(h.size(0), -1)], 1),
    ],
    "aten.mean.default": [lambda s, h: h - h.mean(), lambda s, h: h * torch.sigmoid(s.linear(h).mean())],
    "aten.var.dim": [
        lambda s, h: h / (h.var(0, unbiased=False) + 0.1),
        lambda s, h: h + h.var(0),
        lambda s, h: ATEN.var.dim(h, [0]) + h,
    ],
    "aten.var.default": [lambda s, h: ATEN.var.default(h, False) + h],
    "aten.var.correction": [
        lambda s, h: h + torch.var(h, dim=(0, 1), correction=2, keepdim=True),
        lambda s, h: h + torch.var(h, dim=0, correction=0.5),
    ],
    "aten.std.dim": [
        lambda s, h: h / (h.std(0, unbiased=False) + 1e-2),
        lambda s, h: ATEN.std.dim(h, [0], False, True) + h,
    ],
    "aten.std.default": [lambda s, h: ATEN.std.default(h) + h],
    "aten.std.correction": [lambda s, h: h + torch.std(h, dim=0, correction=0), lambda s, h: h + h.std()],
    "aten.linalg_vector_norm.default": [
        lambda s, h: h / (norm(h) + 0.1),
        lambda s, h: F.normalize(h, dim=0),
        lambda s, h: h + norm(h, 1, 0) + norm(h, 3),
        lambda s, h: h / (1 + norm(h, math.inf)),
    ],
    "aten.linalg_norm.default": [lambda s, h: h + ATEN.linalg_norm.default(h[:, 0])],
    "aten.norm.Scalar": [lambda s, h: h + ATEN.norm.Scalar(h, 2)],
    "aten.norm.ScalarOpt_dim": [lambda s, h: h + ATEN.norm.ScalarOpt_dim(h, 1, [0], True)],
    "aten.softmax.int": [
        lambda s, h: h.softmax(0),
        lambda s, h: (h.t().softmax(-1) @ h).sum(0) + h,
        lambda s, h: h.softmax(0, dtype=torch.float64),
    ],
    "aten._softmax.default": [lambda s, h: ATEN._softmax(h, 0, False)],
    "aten.log_softmax.int": [lambda s, h: h.log_softmax(dim=0)],
    "aten._log_softmax.default": [lambda s, h: ATEN._log_softmax(h, 0, False)],
    "aten.logsumexp.default": [
        lambda s, h: h - h.logsumexp(0),
        lambda s, h: h - h.logsumexp((0, 1)),
        lambda s, h: h - h.masked_fill(h < 2, -math.inf).logsumexp(0).clamp(min=-5),
    ],
    "aten.layer_norm.default": [lambda s, h: F.layer_norm(h, h.shape)],
    "aten.batch_norm.default": [
        lambda s, h: F.batch_norm(h, None, None, training=True),
        lambda s, h: s.untracked_norm(h),
    ],
    "aten.instance_norm.default": [
        lambda s, h: s.instance_norm(h),
        lambda s, h: s.tracked_norm(h),
        lambda s, h: F.instance_norm(h.t()[None])[0].t(),
    ],
    "item": [lambda s, h: h - h.max(0).values, lambda s, h: h - h.min(dim=0, keepdim=True)[0]],
    "aten.expand.default": [lambda s, h: h * h.mean(0).expand(h.size(0), WIDTH)],
    "aten.repeat.default": [lambda s, h: h + s.linear(h.mean(0, keepdim=True)).repeat(h.size(0), 1)],
    "pooling": [
        lambda s, h: h + global_add_pool(h, None),
        lambda s, h: h + global_mean_pool(h, None) + global_max_pool(h, None),
        lambda s, h: h + pooled(h, "amax", 2.0) + pooled(h, "amin", 0.0),
        lambda s, h: h + pooled(h, "amax", 2.0, include_self=False) + pooled(h, "sum", 1.0),
    ],
    "layers": [
        lambda s, h: s.graph_layer_norm(h),
        lambda s, h: s.graph_norm(h),
        lambda s, h: s.pair_norm(h),
        lambda s, h: s.pair_norm_of_rows(h),
        lambda s, h: s.mean_subtraction(h),
        lambda s, h: s.group_norm(h),
    ],
    "several": [
        lambda s, h: h / (1 + norm(h)) + (h / (1 + norm(h))).mean(0),
        lambda s, h: h + (h.softmax(0) * h).sum(0),
        lambda s, h: (h.mean(0), h - h.mean(0), h.t() @ h),
    ],
}


def norm(h: Tensor, p: float = 2, dim: int | None = None) -> Tensor:
    return torch.linalg.vector_norm(h, p, dim)


def pooled(h: Tensor, reduce: str, start: float, *, include_self: bool = True) -> Tensor:
    """All rows in one, by a scatter."""
    index = torch.zeros(h.size(0), dtype=torch.int64).unsqueeze(-1).expand(-1, WIDTH)
    return torch.full((1, WIDTH), start).scatter_reduce(0, index, h, reduce, include_self=include_self)


def neighbors(h: Tensor, edge_index: Tensor) -> Tensor:
    return torch.zeros_like(h).index_add(0, edge_index[1], h[edge_index[0]])


class Model(Norms):
    """The cases of one operator, each between two convolutions; or alone, if it gives no rows to go on with."""

    def __init__(self, cases: Sequence[Case]):
        super().__init__()
        self.cases = cases

    def forward(self, x: Tensor, edge_index: Tensor) -> list[Any]:
        h = (neighbors(x, edge_index) + x).tanh()
        results = [case(self, h) for case in self.cases]
        return [r if isinstance(r, tuple) else neighbors(r, edge_index) for r in results]


@cache
def program_of(op: str) -> tuple[gnnc.Program, Model, frozenset[str]]:
    """The compiled cases, and the operators that were in them before anything was expanded."""
    torch.manual_seed(0)
    model = Model(CASES[op]).eval()
    seen: set[str] = set()
    expand = lower.expand_global_operations

    def noting(traced: TracedModel) -> TracedModel:
        seen.update(value.op for value in traced.values)
        return expand(traced)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lower, "expand_global_operations", noting)
        program = gnnc.compile(model, TINY)
    return program, model, frozenset(seen)


@pytest.mark.filterwarnings("ignore:(var|std)\\(\\).*degrees of freedom")
@pytest.mark.parametrize("op", list(CASES))
def test_equals_eager(op: str, nasty_graphs: Mapping[str, gnnc.Graph]) -> None:
    program, model, seen = program_of(op)
    assert op in seen or not (op == "item" or op.startswith("aten"))
    for kind, graph in nasty_graphs.items():
        if graph.num_nodes == 1 and op in ("aten.instance_norm.default", "aten.batch_norm.default"):
            continue  # there torch raises
        with torch.no_grad():
            expected = model(graph.x, graph.edge_index)
        for batch_size in (1, 3, None) if graph.num_nodes < 10 else (3, None):
            result = program.run(graph=graph, batch_size=batch_size)
            torch.testing.assert_close(
                result,
                expected,
                rtol=1e-4,
                atol=1e-4,
                equal_nan=True,
                msg=lambda m, case=f"{kind}, batch size {batch_size}": f"{case}: {m}",
            )


def test_every_rule_has_a_case() -> None:
    ruled = {*global_rules.EXPANSIONS, *global_rules.REDUCTIONS, *global_rules.MATRIX_PRODUCTS}
    assert ruled <= set(CASES)


def test_rows_that_are_asked_for(random_graph: gnnc.Graph) -> None:
    """Whichever rows are asked for, all are reduced; values without rows come as they are."""
    program, model, _ = program_of("several")
    with torch.no_grad():
        first, second, (mean, rows, gram) = model(random_graph.x, random_graph.edge_index)
    ids = [3, 29, 3]
    result = program.run(graph=random_graph, nodes=ids, batch_size=2)
    torch.testing.assert_close(result, [first[ids], second[ids], (mean, rows[ids], gram)], rtol=1e-4, atol=1e-4)
