"""gnn-fuse-rows: row-wise work outside of Convs becomes one loop over rows."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from gnnc.dialects.gnn import (
    BroadcastOp,
    ConstantOp,
    ConvBlockOp,
    DomainAttr,
    FillOp,
    FusedRowsOp,
    ReshapeOp,
)
from gnnc.dialects.gnn.attributes import domain_of
from gnnc.passes.analysis.outlining import made_from, outline
from gnnc.passes.loops.expressions import has_form_in_loops


@dataclass(frozen=True)
class GnnFuseRows(ModulePass):
    """Makes one `gnn.fused_rows` of row-wise operations that follow each other, as the product and the sum by which
    attention projects, so that one loop over rows computes them and what lies between needs no memory. Operations alone
    stay: torch has them.
    """

    name = "gnn-fuse-rows"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for block in [o for o in op.walk() if isinstance(o, ConvBlockOp)]:
            fuse_rows(block.body.block)


def fuse_rows(block: Block) -> None:
    seen: set[Operation] = set()
    for op in list(block.ops):
        domain = domain_of_work(op)
        if op in seen or domain is None:
            continue
        chain = Chain(block, domain, {op: None})
        chain.grow()
        seen |= set(chain.operations)
        if sum(computes(o) for o in chain.operations) > 1:
            outline(block, chain.operations, chain.results(), FusedRowsOp, op.location)


def domain_of_work(op: Operation) -> DomainAttr | None:
    """Whose rows a row-wise operation works on, if a loop can compute it."""
    if isinstance(op, ConstantOp | FillOp) or not has_form_in_loops(op):
        return None
    return domain_of(op.results[0].type)


def computes(op: Operation) -> bool:
    return not isinstance(op, ReshapeOp | BroadcastOp)


@dataclass
class Chain:
    """Operations of a block on the rows of one set."""

    block: Block
    domain: DomainAttr
    operations: dict[Operation, None] = field(default_factory=dict[Operation, None])

    def grow(self) -> None:
        """Takes in users, from top to bottom, whose other operands are there before; then what they alone need."""
        for op in self.block.ops:
            if any(operand.owner in self.operations for operand in op.operands) and self.can_follow(op):
                self.operations[op] = None
        for op in reversed(list(self.block.ops)):
            users = [use.operation for result in op.results for use in result.uses]
            if users and domain_of_work(op) == self.domain and all(user in self.operations for user in users):
                self.operations[op] = None
        for op in [o for o in self.operations if not computes(o) and self.may_stay_outside(o)]:
            del self.operations[op]

    def may_stay_outside(self, op: Operation) -> bool:
        """Whether a new shape for rows is needed outside, too, where it costs nothing, and the loop can do without."""
        users = [use.operation for result in op.results for use in result.uses]
        comes_first = all(operand.owner not in self.operations for operand in op.operands)
        comes_last = all(user not in self.operations for user in users)
        return comes_last or (comes_first and any(user not in self.operations for user in users))

    def can_follow(self, op: Operation) -> bool:
        others = [operand for operand in op.operands if operand.owner not in self.operations]
        made = {result for inside in self.operations for result in inside.results}
        return domain_of_work(op) == self.domain and not made_from(others, made)

    def results(self) -> list[SSAValue]:
        """What something outside needs."""
        return [
            result
            for op in self.operations
            for result in op.results
            if any(use.operation not in self.operations for use in result.uses)
        ]
