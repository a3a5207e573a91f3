"""Pictures of a run as SVG: tile density maps, the primitive of every pair, cores over time, a roofline."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import log10
from typing import Any

import numpy as np

from gnnc.passes.analysis.primitives import Primitive
from gnnc.targets.fpga.loads import coordinate_bytes
from gnnc.targets.fpga.matrices import TileCounts
from gnnc.targets.fpga.pairs import Product, map_pairs, pairs_of, stored_sparse, tile_extents
from gnnc.targets.fpga.simulator import KernelRun, Simulation

PIXELS = 240  # most cells of a picture along one side
CELL = 40  # most pixels of a cell
THIN = 12  # pixels at least, for matrices of one tile across
COLORS = {
    Primitive.GEMM: "#d1495b",
    Primitive.SPDMM_X: "#2a7f9e",
    Primitive.SPDMM_Y: "#7bb6c9",
    Primitive.SPMM: "#e0a526",
}
KERNELS = ("#2a7f9e", "#7bb6c9")  # kernels take turns
ANALYZER, SHARED, LINES = "#e0a526", "#c9ced3", "#555"


def density_map(tiles: TileCounts) -> str:
    """The density of tiles, or of squares of them where there are many; darker is denser, by the square root."""
    share = tiles.nonzeros / np.maximum(1, tile_extents(tiles))
    cells = cells_of(tiles.rows, tiles.columns, tiles.grid, share)
    return picture(cells, tiles.grid, shade_color)


def shade_color(value: float) -> str:
    shade = int(235 - 215 * min(1.0, value**0.5))
    return f"rgb({shade},{shade},{shade // 2 + 100})"


def primitive_color(value: float) -> str:
    return COLORS[Primitive(int(value))]


def cells_of(rows: Any, columns: Any, grid: tuple[int, int], values: Any) -> dict[tuple[int, int], float]:
    """The largest value in each square of the picture."""
    step = -(-max(grid) // PIXELS)
    cells: dict[tuple[int, int], float] = {}
    places = zip((rows // step).tolist(), (columns // step).tolist(), np.asarray(values).tolist(), strict=True)
    for row, column, value in places:
        cells[row, column] = max(value, cells.get((row, column), 0.0))
    return cells


def primitive_map(simulation: Simulation, run: KernelRun, product: Product) -> str:
    """The primitive of the pairs that make the first column of output tiles: row i, pair t."""
    setting, p = simulation.setting, simulation.architecture.p_sys
    size = coordinate_bytes(setting.loads)
    x_sparse, y_sparse = stored_sparse(product.x, size), stored_sparse(product.y, size)
    rows: list[Any] = []
    columns: list[Any] = []
    chosen: list[Any] = []
    for pairs in pairs_of(product):
        first = pairs.column == 0
        formats = x_sparse[pairs.x_entry], y_sparse[pairs.y_entry]
        modes = map_pairs(pairs, setting.mapping, run.kernel.kind, p, formats)
        rows.append(np.broadcast_to(pairs.row, pairs.shape)[first])
        columns.append(product.x.columns[np.broadcast_to(pairs.x_entry, pairs.shape)[first]])
        chosen.append(modes[first])
    if not rows:
        return picture({}, product.x.grid, primitive_color)
    cells = cells_of(np.concatenate(rows), np.concatenate(columns), product.x.grid, np.concatenate(chosen))
    return picture(cells, product.x.grid, primitive_color)


def picture(cells: dict[tuple[int, int], float], grid: tuple[int, int], color: Callable[[float], str]) -> str:
    """Cells as squares of an SVG, wider or higher where that would be too thin to see; a run of one color in a row is
    one rectangle."""
    step = -(-max(grid) // PIXELS)
    rows, columns = -(-grid[0] // step), -(-grid[1] // step)
    size = min(CELL, max(1, PIXELS // max(rows, columns)))
    wide, high = max(size, -(-THIN // columns)), max(size, -(-THIN // rows))
    shapes = [
        rectangle(column * wide, row * high, length * wide, high, fill)
        for row, column, length, fill in runs(cells, color)
    ]
    return svg(columns * wide, rows * high, shapes)


def svg(width: int, height: int, shapes: Sequence[str]) -> str:
    return f'<svg width="{width}" height="{height}" font-family="sans-serif" font-size="11">{"".join(shapes)}</svg>'


def rectangle(x: float, y: float, width: float, height: float, fill: str, opacity: float = 1.0) -> str:
    place = " ".join(
        f'{k}="{v:.10g}"' for k, v in zip(("x", "y", "width", "height"), (x, y, width, height), strict=True)
    )
    seen = f' fill-opacity="{max(0.1, opacity):.2f}"' if opacity < 0.995 else ""
    return f'<rect {place} fill="{fill}"{seen}/>'


def line(x1: float, y1: float, x2: float, y2: float) -> str:
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" stroke="{LINES}"/>'


def label(x: float, y: float, text: str, anchor: str = "start") -> str:
    return f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{LINES}">{text}</text>'


def runs(cells: dict[tuple[int, int], float], color: Callable[[float], str]) -> list[tuple[int, int, int, str]]:
    """Row, first column, length and color of the runs."""
    found: list[tuple[int, int, int, str]] = []
    for (row, column), value in sorted(cells.items()):
        fill = color(value)
        last = found[-1] if found else None
        if last and last[0] == row and last[1] + last[2] == column and last[3] == fill:
            found[-1] = (row, last[1], last[2] + 1, fill)
        else:
            found.append((row, column, 1, fill))
    return found


@dataclass(frozen=True)
class Bar:
    """Something that takes a row of the timeline from `start` to `end`, in cycles, for a `share` of that time."""

    row: int
    start: float
    end: float
    fill: str
    share: float = 1.0


def timeline(simulation: Simulation) -> str:
    """Each core's tasks over time, and the Analyzer's decisions in the last row. Kernels are numbered and take turns in
    color, paler where cores pause; what all cores read together before a kernel is grey."""
    left, top, width, height = 60, 16, 900, 18
    cores = simulation.architecture.cores
    bottom = top + (cores + 1) * height
    scale = width / max(1, simulation.cycles)
    shapes = [label(left - 6, top + core * height + 13, f"core {core}", "end") for core in range(cores)]
    shapes.append(label(left - 6, bottom - 5, "Analyzer", "end"))
    for index, run in enumerate(simulation.kernels):
        for bar in bars_of(run, cores, KERNELS[index % 2], 1 / scale):
            place = left + round(bar.start * scale, 1), top + bar.row * height + 2
            length = round((bar.end - bar.start) * scale, 1)
            shapes.append(rectangle(*place, length, height - 4, bar.fill, bar.share))
        end = left + run.end * scale
        shapes.append(line(end, top, end, bottom))
        if run.cycles * scale > 12:
            shapes.append(label(end - run.cycles * scale / 2, top - 4, f"{index + 1}", "middle"))
    for cycle in ticks(simulation.cycles):
        x = left + cycle * scale
        shapes += [line(x, bottom, x, bottom + 4), label(x, bottom + 15, f"{cycle:,}", "middle")]
    return svg(left + width + 40, bottom + 20, shapes)


def bars_of(run: KernelRun, cores: int, fill: str, pixel: float) -> list[Bar]:
    """The bars of a kernel; `pixel` is how many cycles are one."""
    first = run.end - run.timeline.makespan
    bars = [Bar(core, first + start, first + end, fill, share) for core, start, end, share in busy_spans(run, pixel)]
    if first - run.start > pixel:
        bars += [Bar(core, run.start, first, SHARED) for core in range(cores)]
    if run.decisions.count:
        ready = float(run.decisions.ready)
        bars.append(Bar(cores, ready - float(run.decisions.cycles), ready, ANALYZER))
    return bars


def ticks(most: int) -> list[int]:
    """Round numbers from 0 to `most`, ten at most."""
    if most < 1:
        return [0]
    power = 10 ** max(0, int(log10(most)) - 1)
    step = next(step for step in (power, 2 * power, 5 * power, 10 * power, 20 * power) if most // step < 10)
    return list(range(0, most + 1, step))


def busy_spans(run: KernelRun, gap: float) -> list[tuple[int, float, float, float]]:
    """From when to when each core was busy, pauses of less than `gap` left out, and for which share of that time."""
    spans: list[tuple[int, float, float, float]] = []
    for slot in sorted(run.timeline.slots, key=lambda slot: (slot.core, slot.start)):
        core, start, end, busy = spans[-1] if spans else (-1, 0.0, 0.0, 0.0)
        if core == slot.core and slot.start - end < gap:
            spans[-1] = (core, start, slot.end, busy + slot.end - slot.start)
        else:
            spans.append((slot.core, slot.start, slot.end, slot.end - slot.start))
    return [(core, start, end, busy / max(end - start, 1e-9)) for core, start, end, busy in spans]


def roofline(simulation: Simulation) -> str:
    """Cycles of computing a byte against what of the cores' time each kernel used; a numbered dot a kernel."""
    a = simulation.architecture
    left, top, width, height = 60, 16, 420, 200
    balance = a.cores / float(a.bytes_per_cycle)
    low, high = balance / 1000, balance * 1000

    def x(intensity: float) -> float:
        return left + width * log10(min(high, max(low, intensity)) / low) / log10(high / low)

    def y(share: float) -> float:
        return top + height * log10(1 / min(1.0, max(1e-3, share))) / 3

    base = top + height
    roof = f"{left},{base} {x(balance):.0f},{y(1):.0f} {left + width},{y(1):.0f}"
    shapes = [f'<polyline points="{roof}" fill="none" stroke="{LINES}"/>']
    for share in (0.001, 0.01, 0.1, 1):
        shapes += [line(left - 4, y(share), left, y(share)), label(left - 6, y(share) + 4, f"{share:.1%}", "end")]
    for power in range(int(np.ceil(log10(low))), int(log10(high)) + 1):
        place = x(10.0**power)
        shapes += [line(place, base, place, base + 4), label(place, base + 15, f"{10.0**power:g}", "middle")]
    for index, run in enumerate(simulation.kernels):
        computing = float(run.compute_cycles)
        place = x(computing / max(1, run.traffic.total)), y(computing / a.cores / max(1, run.cycles))
        shapes.append(f'<circle cx="{place[0]:.1f}" cy="{place[1]:.1f}" r="4" fill="{COLORS[Primitive.GEMM]}"/>')
        shapes.append(label(place[0] + 6, place[1] + 12, f"{index + 1}"))
    return svg(left + width + 20, base + 20, shapes)
