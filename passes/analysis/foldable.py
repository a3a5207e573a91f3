"""What convert-gnn-to-kernel asks of operations and values, and how it refuses them."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import FileLineColLoc, Float32Type
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from gnnc.dialects.gnn import (
    ConvOperation,
    EluOp,
    GatherOp,
    LeakyReluOp,
    LinearOp,
    LoadWeightOp,
    MatmulOp,
    ReluOp,
    RowwiseOp,
    SigmoidOp,
    TanhOp,
)
from gnnc.dialects.gnn.attributes import AnyTensor, domain_axis, domain_of, row_shape
from gnnc.passes.analysis.conv_layers import is_on_edges
from gnnc.passes.analysis.matching import through_layout
from gnnc.passes.analysis.model_functions import ModelFunctions


class Refusal(PassFailedException):
    """An operation that is neither linear nor an epilogue. The message names it and its line of the model."""

    def __init__(self, op: Operation, reason: str):
        place = op.location
        line = f" at {place.filename.data}:{place.line.data}" if isinstance(place, FileLineColLoc) else ""
        super().__init__(f"{operator_name(op)}{line}: {reason}")
        self.op = op
        self.reason = reason


def operator_name(op: Operation) -> str:
    return op.op.data if isinstance(op, RowwiseOp) else op.name


def activation_of(op: Operation) -> tuple[str, float] | None:
    """The kind and parameter of an epilogue's activation; None for other operations."""
    match op:
        case ReluOp() | SigmoidOp() | TanhOp():
            return op.name.removeprefix("gnn."), 0.0
        case LeakyReluOp():
            return "leaky_relu", op.slope.value.data
        case EluOp():
            return "elu", op.alpha.value.data
        case _:
            return None


def require_matrix(value: SSAValue, op: Operation | None = None) -> None:
    """A kernel's value is a float32 matrix with a row a node. Raises Refusal or PassFailedException."""
    domain = domain_of(value.type)
    right_rows = domain is not None and domain.is_nodes and len(row_shape(value.type)) == 1
    if (
        right_rows
        and domain_axis(value.type) == 0
        and isinstance(cast(AnyTensor, value.type).element_type, Float32Type)
    ):
        return
    reason = "the accelerator multiplies float32 matrices with a row a node"
    if op is not None:
        raise Refusal(op, reason)
    raise PassFailedException(f"{value.name_hint or 'an input'} is {value.type}: {reason}")


def require_weight(op: Operation, value: SSAValue) -> SSAValue:
    if not isinstance(value.owner, LoadWeightOp):
        raise Refusal(op, "it takes a weight that is not stored with the model")
    return value


def is_structure(value: SSAValue, functions: ModelFunctions) -> bool:
    """Whether a value of @forward depends on the edges, on numbers that come with them and on weights only."""
    op = value.owner
    if not isinstance(op, Block):
        return not isinstance(op, ConvOperation) and all(is_structure(v, functions) for v in op.operands)
    return functions.structure_place(value) is not None or is_on_edges(value)


def is_edge_number(value: SSAValue, functions: ModelFunctions) -> bool:
    """Whether a value is one number an edge that no feature takes part in."""
    inner = through_layout(value)
    return is_on_edges(inner) and row_shape(inner.type) in ((), (1,)) and is_structure(value, functions)


def is_prepared_by_host(value: SSAValue, functions: ModelFunctions) -> bool:
    """Whether a value is made row by row from the inputs, without a matrix product: the host does it beforehand."""
    op = value.owner
    if isinstance(op, Block):
        return functions.structure_place(value) is None or not is_on_edges(value)
    if isinstance(op, ConvOperation | LinearOp | MatmulOp | GatherOp):
        return False
    return all(is_prepared_by_host(v, functions) for v in op.operands)


def runs_on_host(op: Operation) -> bool:
    """Whether an operation whose result is returned can run on the host, after the last kernel: row by row."""
    return not isinstance(op, ConvOperation | LinearOp | MatmulOp | GatherOp) and not is_on_edges(op.results[0])


def reason_of(op: Operation) -> str:
    """Why an operation does not fold."""
    if isinstance(op, ConvOperation):
        return "attention computes its matrix from features, which no static task stream can hold"
    return "it is neither linear nor one of the epilogue's activations"
