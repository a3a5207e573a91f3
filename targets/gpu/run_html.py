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
        f"<table><tr>{head}</tr>{rows}</table>{pictures}</body></html>\n"
    )


def summary(report: RunReport) -> str:
    memory = "no limit" if report.memory is None else size_text(report.memory)
    peak = "not measured" if report.peak is None else size_text(report.peak)
    times = f"{report.preparation:.2f} s to put edges in order, {report.seconds:.2f} s in all"
    return f"Memory: {memory}; peak: {peak}; {times}."


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
    needed = steps("bytes a batch, as planned", [b.bytes for b in block.batches])
    return f"<h2>{escape(title)}</h2>{needed}{steps('target nodes a batch', [len(b.nodes) for b in block.batches])}"


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
