"""The function of row-wise work: every row of the results, piece by piece, from the same row of the inputs."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from gnnc.dialects.gnn.attributes import domain_of, row_shape
from gnnc.passes.loops.arguments import KernelInput, Role
from gnnc.passes.loops.expressions import Expressions
from gnnc.passes.loops.lanes import Lanes, NoKernelError, lie_side_by_side, partition, row_size
from gnnc.passes.loops.row_loop import RowLoop, place_of

LARGEST_PIECES = 192
"""Pieces of a row are written out one after the other: with more of them machine code would get long."""


class RowWork(RowLoop):
    """The function of `gnn.fused_rows`."""

    def prepare(self, lists: Sequence[SSAValue]) -> None:
        """Nothing stands before the loop."""

    def row(self, row: SSAValue) -> None:
        values = Expressions(self.b, lambda value, lanes: self.leaf(value, lanes, row))
        for place, result in enumerate(self.results):
            for lanes in self.pieces(result):
                self.store(place, lanes, row, values.value(result, lanes))

    def leaf(self, value: SSAValue, lanes: Lanes, row: SSAValue) -> SSAValue | None:
        if isinstance(value.owner, Operation):
            return None
        if domain_of(value.type) is None:
            return self.load(KernelInput(place_of(value), Role.WHOLE), self.b.index(0), lanes)
        return self.load(KernelInput(place_of(value), Role.TARGET), row, lanes)

    def pieces(self, result: SSAValue) -> list[Lanes]:
        """A row in vectors, or else in vectors that don't cross from one head to the next, or else number by number."""
        size, shape = row_size(result), row_shape(result.type)
        for group, width in ((size, self.width), (shape[-1] if shape else 1, self.width), (1, 1)):
            pieces = partition(size, group, width)
            if len(pieces) <= LARGEST_PIECES and all(lie_side_by_side(result, lanes, self.width) for lanes in pieces):
                return pieces
        raise NoKernelError("rows are too long, or their numbers don't lie side by side")
