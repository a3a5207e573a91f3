"""convert-gnn-to-loops: every fused operation gets a function in scf, memref, vector and arith that computes it."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gnnc.dialects.gnn import FusedConvOp, FusedOperation
from gnnc.passes.loops.arguments import Part
from gnnc.passes.loops.kernel import loop_function
from gnnc.passes.loops.lanes import NoKernelError

PARTS = (Part.ADD_UP, Part.MERGE, Part.FINISH)


@dataclass(frozen=True)
class ConvertGnnToLoops(ModulePass):
    """Adds a function in loops for every `gnn.fused_conv` and `gnn.fused_rows` that has a form in them, and names it on
    the operation. What the operation means stays in its body: the function is how a CPU computes it. Rows are a range
    of the caller's choice, so that threads share the work; features are tiled into vector registers, and the loop over
    edges is innermost, with coming rows on their way into the cache.

    With `parts`, three more follow for a Conv whose neighbors don't fit into memory at one time, or rows of which
    threads share: `..._add_up` goes on from sums in memory, over some edges of each row, `..._merge` adds sums of
    pieces of a row to those, and `..._finish` makes the results of them.
    """

    name = "convert-gnn-to-loops"

    parts: bool = False

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        fused = [o for o in op.walk() if isinstance(o, FusedOperation) and o.kernel is None]
        for number, found in enumerate(fused):
            try:
                function = loop_function(found, f"kernel_{number}")
            except NoKernelError:
                continue
            op.body.block.add_op(function)
            for part in PARTS if self.parts and isinstance(found, FusedConvOp) else ():
                op.body.block.add_op(loop_function(found, f"kernel_{number}_{part.value}", part))
            found.set_kernel(f"kernel_{number}")
