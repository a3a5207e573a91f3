"""What a kernel takes, in which order: the convention between the function in loops and the executor that calls it.

begin, end    the first row to compute and the one after the last
offsets       int64 [rows + 1]: the edges of row r are offsets[r] to offsets[r + 1]
neighbors     int32 [edges + PADDING]: for every edge, the row of its neighbor; zeros at the end
inputs        an array of rows each, in the order of `kernel_inputs`
pieces        sums of pieces of rows, where it merges them; of row r those at offsets[r] to offsets[r + 1]
sums          numbers a row that a function goes on from, where it computes a part of a Conv (see `Part`)
outputs       an array of rows each, in the order of the results

The function of row-wise work has no edges: begin, end, inputs, outputs.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

from xdsl.ir import Operation, SSAValue

from gnnc.dialects.gnn import AggregateOp, EdgeSetType, FusedConvOp, FusedOperation, FusedRowsOp, GatherOp
from gnnc.dialects.gnn.attributes import domain_of
from gnnc.passes.loops.lanes import NoKernelError

PADDING = 64
"""Zeros after the last neighbor: rows that far ahead are prefetched without looking for the end."""


class Part(Enum):
    """What of a Conv a function computes. A Conv whose neighbors aren't in memory at one time is added up over some of
    a row's edges after the other, from sums in memory to sums in memory, and then finished. Sums of pieces of a row
    that threads share are merged before."""

    WHOLE = "whole"
    ADD_UP = "add_up"
    MERGE = "merge"
    FINISH = "finish"


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


def kernel_inputs(op: FusedOperation, part: Part = Part.WHOLE) -> list[KernelInput]:
    """The arrays that a kernel of a fused operation reads, in the order of its arguments."""
    users = operations_of(op, part)
    inputs: list[KernelInput] = []
    for argument in op.body.block.args:
        roles = {role_of(use.operation, argument, op) for use in argument.uses if use.operation in users}
        inputs += [KernelInput(argument.index, role) for role in Role if role in roles]
    return inputs


def operations_of(op: FusedOperation, part: Part) -> set[Operation]:
    """The operations of the body that a part computes: messages, or what follows from sums of them. Work on targets
    that both need is in both."""
    if part is Part.WHOLE:
        return set(op.body.block.ops)
    aggregates = [o for o in op.body.block.ops if isinstance(o, AggregateOp)]
    if part is Part.MERGE:
        return set()
    last = op.body.block.last_op
    assert last is not None
    stack: list[Operation] = [*aggregates] if part is Part.ADD_UP else [last]
    found = set(stack)
    while stack:
        makers = {v.owner for v in stack.pop().operands if isinstance(v.owner, Operation)}
        fresh = [o for o in makers - found if part is Part.ADD_UP or not isinstance(o, AggregateOp)]
        found |= set(fresh)
        stack += fresh
    return found


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
