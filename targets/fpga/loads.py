"""What tasks move between memory and cores. Three readings of one stream:

- `literal`: every pair of tiles fetches both operands, as the paper's algorithms read;
- `resident`: operands of up to the resident buffer's bytes are read once a kernel, for all cores;
- `lean`: also, a task makes all column tiles that fit the result buffer, fetches of the right side only the rows that
  the left names or keeps a fibre of it on chip, and the left side where that is read for several fibres; nonzeros take
  8 bytes with places within the tile (4 where an adjacency's values are a number a row times a number a column), and
  intermediate values that fit stay on chip.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

import numpy as np

from gnnc.targets.fpga.architecture import Architecture
from gnnc.targets.fpga.matrices import Integers, TileCounts
from gnnc.targets.fpga.pairs import Product, TaskSums, tile_bytes

Loads: TypeAlias = Literal["literal", "resident", "lean"]
LOADS: tuple[Loads, ...] = ("literal", "resident", "lean")

WIDE_COORDINATES = 12  # 4 bytes for the row, the column, the number
TILE_COORDINATES = 8  # 2 + 2 + 4, places within the tile
TASKS_A_CORE = 4  # the eta of Algorithm 9
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


@dataclass(frozen=True)
class KernelLoads:
    """What the tasks of a kernel read and write. `sides` says how either side of each product is kept, `static` whether
    it is known before the kernel before has run. `epilogue` are the bytes of the addends and residuals of each tile of
    the output, `stores` those of the tile itself; `room` is what is free of the shared buffer, `hidden` the bytes that
    the memory can move while the cores compute."""

    products: list[Product]
    sides: list[tuple[Side, Side]]
    static: list[tuple[bool, bool]]
    epilogue: Integers
    stores: Integers
    room: int
    hidden: float

    @property
    def columns(self) -> int:
        """The column tiles of the output."""
        return self.epilogue.shape[1]


@dataclass
class Traffic:
    """The bytes of each task, in the order of issue, and of what all cores read together.

    `groups` are the column tiles of each task, as bounds; tasks go group by group, row by row within one. `shared` is
    read once a kernel; `static` of it does not depend on the kernel before. `converts` says whether right sides change
    format pair by pair: a fibre that fits the chip when it is dense has the format it needs from when it was read.
    `free` is what is left of the shared buffer, for what the next kernel reads beforehand. `way` names how lean loads
    bring all this, `ways` has the prices of all ways that they chose from.
    """

    loads: Integers
    stores: Integers
    shared: int
    static: int
    groups: list[tuple[int, int]]
    order: str
    converts: bool = True
    free: int | None = None
    way: str = ""
    ways: dict[str, float] = field(default_factory=dict[str, float])

    @property
    def task_bytes(self) -> Integers:
        """What each task moves."""
        return self.loads + self.stores

    @property
    def total(self) -> int:
        return int(self.task_bytes.sum()) + self.shared


def by_groups(values: Integers, groups: list[tuple[int, int]]) -> Integers:
    """Sums over the columns of each group, group after group."""
    return np.concatenate([values[:, a:b].sum(axis=1) for a, b in groups]) if groups else np.zeros(0, np.int64)


def singles(columns: int) -> list[tuple[int, int]]:
    return [(j, j + 1) for j in range(columns)]


def row_major(values: Integers) -> Integers:
    """Tasks in the paper's order: all column tiles of a row, row after row."""
    return values.ravel()


def whole_fetches(kernel: KernelLoads, sums: TaskSums, architecture: Architecture, loads: Loads) -> Traffic:
    """`literal` and `resident`: every pair fetches both of its tiles, but for operands that the cores keep."""
    fetched = kernel.epilogue.copy()
    shared = shared_static = 0
    limit = architecture.resident_buffer_bytes if loads == "resident" else -1
    x_totals = [int(tile_bytes(p.x, WIDE_COORDINATES).sum()) for p in kernel.products]
    y_totals = [int(tile_bytes(p.y, WIDE_COORDINATES).sum()) for p in kernel.products]
    for side, totals, loaded in ((0, x_totals, sums.loaded_x), (1, y_totals, sums.loaded_y)):
        if sum(totals) > limit:
            fetched = fetched + loaded
            continue
        shared += sum(totals)
        shared_static += sum(total for total, known in zip(totals, kernel.static, strict=True) if known[side])
    groups = singles(kernel.columns)
    return Traffic(row_major(fetched), row_major(kernel.stores), shared, shared_static, groups, "rows")


