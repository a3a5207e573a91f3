"""How much memory a batch takes while it runs: the bytes that are alive at each line of its block's function.

Bytes are linear in the rows of the batch: its targets, the edges that meet them, the distinct nodes at the other ends.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import SSAValue

from gnnc.dialects.gnn import AggregateOp, EdgeSoftmaxOp, Reduction, ReshapeOp
from gnnc.dialects.gnn.attributes import domain_of, row_shape
from gnnc.passes.analysis.cost_model import row_bytes
from gnnc.targets.gpu.arena import RowsOf
from gnnc.targets.gpu.block_lines import Line
from gnnc.targets.gpu.block_rows import TARGETS, Edges, NeighborNodes, Rows, Stored
from gnnc.targets.torch_functions import dtype_of

Variable: TypeAlias = tuple[SSAValue, Rows | None]
"""What a variable of a block's function stands for: a value on some rows."""

Point: TypeAlias = Mapping[Rows, int]
"""Bytes that are alive at a line, for each row of a kind."""

BYTES_PER_EDGE = 40
"""An edge's id, its node at the other end, the places of both ends in the batch, and one of these once more while they
are computed: int64 each."""

BYTES_PER_TARGET = 16
"""Offsets and degrees."""

BYTES_PER_NEIGHBOR = 8

COUNT_BYTES = 24
"""How many edges a target has, counted, made one at least, and as a number of the sum's type."""


@dataclass(frozen=True)
class BatchMemory:
    """The lines of a block's function where most is alive, none below another one everywhere.

    `of_ranges` for batches that are ranges of nodes, whose rows of stored arrays are read in place; `of_ids` for lists
    of nodes. Results are in neither, `outputs` has their bytes a target.
    """

    of_ranges: tuple[Point, ...]
    of_ids: tuple[Point, ...]
    outputs: int

    def points(self, nodes: range | object) -> tuple[Point, ...]:
        return self.of_ranges if isinstance(nodes, range) else self.of_ids


def memory_of_lines(
    lines: Sequence[Line],
    variables: Mapping[str, Variable],
    placed: Collection[str],
    rows: Iterable[Rows],
    results: Iterable[SSAValue],
    device: str,
) -> BatchMemory:
    """What a batch takes, from the lines of its function. `placed` are results that are written where they belong,
    `rows` those that batches look up, `results` those on the targets."""
    in_place = {name for line in lines for name in line.names if line.text.startswith("batch.targets(")}
    in_place = in_place if device == "cpu" else set[str]()
    kinds = list(rows)
    of_ranges = live_bytes(lines, variables, {*placed, *in_place}, index_bytes(kinds, variables, read_in_place=True))
    of_ids = live_bytes(lines, variables, placed, index_bytes(kinds, variables, read_in_place=False))
    return BatchMemory(of_ranges, of_ids, sum(arena_bytes(value) for value in results))


def index_bytes(kinds: Sequence[Rows], variables: Mapping[str, Variable], *, read_in_place: bool) -> Point:
    """What it takes to know the edges of a batch and their ends. Kernels read those of a range from the whole graph."""
    used = {rows for _, rows in variables.values()} | {rows.at for rows in kinds if isinstance(rows, NeighborNodes)}
    result: dict[Rows, int] = {}
    for rows in kinds:
        if isinstance(rows, NeighborNodes):
            result[rows] = BYTES_PER_NEIGHBOR
        elif isinstance(rows, Edges):
            result[TARGETS] = result.get(TARGETS, 0) + BYTES_PER_TARGET
            if rows in used or rows.sample is not None or not read_in_place:
                result[rows] = BYTES_PER_EDGE
    return result


def live_bytes(
    lines: Sequence[Line], variables: Mapping[str, Variable], elsewhere: Collection[str], always: Point
) -> tuple[Point, ...]:
    """What is alive at each line. Variables `elsewhere` take no memory of the batch; `always` is alive throughout."""
    owner = owners(lines, variables)
    last = {owner[name]: place for place, line in enumerate(lines) for name in (*line.names, *line.uses)}
    alive: dict[str, tuple[Rows, int]] = {}
    points: list[Point] = [always]
    for place, line in enumerate(lines):
        for name in line.names:
            value, rows = variables.get(name, (None, None))
            if value is None or rows is None or isinstance(rows, Stored):
                continue
            if owner[name] == name and name not in elsewhere:
                alive[name] = rows, arena_bytes(value) if line.kinds and not line.packed else row_bytes(value.type)
        points.append(total([*always.items(), *alive.values(), *steps(line, variables)]))
        alive = {name: size for name, size in alive.items() if last[name] > place}
    return largest(points)


def owners(lines: Sequence[Line], variables: Mapping[str, Variable]) -> dict[str, str]:
    """In whose memory each variable lies: its own, or that of an operand that it is a view of or is written over."""
    last_use = {name: place for place, line in enumerate(lines) for name in line.uses}
    owner = {name: name for line in lines for name in line.uses}
    in_arena = {name for line in lines if line.kinds for name in line.names}
    for place, line in enumerate(lines):
        for name in line.names:
            made_by = variables[name][0].owner if name in variables else None
            views = line.uses if isinstance(made_by, ReshapeOp) else ()
            over = [used for used in line.over if last_use[used] == place and used in in_arena]
            owner[name] = owner[next(iter((*views, *over)))] if views or over else name
    return owner


def steps(line: Line, variables: Mapping[str, Variable]) -> list[tuple[Rows, int]]:
    """Room that torch takes beside the result while it computes."""
    found: list[tuple[Rows, int]] = []
    for name in line.names:
        value, rows = variables.get(name, (None, None))
        if value is None or rows is None:
            continue
        if isinstance(value.owner, EdgeSoftmaxOp):
            # the largest score of each edge's target, the differences, the sum of each edge's target
            found.append((rows, 2 * row_bytes(value.type)))
        elif isinstance(value.owner, AggregateOp) and value.owner.reduction.data is Reduction.MEAN:
            found.append((rows, COUNT_BYTES if line.kinds else row_bytes(value.type)))
    return found


def arena_bytes(value: SSAValue) -> int:
    """Bytes of a row in an arena, which begins at a cache line."""
    if domain_of(value.type) is None:
        return 0
    kind = RowsOf(row_shape(value.type), dtype_of(value.type))
    return kind.stride * kind.dtype.itemsize


def total(sizes: Iterable[tuple[Rows, int]]) -> Point:
    result: dict[Rows, int] = {}
    for rows, size in sizes:
        result[rows] = result.get(rows, 0) + size
    return result


def largest(points: Sequence[Point]) -> tuple[Point, ...]:
    """Points that are not below another one in everything."""
    kept: list[Point] = []
    for point in points:
        if not any(below(point, other) for other in kept):
            kept = [*(other for other in kept if not below(other, point)), point]
    return tuple(kept)


def below(point: Point, other: Point) -> bool:
    return all(size <= other.get(rows, 0) for rows, size in point.items())
