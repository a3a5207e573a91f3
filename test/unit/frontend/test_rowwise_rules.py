"""Every rule against the operator itself: what is accepted must be local to each row."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

import pytest
import torch
import torch.nn.functional as F
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from gnnc.frontend.binding_time import binding_times, fold_weights
from gnnc.frontend.capture import capture
from gnnc.frontend.inputs import ModelInput
from gnnc.frontend.rowwise_rules import TABLE, NotRowwise, operator_of, prove_rowwise
from gnnc.frontend.traced_values import Shape, Size, TracedValue
from gnnc.frontend.value_numbering import number_values

# A probe: an operator run on rows, on some of them, and with one changed.

ROWS = 6
N = Size("n")

Tensors = Mapping[TracedValue, torch.Tensor]


def operand(shape: Shape, dtype: torch.dtype = torch.float32) -> TracedValue:
    """A value to call an operator on; without a Size in its shape it is a weight."""
    has_rows = any(isinstance(size, Size) for size in shape)
    value = TracedValue("input" if has_rows else "weight", "operand", (), {}, ((shape, dtype),))
    if not has_rows:
        value.tensor = random_tensor(shape, dtype, 0)
    return value


def call(op: str, *args: Any, **kwargs: Any) -> TracedValue:
    """The call of an operator, its run-time sizes learned from running it with two numbers of rows."""
    value = TracedValue(op, op, args, kwargs, ())
    small, large = (run(value, random_rows(value, rows)) for rows in (ROWS, ROWS + 1))
    value.outputs = tuple((symbolic(s.shape, t.shape), s.dtype) for s, t in zip(small, large, strict=True))
    return value


def symbolic(small: Sequence[int], large: Sequence[int]) -> Shape:
    return tuple(a if a == b else N if a == ROWS else Size(f"{a}|{b}") for a, b in zip(small, large, strict=True))


def random_tensor(shape: Shape, dtype: torch.dtype, rows: int) -> torch.Tensor:
    sizes = [rows if isinstance(size, Size) else size for size in shape]
    if dtype.is_floating_point:
        return torch.randn(sizes, dtype=torch.float64).to(dtype)
    return torch.randint(0, 2, sizes).to(dtype)


def random_rows(value: TracedValue, rows: int) -> dict[TracedValue, torch.Tensor]:
    """Data for the operands that have rows."""
    return {v: random_tensor(v.shape, v.dtype, rows) for v in value.operands() if v.sizes}


def run(value: TracedValue, tensors: Tensors) -> list[torch.Tensor]:
    """The results of the operator itself."""
    rows = next(t.shape[v.domain_axis] for v, t in tensors.items())

    def known(argument: Any) -> Any:
        if isinstance(argument, Size):
            return rows
        if isinstance(argument, TracedValue):
            return tensors[argument] if argument in tensors else argument.tensor
        return [known(item) for item in argument] if isinstance(argument, tuple) else argument

    with torch.no_grad():
        results = operator_of(value.op)(*known(value.args), **{k: known(v) for k, v in value.kwargs.items()})
    return list(results) if isinstance(results, tuple | list) else [results]


def each_row(tensors: Tensors, change: Callable[[torch.Tensor, int], torch.Tensor]) -> dict[TracedValue, torch.Tensor]:
    return {value: change(tensor, value.domain_axis) for value, tensor in tensors.items()}


def picked(tensors: Tensors, rows: Sequence[int]) -> dict[TracedValue, torch.Tensor]:
    return each_row(tensors, lambda tensor, axis: tensor.index_select(axis, torch.tensor(rows, dtype=torch.int64)))


def assert_local(value: TracedValue, *, also_empty: bool = True) -> None:
    """A changed row changes that row only, and any choice of rows gives those rows of the results."""
    torch.manual_seed(0)
    tensors = random_rows(value, ROWS)
    before = run(value, tensors)
    assert len(before) == len(value.outputs)
    for row in (0, ROWS - 1):
        fresh = random_rows(value, ROWS)
        mixed = {v: t.index_copy(v.domain_axis, torch.tensor([row]), picked(fresh, [row])[v]) for v, t in tensors.items()}
        others = [r for r in range(ROWS) if r != row]
        assert_rows(value, before, others, run(value, mixed), others)
    for rows in ([0], [4, 1], [3, 3, 5], [])[: 4 if also_empty else 3]:
        assert_rows(value, before, rows, run(value, picked(tensors, rows)), list(range(len(rows))))


def assert_rows(
    value: TracedValue,
    whole: Sequence[torch.Tensor],
    rows: Sequence[int],
    part: Sequence[torch.Tensor],
    part_rows: Sequence[int],
) -> None:
    for (shape, _), a, b in zip(value.outputs, whole, part, strict=True):
        if a.numel() == 0 and not any(isinstance(size, Size) for size in shape):
            continue
        (axis,) = [i for i, size in enumerate(shape) if isinstance(size, Size)]
        expected = a.index_select(axis, torch.tensor(rows, dtype=torch.int64))
        actual = b.index_select(axis, torch.tensor(part_rows, dtype=torch.int64))
        assert expected.shape == actual.shape
        torch.testing.assert_close(actual, expected, rtol=1e-6, atol=1e-6, equal_nan=True)


# Examples, all captured in one model.

Forward: TypeAlias = Callable[["Weights", torch.Tensor, torch.Tensor], Any]

WIDTH = 6
INPUTS = [ModelInput(name, name, "nodes", 0, (WIDTH,), torch.float32) for name in ("x", "y")]


class Weights(torch.nn.Module):
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


@dataclass(frozen=True)
class Examples:
    """Calls that are accepted, and calls that are refused with their reason."""

    accepted: Sequence[Forward]
    refused: Sequence[tuple[Forward, str]] = ()


def both(accepted: Sequence[Forward], *refused: tuple[Forward, str]) -> Examples:
    return Examples(accepted, refused)


def cube(x: torch.Tensor) -> torch.Tensor:
    return x.view(-1, 2, 3)


def ids(x: torch.Tensor) -> torch.Tensor:
    return x.long()


# fmt: off
EXAMPLES: dict[str, Examples] = {
    "aten.linear": both([lambda s, x, y: F.linear(x, s.w, s.v), lambda s, x, y: F.linear(cube(x), s.small), lambda s, x, y: F.linear(x, s.v)],
                        (lambda s, x, y: F.linear(s.w, x), "a weight that differs")),
    "aten.matmul": both([lambda s, x, y: x @ s.w, lambda s, x, y: x @ s.v, lambda s, x, y: cube(x) @ s.small, lambda s, x, y: s.w @ x.t(), lambda s, x, y: s.v @ y.t(),
                         lambda s, x, y: cube(x).permute(1, 0, 2) @ s.w.view(2, 3, 6)[:, :, :2], lambda s, x, y: s.w[:2, :2] @ cube(x), lambda s, x, y: cube(x) @ cube(y).mT],
                        (lambda s, x, y: x @ y.t(), "multiplies over all"), (lambda s, x, y: x.t() @ y, "multiplies over all"), (lambda s, x, y: x.t() @ y[:, 0], "multiplies over all"),
                        (lambda s, x, y: x[:, 0] @ x, "multiplies over all"), (lambda s, x, y: cube(x).permute(1, 0, 2) @ cube(y).permute(1, 2, 0), "multiplies over all")),
    "aten.mm": both([lambda s, x, y: torch.mm(x, s.w), lambda s, x, y: torch.mm(s.w, y.t())], (lambda s, x, y: torch.mm(y.t(), x), "multiplies over all")),
    "aten.bmm": both([lambda s, x, y: torch.bmm(cube(x), cube(y).mT), lambda s, x, y: torch.bmm(cube(x).permute(1, 0, 2), s.w.view(2, 3, 6))],
                     (lambda s, x, y: torch.bmm(x[None], y.t()[None]), "multiplies over all")),
    "aten.mv": both([lambda s, x, y: torch.mv(x, s.v)], (lambda s, x, y: torch.mv(s.w @ x.t(), y[:, 0]), "multiplies over all")),
    "aten.addmm": both([lambda s, x, y: torch.addmm(s.v, x, s.w)], (lambda s, x, y: torch.addmm(s.w, y.t(), x), "a matrix that differs")),
    "aten.einsum": both([lambda s, x, y: torch.einsum("nhf,gf->nhg", cube(x), s.small), lambda s, x, y: torch.einsum("nf, nf -> n", x, y), lambda s, x, y: torch.einsum("nf,fg->gn", x, s.w)],
                        (lambda s, x, y: torch.einsum("nf,mf->nm", x, y), "all pairs"), (lambda s, x, y: torch.einsum("nf,ng->fg", x, y), "sums over all"),
                        (lambda s, x, y: torch.einsum("...f,gf->...g", x, s.w), "write all indices"), (lambda s, x, y: torch.einsum("nf", x), "write all indices")),
    "aten.lstm.input": both([lambda s, x, y: s.lstm(cube(x))[0], lambda s, x, y: s.lstm(cube(y))[1][0]]),
    "aten.gru.input": both([lambda s, x, y: s.gru(cube(x).permute(1, 0, 2))[0]]),
    "aten.layer_norm": both([lambda s, x, y: F.layer_norm(x, (WIDTH,)), lambda s, x, y: F.layer_norm(cube(x), (2, 3)), lambda s, x, y: F.layer_norm(x, (WIDTH,), s.v, s.v)],
                            (lambda s, x, y: F.layer_norm(x.t(), (x.size(0),)), "count of nodes"), (lambda s, x, y: F.layer_norm(x, x.shape), "count of nodes")),
    "aten.rms_norm": both([lambda s, x, y: F.rms_norm(x, (WIDTH,), s.v)], (lambda s, x, y: F.rms_norm(x.t(), (x.size(0),)), "count of nodes")),
    "aten._native_batch_norm_legit_no_training": both([lambda s, x, y: F.batch_norm(x, s.v, s.v, s.v, s.v), lambda s, x, y: F.batch_norm(x[:, :, None], s.v, s.v)],
                                                      (lambda s, x, y: F.batch_norm(x.t(), y[:, 0], y[:, 1]), "statistics that differs")),
    "aten.group_norm": both([lambda s, x, y: F.group_norm(x, 3, s.v), lambda s, x, y: F.group_norm(cube(x), 2)], (lambda s, x, y: F.group_norm(x.t()[None], 1), "normalises over all"), (lambda s, x, y: F.group_norm(cube(x).permute(1, 2, 0), 1), "normalises over all")),
    "aten.cat": both([lambda s, x, y: torch.cat([x, y, x[:, :1]], 1), lambda s, x, y: torch.cat([x.t(), y.t()], -2)],
                     (lambda s, x, y: torch.cat([x, y]), "joins over all"), (lambda s, x, y: torch.cat([x.t(), y.t()], -1), "joins over all"), (lambda s, x, y: torch.cat([x, s.w]), "with and without rows")),
    "aten.stack": both([lambda s, x, y: torch.stack([x, y]), lambda s, x, y: torch.stack([x, y], -1)]),
    "aten.view": both([lambda s, x, y: x.view(-1, 3, 2), lambda s, x, y: x.view(x.size(0), 1, WIDTH), lambda s, x, y: x.unsqueeze(0).view(1, -1, 3, 2), lambda s, x, y: x.view(torch.int32)],
                      (lambda s, x, y: x.view(-1, 3), "folds rows"), (lambda s, x, y: x.view(-1), "folds rows")),
    "aten._unsafe_view": both([lambda s, x, y: torch.ops.aten._unsafe_view(x, [-1, 2, 3])], (lambda s, x, y: y.t().reshape(-1), "folds rows")),
    "aten.unsqueeze": both([lambda s, x, y: x.unsqueeze(1), lambda s, x, y: x[None]]),
    "aten.squeeze.default": both([], (lambda s, x, y: x[:, :1].squeeze(), "give squeeze a dim")),
    "aten.squeeze.dim": both([lambda s, x, y: x[:, :1].squeeze(1), lambda s, x, y: x[:, :1].squeeze(-1), lambda s, x, y: cube(x).squeeze(1)], (lambda s, x, y: x.squeeze(0), "drops the axis")),
    "aten.squeeze.dims": both([lambda s, x, y: x[None, :, None].squeeze((0, 2))], (lambda s, x, y: x[:, :1].squeeze((0, 1)), "drops the axis")),
    "aten.transpose.int": both([lambda s, x, y: cube(x).transpose(0, 1), lambda s, x, y: x.mT]),
    "aten.permute": both([lambda s, x, y: cube(x).permute(2, 0, 1), lambda s, x, y: x.T]),
    "aten.t": both([lambda s, x, y: x.t()]),
    "aten.expand": both([lambda s, x, y: x[:, :1].expand(-1, 5), lambda s, x, y: x.expand(3, -1, -1)]),
    "aten.repeat": both([lambda s, x, y: x.repeat(1, 2), lambda s, x, y: x.repeat(4, 1, 1)], (lambda s, x, y: x.repeat(2, 1), "repeats rows"), (lambda s, x, y: x.repeat(1, x.size(0)), "count of nodes")),
    "aten.repeat_interleave.self_int": both([lambda s, x, y: x.repeat_interleave(2, 1)], (lambda s, x, y: x.repeat_interleave(2, 0), "repeats over all"), (lambda s, x, y: x.repeat_interleave(2), "repeats over all")),
    "aten.sum.dim_IntList": both([lambda s, x, y: x.sum(1), lambda s, x, y: cube(x).sum((1, -1)), lambda s, x, y: x.t().sum(0)], (lambda s, x, y: x.sum(0), "sums over all"), (lambda s, x, y: x.sum(()), "sums over all"), (lambda s, x, y: cube(x).sum((0, 1)), "sums over all")),
    "aten.mean.dim": both([lambda s, x, y: x.mean(1, keepdim=True)], (lambda s, x, y: x.mean(-2), "averages over all")),
    "aten.amax": both([lambda s, x, y: x.amax(1)], (lambda s, x, y: x.amax(0), "maximum over all"), (lambda s, x, y: x.amax(), "maximum over all")),
    "aten.amin": both([lambda s, x, y: x.amin(1)], (lambda s, x, y: x.amin(0), "minimum over all")),
    "aten.max.dim": both([lambda s, x, y: x.max(1)[0], lambda s, x, y: x.max(1)[1]], (lambda s, x, y: x.max(0)[0], "maximum over all")),
    "aten.min.dim": both([lambda s, x, y: x.min(1)[0]], (lambda s, x, y: x.min(0)[0], "minimum over all")),
    "aten.median.dim": both([lambda s, x, y: x.median(1)[0]], (lambda s, x, y: x.median(0)[0], "median over all")),
    "aten.argmax": both([lambda s, x, y: x.argmax(1)], (lambda s, x, y: x.argmax(0), "maximum over all"), (lambda s, x, y: x.argmax(), "maximum over all")),
    "aten.argmin": both([lambda s, x, y: x.argmin(-1, keepdim=True)], (lambda s, x, y: x.argmin(), "minimum over all")),
    "aten.prod.dim_int": both([lambda s, x, y: x.prod(1)], (lambda s, x, y: x.prod(0), "multiplies over all")),
    "aten.any.dim": both([lambda s, x, y: x.any(1)], (lambda s, x, y: x.any(0), "looks over all")),
    "aten.all.dim": both([lambda s, x, y: x.all(1)], (lambda s, x, y: x.all(0), "looks over all")),
    "aten.var.correction": both([lambda s, x, y: x.var(1, correction=0)], (lambda s, x, y: x.var(0, correction=0), "variance over all"), (lambda s, x, y: x.var(correction=0), "variance over all")),
    "aten.std.correction": both([lambda s, x, y: x.std(1, correction=0)], (lambda s, x, y: x.std(0, correction=0), "deviation over all")),
    "aten.var.dim": both([lambda s, x, y: x.var(1)], (lambda s, x, y: x.var(0), "variance over all")),
    "aten.std.dim": both([lambda s, x, y: x.std(1)], (lambda s, x, y: x.std(0), "deviation over all")),
    "aten.logsumexp": both([lambda s, x, y: x.logsumexp(1)], (lambda s, x, y: x.logsumexp(0), "sums over all")),
    "aten.linalg_vector_norm": both([lambda s, x, y: x.norm(dim=1)], (lambda s, x, y: x.norm(dim=0), "norm over all"), (lambda s, x, y: x.norm(), "norm over all")),
    "aten.linalg_norm": both([lambda s, x, y: torch.linalg.norm(x, dim=1)], (lambda s, x, y: torch.linalg.norm(x), "norm over all")),
    "aten.softmax.int": both([lambda s, x, y: x.softmax(1), lambda s, x, y: x.t().softmax(0, dtype=torch.float64)], (lambda s, x, y: x.softmax(0), "normalises over all")),
    "aten.log_softmax.int": both([lambda s, x, y: x.log_softmax(-1)], (lambda s, x, y: x.log_softmax(-2), "normalises over all")),
    "aten._softmax": both([lambda s, x, y: torch.ops.aten._softmax(x, 1, False)], (lambda s, x, y: torch.ops.aten._softmax(x, 0, False), "normalises over all")),
    "aten._log_softmax": both([lambda s, x, y: torch.ops.aten._log_softmax(x, 1, False)], (lambda s, x, y: torch.ops.aten._log_softmax(x, 0, False), "normalises over all")),
    "aten.cumsum": both([lambda s, x, y: x.cumsum(1)], (lambda s, x, y: x.cumsum(0), "accumulates over all")),
    "aten.cumprod": both([lambda s, x, y: x.cumprod(1)], (lambda s, x, y: x.cumprod(0), "accumulates over all")),
    "aten.logcumsumexp": both([lambda s, x, y: x.logcumsumexp(1)], (lambda s, x, y: x.logcumsumexp(0), "accumulates over all")),
    "aten.sort": both([lambda s, x, y: x.sort()[0], lambda s, x, y: x.sort(stable=True, dim=1)[1]], (lambda s, x, y: x.sort(0)[0], "sorts over all"), (lambda s, x, y: x.sort(stable=True, dim=0)[0], "sorts over all"), (lambda s, x, y: x[:, 0].sort()[0], "sorts over all")),
    "aten.argsort": both([lambda s, x, y: x.argsort(), lambda s, x, y: x.argsort(dim=1, stable=True)], (lambda s, x, y: x.argsort(0), "sorts over all"), (lambda s, x, y: x[:, 0].argsort(), "sorts over all")),
    "aten.topk": both([lambda s, x, y: x.topk(2)[0]], (lambda s, x, y: x.topk(2, 0)[0], "largest over all")),
    "aten.select.int": both([lambda s, x, y: x.select(1, 2)], (lambda s, x, y: x[0], "picks one over all")),
    "aten.slice.Tensor": both([lambda s, x, y: x[:, 1:4:2]], (lambda s, x, y: x[:2], "cuts over all")),
    "aten.split.Tensor": both([lambda s, x, y: x.split(2, 1)[1]]),
    "aten.split_with_sizes": both([lambda s, x, y: x.split([1, 5], 1)[1]], (lambda s, x, y: torch.ops.aten.split_with_sizes(x, [x.size(0)], 0)[0], "splits over all")),
    "aten.unbind.int": both([lambda s, x, y: x.unbind(1)[3]]),
    "aten.flip": both([lambda s, x, y: x.flip(1), lambda s, x, y: cube(x).flip((1, 2))], (lambda s, x, y: x.flip((0, 1)), "reverses over all"), (lambda s, x, y: x.flip(()), "reverses over all")),
    "aten.roll": both([lambda s, x, y: x.roll(1, 1), lambda s, x, y: cube(x).roll((1, 2), (1, 2))], (lambda s, x, y: x.roll(1), "shifts over all"), (lambda s, x, y: x.roll(1, 0), "shifts over all")),
    "aten.gather": both([lambda s, x, y: x.gather(1, ids(y)), lambda s, x, y: s.w.gather(0, ids(x)), lambda s, x, y: x.t().gather(0, ids(y).t())],
                        (lambda s, x, y: x.gather(0, ids(y)), "picks over all"), (lambda s, x, y: x.gather(1, s.grid), "does not go with the rows"), (lambda s, x, y: x.gather(1, s.grid[:1]), "does not go with the rows")),
    "aten.glu": both([lambda s, x, y: F.glu(x)]),
    "aten.scaled_dot_product_attention": both([lambda s, x, y: F.scaled_dot_product_attention(cube(x), cube(y), cube(x))],
                                              (lambda s, x, y: F.scaled_dot_product_attention(x, y, x), "attends from every"), (lambda s, x, y: F.scaled_dot_product_attention(x[None], y[None], x[None]), "attends from every"), (lambda s, x, y: F.scaled_dot_product_attention(cube(x), cube(y), cube(x), dropout_p=0.5), "is random")),
    "aten.index_select": both([lambda s, x, y: x.index_select(1, s.picks), lambda s, x, y: s.table.index_select(0, ids(x)[:, 0])], (lambda s, x, y: x.index_select(0, s.picks), "picks over all"), (lambda s, x, y: x.index_select(1, ids(y)[:, 0]), "index that differs")),
    "aten.index.Tensor": both([lambda s, x, y: x[:, s.picks], lambda s, x, y: x[:, s.grid], lambda s, x, y: s.table[ids(x)], lambda s, x, y: s.table[ids(x)[:, :2], s.grid[:1]], lambda s, x, y: s.table[:, ids(x)[:, 0]]],
                              (lambda s, x, y: x[s.picks], "picks over all"), (lambda s, x, y: x[s.picks, s.picks], "picks over all"), (lambda s, x, y: x[ids(y)[:, 0]], "index that differs"), (lambda s, x, y: x[x[:, 0] > 0], "index that differs"),
                              (lambda s, x, y: cube(x)[:, s.picks[1:], s.picks[1:]], "several axes"), (lambda s, x, y: s.table[ids(x)[:, :1], ids(y)[:, 0]], "along another axis")),
    "aten.embedding": both([lambda s, x, y: F.embedding(ids(x), s.table)], (lambda s, x, y: F.embedding(s.picks, x), "a table that differs")),
    "aten.pad": both([lambda s, x, y: F.pad(x, (1, 2)), lambda s, x, y: F.pad(x[:, None], (1, 1), mode="reflect"), lambda s, x, y: F.pad(x, (1, 1, 0, 0))], (lambda s, x, y: F.pad(x, (0, 0, 1, 0)), "pads over all"), (lambda s, x, y: F.pad(x.t(), (0, 1)), "pads over all")),
    "aten.prelu": both([lambda s, x, y: F.prelu(x, s.v), lambda s, x, y: F.prelu(x.t(), s.slope)]),
    "aten.one_hot": both([lambda s, x, y: F.one_hot(ids(x), 4)]),
    "aten.cosine_similarity": both([lambda s, x, y: F.cosine_similarity(x, y), lambda s, x, y: F.cosine_similarity(x, s.v[None])], (lambda s, x, y: F.cosine_similarity(x, y, 0), "sums over all"), (lambda s, x, y: F.cosine_similarity(x[:, None], y[None], -1), "along another axis"), (lambda s, x, y: F.cosine_similarity(x, s.w[None, :1], 1), "sums over all")),
    "aten.rrelu": both([lambda s, x, y: F.rrelu(x)], (lambda s, x, y: F.rrelu(x, training=True), "is random")),
    "aten.masked_fill": both([lambda s, x, y: x.masked_fill(y > 0, 2.0), lambda s, x, y: x.masked_fill(y > 0, s.slope.sum())]),
    "aten._to_copy": both([lambda s, x, y: x.double()]),
    "aten.type_as": both([lambda s, x, y: ids(x).type_as(y)]),
    "aten.where.ScalarOther": both([lambda s, x, y: torch.where(x > 0, y, 0.0)], (lambda s, x, y: torch.where(x[:, None] > 0, y, 0.0), "along another axis")),
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
# fmt: on

ACCEPTED = [(name, i) for name, e in EXAMPLES.items() for i in range(len(e.accepted))]
REFUSED = [(name, i) for name, e in EXAMPLES.items() for i in range(len(e.refused))]


class AllExamples(Weights):
    def forward(self, x: torch.Tensor, y: torch.Tensor) -> list[torch.Tensor]:
        accepted = [EXAMPLES[name].accepted[i](self, x, y) for name, i in ACCEPTED]
        return accepted + [EXAMPLES[name].refused[i][0](self, x, y) for name, i in REFUSED]


@cache
def calls() -> dict[tuple[str, int, bool], TracedValue]:
    """The call of every example, as the front end sees it: by name, place, and whether it is an accepted one."""
    torch.manual_seed(0)
    model = number_values(capture(AllExamples().eval(), INPUTS), INPUTS)
    fold_weights(model, binding_times(model, INPUTS))
    keys = [(name, i, True) for name, i in ACCEPTED] + [(name, i, False) for name, i in REFUSED]
    results = [value.args[0] if value.op == "item" else value for value in model.outputs]
    return dict(zip(keys, results, strict=True))


def is_called(name: str, value: TracedValue) -> bool:
    return value.op == name or value.op.rpartition(".")[0] == name


def test_every_rule_has_an_example() -> None:
    assert set(EXAMPLES) == set(TABLE)
    assert [name for name, e in EXAMPLES.items() if not e.accepted] == ["aten.squeeze.default"]


@pytest.mark.parametrize(("name", "place"), ACCEPTED)
def test_what_is_accepted_is_local(name: str, place: int) -> None:
    value = calls()[name, place, True]
    assert is_called(name, value)
    prove_rowwise(value)
    assert_local(value)


@pytest.mark.parametrize(("name", "place"), REFUSED)
def test_what_is_not_local_is_refused_with_its_reason(name: str, place: int) -> None:
    value = calls()[name, place, False]
    assert is_called(name, value)
    with pytest.raises(NotRowwise, match=EXAMPLES[name].refused[place][1]):
        prove_rowwise(value)
