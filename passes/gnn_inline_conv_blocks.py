"""gnn-inline-conv-blocks: @forward as it was before it was split into ConvBlocks."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from gnnc.dialects.gnn import ConvBlockOp, YieldOp


@dataclass(frozen=True)
class GnnInlineConvBlocks(ModulePass):
    """Puts the operations of every ConvBlock in its place, so that gnn-split-conv-blocks can cut @forward elsewhere: a
    run with a store wants other boundaries than a run in memory.
    """

    name = "gnn-inline-conv-blocks"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for block in [o for o in op.walk() if isinstance(o, ConvBlockOp)]:
            inline(block)


def inline(op: ConvBlockOp) -> None:
    mapping: dict[SSAValue, SSAValue] = dict(zip(op.body.block.args, op.operands, strict=True))
    results: list[SSAValue] = []
    for inner in op.body.block.ops:
        if isinstance(inner, YieldOp):
            results = [mapping[value] for value in inner.values]
        else:
            Rewriter.insert_op(inner.clone(value_mapper=mapping), InsertPoint.before(op))
    Rewriter.replace_op(op, [], results)
