"""A run as one HTML page without scripts: tables, tile density maps, the primitive of every pair, cores, roofline."""

from __future__ import annotations

from collections.abc import Callable
from html import escape
from typing import Any

import numpy as np

from gnnc.passes.analysis.primitives import Primitive
from gnnc.targets.fpga.loads import coordinate_bytes
from gnnc.targets.fpga.matrices import TileCounts
from gnnc.targets.fpga.pairs import Product, map_pairs, pairs_of, stored_sparse, tile_extents
from gnnc.targets.fpga.report import as_json, as_text
from gnnc.targets.fpga.simulator import UNCALIBRATED, KernelRun, Simulation

PIXELS = 240  # most cells of a picture along one side
COLORS = {
    Primitive.GEMM: "#d1495b",
    Primitive.SPDMM_X: "#2a7f9e",
    Primitive.SPDMM_Y: "#7bb6c9",
    Primitive.SPMM: "#e0a526",
}
STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 62rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f23 }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2rem } .note { color: #8a4b08 }
table { border-collapse: collapse } td, th { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #ddd }
td:first-child, th:first-child { text-align: left } svg { background: #f6f7f8; margin: .3rem .6rem .3rem 0 }
figure { display: inline-block; margin: 0 1rem 1rem 0; vertical-align: top } figcaption { font-size: .85rem }
.key span { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 1em }
pre { overflow-x: auto; background: #f6f7f8; padding: .8rem; font-size: .8rem }
"""


def as_html(simulation: Simulation) -> str:
    """The page."""
    a = simulation.architecture
    title = f"{simulation.plan.nodes:,} nodes on {a.name}"
    body = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="note">This report is <b>{UNCALIBRATED}</b>. Assumed figures of the architecture: '
        f"{escape(', '.join(a.assumed)) or 'none'}.</p>",
        f"<pre>{escape(as_text(simulation))}</pre>",
        "<h2>Where the time goes</h2>",
        bounds_table(simulation),
        roofline(simulation),
        "<h2>Cores</h2>",
        timeline(simulation),
        "<h2>Tiles</h2>",
        key(),
    ]
    for index, run in enumerate(simulation.kernels):
        body.append(kernel_pictures(simulation, run, index))
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style><body>{''.join(body)}</body></html>\n"
    )


def bounds_table(simulation: Simulation) -> str:
    described = as_json(simulation)
    rows = [
        ("makespan", described["cycles"]),
        ("compute / cores", described["bounds"]["compute"]),
        ("bytes / bandwidth", described["bounds"]["bytes"]),
        ("longest tasks", described["bounds"]["longest_task"]),
        ("every operand and result once, or compute", described["floor"]),
        ("decisions of the Analyzer", round(described["analyzer_cycles"])),
        ("of these hidden", round(described["analyzer_hidden_cycles"])),
    ]
    lines = "".join(f"<tr><td>{name}</td><td>{value:,}</td></tr>" for name, value in rows)
    return f"<table><tr><th></th><th>cycles</th></tr>{lines}</table>"


def key() -> str:
    names = "".join(f'<span style="background:{c}"></span>{p.name}' for p, c in COLORS.items())
    return f'<p class="key">Primitive of a pair:{names}<span style="background:#fff"></span>skipped</p>'


def kernel_pictures(simulation: Simulation, run: KernelRun, index: int) -> str:
    plan = simulation.plan
    parts = [f"<h3>{index + 1}. {run.kernel.kind} in layer {run.kernel.layer}</h3>"]
    for (lhs, rhs), product in zip(run.kernel.products, run.products, strict=True):
        for place, tiles in ((lhs, product.x), (rhs, product.y)):
            parts.append(figure(density_map(tiles), f"{plan.operands[place].name}: {caption(tiles)}"))
        pairs = figure(primitive_map(simulation, run, product), "primitive of each pair, first column of tiles")
        parts.append(pairs)
    return "".join(parts)


def caption(tiles: TileCounts) -> str:
    grid = tiles.grid[0] * tiles.grid[1]
    share = tiles.total / max(1, tiles.shape[0] * tiles.shape[1])
    return (
        f"density {share:.3%}, {len(tiles.nonzeros):,} of {grid:,} tiles of {tiles.tile[0]} x {tiles.tile[1]} nonempty"
    )


def figure(svg: str, text: str) -> str:
    return f"<figure>{svg}<figcaption>{escape(text)}</figcaption></figure>"


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
    """Cells as squares of an SVG; runs of one color in a row are one rectangle."""
    step = -(-max(grid) // PIXELS)
    rows, columns = -(-grid[0] // step), -(-grid[1] // step)
    size = max(1, 240 // max(rows, columns))
    shapes: list[str] = []
    for row, column, length, fill in runs(cells, color):
        place = f'x="{column * size}" y="{row * size}" width="{length * size}" height="{size}"'
        shapes.append(f'<rect {place} fill="{fill}"/>')
    return f'<svg width="{columns * size}" height="{rows * size}">{"".join(shapes)}</svg>'


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


def timeline(simulation: Simulation) -> str:
    """Each core's tasks over time, kernels in turning colors; short tasks that touch are drawn as one."""
    width, height = 900, 18
    scale, total = width / max(1, simulation.cycles), simulation.architecture.cores * height
    shapes: list[str] = []
    for index, run in enumerate(simulation.kernels):
        fill = ("#2a7f9e", "#7bb6c9")[index % 2]
        first = run.end - run.timeline.makespan
        for core, start, end in busy_spans(run, 1 / scale):
            place = f'x="{(first + start) * scale:.1f}" y="{core * height + 2}" width="{(end - start) * scale:.1f}"'
            shapes.append(f'<rect {place} height="{height - 4}" fill="{fill}"/>')
        x = run.end * scale
        shapes.append(f'<line x1="{x:.1f}" x2="{x:.1f}" y1="0" y2="{total}" stroke="#555"/>')
    return f'<svg width="{width}" height="{total}">{"".join(shapes)}</svg>'


def busy_spans(run: KernelRun, gap: float) -> list[tuple[int, float, float]]:
    """When each core was busy, pauses of less than `gap` left out."""
    spans: list[tuple[int, float, float]] = []
    for slot in sorted(run.timeline.slots, key=lambda slot: (slot.core, slot.start)):
        last = spans[-1] if spans else None
        if last and last[0] == slot.core and slot.start - last[2] < gap:
            spans[-1] = (slot.core, last[1], slot.end)
        else:
            spans.append((slot.core, slot.start, slot.end))
    return spans


def roofline(simulation: Simulation) -> str:
    """Cycles of computing a byte against what of the cores' time each kernel used; a dot a kernel."""
    a = simulation.architecture
    width, height = 420, 220
    balance = a.cores / float(a.bytes_per_cycle)
    points = [
        (
            float(run.compute_cycles) / max(1, run.traffic.total),
            float(run.compute_cycles) / a.cores / max(1, run.cycles),
        )
        for run in simulation.kernels
    ]
    low, high = balance / 1000, balance * 1000

    def x(intensity: float) -> float:
        return width * np.log(min(high, max(low, intensity)) / low) / np.log(high / low)

    def y(share: float) -> float:
        return height * (np.log10(1 / min(1.0, max(1e-3, share))) / 3)

    corner = f"{x(balance):.0f},{y(1):.0f}"
    roof = f'<polyline points="0,{height} {corner} {width},{y(1):.0f}" fill="none" stroke="#555"/>'
    dots = "".join(
        f'<circle cx="{x(i):.1f}" cy="{y(s):.1f}" r="5" fill="#d1495b"><title>kernel {n + 1}</title></circle>'
        for n, (i, s) in enumerate(points)
    )
    text = "Roofline: compute cycles a byte (across, 10^6 to 1 around balance), used share of the cores (up, 0.1% to 1)"
    return figure(f'<svg width="{width}" height="{height}">{roof}{dots}</svg>', text)
