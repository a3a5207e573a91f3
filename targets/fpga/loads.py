"""What tasks move between memory and cores. Three readings of one stream:

- `literal`: every pair of tiles fetches both operands, as the paper's algorithms read;
- `resident`: operands of up to the resident buffer's bytes are read once a kernel, for all cores;
- `lean`: also, a task makes all column tiles that fit the result buffer, fetches of the right side only the rows that
  the left names or keeps a fibre of it on chip, nonzeros take 8 bytes with places within the tile (4 where an
  adjacency's values are a number a row times a number a column), and intermediate values that fit stay on chip.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from gnnc.targets.fpga.architecture import Architecture
from gnnc.targets.fpga.matrices import Integers
from gnnc.targets.fpga.pairs import Product, TaskSums, tile_bytes

Loads: TypeAlias = Literal["literal", "resident", "lean"]
LOADS: tuple[Loads, ...] = ("literal", "resident", "lean")

WIDE_COORDINATES = 12  # 4 bytes for the row, the column, the number
TILE_COORDINATES = 8  # 2 + 2 + 4, places within the tile
PLACES_ONLY = 4  # 2 + 2; the number is one of its row times one of its column


def coordinate_bytes(loads: Loads) -> int:
    return TILE_COORDINATES if loads == "lean" else WIDE_COORDINATES


@dataclass(frozen=True)
class Side:
    """How an operand of a product is kept: `on_chip` already, and whether its nonzeros need no number of their own, but
    `factor_bytes` of factors that all cores read once a kernel."""

    on_chip: bool = False
    places_only: bool = False
    factor_bytes: int = 0

    @property
    def bytes_a_nonzero(self) -> int:
        return PLACES_ONLY if self.places_only else TILE_COORDINATES


@dataclass
class Traffic:
    """The bytes of each task, in the order of issue, and of what all cores read together.

    `groups` are the column tiles of each task, as bounds; tasks go group by group, row by row within one. `shared` is
    read once a kernel; `static` of it does not depend on the kernel before.
    """

    loads: Integers
    stores: Integers
    shared: int
    static: int
    groups: list[tuple[int, int]]
    order: str

    @property
    def total(self) -> int:
        return int(self.loads.sum() + self.stores.sum()) + self.shared


def by_groups(values: Integers, groups: list[tuple[int, int]]) -> Integers:
    """Sums over the columns of each group, group after group."""
    return np.concatenate([values[:, a:b].sum(axis=1) for a, b in groups]) if groups else np.zeros(0, np.int64)


def singles(columns: int) -> list[tuple[int, int]]:
    return [(j, j + 1) for j in range(columns)]


def row_major(values: Integers) -> Integers:
    """Tasks in the paper's order: all column tiles of a row, row after row."""
    return values.ravel()


def whole_fetches(
    products: list[Product],
    sums: TaskSums,
    epilogue: Integers,
    stores: Integers,
    architecture: Architecture,
    loads: Loads,
    static: list[tuple[bool, bool]],
) -> Traffic:
    """`literal` and `resident`. `epilogue` are the bytes of a task's addends and residuals, `stores` its output's.
    `static` says of both sides of each product whether they are known before the kernel before has run."""
    fetched = epilogue.copy()
    shared = shared_static = 0
    limit = architecture.resident_buffer_bytes if loads == "resident" else -1
    x_totals = [int(tile_bytes(p.x, WIDE_COORDINATES).sum()) for p in products]
    y_totals = [int(tile_bytes(p.y, WIDE_COORDINATES).sum()) for p in products]
    for side, totals, loaded in ((0, x_totals, sums.loaded_x), (1, y_totals, sums.loaded_y)):
        if sum(totals) > limit:
            fetched = fetched + loaded
            continue
        shared += sum(totals)
        shared_static += sum(total for total, known in zip(totals, static, strict=True) if known[side])
    groups = singles(fetched.shape[1])
    return Traffic(row_major(fetched), row_major(stores), shared, shared_static, groups, "rows")