def lean_fetches(kernel: KernelLoads, architecture: Architecture, fusion: int) -> Traffic:
    """The cheapest of the ways to group column tiles and to fetch the right sides: the fewest bytes, or where computing
    takes longer the fewest that cores wait for, counted more where tasks are so few that cores stay idle. `fusion` is
    how many column tiles fit the result buffer."""
    fusion = min(fusion, kernel.columns)
    widths = {fusion, *(min(fusion, width) for width in (*fibre_groups(kernel), balanced_group(kernel, architecture)))}
    found = [
        lean_traffic(kernel, architecture, width, keep=keep)
        for keep in (True, False)
        for width in sorted(widths, reverse=True)
    ]
    chosen, *others = sorted(found, key=lambda traffic: price(traffic, kernel.hidden, architecture.cores))
    for traffic in (chosen, *others):
        chosen.ways.setdefault(traffic.way, price(traffic, kernel.hidden, architecture.cores))
    return chosen


def price(traffic: Traffic, hidden: float, cores: int) -> float:
    """The bytes of a kernel. What all cores read together comes before they compute, perhaps under the kernel before if
    it is known beforehand; the rest comes meanwhile."""
    return max(traffic.total, traffic.shared - traffic.static + hidden) * idle_factor(len(traffic.loads), cores)


