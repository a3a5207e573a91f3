"""What rewrite patterns ask about the operations they match."""

from __future__ import annotations

from typing import TypeAlias, TypeVar, Union

from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerAttr, NoneAttr
from xdsl.ir import Attribute, Operation, SSAValue

from gnnc.dialects.gnn import BroadcastOp, ConstantOp, FillOp, OperandAttr, ReshapeOp, RowwiseOp, WholeGraphOp

Argument: TypeAlias = Union[SSAValue, float, None, Attribute, "list[Argument]"]

OperationT = TypeVar("OperationT", bound=Operation)


def located(new: OperationT, old: Operation) -> OperationT:
    """The new operation at the place of the old one: rewrites carry source lines over by themselves in no case."""
    new.location = old.location
    return new


def aten_call(value: SSAValue, *names: str) -> list[Argument] | None:
    """The arguments of the ATen call that makes `value`, operands and numbers in place; None for other operators."""
    op = value.owner
    if not isinstance(op, RowwiseOp | WholeGraphOp) or op.op.data not in names:
        return None
    return [filled_in(argument, op) for argument in op.arguments.data]


def filled_in(argument: Attribute, op: RowwiseOp | WholeGraphOp) -> Argument:
    if isinstance(argument, OperandAttr):
        return op.inputs[argument.index.data]
    if isinstance(argument, ArrayAttr):
        return [filled_in(item, op) for item in argument.data]
    if isinstance(argument, IntegerAttr | FloatAttr):
        return argument.value.data
    return None if isinstance(argument, NoneAttr) else argument


def number_of(value: SSAValue) -> float | None:
    """The number of a constant or a fill."""
    op = value.owner
    return op.value.value.data if isinstance(op, ConstantOp | FillOp) else None


def through_layout(value: SSAValue) -> SSAValue:
    """The value behind reshapes and broadcasts."""
    while isinstance(value.owner, ReshapeOp | BroadcastOp):
        value = value.owner.input
    return value
