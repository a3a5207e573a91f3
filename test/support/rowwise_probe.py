"""A probe for row-wise operators: run on rows, on some of them, and with one row changed."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import torch

from gnnc.frontend.rowwise_rules import operator_of
from gnnc.frontend.traced_values import Shape, Size, TracedValue

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
            return tensors.get(argument, argument.tensor)
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
        mixed = {
            v: t.index_copy(v.domain_axis, torch.tensor([row]), picked(fresh, [row])[v]) for v, t in tensors.items()
        }
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