def lean_fetches(
    products: list[Product],
    sides: list[tuple[Side, Side]],
    epilogue: Integers,
    stores: Integers,
    architecture: Architecture,
    fusion: int,
    static: list[tuple[bool, bool]],
) -> Traffic:
    """The cheapest of the ways to group column tiles and to fetch the right sides, by bytes."""
    columns = products[0].y.grid[1]
    widths = {min(fusion, columns), *fibre_groups(products, architecture, columns)}
    found = [
        lean_traffic(products, sides, epilogue, stores, architecture, min(width, fusion), static) for width in widths
    ]
    return min(found, key=lambda traffic: traffic.total)


def fibre_groups(products: list[Product], architecture: Architecture, columns: int) -> list[int]:
    """The most column tiles whose fibres of all right sides stay on chip together; none if not even one does."""
    rows = sum(p.y.shape[0] for p in products)
    fitting = architecture.shared_buffer_bytes // (rows * products[0].y.tile[1] * 4)
    return [min(columns, fitting)] if fitting else []


def lean_traffic(
    products: list[Product],
    sides: list[tuple[Side, Side]],
    epilogue: Integers,
    stores: Integers,
    architecture: Architecture,
    width: int,
    static: list[tuple[bool, bool]],
) -> Traffic:
    columns = products[0].y.grid[1]
    groups = [(j, min(columns, j + width)) for j in range(0, columns, width)]
    loads = by_groups(epilogue, groups)
    shared = shared_static = 0
    room = architecture.shared_buffer_bytes
    order = "rows"
    for product, (x_side, y_side), (_, y_known) in zip(products, sides, static, strict=True):
        if not x_side.on_chip:
            loads = loads + np.tile(streamed(product, x_side), len(groups))
            shared += x_side.factor_bytes
            shared_static += x_side.factor_bytes
        if y_side.on_chip:
            continue
        fibre = product.y.shape[0] * min(width * product.y.tile[1], product.y.shape[1]) * 4
        whole = int(tile_bytes(product.y, y_side.bytes_a_nonzero).sum())
        gathered = gathered_rows(product, y_side, groups, architecture)
        if fibre <= room and whole <= int(gathered.sum()):
            room -= fibre
            shared += whole
            shared_static += whole if y_known else 0
            order = "fibres" if len(groups) > 1 else "resident"
        else:
            loads = loads + gathered
            order = "gather"
    return Traffic(loads, by_groups(stores, groups), shared, shared_static, groups, order)


def streamed(product: Product, side: Side) -> Integers:
    """The bytes of the left side's tiles in each block row, those whose partners are all empty left out."""
    partners = np.diff(product.y.starts)[product.x.columns] > 0
    weights = tile_bytes(product.x, side.bytes_a_nonzero) * partners
    return product.x.by_row(weights)


def gathered_rows(product: Product, side: Side, groups: list[tuple[int, int]], architecture: Architecture) -> Integers:
    """The bytes of the right side that a task of each block row fetches, group of column tiles after group: the rows
    that a tile of the left names, in bursts, or whole tiles where that is less."""
    x, y = product.x, product.y
    group = np.searchsorted([last for _, last in groups], y.columns, "right")
    # the bytes of the fibres of a group, and whether there is anything in them
    whole = np.zeros((len(groups), y.grid[0]), np.int64)
    np.add.at(whole.reshape(-1), group * y.grid[0] + y.rows, tile_bytes(y, side.bytes_a_nonzero))
    # a row of the fibre: its share of the bytes, in whole bursts
    burst = architecture.burst_bytes
    row_bytes = -(-whole // np.maximum(1, y.heights))
    row_bytes = -(-row_bytes // burst) * burst
    named = x.distinct if x.distinct is not None else x.widths[x.columns]
    fetched = [
        x.by_row(np.minimum(of_group[x.columns], named * row[x.columns]))
        for of_group, row in zip(whole, row_bytes, strict=True)
    ]
    return np.concatenate(fetched)
