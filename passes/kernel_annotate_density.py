"""kernel-annotate-density: the density of every operand that is known before a run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.ir import BlockArgument, SSAValue
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from gnnc.dialects.kernel import DensityAttr, Matmul
from gnnc.dialects.kernel.matmul import element_count
from gnnc.passes.analysis.model_functions import model_functions

UNKNOWN = -1


@dataclass(frozen=True)
class KernelAnnotateDensity(ModulePass):
    """Writes the densities of adjacency matrices, features and weights on the kernels that take them, as counts of
    nonzeros. `nonzeros` has a count for each argument of @forward, -1 where it is not known; what kernels compute stays
    `?` until run time. The counts come from integer counts a nonempty tile, never from a dense grid of tiles.
    """

    name = "kernel-annotate-density"

    nodes: int = 0
    nonzeros: tuple[int, ...] = ()

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        arguments = model_functions(op).forward.body.block.args
        if len(self.nonzeros) != len(arguments):
            raise PassFailedException(
                f"kernel-annotate-density takes {len(self.nonzeros)} counts for {len(arguments)} arguments of @forward"
            )
        for kernel in op.walk():
            if isinstance(kernel, Matmul):
                kernel.densities = ArrayAttr(self.densities([*kernel.lhs, *kernel.rhs], arguments))

    def densities(self, operands: Sequence[SSAValue], arguments: Sequence[BlockArgument]) -> list[DensityAttr]:
        return [self.density(value) if value in arguments else DensityAttr() for value in operands]

    def density(self, value: SSAValue) -> DensityAttr:
        assert isinstance(value, BlockArgument)
        count = self.nonzeros[value.index]
        return DensityAttr() if count == UNKNOWN else DensityAttr(count, element_count(self.nodes, value))
