"""Row-wise operations that write into given memory, where torch has a form that does.

The functions take the memory first, then the operands, and give that memory.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import torch
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation

from gnnc.dialects.gnn import (
    AddOp,
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

OutFunction: TypeAlias = Callable[..., torch.Tensor]


def out_function_of(op: Operation) -> OutFunction | None:
    """The function, or None for an operation that makes its own memory."""
    make = _MAKERS.get(type(op))
    result = op.results[0].type
    if make is None or domain_of(result) is None or domain_axis(result) != 0:
        return None
    return make(op)


def is_elementwise(op: Operation) -> bool:
    """Whether a result may lie where an operand of the same type lies."""
    return type(op) in _ELEMENTWISE


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

    def run(out: torch.Tensor, x: torch.Tensor, w: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
        return torch.mm(x, w.t(), out=out) if bias is None else torch.addmm(bias, x, w.t(), out=out)

    return run


def matmul(op: MatmulOp) -> OutFunction | None:
    if rank(op.lhs) != 2 or rank(op.rhs) != 2:
        return None

    def run(out: torch.Tensor, x: torch.Tensor, w: torch.Tensor) -> torch.Tensor:
        return torch.mm(x, w, out=out)

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
}
