"""What each row-wise operation of the `gnn` dialect computes, as a function of torch tensors.

Both executors use these: the reference executor on all rows of a domain, the batched executor on the rows of a batch.
The functions ask the tensors for their count of rows and never the IR.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, TypeAlias, cast

import torch
import torch.nn.functional as F
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    BFloat16Type,
    Float16Type,
    Float32Type,
    Float64Type,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    NoneAttr,
    Signedness,
    StringAttr,
    i1,
)
from xdsl.ir import Attribute, Operation

from gnnc.dialects.gnn import (
    AddOp,
    BatchNormOp,
    BroadcastOp,
    CastOp,
    ConcatOp,
    ConstantOp,
    DivOp,
    EluOp,
    ExpOp,
    LayerNormOp,
    LeakyReluOp,
    LinearOp,
    MatmulOp,
    MulOp,
    OperandAttr,
    ReluOp,
    ReshapeOp,
    SigmoidOp,
    SubOp,
    TanhOp,
)
from gnnc.dialects.gnn.aten_calls import AtenCallOperation
from gnnc.dialects.gnn.attributes import AnyTensor, domain_axis, row_shape

TensorFunction: TypeAlias = Callable[..., Any]

_INTEGER_TYPES = {1: torch.bool, 8: torch.int8, 16: torch.int16, 32: torch.int32, 64: torch.int64}
_FLOAT_TYPES: dict[type[Attribute], torch.dtype] = {
    Float64Type: torch.float64,
    Float32Type: torch.float32,
    Float16Type: torch.float16,
    BFloat16Type: torch.bfloat16,
}


def torch_dtype(element: Attribute) -> torch.dtype:
    """The torch dtype of an element type."""
    if isinstance(element, IntegerType):
        unsigned = element.signedness.data is Signedness.UNSIGNED
        return torch.uint8 if unsigned else _INTEGER_TYPES[element.width.data]
    return _FLOAT_TYPES[type(element)]


def dtype_of(type_: Attribute) -> torch.dtype:
    """The torch dtype of a tensor type."""
    return torch_dtype(cast(AnyTensor, type_).element_type)


def shape_with(type_: Attribute, rows: int) -> list[int]:
    """The shape of a tensor type with so many rows on its domain axis."""
    return [rows if size == DYNAMIC_INDEX else size for size in cast(AnyTensor, type_).get_shape()]


def filled(type_: Attribute, value: float, rows: int, device: str) -> torch.Tensor:
    """A tensor of one number."""
    return torch.full(shape_with(type_, rows), value, dtype=dtype_of(type_), device=device)


def constant(op: ConstantOp) -> torch.Tensor:
    """A tensor without axes; torch promotes types with it as it does with a Python number."""
    return torch.tensor(op.value.value.data, dtype=dtype_of(op.result.type))


def function_of(op: Operation) -> TensorFunction:
    """The function that computes `op` from its operands. A generic operation with several results gives a tuple."""
    if isinstance(op, AtenCallOperation):
        return aten_function(op)
    make = _FUNCTIONS[type(op)]
    return make(op)


def batch_norm(op: BatchNormOp) -> TensorFunction:
    eps = op.eps.value.data

    def run(x: torch.Tensor, mean: torch.Tensor, variance: torch.Tensor, *affine: torch.Tensor) -> torch.Tensor:
        scale, shift = affine if affine else (None, None)
        return torch.ops.aten._native_batch_norm_legit_no_training(x, scale, shift, mean, variance, 0.0, eps)[0]

    return run


def layer_norm(op: LayerNormOp) -> TensorFunction:
    axes = list(row_shape(op.input.type))[-op.axes.value.data :]
    eps = op.eps.value.data

    def run(x: torch.Tensor, *affine: torch.Tensor) -> torch.Tensor:
        scale, shift = [*affine, None, None][:2]
        return F.layer_norm(x, axes, scale, shift, eps)

    return run


def cast_to(op: CastOp) -> TensorFunction:
    dtype = dtype_of(op.result.type)

    def run(x: torch.Tensor) -> torch.Tensor:
        return x.to(dtype)

    return run


def concat(op: ConcatOp) -> TensorFunction:
    axis = op.axis.value.data
    return lambda *values: torch.cat(values, axis)


def reshape(op: ReshapeOp) -> TensorFunction:
    axis, type_ = domain_axis(op.input.type), op.result.type

    def run(x: torch.Tensor) -> torch.Tensor:
        return x.reshape(shape_with(type_, x.shape[axis]))

    return run


def broadcast(op: BroadcastOp) -> TensorFunction:
    axis, type_ = domain_axis(op.input.type), op.result.type

    def run(x: torch.Tensor) -> torch.Tensor:
        return x.expand(shape_with(type_, x.shape[axis]))

    return run


def leaky_relu(op: LeakyReluOp) -> TensorFunction:
    return partial(F.leaky_relu, negative_slope=op.slope.value.data)


def elu(op: EluOp) -> TensorFunction:
    return partial(F.elu, alpha=op.alpha.value.data)


def linear(x: torch.Tensor, weight: torch.Tensor, bias: torch.Tensor | None = None) -> torch.Tensor:
    if bias is None or bias.dim() == 1:
        return F.linear(x, weight, bias)
    return F.linear(x, weight) + bias


_FUNCTIONS: dict[type[Operation], Callable[[Any], TensorFunction]] = {
    AddOp: lambda op: torch.add,
    SubOp: lambda op: torch.sub,
    MulOp: lambda op: torch.mul,
    DivOp: lambda op: torch.div,
    ReluOp: lambda op: torch.relu,
    SigmoidOp: lambda op: torch.sigmoid,
    TanhOp: lambda op: torch.tanh,
    ExpOp: lambda op: torch.exp,
    LeakyReluOp: leaky_relu,
    EluOp: elu,
    LinearOp: lambda op: linear,
    MatmulOp: lambda op: torch.matmul,
    BatchNormOp: batch_norm,
    LayerNormOp: layer_norm,
    ConcatOp: concat,
    ReshapeOp: reshape,
    BroadcastOp: broadcast,
    CastOp: cast_to,
}


def aten_function(op: AtenCallOperation) -> TensorFunction:
    """The ATen operator with its arguments filled in from the operands."""
    namespace, name, overload = op.op.data.split(".")
    operator = getattr(getattr(getattr(torch.ops, namespace), name), overload)
    arguments = [argument_of(a) for a in op.arguments.data]
    keywords = {key: argument_of(a)(()) for key, a in op.keywords.data.items()}
    return lambda *operands: operator(*[argument(operands) for argument in arguments], **keywords)


def argument_of(attribute: Attribute) -> Callable[[tuple[Any, ...]], Any]:
    """What an argument of an ATen call is, given the operands."""
    if isinstance(attribute, OperandAttr):
        index = attribute.index.data
        return lambda operands: operands[index]
    if isinstance(attribute, ArrayAttr):
        items = [argument_of(a) for a in attribute.data]
        return lambda operands: [item(operands) for item in items]
    value = plain_value(attribute)
    return lambda operands: value


def plain_value(attribute: Attribute) -> Any:
    if isinstance(attribute, IntegerAttr):
        value = attribute.value.data
        return bool(value) if attribute.type == i1 else value
    if isinstance(attribute, FloatAttr):
        return attribute.value.data
    if isinstance(attribute, StringAttr):
        return attribute.data
    return None if isinstance(attribute, NoneAttr) else torch_dtype(attribute)


def rowwise_operations() -> list[type[Operation]]:
    """The named operations that `function_of` knows."""
    return list(_FUNCTIONS)
