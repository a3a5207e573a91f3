"""Row-wise operations that write into given memory, where torch has a form that does.

The functions take the memory first, then the operands, and give that memory.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, TypeAlias

import torch
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from gnnc.dialects.gnn import (
    AddOp,
    CastOp,
    ConcatOp,
    DivOp,
    EluOp,
    ExpOp,
    LeakyReluOp,
    LinearOp,
    MatmulOp,
    MulOp,
    ReluOp,
    SigmoidOp,
    SubOp,
    TanhOp,
)
from gnnc.dialects.gnn.attributes import domain_axis, domain_of
from gnnc.targets.gpu.arena import LINE
from gnnc.targets.gpu.kernels.dense_product import dense_product
from gnnc.targets.gpu.sparse_rows import SparseRows

OutFunction: TypeAlias = Callable[..., torch.Tensor]


def out_function_of(op: Operation) -> OutFunction | None:
    """The function, or None for an operation that makes its own memory."""
    make = _MAKERS.get(type(op))
    result = op.results[0].type
    if make is None or domain_of(result) is None or domain_axis(result) != 0:
        return None
    return make(op)


def may_lie_over(op: Operation) -> list[SSAValue]:
    """The operands in whose place the result may be written."""
    if accumulates(op):
        return [op.operands[-1]]
    return [v for v in op.operands if v.type == op.results[0].type] if type(op) in _ELEMENTWISE else []


def torch_out(function: Callable[..., Any]) -> Callable[[Operation], OutFunction]:
    def run(out: torch.Tensor, *operands: torch.Tensor) -> torch.Tensor:
        return function(*operands, out=out)

    return lambda op: run


def relu(op: Operation) -> OutFunction:
    def run(out: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return torch.clamp_min(x, 0, out=out)

    return run


def leaky_relu(op: LeakyReluOp) -> OutFunction:
    slope = op.slope.value.data

    def run(out: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.aten.leaky_relu.out(x, slope, out=out)

    return run


def elu(op: EluOp) -> OutFunction:
    alpha = op.alpha.value.data

    def run(out: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return torch.ops.aten.elu.out(x, alpha, out=out)

    return run


def rank(value: Any) -> int:
    assert isinstance(value.type, TensorType)
    return len(value.type.get_shape())


def linear(op: LinearOp) -> OutFunction | None:
    if rank(op.input) != 2:
        return None
    if accumulates(op):
        return add_product

    def run(
        out: torch.Tensor, x: torch.Tensor | SparseRows, w: torch.Tensor, bias: torch.Tensor | None = None
    ) -> torch.Tensor:
        if isinstance(x, SparseRows):
            return x.times(w, bias, out)
        if dense_product(x, w, bias, out):
            return out
        wide = whole_lines(out)
        if wide is not None:
            w, bias = padded(w, wide.shape[1]), None if bias is None else padded(bias, wide.shape[1])
            (torch.mm(x, w.t(), out=wide) if bias is None else torch.addmm(bias, x, w.t(), out=wide))
            return out
        return torch.mm(x, w.t(), out=out) if bias is None else torch.addmm(bias, x, w.t(), out=out)

    return run


def accumulates(op: Operation) -> bool:
    """Whether a product is added to rows that are there."""
    return isinstance(op, LinearOp) and op.bias is not None and op.bias.type == op.result.type


def add_product(out: torch.Tensor, x: torch.Tensor | SparseRows, w: torch.Tensor, rows: torch.Tensor) -> torch.Tensor:
    if isinstance(x, SparseRows):
        return x.times(w, rows, out)
    if dense_product(x, w, rows, out):
        return out
    if rows.data_ptr() != out.data_ptr():
        out.copy_(rows)
    wide = whole_lines(out)
    if wide is None:
        return torch.addmm(out, x, w.t(), out=out)
    torch.addmm(wide, x, padded(w, wide.shape[1]).t(), out=wide)
    return out


def whole_lines(out: torch.Tensor) -> torch.Tensor | None:
    """The rows up to the end of their last vector, where that belongs to them: products of such widths are faster."""
    rows, width = out.shape
    stride = out.stride(0)
    per_line = LINE // out.element_size()
    if width % per_line == 0 or stride % per_line or not width < stride < width + per_line or rows < 2:
        return None
    return out.as_strided((rows, stride), (stride, 1))


@lru_cache(maxsize=64)
def padded(weight: torch.Tensor, rows: int) -> torch.Tensor:
    """A weight or a bias with zeros for more outputs; tensors are told apart by identity."""
    return torch.nn.functional.pad(weight, (0, 0) * (weight.dim() - 1) + (0, rows - weight.shape[0]))


def matmul(op: MatmulOp) -> OutFunction | None:
    if rank(op.lhs) != 2 or rank(op.rhs) != 2:
        return None

    def run(out: torch.Tensor, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.mm(x, w, out=out)

    return run


def cast_to(op: CastOp) -> OutFunction:
    def run(out: torch.Tensor, x: torch.Tensor) -> torch.Tensor:
        return out.copy_(x)

    return run


def concat(op: ConcatOp) -> OutFunction:
    axis = op.axis.value.data

    def run(out: torch.Tensor, *values: torch.Tensor) -> torch.Tensor:
        return torch.cat(values, axis, out=out)

    return run


_ELEMENTWISE: dict[type[Operation], Callable[[Any], OutFunction | None]] = {
    AddOp: torch_out(torch.add),
    SubOp: torch_out(torch.sub),
    MulOp: torch_out(torch.mul),
    DivOp: torch_out(torch.div),
    ReluOp: relu,
    LeakyReluOp: leaky_relu,
    EluOp: elu,
    SigmoidOp: torch_out(torch.sigmoid),
    TanhOp: torch_out(torch.tanh),
    ExpOp: torch_out(torch.exp),
}
_MAKERS: dict[type[Operation], Callable[[Any], OutFunction | None]] = {
    **_ELEMENTWISE,
    LinearOp: linear,
    MatmulOp: matmul,
    ConcatOp: concat,
    CastOp: cast_to,
}
