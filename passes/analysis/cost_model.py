"""What storing, loading and computing a row costs. Pure functions of types and operations; no rewrites.

Times are picoseconds a row, as integers, because the minimum cut wants integers. The constants are orders of magnitude
of one core of a server: they decide between plans that differ by factors, not by percents.
"""

from __future__ import annotations

import math
from typing import Literal, cast

from xdsl.dialects.builtin import FixedBitwidthType, TensorType
from xdsl.ir import Attribute, Operation

from gnnc.dialects.gnn import BroadcastOp, LinearOp, MatmulOp, ReshapeOp
from gnnc.dialects.gnn.attributes import row_shape

CostKind = Literal["time", "bytes", "tensors", "stored"]

NEVER = 10**15
"""The price of what should not be done: a quarter of an hour a row."""

GATHER_PS_PER_BYTE = 200  # rows at random places: about 5 GB/s
WRITE_PS_PER_BYTE = 50  # rows in order: about 20 GB/s
MATMUL_PS_PER_FLOP = 12  # about 80 GFLOP/s
ELEMENTWISE_PS_PER_BYTE = 50


def row_bytes(type_: Attribute) -> int:
    """How many bytes a row of a tensor has."""
    tensor = cast("TensorType[Attribute]", type_)
    element = tensor.element_type
    size = element.size if isinstance(element, FixedBitwidthType) else 1
    return math.prod(row_shape(type_)) * size


def matmul_flops_per_row(op: Operation) -> int:
    """Floating-point operations a row of a matrix product takes; 0 for other operations."""
    if isinstance(op, LinearOp):
        depth = cast("TensorType[Attribute]", op.weight.type).get_shape()[-1]
    elif isinstance(op, MatmulOp):
        depth = cast("TensorType[Attribute]", op.rhs.type).get_shape()[-2]
    else:
        return 0
    return 2 * depth * math.prod(row_shape(op.result.type))


def compute_price(op: Operation) -> int:
    """Picoseconds to compute one row of a row-wise operation's results."""
    if isinstance(op, ReshapeOp | BroadcastOp):
        return 0
    elementwise = sum(row_bytes(r.type) for r in op.results) * ELEMENTWISE_PS_PER_BYTE
    return matmul_flops_per_row(op) * MATMUL_PS_PER_FLOP + elementwise


def store_price(kind: CostKind, size: int, loads: int, *, stored: bool) -> int:
    """The price of handing a row of `size` bytes to later blocks: one write unless it is stored, and its loads."""
    if kind == "tensors":
        return 1
    if kind == "bytes":
        return size * (loads + (0 if stored else 1))
    return size * (GATHER_PS_PER_BYTE * loads + (0 if stored else WRITE_PS_PER_BYTE))


def recompute_price(kind: CostKind, op: Operation, loads: int) -> int:
    """The price of computing a row where it is loaded instead of once: the extra times it is computed."""
    if kind == "stored" and loads > 1:
        return NEVER
    return (loads - 1) * compute_price(op) if kind == "time" else 0
