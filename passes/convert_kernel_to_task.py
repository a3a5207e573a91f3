"""convert-kernel-to-task: kernels become ranges of tasks with barriers between them."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from gnnc.dialects.kernel import AggregateOp, Matmul, UpdateOp
from gnnc.dialects.task import BarrierOp, RangeOp
from gnnc.passes.analysis.matching import located

NUMBER_BYTES = 4


@dataclass(frozen=True)
class ConvertKernelToTask(ModulePass):
    """Numbers the tasks of all kernels, one kernel after the other, for a graph of `nodes` nodes. `result_buffer_bytes`
    of a core say how many column tiles of the output one task may compute at once.
    """

    name = "convert-kernel-to-task"

    nodes: int = 0
    result_buffer_bytes: int = 1048576

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.nodes < 1:
            raise PassFailedException("convert-kernel-to-task needs the number of nodes: give nodes=")
        first = 0
        for kernel in [k for k in op.walk() if isinstance(k, AggregateOp | UpdateOp)]:
            if kernel.scheme is None:
                raise PassFailedException(f"{kernel.name} has no scheme: run kernel-partition first")
            if kernel.scheme != kernel.cut(self.nodes, kernel.scheme.n1.data, kernel.scheme.n2.data):
                raise PassFailedException(
                    f"{kernel.name} has a scheme for other nodes than {self.nodes}: run kernel-partition with as many"
                )
            if first:
                Rewriter.insert_op(BarrierOp(), InsertPoint.before(kernel))
            tasks = RangeOp.of(kernel, first, self.nodes, self.fusion(kernel))
            first += kernel.scheme.tasks
            tasks.result.name_hint = kernel.result.name_hint
            Rewriter.replace_op(kernel, located(tasks, kernel))

    def fusion(self, kernel: Matmul) -> int:
        assert kernel.scheme is not None
        height = kernel.scheme.n1.data if kernel.aggregates else kernel.scheme.n2.data
        fitting = self.result_buffer_bytes // (height * kernel.scheme.n2.data * NUMBER_BYTES)
        return max(1, min(kernel.scheme.columns.data, fitting))