def balanced_group(kernel: KernelLoads, architecture: Architecture) -> int:
    """The most column tiles a task that leave each core as many tasks as Algorithm 9 wants."""
    return max(1, kernel.epilogue.size // (TASKS_A_CORE * architecture.cores))


def idle_factor(tasks: int, cores: int) -> float:
    """How much longer tasks of one length take than if they could be divided among all cores."""
    return -(-tasks // cores) * cores / tasks if tasks else 1.0


def fibre_groups(kernel: KernelLoads) -> list[int]:
    """The most column tiles whose fibres of all right sides stay on chip together; none if not even one does."""
    row_bytes = fibre_bytes(kernel, kernel.products[0].y.tile[1])
    fitting = kernel.room // row_bytes if row_bytes else kernel.columns
    return [fitting] if fitting else []


def fibre_bytes(kernel: KernelLoads, width: int) -> int:
    """The bytes of so many columns of all right sides that are not on chip already, dense."""
    return sum(
        p.y.shape[0] * width * 4 for p, (_, y) in zip(kernel.products, kernel.sides, strict=True) if not y.on_chip
    )


def lean_traffic(kernel: KernelLoads, architecture: Architecture, width: int, *, keep: bool) -> Traffic:
    """The bytes if a task makes `width` column tiles, and fibres may be kept on chip or not."""
    groups = [(j, min(kernel.columns, j + width)) for j in range(0, kernel.columns, width)]
    traffic = Traffic(by_groups(kernel.epilogue, groups), by_groups(kernel.stores, groups), 0, 0, groups, "rows", False)
    room = kernel.room
    sides = list(zip(kernel.products, kernel.sides, kernel.static, strict=True))
    for product, (_, side), (_, known) in sides:
        if not side.on_chip:
            room -= read_right(traffic, product, side, architecture, room if keep else 0, known)
    for product, (side, _), (known, _) in sides:
        if not side.on_chip:
            room -= read_left(traffic, product, side, room, known)
    traffic.free = room
    traffic.way = f"{traffic.order}, {min(width * kernel.products[0].y.tile[1], kernel.products[0].y.shape[1])} columns"
    return traffic


def read_right(
    traffic: Traffic, product: Product, side: Side, architecture: Architecture, room: int, known: bool
) -> int:
    """Adds what the tasks read of a right side; returns the bytes of the shared buffer that a fibre of it takes.

    A fibre stays on chip, dense where it fits so and else as it is stored, unless rows that the left side names are
    fewer bytes."""
    groups, y = traffic.groups, product.y
    stored = group_bytes(y, side, groups).sum(axis=1)
    gathered = gathered_rows(product, side, groups, architecture)
    dense = y.shape[0] * min((groups[0][1] - groups[0][0]) * y.tile[1], y.shape[1]) * 4
    taken = dense if dense <= room else int(stored.max(initial=0))
    if taken > room or stored.sum() > gathered.sum():
        traffic.loads = traffic.loads + gathered
        traffic.order, traffic.converts = "gather", True
        return 0
    traffic.shared += int(stored.sum())
    # only the first fibre can come before the kernel begins: there is room for one
    traffic.static += int(stored[0]) if known else 0
    traffic.order = "fibres" if len(groups) > 1 else "resident"
    traffic.converts |= taken < dense
    return taken


def read_left(traffic: Traffic, product: Product, side: Side, room: int, known: bool) -> int:
    """Adds what the tasks read of a left side; returns the bytes of the shared buffer that it takes, if it stays there
    because each group of columns needs it again."""
    rows, count = streamed(product, side), len(traffic.groups)
    total = int(rows.sum())
    traffic.shared += side.factor_bytes
    traffic.static += side.factor_bytes
    if count == 1 or total > room:
        traffic.loads = traffic.loads + np.tile(rows, count)
        return 0
    traffic.shared += total
    traffic.static += total if known else 0
    return total


def streamed(product: Product, side: Side) -> Integers:
    """The bytes of the left side's tiles in each block row, those whose partners are all empty left out."""
    partners = np.diff(product.y.starts)[product.x.columns] > 0
    weights = tile_bytes(product.x, side.bytes_a_nonzero) * partners
    return product.x.by_row(weights)


def group_bytes(tiles: TileCounts, side: Side, groups: list[tuple[int, int]]) -> Integers:
    """The bytes of each group of column tiles in each block row, as they are stored."""
    group = np.searchsorted([last for _, last in groups], tiles.columns, "right")
    whole = np.zeros((len(groups), tiles.grid[0]), np.int64)
    np.add.at(whole.reshape(-1), group * tiles.grid[0] + tiles.rows, tile_bytes(tiles, side.bytes_a_nonzero))
    return whole


def gathered_rows(product: Product, side: Side, groups: list[tuple[int, int]], architecture: Architecture) -> Integers:
    """The bytes of the right side that a task of each block row fetches, group of column tiles after group: the rows
    that a tile of the left names, in bursts, or whole tiles where that is less."""
    x, y = product.x, product.y
    whole = group_bytes(y, side, groups)
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


def fibre_width(kernel: KernelLoads, architecture: Architecture, fusion: int) -> int:
    """The width of the fibres of the right sides: N2, or the largest half, quarter, ... of it that stays on chip, if
    reading the left side again for each is fewer bytes than what tiles as wide as N2 take."""
    full = kernel.products[0].y.tile[1]
    width = full
    while width > architecture.p_sys and fibre_bytes(kernel, width) > kernel.room:
        width //= 2
    if width == full or fibre_bytes(kernel, width) > kernel.room:
        return full
    count = -(-kernel.products[0].y.shape[1] // width)
    total = int(kernel.epilogue.sum() + kernel.stores.sum())
    for product, (x_side, y_side) in zip(kernel.products, kernel.sides, strict=True):
        total += x_side.factor_bytes + (0 if x_side.on_chip else count * int(streamed(product, x_side).sum()))
        total += 0 if y_side.on_chip else int(tile_bytes(product.y, y_side.bytes_a_nonzero).sum())
    return width if total < lean_fetches(kernel, architecture, fusion).total else full
