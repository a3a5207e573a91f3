"""gnn-fuse-conv: a Conv from gather to activation becomes one operation."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass

from gnnc.dialects.gnn import (
    AggregateOp,
    ConstantOp,
    ConvBlockOp,
    ConvOperation,
    EdgeSoftmaxOp,
    FillOp,
    FusedConvOp,
    GatherOp,
    YieldOp,
)
from gnnc.passes.analysis.conv_layers import Restriction, is_on_edges, restriction_of
from gnnc.passes.analysis.cost_model import GATHER_PS_PER_BYTE, WRITE_PS_PER_BYTE, row_bytes
from gnnc.passes.analysis.decision_log import EDGE, Decision, record, source_of
from gnnc.passes.analysis.outlining import made_from, outline
from gnnc.passes.loops.expressions import has_form_in_loops, rows_come_first

FUSED, APART = "one loop", "operation by operation"


@dataclass(frozen=True)
class GnnFuseConv(ModulePass):
    """Turns what happens on edges, the reductions, and the row-wise work on their results into one `gnn.fused_conv` a
    Conv, wherever a loop nest can compute it: edge values then never lie in memory. Reductions of one Conv that don't
    need each other share the loop over edges. Row-wise work is taken in as long as nothing else needs what is between.
    """

    name = "gnn-fuse-conv"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for block in [o for o in op.walk() if isinstance(o, ConvBlockOp)]:
            for decision in fuse_convs(block.body.block):
                record(op, decision)


def fuse_convs(block: Block) -> Iterator[Decision]:
    """Fuses the Convs of one block, as many reductions in one loop as don't depend on each other."""
    left = [op for op in block.ops if isinstance(op, AggregateOp)]
    while left:
        group = Group(block, restriction_of(left[0]))
        left = [op for op in left if not group.takes(op)]
        if not group.reductions:
            yield Decision(GnnFuseConv.name, name_of(left[0]), source_of(left[0]), APART)
            left = left[1:]
            continue
        yield decision_on(group)
        group.grow()
        outline(block, group.operations, group.results(), FusedConvOp, group.reductions[0].location)


def name_of(op: AggregateOp) -> str:
    return f"{op.reduction.data.value} of {row_bytes(op.messages.type)} bytes an edge"


def decision_on(group: Group) -> Decision:
    """In one loop, rows of nodes are gathered; apart, edge values are written and read again, too."""
    on_edges = [r.type for op in group.operations for r in op.results if is_on_edges(r)]
    gathered = [op.result.type for op in group.operations if isinstance(op, GatherOp)]
    fused = sum(row_bytes(type_) for type_ in gathered) * GATHER_PS_PER_BYTE
    apart = fused + 2 * sum(row_bytes(type_) for type_ in on_edges) * WRITE_PS_PER_BYTE
    subject = " and ".join(name_of(op) for op in group.reductions)
    source = source_of(group.reductions[0])
    return Decision(GnnFuseConv.name, subject, source, FUSED, {FUSED: fused, APART: apart}, unit=EDGE)


@dataclass
class Group:
    """Operations of a block that become one fused Conv."""

    block: Block
    restriction: Restriction
    reductions: list[AggregateOp] = field(default_factory=list[AggregateOp])
    operations: dict[Operation, None] = field(default_factory=dict[Operation, None])

    def takes(self, op: AggregateOp) -> bool:
        """Takes in a reduction, with what makes its messages, if it can be part of this loop."""
        if restriction_of(op) != self.restriction or not rows_come_first(op.result) or "sample" in op.properties:
            return False
        inside = message_operations(op, self.restriction)
        if inside is None or (self.reductions and not self.fits(inside, op)):
            return False
        self.reductions.append(op)
        self.operations |= dict.fromkeys([*inside, op])
        return True

    def fits(self, inside: Iterable[Operation], op: AggregateOp) -> bool:
        """Attention has a loop of its own; a reduction that needs results of this loop needs another one."""
        softmax = any(isinstance(o, EdgeSoftmaxOp) for o in (*inside, *self.operations))
        needed = [operand for o in (*inside, op) for operand in o.operands]
        return not softmax and not made_from(needed, self.row_values())

    def row_values(self) -> set[SSAValue]:
        """What the loop has for a row; what it has on edges serves itself alone."""
        return {r for op in self.operations for r in op.results if not is_on_edges(r)}

    def results(self) -> list[SSAValue]:
        """Values of the group that something outside needs."""
        return [
            result
            for op in self.operations
            for result in op.results
            if not is_on_edges(result) and any(use.operation not in self.operations for use in result.uses)
        ]

    def grow(self) -> None:
        """Takes in row-wise users, from top to bottom, whose other operands are there before the loop."""
        for op in list(self.block.ops):
            inside = any(operand.owner in self.operations for operand in op.operands)
            if not inside or op in self.operations or not self.can_follow(op):
                continue
            self.operations[op] = None
        for op in reversed(list(self.block.ops)):
            if op not in self.operations and self.serves_only_this(op):
                self.operations[op] = None

    def serves_only_this(self, op: Operation) -> bool:
        """Whether row-wise work on other values is needed by this loop alone, at its targets."""
        users = [use.operation for result in op.results for use in result.uses]
        if not users or any(u not in self.operations or isinstance(u, GatherOp | ConvOperation) for u in users):
            return False
        on_nodes = all(not is_on_edges(v) for v in (*op.operands, *op.results))
        return on_nodes and not isinstance(op, ConvOperation | GatherOp) and has_form_in_loops(op)

    def can_follow(self, op: Operation) -> bool:
        if isinstance(op, ConvOperation | GatherOp | YieldOp) or not has_form_in_loops(op):
            return False
        if any(is_on_edges(v) for v in (*op.operands, *op.results)) or not self.keeps_width(op):
            return False
        others = [operand for operand in op.operands if operand.owner not in self.operations]
        return not made_from(others, self.row_values())

    def keeps_width(self, op: Operation) -> bool:
        """Work that makes rows wider than what was reduced is better done where those rows are needed."""
        from gnnc.passes.loops.lanes import row_size

        return all(row_size(r) <= max(row_size(o) for o in op.operands) for r in op.results)


def message_operations(op: AggregateOp, restriction: Restriction) -> list[Operation] | None:
    """What makes the messages of a reduction, on edges, or None if a part of it has no form in loops. What is gathered
    comes from outside."""
    found: dict[Operation, None] = {}
    stack = [op.messages]
    while stack:
        value = stack.pop()
        owner = value.owner
        if not isinstance(owner, Operation) or owner in found:
            continue
        if not is_on_edges(value) and not isinstance(owner, ConstantOp | FillOp):
            continue
        if not can_be_message(owner, restriction):
            return None
        found[owner] = None
        stack.extend(owner.operands if not isinstance(owner, GatherOp) else ())
    return list(found)


def can_be_message(op: Operation, restriction: Restriction) -> bool:
    if isinstance(op, GatherOp):
        return op.edges == restriction.edges and rows_come_first(op.result)
    if isinstance(op, EdgeSoftmaxOp):
        return restriction_of(op) == restriction and rows_come_first(op.result)
    return not isinstance(op, ConvOperation) and has_form_in_loops(op)
