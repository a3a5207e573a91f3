"""ATen operators that have an operation of their own in the `gnn` dialect.

Each entry takes the traced call and gives the operation, or None where its arguments need the general form. All of them
are row-wise by `rowwise_rules`, which has been asked before.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from xdsl.ir import Operation, SSAValue

from gnnc.dialects.gnn import (
    AddOp,
    BatchNormOp,
    BroadcastOp,
    ConcatOp,
    DivOp,
    EluOp,
    ExpOp,
    LayerNormOp,
    LeakyReluOp,
    LinearOp,
    MatmulOp,
    MulOp,
    ReluOp,
    ReshapeOp,
    SigmoidOp,
    SubOp,
    TanhOp,
)
from gnnc.dialects.gnn.attributes import AnyTensor
from gnnc.frontend.traced_values import Size, TracedValue


class Builder(Protocol):
    """What an entry may ask of the emitter."""

    def operand(self, argument: Any) -> SSAValue:
        """The IR's value for a traced value or a Python number."""
        ...

    def type_of(self, value: TracedValue) -> AnyTensor: ...


Entry = Callable[[TracedValue, Builder], Operation | None]


def binary(operation: type[AddOp] | type[SubOp] | type[MulOp] | type[DivOp]) -> Entry:
    def build(value: TracedValue, b: Builder) -> Operation | None:
        lhs, rhs = value.args[:2]
        if value.kwargs or len(value.args) > 2 or isinstance(rhs, Size) or isinstance(lhs, Size):
            return None
        return operation(b.operand(lhs), b.operand(rhs), b.type_of(value))

    return build


def activation(operation: type[ReluOp] | type[SigmoidOp] | type[TanhOp] | type[ExpOp]) -> Entry:
    def build(value: TracedValue, b: Builder) -> Operation | None:
        return operation(b.operand(value.args[0])) if value.args[0].dtype == value.dtype else None

    return build


def leaky_relu(value: TracedValue, b: Builder) -> Operation:
    input, *slope = value.args
    return LeakyReluOp(b.operand(input), float(slope[0]) if slope else 0.01)


def elu(value: TracedValue, b: Builder) -> Operation | None:
    input, *alpha = value.args
    if len(alpha) > 1:
        return None
    return EluOp(b.operand(input), float(alpha[0]) if alpha else 1.0)


def linear(value: TracedValue, b: Builder) -> Operation | None:
    input, weight, *bias = value.args
    if len(weight.shape) != 2:
        return None
    given = b.operand(bias[0]) if bias and bias[0] is not None else None
    return LinearOp(b.operand(input), b.operand(weight), given, b.type_of(value))


def matmul(value: TracedValue, b: Builder) -> Operation | None:
    lhs, rhs = value.args
    if rhs.sizes or len(rhs.shape) < 2 or len(lhs.shape) < 2:
        return None
    return MatmulOp(b.operand(lhs), b.operand(rhs), b.type_of(value))


def layer_norm(value: TracedValue, b: Builder) -> Operation | None:
    input, axes, *rest = value.args
    scale, shift, eps = [*rest, *[None, None, 1e-5][len(rest) :]][:3]
    if scale is None and shift is not None:
        return None
    affine = [b.operand(v) for v in (scale, shift) if v is not None]
    return LayerNormOp(b.operand(input), affine, len(axes), float(eps if eps is not None else 1e-5))


def batch_norm(value: TracedValue, b: Builder) -> Operation | None:
    """The first result of torch's inference batch norm; the other two are empty."""
    call, item = value.args
    if call.op != "aten._native_batch_norm_legit_no_training.default" or item != 0:
        return None
    input, scale, shift, mean, variance, _, eps = call.args
    if (scale is None) != (shift is None):
        return None
    affine = [b.operand(v) for v in (scale, shift) if v is not None]
    return BatchNormOp(b.operand(input), b.operand(mean), b.operand(variance), affine, float(eps))


def whole_batch_norm(value: TracedValue, b: Builder) -> Operation | None:
    """torch's batch norm before it is decomposed."""
    input, scale, shift, mean, variance, _, _, eps = value.args[:8]
    if (scale is None) != (shift is None):
        return None
    affine = [b.operand(v) for v in (scale, shift) if v is not None]
    return BatchNormOp(b.operand(input), b.operand(mean), b.operand(variance), affine, float(eps))


def concat(value: TracedValue, b: Builder) -> Operation:
    values: Sequence[TracedValue] = value.args[0]
    axis = value.args[1] % len(value.shape) if len(value.args) > 1 else 0
    return ConcatOp([b.operand(v) for v in values], axis, b.type_of(value))


def reshape(value: TracedValue, b: Builder) -> Operation:
    return ReshapeOp(b.operand(value.args[0]), b.type_of(value))


def broadcast(value: TracedValue, b: Builder) -> Operation:
    return BroadcastOp(b.operand(value.args[0]), b.type_of(value))


NAMED: dict[str, Entry] = {
    "aten.add.Tensor": binary(AddOp),
    "aten.sub.Tensor": binary(SubOp),
    "aten.mul.Tensor": binary(MulOp),
    "aten.div.Tensor": binary(DivOp),
    "aten.relu.default": activation(ReluOp),
    "aten.sigmoid.default": activation(SigmoidOp),
    "aten.tanh.default": activation(TanhOp),
    "aten.exp.default": activation(ExpOp),
    "aten.leaky_relu.default": leaky_relu,
    "aten.elu.default": elu,
    "aten.linear.default": linear,
    "aten.matmul.default": matmul,
    "aten.mm.default": matmul,
    "aten.layer_norm.default": layer_norm,
    "item": batch_norm,
    "aten.batch_norm.default": whole_batch_norm,
    "aten.cat.default": concat,
    "aten.view.default": reshape,
    "aten._unsafe_view.default": reshape,
    "aten.unsqueeze.default": reshape,
    "aten.squeeze.dim": reshape,
    "aten.squeeze.dims": reshape,
    "aten.expand.default": broadcast,
}
