"""gnnc simulate."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gnnc.cli import options

if TYPE_CHECKING:
    from gnnc.targets.fpga.loads import Loads
    from gnnc.targets.fpga.pairs import Mapping
    from gnnc.targets.fpga.reordering import Reordering
    from gnnc.targets.fpga.schedule import Schedule


def choice(name: str, *values: str, text: str) -> Callable[[options.F], options.F]:
    """An option with its values; the first is what it is without it."""
    return click.option(f"--{name}", type=click.Choice(values), default=values[0], show_default=True, help=text)


@click.command("simulate")
@options.artifact
@options.graph
@options.node_table
@choice("mapping", "dynamic", "s1", "s2", "oracle", text="Which primitive multiplies a pair of tiles.")
@choice("loads", "literal", "resident", "lean", text="What tasks fetch.")
@choice("schedule", "dynamic", "lpt", "static", text="How tasks go to cores.")
@choice(
    "reorder",
    *("none", "degree", "bfs", "rcm", "community", "features", "auto"),
    text="Renumber the nodes first, or the columns of sparse features.",
)
@click.option("--output", "-o", type=options.PATH, metavar="EMB.npy", help="Write what the model returns, too.")
@click.option("--report", type=options.PATH, metavar="R.html", help="Write a report with pictures.")
@click.option("--trace", type=options.PATH, metavar="T.json", help="Write a timeline that Perfetto opens.")
@options.json
def command(
    artifact: Path,
    graph_path: Path,
    node_table: Path | None,
    mapping: Mapping,
    loads: Loads,
    schedule: Schedule,
    reorder: Reordering,
    output: Path | None,
    report: Path | None,
    trace: Path | None,
    as_json: bool,
) -> None:
    """Simulate an artifact for the FPGA on the graph that it was compiled for.

    Computes the real numbers, compares them with the reference, and counts cycles and bytes. The model of the
    accelerator is uncalibrated: no RTL, no board. Exits 1 if the outputs differ.

    \b
    gnnc simulate cora.gnnc --graph cora.npz
    gnnc simulate cora.gnnc --graph cora.npz --loads lean --report cora.html
    """
    from gnnc.api import load
    from gnnc.errors import RunError
    from gnnc.fpga_program import FpgaProgram
    from gnnc.output_files import check_output, check_place, write_outputs, write_text
    from gnnc.outputs import output_names
    from gnnc.targets.fpga import report as reports
    from gnnc.targets.fpga.html_report import as_html
    from gnnc.targets.fpga.simulator import Setting
    from gnnc.targets.fpga.trace import as_trace

    if output is not None:
        check_output(output)
    for text_file in (report, trace):
        if text_file is not None:
            check_place(text_file)
    program = load(artifact)
    if not isinstance(program, FpgaProgram):
        raise RunError(f"{artifact} is for the target gpu: run it with gnnc run, or compile with --target fpga")
    graph = options.read_graph(graph_path, node_table)
    checked = program.simulate(graph, setting=Setting(mapping, loads, schedule), reorder=reorder)
    verification, simulation = checked.verification, checked.simulation
    error = max(o.relative for o in verification.outputs)
    if as_json:
        found = {"choices": [asdict(decision) for decision in checked.decisions]}
        click.echo(json.dumps({**reports.as_json(simulation), "reorder": checked.reorder, "error": error, **found}))
    else:
        click.echo(reports.as_text(simulation))
        click.echo(f"error       {error:.2g} of the output's scale, against the reference")
    if report is not None:
        write_text(report, as_html(simulation))
    if trace is not None:
        write_text(trace, as_trace(simulation))
    if output is not None:
        arrays = dict(zip(output_names(program.outputs), checked.outputs, strict=True))
        write_outputs(output, arrays, program.output_rows(), graph, None)
    sys.exit(0 if verification.passed else 1)
