"""The function of row-wise work: every row of the results, piece by piece, from the same row of the inputs."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from xdsl.ir import Operation, SSAValue

from gnnc.dialects.gnn.attributes import domain_of, row_shape
from gnnc.passes.loops.arguments import KernelInput, Role
from gnnc.passes.loops.equal_tiles import Alike, equal_tiles, lanes_needed
from gnnc.passes.loops.expressions import Expressions
from gnnc.passes.loops.lanes import Lanes, NoKernelError, lie_side_by_side, partition, row_size
from gnnc.passes.loops.row_loop import RowLoop, place_of

LARGEST_ROW = 4096
"""Pieces of a row that are looked at one by one for those that are alike."""

LARGEST_CODE = 2000
"""Values that machine code for a row computes one after the other: with more of them it would get long."""

MANY = 32
"""So many pieces that are alike are a loop; fewer share what they have in common."""


class RowWork(RowLoop):
    """The function of `gnn.fused_rows`."""

    def prepare(self, lists: Sequence[SSAValue]) -> None:
        """Nothing stands before the loop."""

    def row(self, row: SSAValue) -> None:
        values = self.values(row)
        for place, result in enumerate(self.results):
            for unit, alike in self.units(result):
                inside = values if alike.count == 1 else self.values(row)
                self.over_alike(alike, partial(self.store_pieces, inside, place, row, unit))

    def values(self, row: SSAValue) -> Expressions:
        return Expressions(self.b, lambda value, lanes: self.leaf(value, lanes, row))

    def store_pieces(self, values: Expressions, place: int, row: SSAValue, pieces: Sequence[Lanes]) -> None:
        for lanes in pieces:
            self.store(place, lanes, row, values.value(self.results[place], lanes))

    def leaf(self, value: SSAValue, lanes: Lanes, row: SSAValue) -> SSAValue | None:
        if isinstance(value.owner, Operation):
            return None
        if domain_of(value.type) is None:
            return self.load(KernelInput(place_of(value), Role.WHOLE), self.b.index(0), lanes)
        return self.load(KernelInput(place_of(value), Role.TARGET), row, lanes)

    def units(self, result: SSAValue) -> list[tuple[list[Lanes], Alike]]:
        """A row in vectors, or else in vectors that don't cross from one head to the next, or else number by number;
        those together that are computed alike."""
        size, shape = row_size(result), row_shape(result.type)
        for group, width in ((size, self.width), (shape[-1] if shape else 1, self.width), (1, 1)):
            pieces = partition(size, group, width)
            if len(pieces) > LARGEST_ROW or not all(lie_side_by_side(result, lanes, self.width) for lanes in pieces):
                continue
            found = equal_tiles([[(result, lanes)] for lanes in pieces], self.width, MANY)
            units = [(pieces[alike.first : alike.first + alike.tiles], alike) for alike in found]
            if sum(self.code_size(result, unit) for unit, _ in units) <= LARGEST_CODE:
                return units
        raise NoKernelError("rows are too long, or their numbers don't lie side by side")

    def code_size(self, result: SSAValue, pieces: Sequence[Lanes]) -> int:
        """How many values some pieces of a result are computed from."""
        return len(lanes_needed([(result, lanes) for lanes in pieces], self.width) or ())
