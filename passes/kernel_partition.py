"""kernel-partition: every kernel gets its partition sizes, its task grid and its inner lengths."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from gnnc.dialects.kernel import Matmul
from gnnc.passes.analysis.partition import KernelShape, Limits, algorithm_9, algorithm_9_exact

PartitionMethod = Literal["alg9", "alg9-exact", "search"]


@dataclass(frozen=True)
class KernelPartition(ModulePass):
    """Writes the scheme of every kernel for a graph of `nodes` nodes (Dynasparse, Algorithm 9): N1 and N2 such that
    each kernel has `eta` tasks a core. `alg9` counts tasks by the paper's formulas, `alg9-exact` with
    ceilings; `search` takes `n1` and `n2` as the search over the real tiles found them, which gnnc compile runs.
    `p_sys`, `cores` and `n_max` are the accelerator's.
    """

    name = "kernel-partition"

    nodes: int = 0
    method: PartitionMethod = "alg9"
    eta: int = 4
    p_sys: int = 16
    cores: int = 7
    n_max: int = 512
    n1: int = 0
    n2: int = 0

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        if self.nodes < 1:
            raise PassFailedException("kernel-partition needs the number of nodes: give nodes=")
        n1, n2 = self.sizes_of(op)
        for kernel in kernels_of(op):
            kernel.scheme = kernel.cut(self.nodes, n1, n2)

    def sizes_of(self, module: ModuleOp) -> tuple[int, int]:
        """N1 and N2 of a module's kernels."""
        return self.sizes([shape_of_kernel(kernel, self.nodes) for kernel in kernels_of(module)])

    def sizes(self, shapes: list[KernelShape]) -> tuple[int, int]:
        limits = Limits(self.p_sys, self.cores, self.n_max, self.eta)
        if self.method == "search":
            legal = limits.sizes()
            if self.n1 not in legal or self.n2 not in legal or self.n1 < self.n2:
                raise PassFailedException(
                    f"kernel-partition takes from a search n1={self.n1} and n2={self.n2}, which are no legal sizes"
                )
            return self.n1, self.n2
        return (algorithm_9 if self.method == "alg9" else algorithm_9_exact)(shapes, limits)


def kernels_of(module: ModuleOp) -> list[Matmul]:
    return [op for op in module.walk() if isinstance(op, Matmul)]


def shape_of_kernel(kernel: Matmul, nodes: int) -> KernelShape:
    return KernelShape("aggregate" if kernel.aggregates else "update", nodes, kernel.width)
