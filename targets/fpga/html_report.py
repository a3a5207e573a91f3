"""A run as one HTML page without scripts: where the time goes, and pictures of tiles, pairs and cores."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from gnnc.targets.fpga.matrices import TileCounts
from gnnc.targets.fpga.pictures import COLORS, density_map, primitive_map, roofline, timeline
from gnnc.targets.fpga.report import as_text, bound_by, described_products, shares_of
from gnnc.targets.fpga.simulator import UNCALIBRATED, KernelRun, Simulation

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 66rem; margin: 2rem auto; padding: 0 1rem; color: #1b1f23 }
h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin-top: 2rem } h3 { font-size: 1rem } .note { color: #8a4b08 }
table { border-collapse: collapse } td, th { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #ddd }
td:first-child, th:first-child { text-align: left } svg { background: #f6f7f8; max-width: 100% }
tr:last-child td { font-weight: 600 }
figure { margin: 0 } figcaption { font-size: .85rem; max-width: 18rem } figcaption.wide { max-width: none }
.product { display: flex; flex-wrap: wrap; gap: 1rem 2rem; margin-bottom: 1rem }
.key span { display: inline-block; width: .8em; height: .8em; margin: 0 .3em 0 1em; border: 1px solid #ddd }
pre { overflow-x: auto; background: #f6f7f8; padding: .8rem; font-size: .8rem }
"""
WIDE = ' class="wide"'


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
        time_table(simulation),
        figure(
            roofline(simulation),
            "Compute cycles a byte (across) and used share of the cores (up), a dot a kernel.",
            WIDE,
        ),
        "<h2>Cores</h2>",
        figure(
            timeline(simulation),
            "Cycles. Kernels by number; paler the more cores pause, grey where they wait for what they read together, "
            "empty where they are idle or wait for decisions.",
            WIDE,
        ),
        "<h2>Tiles</h2>",
        key(),
    ]
    body += [kernel_pictures(simulation, run, index) for index, run in enumerate(simulation.kernels)]
    return (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title>'
        f"<style>{STYLE}</style><body>{''.join(body)}</body></html>\n"
    )


def time_table(simulation: Simulation) -> str:
    """A row a kernel: its cycles, and what each of the things that it needs would take alone."""
    a, runs = simulation.architecture, simulation.kernels
    shares = [shares_of(run, a) for run in runs]
    head = ["kernel", "cycles", *(f"{name}" for name in shares[0]), "bound by"] if runs else []
    rows: list[Sequence[str]] = [
        (name_of(simulation, index), f"{run.cycles:,}", *(f"{v:,.0f}" for v in parts.values()), bound_by(run, a))
        for index, (run, parts) in enumerate(zip(runs, shares, strict=True))
    ]
    if runs:
        totals = (f"{sum(parts[name] for parts in shares):,.0f}" for name in shares[0])
        rows.append(("together", f"{simulation.cycles:,}", *totals, ""))
    lines = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in rows)
    return (
        f"<table><tr>{''.join(f'<th>{cell}</th>' for cell in head)}</tr>{lines}</table>"
        f"<p>Cycles that each would take alone: computing and conversion over all cores, bytes over the memory's "
        f"bandwidth, the longest task, decisions that no kernel hides. With every operand and result moved once the "
        f"floor is {simulation.floor():,} cycles.</p>"
    )


def name_of(simulation: Simulation, index: int) -> str:
    run = simulation.kernels[index]
    output = simulation.plan.operands[run.kernel.output].name
    return f"{index + 1}. {run.kernel.kind} {output} = {' + '.join(described_products(run, simulation.plan))}"


def key() -> str:
    names = "".join(f'<span style="background:{c}"></span>{p.name}' for p, c in COLORS.items())
    return (
        f'<p class="key">Primitive of a pair:{names}<span style="background:#f6f7f8"></span>skipped. '
        "Tiles are darker where they are denser.</p>"
    )


def kernel_pictures(simulation: Simulation, run: KernelRun, index: int) -> str:
    plan = simulation.plan
    parts = [f"<h3>{escape(name_of(simulation, index))}, layer {run.kernel.layer}</h3>"]
    for (lhs, rhs), product in zip(run.kernel.products, run.products, strict=True):
        pictures = [
            figure(density_map(tiles), f"{plan.operands[place].name}: {caption(tiles)}")
            for place, tiles in ((lhs, product.x), (rhs, product.y))
        ]
        pairs = "primitive of each pair of the first column of output tiles, a row of tasks a row"
        pictures.append(figure(primitive_map(simulation, run, product), pairs))
        parts.append(f'<div class="product">{"".join(pictures)}</div>')
    return "".join(parts)


def caption(tiles: TileCounts) -> str:
    grid = tiles.grid[0] * tiles.grid[1]
    share = tiles.total / max(1, tiles.shape[0] * tiles.shape[1])
    return (
        f"density {share:.3%}, {len(tiles.nonzeros):,} of {grid:,} tiles of {tiles.tile[0]} x {tiles.tile[1]} nonempty"
    )


def figure(svg: str, text: str, attributes: str = "") -> str:
    return f"<figure>{svg}<figcaption{attributes}>{escape(text)}</figcaption></figure>"
