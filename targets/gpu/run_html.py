"""The report of a run as a page: what each block did, and the bytes and targets of its batches as pictures."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from gnnc.targets.gpu.errors import size_text
from gnnc.targets.gpu.run_report import BlockReport, RunReport

WIDTH, HEIGHT = 640, 120
STYLE = "body{font:15px sans-serif;max-width:60em;margin:2em auto}td,th{padding:.2em .8em;text-align:right}"
COLUMNS = ("layer", "nodes of", "way", "batches", "nodes", "edges", "unique inputs", "resident", "retries", "seconds")


def as_html(report: RunReport) -> str:
    """A page without scripts."""
    rows = "".join(row(block) for block in report.blocks)
    head = "".join(f"<th>{name}</th>" for name in COLUMNS)
    pictures = "".join(pictures_of(block) for block in report.blocks)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>gnnc run</title>'
        f"<style>{STYLE}</style><body><h1>gnnc run</h1><p>{escape(summary(report))}</p>"
        f"<table><tr>{head}</tr>{rows}</table>{over_time(report)}{pictures}</body></html>\n"
    )


def summary(report: RunReport) -> str:
    memory = "no limit" if report.memory is None else size_text(report.memory)
    peak = "not measured" if report.peak is None else size_text(report.peak)
    times = f"{report.preparation:.2f} s to put edges in order, {report.seconds:.2f} s in all"
    moved = size_text(sum(batch.moved for block in report.blocks for batch in block.batches))
    order = "" if report.reorder == "none" else f" Order: {report.reorder}, {report.reordering:.2f} s beforehand."
    return f"Memory: {memory}; peak: {peak}; {moved} moved; {times}.{order}"


def row(block: BlockReport) -> str:
    batches = block.batches
    seconds = ", ".join(f"{stage} {seconds:.2f}" for stage, seconds in block.seconds.items())
    sums = sum(len(b.nodes) for b in batches), sum(b.edges for b in batches), sum(b.neighbors for b in batches)
    counts = [f"{n:,}" for n in (len(batches), *sums)]
    cells = [
        str(block.layer),
        block.node_set,
        block.way,
        *counts,
        size_text(block.resident),
        str(block.retries),
        seconds,
    ]
    return "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in cells) + "</tr>"


def pictures_of(block: BlockReport) -> str:
    title = f"Layer {block.layer}, {block.node_set}"
    pictures = [
        steps("bytes of memory a batch, as planned", [b.bytes for b in block.batches]),
        steps("bytes moved a batch, as planned", [b.moved for b in block.batches]),
        steps("target nodes a batch", [len(b.nodes) for b in block.batches]),
        steps("microseconds a batch", [round(seconds * 1e6) for _, _, seconds in block.took]),
    ]
    return f"<h2>{escape(title)}</h2>{''.join(pictures)}"


def over_time(report: RunReport) -> str:
    """Memory and the sizes of batches over the seconds of the run; the line is the budget."""
    took = [(end, int(nodes)) for block in report.blocks for end, nodes, _ in block.took]
    memory = curve("bytes of memory", report.timeline, report.start, report.memory or 0)
    return f"<h2>Over time</h2>{memory}{curve('target nodes of the batch that ends', sorted(took), report.start)}"


def curve(label: str, moments: Sequence[tuple[float, ...]], start: float, limit: int = 0) -> str:
    """A picture of values at some seconds, and a line at a limit."""
    if not moments:
        return ""
    last = max(1e-9, moments[-1][0] - start)
    top = max(1, limit, *(value for _, value in moments))
    points = " ".join(f"{WIDTH * (at - start) / last:.1f},{HEIGHT * (1 - v / top):.1f}" for at, v in moments)
    place = HEIGHT * (1 - limit / top)
    line = f'<path d="M0 {place:.1f}H{WIDTH}" stroke="#c03028"/>' if limit else ""
    return (
        f'<p>{label}, at most {max(int(value) for _, value in moments):,}, in {last:.2f} s</p><svg width="{WIDTH}" '
        f'height="{HEIGHT}" fill="none"><polyline points="{points}" stroke="#4878a8"/>{line}</svg>'
    )


def steps(label: str, values: Sequence[int]) -> str:
    """A picture of values in order, at most as many as it has columns: the largest of those that fall together."""
    if not values:
        return ""
    together = -(-len(values) // WIDTH)
    shown = [max(values[i : i + together]) for i in range(0, len(values), together)]
    top, wide = max(1, *shown), WIDTH / len(shown)
    heights = [HEIGHT * value / top for value in shown]
    bars = "".join(
        f'<rect x="{i * wide:.2f}" y="{HEIGHT - high:.1f}" width="{wide:.2f}" height="{high:.1f}"/>'
        for i, high in enumerate(heights)
    )
    return f'<p>{label}, at most {top:,}</p><svg width="{WIDTH}" height="{HEIGHT}" fill="#4878a8">{bars}</svg>'
