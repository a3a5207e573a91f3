"""What a kernel takes, in which order: the convention between the function in loops and the executor that calls it.

begin, end    the first row to compute and the one after the last
offsets       int64 [rows + 1]: the edges of row r are offsets[r] to offsets[r + 1]
neighbors     int32 [edges + PADDING]: for every edge, the row of its neighbor; zeros at the end
inputs        an array of rows each, in the order of `kernel_inputs`
outputs       an array of rows each, in the order of the results

The function of row-wise work has no edges: begin, end, inputs, outputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from xdsl.ir import SSAValue

from gnnc.dialects.gnn import EdgeSetType, FusedConvOp, FusedOperation, FusedRowsOp, GatherOp
from gnnc.dialects.gnn.attributes import domain_of
from gnnc.passes.loops.lanes import NoKernelError

PADDING = 64
"""Zeros after the last neighbor: rows that far ahead are prefetched without looking for the end."""


class Role(Enum):
    """On which rows an input is read."""

    NEIGHBOR = "neighbor"
    TARGET = "target"
    EDGE = "edge"
    WHOLE = "whole"


@dataclass(frozen=True)
class KernelInput:
    """One array of a kernel: operand `place` of the fused Conv, read in one role. An operand that is read for
    neighbors and for targets is two inputs."""

    place: int
    role: Role


def kernel_inputs(op: FusedOperation) -> list[KernelInput]:
    """The arrays that the kernel of a fused operation reads, in the order of its arguments."""
    inputs: list[KernelInput] = []
    for argument in op.body.block.args:
        roles = {role_of(use.operation, argument, op) for use in argument.uses}
        inputs += [KernelInput(argument.index, role) for role in Role if role in roles]
    return inputs


def role_of(user: object, argument: SSAValue, op: FusedOperation) -> Role | None:
    """On which rows a user of an argument reads it; None for the edge set itself."""
    if isinstance(argument.type, EdgeSetType):
        return None
    domain = domain_of(argument.type)
    if domain is None:
        return Role.WHOLE
    if isinstance(op, FusedRowsOp):
        return Role.TARGET
    if isinstance(user, GatherOp):
        return gather_role(user, op)
    return Role.TARGET if domain.is_nodes else Role.EDGE


def gather_role(gather: GatherOp, op: FusedOperation) -> Role:
    assert isinstance(op, FusedConvOp)
    if gather.edges is not op.edges:
        raise NoKernelError("a gather is over another edge set than the aggregation")
    return Role.TARGET if gather.end == op.end else Role.NEIGHBOR
