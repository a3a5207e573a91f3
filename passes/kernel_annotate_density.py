"""kernel-annotate-density: the density of every operand that is known before a run."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.passes import ModulePass

from gnnc.dialects.kernel import Matmul
from gnnc.passes.analysis.densities import Densities


@dataclass(frozen=True)
class KernelAnnotateDensity(ModulePass):
    """Writes the densities of adjacency matrices, features and weights on the kernels that take them, from the
    attribute `gnn.density` of the arguments of @forward, as gnn-annotate-density does for the operations of the model;
    what kernels compute stays `?` until run time.
    """

    name = "kernel-annotate-density"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        densities = Densities(op)
        for kernel in op.walk():
            if isinstance(kernel, Matmul):
                kernel.densities = ArrayAttr(densities.of(value) for value in [*kernel.lhs, *kernel.rhs])
