"""A fused operation as something to call with tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TypeAlias

import torch
from xdsl.dialects.builtin import ModuleOp

from gnnc.dialects.gnn import FusedConvOp, FusedOperation, FusedRowsOp
from gnnc.passes.loops.arguments import KernelInput, Part, Role, kernel_inputs
from gnnc.targets.gpu.csr import Csr
from gnnc.targets.gpu.kernels.machine_code import MachineCode
from gnnc.targets.gpu.kernels.threads import even_ranges, ranges_without
from gnnc.targets.gpu.kernels.work_text import text_of
from gnnc.targets.torch_functions import torch_dtype


class Kernel(MachineCode):
    """A fused Conv, or a part of one."""

    def __init__(self, op: FusedConvOp, part: Part = Part.WHOLE):
        super().__init__(f"{text_of(op)}\n{part.value}", lambda: loops_of(op, part))
        self.inputs: Sequence[KernelInput] = kernel_inputs(op, part)
        self.op = op
        self.part = part

    def __call__(
        self, csr: Csr, arrays: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor], threads: int
    ) -> Sequence[torch.Tensor]:
        """Writes the rows of the results into `outputs`, and gives those."""
        ranges = csr.ranges if threads > 1 else [(0, csr.rows)]
        hubs = csr.hubs if self.part is Part.WHOLE else ()
        self.run_rows(csr, ranges_without(hubs, ranges) if hubs else ranges, [*arrays, *outputs], threads)
        for hub in hubs:
            self.run_hub(csr, hub, dict(zip(self.inputs, arrays, strict=True)), outputs, threads)
        return outputs

    def run_rows(
        self, csr: Csr, ranges: Sequence[tuple[int, int]], arrays: Sequence[torch.Tensor], threads: int
    ) -> None:
        self.run(ranges, csr.descriptors, arrays, threads)

    def run_hub(
        self,
        csr: Csr,
        row: int,
        arrays: Mapping[KernelInput, torch.Tensor],
        outputs: Sequence[torch.Tensor],
        threads: int,
    ) -> None:
        """Computes one row, pieces of whose edges threads share."""
        pieces = csr.pieces_of(row)
        sums = self.first_sums.repeat(pieces.rows + 1, 1)
        of_pieces, total = sums[:-1], sums[-1:]
        own = {i: a[row].expand(pieces.rows, *a.shape[1:]) if i.role is Role.TARGET else a for i, a in arrays.items()}
        each = [(piece, piece + 1) for piece in range(pieces.rows)]
        self.adding.run_rows(pieces, each, [*(own[i] for i in self.adding.inputs), of_pieces], threads)
        self.merging.run_rows(Csr(torch.tensor([0, pieces.rows]), pieces.neighbors), [(0, 1)], [of_pieces, total], 1)
        known = [arrays[i] for i in self.finishing.inputs]
        self.finishing.run_rows(csr, [(row, row + 1)], [*known, total.expand(csr.rows, -1), *outputs], 1)

    # The same Conv in parts, for neighbors that aren't in memory at one time, and for rows that threads share.

    @cached_property
    def adding(self) -> Kernel:
        """Goes on from sums in memory: they are its only output."""
        return Kernel(self.op, Part.ADD_UP)

    @cached_property
    def merging(self) -> Kernel:
        """Adds sums of pieces of a row, which are its only array, to sums."""
        return Kernel(self.op, Part.MERGE)

    @cached_property
    def finishing(self) -> Kernel:
        """Computes the results from sums, which are the last of its arrays."""
        return Kernel(self.op, Part.FINISH)

    @cached_property
    def first_sums(self) -> torch.Tensor:
        """The sums of a row before the first edge."""
        from gnnc.passes.loops.kernel import first_sums
        from gnnc.passes.loops.row_loop import element_type

        # results may be stored in 16 bits, sums never are
        return torch.tensor(first_sums(self.op), dtype=torch_dtype(element_type(self.op)))


class RowsKernel(MachineCode):
    """Row-wise work."""

    def __init__(self, op: FusedRowsOp):
        super().__init__(text_of(op), lambda: loops_of(op))
        self.inputs: Sequence[KernelInput] = kernel_inputs(op)

    def __call__(
        self, arrays: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor], threads: int
    ) -> Sequence[torch.Tensor]:
        """Writes the rows of the results into `outputs`, and gives those."""
        self.run(even_ranges(outputs[0].shape[0], threads), [], [*arrays, *outputs], threads)
        return outputs


AnyKernel: TypeAlias = Kernel | RowsKernel


def loops_of(op: FusedOperation, part: Part = Part.WHOLE) -> ModuleOp:
    """A module with the function in loops of a fused operation or of a part of it."""
    from gnnc.passes.loops.kernel import loop_function

    return ModuleOp([loop_function(op, "kernel", part)])
