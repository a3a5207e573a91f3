"""Tiles of a row that are computed alike, each so many numbers further along: one loop instead of as many copies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import Operation, SSAValue

from gnnc.dialects.gnn import AggregateOp, EdgeSoftmaxOp, GatherOp
from gnnc.passes.loops.lanes import Lanes, NoKernelError, operand_lanes

Wanted: TypeAlias = Sequence[tuple[SSAValue, Lanes]]


LONGEST_UNIT = 8
"""So many tiles at most are looked at as one, which others are alike: as many as a head of attention may have."""


@dataclass(frozen=True)
class Alike:
    """`count` units of `tiles` tiles each, from tile `first` on, that are the first unit moved on: by `steps[v]`
    numbers of value v from each to the next."""

    first: int
    tiles: int
    count: int
    steps: Mapping[SSAValue, int]


def equal_tiles(tiles: Sequence[Wanted], vector: int, many: int) -> list[Alike]:
    """All tiles in order, those that are alike and follow each other together where they are many. A tile is given by
    the lanes of results that it computes."""
    if len(tiles) < many:
        return [Alike(number, 1, 1, {}) for number in range(len(tiles))]
    needed = [lanes_needed(tile, vector) for tile in tiles]
    found: list[Alike] = []
    first = 0
    while first < len(tiles):
        units = (units_alike(needed[first:], first, size, many) for size in range(1, LONGEST_UNIT + 1))
        found.append(next((alike for alike in units if alike is not None), Alike(first, 1, 1, {})))
        first += found[-1].tiles * found[-1].count
    return found


def units_alike(needed: Sequence[Wanted | None], first: int, size: int, many: int) -> Alike | None:
    """The units of `size` tiles at the beginning that are alike; None where they aren't many."""
    if size * many > len(needed):
        return None
    start, steps = unit(needed, 0, size), distances(unit(needed, 0, size), unit(needed, 1, size))
    if steps is None:
        return None
    count = 2
    while moved_by(distances(start, unit(needed, count, size)), steps, count):
        count += 1
    return Alike(first, size, count, steps) if count >= many else None


def unit(needed: Sequence[Wanted | None], number: int, size: int) -> Wanted | None:
    """What so many tiles are computed from; None after the last ones."""
    tiles = needed[number * size : (number + 1) * size]
    known = [tile for tile in tiles if tile is not None]
    return [item for tile in known for item in tile] if len(known) == size else None


def moved_by(found: Mapping[SSAValue, int] | None, steps: Mapping[SSAValue, int], times: int) -> bool:
    return found is not None and all(found[value] == times * step for value, step in steps.items())


def distances(some: Wanted | None, others: Wanted | None) -> dict[SSAValue, int] | None:
    """By how much the lanes of each value are moved from one unit to another; None where the two differ otherwise."""
    if some is None or others is None or len(some) != len(others):
        return None
    found: dict[SSAValue, int] = {}
    for (value, lanes), (other, moved) in zip(some, others, strict=True):
        distance = found.setdefault(value, moved.start - lanes.start)
        if value is not other or lanes.count != moved.count or moved.start - lanes.start != distance:
            return None
    return found


def lanes_needed(wanted: Wanted, vector: int) -> Wanted | None:
    """All that some lanes are computed from, themselves included, in the order of a walk that comes to the same lanes
    as often as they are used; None where it can't be said as lanes."""
    stack, found, seen = list(wanted), list[tuple[SSAValue, Lanes]](), set[tuple[SSAValue, Lanes]]()
    while stack:
        item = stack.pop()
        found.append(item)
        if item in seen:
            continue
        seen.add(item)
        try:
            stack += operands_needed(*item, vector)
        except NoKernelError:
            return None
    return found


def operands_needed(value: SSAValue, lanes: Lanes, vector: int) -> Wanted:
    op = value.owner
    if not isinstance(op, Operation):
        return []
    if isinstance(op, AggregateOp | EdgeSoftmaxOp | GatherOp):
        return [(op.operands[0], lanes)]
    places = range(len(op.operands))
    return [(op.operands[place], piece) for place in places for piece in operand_lanes(op, place, lanes, vector)]
