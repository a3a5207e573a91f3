"""Every rule against the operator itself: what is accepted must be local to each row."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import pytest
import torch
import torch.nn.functional as F
from rowwise_probe import (
    N,
    assert_local,
    operand,
)
from torch.export import ExportedProgram

from gnnc.frontend.arguments import Arguments
from gnnc.frontend.binding_time import binding_times, fold_weights
from gnnc.frontend.capture import capture, decomposed
from gnnc.frontend.inputs import ModelInput
from gnnc.frontend.rowwise_rules import TABLE, NotRowwise, prove_rowwise
from gnnc.frontend.traced_values import Shape, Size, TracedValue
from gnnc.frontend.value_numbering import number_values

# Examples, all captured in one model.

Calls: TypeAlias = dict[tuple[str, int, bool], TracedValue]
Forward: TypeAlias = Callable[["Weights", torch.Tensor, torch.Tensor], Any]

WIDTH = 6
INPUTS = [ModelInput(name, "nodes", "nodes", 0, (WIDTH,), torch.float32) for name in ("x", "y")]


class Weights(torch.nn.Module):
    picks: torch.Tensor
    grid: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.w = torch.nn.Parameter(torch.randn(WIDTH, WIDTH))
        self.small = torch.nn.Parameter(torch.randn(3, 3))
        self.v = torch.nn.Parameter(torch.rand(WIDTH))
        self.slope = torch.nn.Parameter(torch.rand(1))
        self.table = torch.nn.Parameter(torch.randn(5, 4))
        self.register_buffer("picks", torch.tensor([4, 0, 0]))
        self.register_buffer("grid", torch.tensor([[1, 0], [2, 2]]))
        self.lstm = torch.nn.LSTM(3, 4, batch_first=True, bidirectional=True)
        self.gru = torch.nn.GRU(3, 4, num_layers=2)
        self.gru_cell = torch.nn.GRUCell(3, 4)
        self.lstm_cell = torch.nn.LSTMCell(3, 4)
        self.tanh_cell = torch.nn.RNNCell(3, 4)
        self.relu_cell = torch.nn.RNNCell(3, 4, nonlinearity="relu")


@dataclass(frozen=True)
class Examples:
    """Calls that are accepted, and calls that are refused with their reason."""

    accepted: Sequence[Forward]
    refused: Sequence[tuple[Forward, str]] = ()


def both(accepted: Sequence[Forward], *refused: tuple[Forward, str]) -> Examples:
    return Examples(accepted, refused)


def cube(x: torch.Tensor) -> torch.Tensor:
    return x.view(-1, 2, 3)


def vector_norm(x: torch.Tensor, dim: int | None = None) -> torch.Tensor:
    return torch.linalg.vector_norm(x, dim=dim)


def matrix_norm(x: torch.Tensor, dim: int | None = None) -> torch.Tensor:
    return torch.linalg.norm(x, dim=dim)


def cross(x: torch.Tensor, y: torch.Tensor, dim: int = -1) -> torch.Tensor:
    return torch.linalg.cross(x, y, dim=dim)


def cross_along(x: torch.Tensor, y: torch.Tensor, dim: int) -> torch.Tensor:
    return torch.cross(x, y, dim=dim)


def parts(x: torch.Tensor, sizes: Any) -> tuple[torch.Tensor, ...]:
    return torch.split(x, sizes, 1)


def ids(x: torch.Tensor) -> torch.Tensor:
    return x.long()


EXAMPLES: dict[str, Examples] = {
    "aten.linear": both(
        [
            lambda s, x, y: F.linear(x, s.w, s.v),
            lambda s, x, y: F.linear(cube(x), s.small),
            lambda s, x, y: F.linear(x, s.v),
        ],
        (lambda s, x, y: F.linear(s.w, x), "a weight that differs"),
    ),
    "aten.matmul": both(
        [
            lambda s, x, y: x @ s.w,
            lambda s, x, y: x @ s.v,
            lambda s, x, y: cube(x) @ s.small,
            lambda s, x, y: s.w @ x.t(),
            lambda s, x, y: s.v @ y.t(),
            lambda s, x, y: cube(x).permute(1, 0, 2) @ s.w.view(2, 3, 6)[:, :, :2],
            lambda s, x, y: s.w[:2, :2] @ cube(x),
            lambda s, x, y: cube(x) @ cube(y).mT,
        ],
        (lambda s, x, y: x @ y.t(), "multiplies over all"),
        (lambda s, x, y: x.t() @ y, "multiplies over all"),
        (lambda s, x, y: x.t() @ y[:, 0], "multiplies over all"),
        (lambda s, x, y: x[:, 0] @ x, "multiplies over all"),
        (lambda s, x, y: cube(x).permute(1, 0, 2) @ cube(y).permute(1, 2, 0), "multiplies over all"),
    ),
    "aten.mm": both(
        [lambda s, x, y: torch.mm(x, s.w), lambda s, x, y: torch.mm(s.w, y.t())],
        (lambda s, x, y: torch.mm(y.t(), x), "multiplies over all"),
    ),
    "aten.bmm": both(
        [
            lambda s, x, y: torch.bmm(cube(x), cube(y).mT),
            lambda s, x, y: torch.bmm(cube(x).permute(1, 0, 2), s.w.view(2, 3, 6)),
        ],
        (lambda s, x, y: torch.bmm(x[None], y.t()[None]), "multiplies over all"),
    ),
    "aten.mv": both(
        [lambda s, x, y: torch.mv(x, s.v)], (lambda s, x, y: torch.mv(s.w @ x.t(), y[:, 0]), "multiplies over all")
    ),
    "aten.addmm": both(
        [
            lambda s, x, y: torch.addmm(s.v, x, s.w),
            lambda s, x, y: torch.addmm(y, x, s.w, beta=0.5, alpha=2),
            lambda s, x, y: torch.addmm(y[:, :1], x, s.w),
        ],
        (lambda s, x, y: torch.addmm(s.w, y.t(), x), "a matrix that differs"),
        (lambda s, x, y: torch.addmm(s.w, x.t(), y), "a matrix that differs"),
    ),
    "aten.einsum": both(
        [
            lambda s, x, y: torch.einsum("nhf,gf->nhg", cube(x), s.small),
            lambda s, x, y: torch.einsum("nf, nf -> n", x, y),
            lambda s, x, y: torch.einsum("nf,fg->gn", x, s.w),
        ],
        (lambda s, x, y: torch.einsum("nf,mf->nm", x, y), "all pairs"),
        (lambda s, x, y: torch.einsum("nf,ng->fg", x, y), "sums over all"),
        (lambda s, x, y: torch.einsum("...f,gf->...g", x, s.w), "write all indices"),
        (lambda s, x, y: torch.einsum("nf", x), "write all indices"),
    ),
    "aten.lstm.input": both([lambda s, x, y: s.lstm(cube(x))[0], lambda s, x, y: s.lstm(cube(y))[1][0]]),
    "aten.gru.input": both([lambda s, x, y: s.gru(cube(x).permute(1, 0, 2))[0]]),
    "aten.gru_cell": both([lambda s, x, y: s.gru_cell(x[:, :3], y[:, :4])]),
    "aten.lstm_cell": both(
        [
            lambda s, x, y: s.lstm_cell(x[:, :3], (x[:, 2:], y[:, 2:]))[0],
            lambda s, x, y: s.lstm_cell(x[:, :3], (x[:, 2:], y[:, 2:]))[1],
        ]
    ),
    "aten.rnn_tanh_cell": both([lambda s, x, y: s.tanh_cell(x[:, :3], y[:, :4])]),
    "aten.rnn_relu_cell": both([lambda s, x, y: s.relu_cell(x[:, :3], y[:, :4])]),
    "aten.layer_norm": both(
        [
            lambda s, x, y: F.layer_norm(x, (WIDTH,)),
            lambda s, x, y: F.layer_norm(cube(x), (2, 3)),
            lambda s, x, y: F.layer_norm(x, (WIDTH,), s.v, s.v),
        ],
        (lambda s, x, y: F.layer_norm(x.t(), (x.size(0),)), "count of nodes"),
        (lambda s, x, y: F.layer_norm(x, x.shape), "count of nodes"),
    ),
    "aten.rms_norm": both(
        [lambda s, x, y: F.rms_norm(x, (WIDTH,), s.v)],
        (lambda s, x, y: F.rms_norm(x.t(), (x.size(0),)), "count of nodes"),
    ),
    "aten._native_batch_norm_legit_no_training": both(
        [lambda s, x, y: F.batch_norm(x, s.v, s.v, s.v, s.v), lambda s, x, y: F.batch_norm(x[:, :, None], s.v, s.v)],
        (lambda s, x, y: F.batch_norm(x.t(), y[:, 0], y[:, 1]), "statistics that differs"),
    ),
    "aten.batch_norm": both(
        [lambda s, x, y: F.batch_norm(x, s.v, s.v, s.v, s.v), lambda s, x, y: F.batch_norm(x[:, :, None], s.v, s.v)],
        (lambda s, x, y: F.batch_norm(x.t(), y[:, 0], y[:, 1]), "statistics that differs"),
        (lambda s, x, y: F.batch_norm(x, None, None, training=True), "statistics from all"),
    ),
    "aten.group_norm": both(
        [lambda s, x, y: F.group_norm(x, 3, s.v), lambda s, x, y: F.group_norm(cube(x), 2)],
        (lambda s, x, y: F.group_norm(x.t()[None], 1), "normalises over all"),
        (lambda s, x, y: F.group_norm(cube(x).permute(1, 2, 0), 1), "normalises over all"),
    ),
    "aten.cat": both(
        [lambda s, x, y: torch.cat([x, y, x[:, :1]], 1), lambda s, x, y: torch.cat([x.t(), y.t()], -2)],
        (lambda s, x, y: torch.cat([x, y]), "joins over all"),
        (lambda s, x, y: torch.cat([x.t(), y.t()], -1), "joins over all"),
        (lambda s, x, y: torch.cat([x, s.w]), "with and without rows"),
    ),
    "aten.stack": both([lambda s, x, y: torch.stack([x, y]), lambda s, x, y: torch.stack([x, y], -1)]),
    "aten.view": both(
        [
            lambda s, x, y: x.view(-1, 3, 2),
            lambda s, x, y: x.view(x.size(0), 1, WIDTH),
            lambda s, x, y: x.unsqueeze(0).view(1, -1, 3, 2),
            lambda s, x, y: x.view(torch.int32),
        ],
        (lambda s, x, y: x.view(-1, 3), "folds rows"),
        (lambda s, x, y: x.view(-1), "folds rows"),
    ),
    "aten._unsafe_view": both(
        [lambda s, x, y: torch.ops.aten._unsafe_view(x, [-1, 2, 3])], (lambda s, x, y: y.t().reshape(-1), "folds rows")
    ),
    "aten.unsqueeze": both([lambda s, x, y: x.unsqueeze(1), lambda s, x, y: x[None]]),
    "aten.squeeze.default": both([], (lambda s, x, y: x[:, :1].squeeze(), "give squeeze a dim")),
    "aten.squeeze.dim": both(
        [lambda s, x, y: x[:, :1].squeeze(1), lambda s, x, y: x[:, :1].squeeze(-1), lambda s, x, y: cube(x).squeeze(1)],
        (lambda s, x, y: x.squeeze(0), "drops the axis"),
    ),
    "aten.squeeze.dims": both(
        [lambda s, x, y: x[None, :, None].squeeze((0, 2))], (lambda s, x, y: x[:, :1].squeeze((0, 1)), "drops the axis")
    ),
    "aten.transpose.int": both([lambda s, x, y: cube(x).transpose(0, 1), lambda s, x, y: x.mT]),
    "aten.permute": both([lambda s, x, y: cube(x).permute(2, 0, 1), lambda s, x, y: x.T]),
    "aten.t": both([lambda s, x, y: x.t()]),
    "aten.expand": both([lambda s, x, y: x[:, :1].expand(-1, 5), lambda s, x, y: x.expand(3, -1, -1)]),
    "aten.repeat": both(
        [lambda s, x, y: x.repeat(1, 2), lambda s, x, y: x.repeat(4, 1, 1)],
        (lambda s, x, y: x.repeat(2, 1), "repeats rows"),
        (lambda s, x, y: x.repeat(1, x.size(0)), "count of nodes"),
    ),
    "aten.repeat_interleave.self_int": both(
        [lambda s, x, y: x.repeat_interleave(2, 1)],
        (lambda s, x, y: x.repeat_interleave(2, 0), "repeats over all"),
        (lambda s, x, y: x.repeat_interleave(2), "repeats over all"),
    ),
    "aten.sum.dim_IntList": both(
        [lambda s, x, y: x.sum(1), lambda s, x, y: cube(x).sum((1, -1)), lambda s, x, y: x.t().sum(0)],
        (lambda s, x, y: x.sum(0), "sums over all"),
        (lambda s, x, y: x.sum(()), "sums over all"),
        (lambda s, x, y: cube(x).sum((0, 1)), "sums over all"),
    ),
    "aten.mean.dim": both([lambda s, x, y: x.mean(1, keepdim=True)], (lambda s, x, y: x.mean(-2), "averages over all")),
    "aten.amax": both(
        [lambda s, x, y: x.amax(1)],
        (lambda s, x, y: x.amax(0), "maximum over all"),
        (lambda s, x, y: x.amax(), "maximum over all"),
    ),
    "aten.amin": both([lambda s, x, y: x.amin(1)], (lambda s, x, y: x.amin(0), "minimum over all")),
    "aten.max.dim": both(
        [lambda s, x, y: x.max(1)[0], lambda s, x, y: x.max(1)[1]], (lambda s, x, y: x.max(0)[0], "maximum over all")
    ),
    "aten.min.dim": both([lambda s, x, y: x.min(1)[0]], (lambda s, x, y: x.min(0)[0], "minimum over all")),
    "aten.median.dim": both([lambda s, x, y: x.median(1)[0]], (lambda s, x, y: x.median(0)[0], "median over all")),
    "aten.argmax": both(
        [lambda s, x, y: x.argmax(1)],
        (lambda s, x, y: x.argmax(0), "maximum over all"),
        (lambda s, x, y: x.argmax(), "maximum over all"),
    ),
    "aten.argmin": both([lambda s, x, y: x.argmin(-1, keepdim=True)], (lambda s, x, y: x.argmin(), "minimum over all")),
    "aten.prod.dim_int": both([lambda s, x, y: x.prod(1)], (lambda s, x, y: x.prod(0), "multiplies over all")),
    "aten.any.dim": both([lambda s, x, y: x.any(1)], (lambda s, x, y: x.any(0), "looks over all")),
    "aten.all.dim": both([lambda s, x, y: x.all(1)], (lambda s, x, y: x.all(0), "looks over all")),
    "aten.var.correction": both(
        [lambda s, x, y: x.var(1, correction=0)],
        (lambda s, x, y: x.var(0, correction=0), "variance over all"),
        (lambda s, x, y: x.var(correction=0), "variance over all"),
    ),
    "aten.std.correction": both(
        [lambda s, x, y: x.std(1, correction=0)], (lambda s, x, y: x.std(0, correction=0), "deviation over all")
    ),
    "aten.var.dim": both([lambda s, x, y: x.var(1)], (lambda s, x, y: x.var(0), "variance over all")),
    "aten.std.dim": both([lambda s, x, y: x.std(1)], (lambda s, x, y: x.std(0), "deviation over all")),
    "aten.logsumexp": both([lambda s, x, y: x.logsumexp(1)], (lambda s, x, y: x.logsumexp(0), "sums over all")),
    "aten.linalg_vector_norm": both(
        [lambda s, x, y: vector_norm(x, dim=1)],
        (lambda s, x, y: vector_norm(x, dim=0), "norm over all"),
        (lambda s, x, y: vector_norm(x), "norm over all"),
    ),
    "aten.linalg_norm": both(
        [lambda s, x, y: matrix_norm(x, dim=1)], (lambda s, x, y: matrix_norm(x), "norm over all")
    ),
    "aten.softmax.int": both(
        [lambda s, x, y: x.softmax(1), lambda s, x, y: x.t().softmax(0, dtype=torch.float64)],
        (lambda s, x, y: x.softmax(0), "normalises over all"),
    ),
    "aten.log_softmax.int": both(
        [lambda s, x, y: x.log_softmax(-1)], (lambda s, x, y: x.log_softmax(-2), "normalises over all")
    ),
    "aten._softmax": both(
        [lambda s, x, y: torch.ops.aten._softmax(x, 1, False)],
        (lambda s, x, y: torch.ops.aten._softmax(x, 0, False), "normalises over all"),
    ),
    "aten._log_softmax": both(
        [lambda s, x, y: torch.ops.aten._log_softmax(x, 1, False)],
        (lambda s, x, y: torch.ops.aten._log_softmax(x, 0, False), "normalises over all"),
    ),
    "aten.cumsum": both([lambda s, x, y: x.cumsum(1)], (lambda s, x, y: x.cumsum(0), "accumulates over all")),
    "aten.cumprod": both([lambda s, x, y: x.cumprod(1)], (lambda s, x, y: x.cumprod(0), "accumulates over all")),
    "aten.logcumsumexp": both(
        [lambda s, x, y: x.logcumsumexp(1)], (lambda s, x, y: x.logcumsumexp(0), "accumulates over all")
    ),
    "aten.sort": both(
        [lambda s, x, y: x.sort()[0], lambda s, x, y: x.sort(stable=True, dim=1)[1]],
        (lambda s, x, y: x.sort(0)[0], "sorts over all"),
        (lambda s, x, y: x.sort(stable=True, dim=0)[0], "sorts over all"),
        (lambda s, x, y: x[:, 0].sort()[0], "sorts over all"),
    ),
    "aten.argsort": both(
        [lambda s, x, y: x.argsort(), lambda s, x, y: x.argsort(dim=1, stable=True)],
        (lambda s, x, y: x.argsort(0), "sorts over all"),
        (lambda s, x, y: x[:, 0].argsort(), "sorts over all"),
    ),
    "aten.topk": both([lambda s, x, y: x.topk(2)[0]], (lambda s, x, y: x.topk(2, 0)[0], "largest over all")),
    "aten.select.int": both([lambda s, x, y: x.select(1, 2)], (lambda s, x, y: x[0], "picks one over all")),
    "aten.slice.Tensor": both([lambda s, x, y: x[:, 1:4:2]], (lambda s, x, y: x[:2], "cuts over all")),
    "aten.split.Tensor": both([lambda s, x, y: parts(x, 2)[1]]),
    "aten.split_with_sizes": both(
        [lambda s, x, y: parts(x, [1, 5])[1]],
        (lambda s, x, y: torch.ops.aten.split_with_sizes(x, [x.size(0)], 0)[0], "splits over all"),
    ),
    "aten.unbind.int": both([lambda s, x, y: x.unbind(1)[3]]),
    "aten.flip": both(
        [lambda s, x, y: x.flip(1), lambda s, x, y: cube(x).flip((1, 2))],
        (lambda s, x, y: x.flip((0, 1)), "reverses over all"),
        (lambda s, x, y: x.flip(()), "reverses over all"),
    ),
    "aten.roll": both(
        [lambda s, x, y: x.roll(1, 1), lambda s, x, y: cube(x).roll((1, 2), (1, 2))],
        (lambda s, x, y: x.roll(1), "shifts over all"),
        (lambda s, x, y: x.roll(1, 0), "shifts over all"),
    ),
    "aten.gather": both(
        [
            lambda s, x, y: x.gather(1, ids(y)),
            lambda s, x, y: s.w.gather(0, ids(x)),
            lambda s, x, y: x.t().gather(0, ids(y).t()),
        ],
        (lambda s, x, y: x.gather(0, ids(y)), "picks over all"),
        (lambda s, x, y: x.gather(1, s.grid), "does not go with the rows"),
        (lambda s, x, y: x.gather(1, s.grid[:1]), "does not go with the rows"),
    ),
    "aten.glu": both([lambda s, x, y: F.glu(x)]),
    "aten.scaled_dot_product_attention": both(
        [lambda s, x, y: F.scaled_dot_product_attention(cube(x), cube(y), cube(x))],
        (lambda s, x, y: F.scaled_dot_product_attention(x, y, x), "attends from every"),
        (lambda s, x, y: F.scaled_dot_product_attention(x[None], y[None], x[None]), "attends from every"),
        (lambda s, x, y: F.scaled_dot_product_attention(cube(x), cube(y), cube(x), dropout_p=0.5), "is random"),
    ),
    "aten.index_select": both(
        [lambda s, x, y: x.index_select(1, s.picks), lambda s, x, y: s.table.index_select(0, ids(x)[:, 0])],
        (lambda s, x, y: x.index_select(0, s.picks), "picks over all"),
        (lambda s, x, y: x.index_select(1, ids(y)[:, 0]), "index that differs"),
    ),
    "aten.index.Tensor": both(
        [
            lambda s, x, y: x[:, s.picks],
            lambda s, x, y: x[:, s.grid],
            lambda s, x, y: s.table[ids(x)],
            lambda s, x, y: s.table[ids(x)[:, :2], s.grid[:1]],
            lambda s, x, y: s.table[:, ids(x)[:, 0]],
        ],
        (lambda s, x, y: x[s.picks], "picks over all"),
        (lambda s, x, y: x[s.picks, s.picks], "picks over all"),
        (lambda s, x, y: x[ids(y)[:, 0]], "index that differs"),
        (lambda s, x, y: x[x[:, 0] > 0], "index that differs"),
        (lambda s, x, y: cube(x)[:, s.picks[1:], s.picks[1:]], "several axes"),
        (lambda s, x, y: s.table[ids(x)[:, :1], ids(y)[:, 0]], "along another axis"),
    ),
    "aten.index_put": both(
        [lambda s, x, y: x.index_put((x[:, 0] > 0,), s.v), lambda s, x, y: x.index_put((y > 0,), s.v.sum())],
        (lambda s, x, y: x.index_put((x[:, 0] > 0,), s.w[:1]), "fixed number"),
        (lambda s, x, y: x.index_put((ids(x)[:, 0],), y), "only a mask"),
        (lambda s, x, y: x.index_put((s.picks,), s.v), "only a mask"),
        (lambda s, x, y: x.index_put((x > 0,), y[y > 0]), "different nodes"),
    ),
    "aten.select_scatter": both(
        [lambda s, x, y: x.select_scatter(y[:, 0], 1, 2)],
        (lambda s, x, y: x.select_scatter(s.v, 0, 2), "writes over all"),
    ),
    "aten.slice_scatter": both(
        [lambda s, x, y: x.slice_scatter(y[:, :2], 1, 2, 4)],
        (lambda s, x, y: x.slice_scatter(s.w[:2], 0, 0, 2), "writes over all"),
    ),
    "aten.embedding": both(
        [lambda s, x, y: F.embedding(ids(x), s.table)],
        (lambda s, x, y: F.embedding(s.picks, x), "a table that differs"),
    ),
    "aten.pad": both(
        [
            lambda s, x, y: F.pad(x, (1, 2)),
            lambda s, x, y: F.pad(x[:, None], (1, 1), mode="reflect"),
            lambda s, x, y: F.pad(x, (1, 1, 0, 0)),
        ],
        (lambda s, x, y: F.pad(x, (0, 0, 1, 0)), "pads over all"),
        (lambda s, x, y: F.pad(x.t(), (0, 1)), "pads over all"),
    ),
    "aten.prelu": both([lambda s, x, y: F.prelu(x, s.v), lambda s, x, y: F.prelu(x.t(), s.slope)]),
    "aten.one_hot": both([lambda s, x, y: F.one_hot(ids(x), 4)]),
    "aten.cosine_similarity": both(
        [lambda s, x, y: F.cosine_similarity(x, y), lambda s, x, y: F.cosine_similarity(x, s.v[None])],
        (lambda s, x, y: F.cosine_similarity(x, y, 0), "sums over all"),
        (lambda s, x, y: F.cosine_similarity(x[:, None], y[None], -1), "along another axis"),
        (lambda s, x, y: F.cosine_similarity(x, s.w[None, :1], 1), "sums over all"),
    ),
    "aten.cross": both(
        [lambda s, x, y: cross_along(cube(x), cube(y), dim=2), lambda s, x, y: cross_along(x[:, :3], y[:, 3:], dim=1)],
    ),
    "aten.linalg_cross": both(
        [
            lambda s, x, y: cross(cube(x), cube(y)),
            lambda s, x, y: cross(cube(x), cube(y)[:, :1], dim=-1),
            lambda s, x, y: cross(x[:, :3].t(), y[:, 3:].t(), dim=0),
            lambda s, x, y: cross(x[:, :3], s.v[None, :3]),
        ],
        (lambda s, x, y: cross(cube(x)[:, 0, None], x[None, :, :3]), "along another axis"),
    ),
    "aten.rrelu": both([lambda s, x, y: F.rrelu(x)], (lambda s, x, y: F.rrelu(x, training=True), "is random")),
    "aten.fill": both([lambda s, x, y: torch.ops.aten.fill(x, s.v.sum())]),
    "aten.copy": both([lambda s, x, y: torch.ops.aten.copy(x, y), lambda s, x, y: torch.ops.aten.copy(x, s.v)]),
    "aten.masked_fill": both(
        [lambda s, x, y: x.masked_fill(y > 0, 2.0), lambda s, x, y: x.masked_fill(y > 0, s.slope.sum())]
    ),
    "aten._to_copy": both([lambda s, x, y: x.double()]),
    "aten.type_as": both([lambda s, x, y: ids(x).type_as(y)]),
    "aten.where.ScalarOther": both(
        [lambda s, x, y: torch.where(x > 0, y, 0.0)],
        (lambda s, x, y: torch.where(x[:, None] > 0, y, 0.0), "along another axis"),
    ),
    "aten.where.ScalarSelf": both([lambda s, x, y: torch.where(x > 0, 0.0, y)]),
    "aten.where.Scalar": both([lambda s, x, y: torch.where(x > 0, 0.0, 1.0)]),
    "aten.__and__": both([lambda s, x, y: (x > 0) & (y > 0)]),
    "aten.__or__": both([lambda s, x, y: (x > 0) | (y > 0)]),
    "aten.floor_divide": both([lambda s, x, y: x // y, lambda s, x, y: x // 2]),
    "aten.subtract": both([lambda s, x, y: torch.subtract(x, y)]),
    "aten.multiply": both([lambda s, x, y: torch.multiply(x, s.v)]),
    "aten.divide": both([lambda s, x, y: torch.divide(x, y)]),
    "aten.absolute": both([lambda s, x, y: torch.absolute(x)]),
    "aten.negative": both([lambda s, x, y: torch.negative(x)]),
    "aten.greater": both([lambda s, x, y: torch.greater(x, y)]),
    "aten.greater_equal": both([lambda s, x, y: torch.greater_equal(x, 0)]),
    "aten.less": both([lambda s, x, y: torch.less(x, y)]),
    "aten.less_equal": both([lambda s, x, y: torch.less_equal(x, y)]),
    "aten.not_equal": both([lambda s, x, y: torch.not_equal(x, y)]),
    "aten.log_sigmoid": both([lambda s, x, y: F.logsigmoid(x)]),
    "aten.hardswish": both([lambda s, x, y: F.hardswish(x)]),
}

ACCEPTED = [(name, i) for name, e in EXAMPLES.items() for i in range(len(e.accepted))]
REFUSED = [(name, i) for name, e in EXAMPLES.items() for i in range(len(e.refused))]


class AllExamples(Weights):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        accepted = [EXAMPLES[name].accepted[i](self, x, y) for name, i in ACCEPTED]
        return accepted + [EXAMPLES[name].refused[i][0](self, x, y) for name, i in REFUSED]


@pytest.fixture(scope="module")
def calls() -> Calls:
    """The call of every example, as the front end sees it: by name, place, and whether it is an accepted one."""
    torch.manual_seed(0)
    program = capture(AllExamples().eval(), Arguments.by_name(INPUTS))
    plain, written_out = results_of(program), results_of(decomposed(program))
    keys = [(name, i, True) for name, i in ACCEPTED] + [(name, i, False) for name, i in REFUSED]
    both_forms = zip(keys, plain, written_out, strict=True)
    return {key: first if is_called(key[0], first) else second for key, first, second in both_forms}


def results_of(program: ExportedProgram) -> list[TracedValue]:
    model = number_values(program, INPUTS)
    fold_weights(model, binding_times(model, INPUTS))
    return [value.args[0] if value.op == "item" else value for value in model.outputs]


def is_called(name: str, value: TracedValue) -> bool:
    return value.op == name or value.op.rpartition(".")[0] == name


def test_every_rule_has_an_example() -> None:
    assert set(EXAMPLES) == set(TABLE)
    assert [name for name, e in EXAMPLES.items() if not e.accepted] == ["aten.squeeze.default"]


@pytest.mark.parametrize(("name", "place"), ACCEPTED)
def test_what_is_accepted_is_local(name: str, place: int, calls: Calls) -> None:
    value = calls[name, place, True]
    assert is_called(name, value)
    prove_rowwise(value)
    assert_local(value)


@pytest.mark.parametrize(("name", "place"), REFUSED)
def test_what_is_not_local_is_refused_with_its_reason(name: str, place: int, calls: Calls) -> None:
    value = calls[name, place, False]
    assert is_called(name, value)
    with pytest.raises(NotRowwise, match=EXAMPLES[name].refused[place][1]):
        prove_rowwise(value)


# Calls that torch.export has no way to or rewrites, made by hand.


LONG = torch.int64
M = Size("m")
STATES = (operand((1, N, 4)), operand((1, N, 4)))
SEQUENCE = (operand((7, N, 3)), (operand((1, 7, 4)), operand((1, 7, 4))), (operand((16, 3)), operand((16, 4))))
CELL = operand((N, 3)), operand((N, 4))
GATES = operand((12, 3)), operand((12, 4))
SEQUENCES = (operand((N, 5, 3)), STATES, (operand((16, 3)), operand((16, 4))))


def by_hand(name: str, *args: Any, result: Shape = (N,)) -> TracedValue:
    return TracedValue(name, name, args, {}, ((result, torch.float32),))


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        (by_hand("aten.one_hot.default", operand((N,), LONG), -1), "largest class over all"),
        (by_hand("aten.one_hot.default", operand((N,), LONG), N), "count of nodes"),
        (by_hand("aten.slice.Tensor", operand((N, 3)), 0, 0, N, 2), "cuts over all"),
        (by_hand("aten.split.Tensor", operand((N, 3)), N), "splits over all"),
        (by_hand("aten.glu.default", operand((N, 4)), 0), "halves over all"),
        (by_hand("aten.view.dtype", operand((N,)), torch.int16, result=(Size("2*n"),)), "folds rows"),
        (by_hand("aten.unbind.int", operand((N, 3)), result=(3,)), "splits over all"),
        (by_hand("aten.expand.default", operand((N, 3)), (N, N, 3), result=(N, N, 3)), "for other nodes"),
        (by_hand("aten.outer.default", operand((N,)), operand((N,)), result=(N, N)), "not known"),
        (by_hand("aten.prelu.default", operand((2, N)), operand((N,))), "a slope that differs"),
        (by_hand("aten.prelu.default", operand((2, N)), operand((7,))), "one slope for each of a fixed number"),
        (by_hand("aten.add.Tensor", operand((N, N)), 1), "takes a value with two axes"),
        (by_hand("aten.add.Tensor", operand((N, 3)), operand((M, 3))), "different nodes or edges"),
        (by_hand("aten.add.Tensor", operand((N, 3)), operand((7, 1))), "one entry for each of a fixed number"),
        (by_hand("aten.add.Tensor", operand((3,)), operand((3,))), "no value on nodes"),
        (by_hand("aten.matmul.default", operand((N, 2, 3)), operand((7, 3, 2))), "a matrix of its own"),
        (by_hand("aten.einsum.default", "nf,nf->nf", (operand((N, 3)), operand((7, 3)))), "a fixed number"),
        (by_hand("aten.bernoulli.default", operand((N,))), "is random"),
        (by_hand("aten.permute.default", operand((N, 3)), (1, 0), result=(3, 5)), "does not have one row"),
        (by_hand("aten.permute.default", operand((N, 3)), (1, 0), result=(3, M)), "does not have one row"),
        (TracedValue("aten.equal.default", "", (operand((N,)), operand((N,))), {}, ()), "no tensor"),
        (by_hand("aten.native_dropout.default", operand((N,)), 0.5, True), "is random"),
        (by_hand("aten.gather.default", operand((5, 3)), 1, operand((N, 2), LONG)), "does not go with the rows"),
        (by_hand("aten.lstm.input", *SEQUENCE, False, 1, 0.0, False, False, True), "from one node"),
        (by_hand("aten.lstm.input", *SEQUENCES[:1], *SEQUENCE[1:], False, 1, 0.0, False, False, True), "a state"),
        (by_hand("aten.lstm.input", *SEQUENCES, False, 1, 0.5, True, False, True), "is random"),
        (by_hand("aten.gru_cell.default", operand((3, N)), operand((3, N)), *GATES), "sums over all"),
        (by_hand("aten.gru_cell.default", operand((N, 3)), operand((7, 4)), *GATES), "a state that"),
        (by_hand("aten.gru_cell.default", operand((7, 3)), operand((N, 4)), *GATES), "a state that"),
        (by_hand("aten.gru_cell.default", operand((N,)), operand((N,)), *GATES), "a state that"),
        (by_hand("aten.gru_cell.default", *CELL, operand((N, 3)), operand((N, 4))), "a weight that differs"),
        (by_hand("aten.gru_cell.default", *CELL, *GATES, operand((N,))), "a weight that differs"),
        (by_hand("aten.lstm_cell.default", CELL[0], (CELL[1], operand((7, 4))), *GATES), "a state that"),
        (by_hand("aten.lstm_cell.default", CELL[0], (CELL[1], operand((4, N))), *GATES), "sums over all"),
        (by_hand("aten.addmm.default", operand((7, 3)), operand((N, 4)), operand((4, 3))), "a fixed number"),
        (by_hand("aten.addmm.default", operand((N,)), operand((N, 4)), operand((4, 3))), "along another axis"),
        (by_hand("aten.addmm.default", operand((3, N)), operand((N, 4)), operand((4, 3))), "along another axis"),
        (by_hand("aten.addmm.default", operand((N, 3)), operand((1, 4)), operand((4, 3))), "adds rows"),
        (by_hand("aten.addmm.default", operand((4, 3)), operand((4, N)), operand((5, 3))), "sums over all"),
        (by_hand("aten.cross.default", operand((N, 3)), operand((N, 3))), "give dim"),
        (by_hand("aten.cross.default", operand((N, 3)), operand((N, 3)), 0), "takes the product over all"),
        (by_hand("aten.linalg_cross.default", operand((N, 3)), operand((7, 3))), "a fixed number"),
        (
            by_hand("aten.gru.input", SEQUENCES[0], STATES[0], SEQUENCES[2], False, 1, 0.0, False, False, False),
            "from one",
        ),
    ],
)
def test_calls_made_by_hand_are_refused(value: TracedValue, reason: str) -> None:
    with pytest.raises(NotRowwise, match=reason):
        prove_rowwise(value)
