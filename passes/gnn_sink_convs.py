"""gnn-sink-convs: a fused Conv stands right before what uses it."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from gnnc.dialects.gnn import FusedConvOp


@dataclass(frozen=True)
class GnnSinkConvs(ModulePass):
    """Moves every fused Conv to its first user. Where a block has several, one after the other then hands its rows to
    the product that takes them while they are in the cache, and their memory serves the next.
    """

    name = "gnn-sink-convs"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for fused in [o for o in op.walk() if isinstance(o, FusedConvOp)]:
            move_to_first_user(fused)


def move_to_first_user(op: FusedConvOp) -> None:
    assert op.parent is not None
    users = {use.operation for result in op.outputs for use in result.uses}
    first = next((o for o in op.parent.ops if o in users), None)
    if first is not None:
        op.detach()
        Rewriter.insert_op(op, InsertPoint.before(first))
