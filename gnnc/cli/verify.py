"""gnnc verify."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gnnc.cli import options

if TYPE_CHECKING:
    from gnnc.verification import Verification


@click.command("verify")
@options.artifact
@options.graph
@options.node_table
@click.option("--model", "model_spec", metavar="MODEL", help="The model to compare with, as file.py:callable.")
@options.weights
@click.option(
    "--tolerance",
    type=float,
    metavar="T",
    help="Largest error over the output's scale.  [default: 1e-4; 0.02 where 16 bits are stored]",
)
@click.option("--nodes", "nodes_path", type=options.PATH, metavar="IDS.npy", help="Compare these nodes only.")
@options.batch_size
@options.device
@options.json
def command(
    artifact: Path,
    graph_path: Path,
    node_table: Path | None,
    model_spec: str | None,
    weights: Path | None,
    tolerance: float | None,
    nodes_path: Path | None,
    batch_size: int | None,
    device: str,
    as_json: bool,
) -> None:
    """Compare an artifact with the model itself, or with the rows stored by compile --keep-reference.

    Exits 1 if an error exceeds the tolerance.

    \b
    gnnc verify cora.gnnc --graph cora.npz --model model.py:build --weights weights.pt
    gnnc verify cora.gnnc --graph cora.npz
    """
    from gnnc.api import load
    from gnnc.errors import RunError
    from gnnc.model_files import load_model
    from gnnc.output_files import read_node_list

    if weights is not None and model_spec is None:
        raise RunError(f"--weights {weights} belongs to a model: give --model, too")
    program = load(artifact)
    graph = options.read_graph(graph_path, node_table)
    verification = program.verify(
        None if nodes_path is None else read_node_list(nodes_path, graph),
        graph=graph,
        model=None if model_spec is None else load_model(model_spec, weights),
        tolerance=tolerance,
        batch_size=batch_size,
        device=device,
    )
    if as_json:
        record = {**asdict(verification), "precision": program.precision, "passed": verification.passed}
        click.echo(json.dumps(record))
    else:
        click.echo(as_text(verification, program.precision))
    sys.exit(0 if verification.passed else 1)


def as_text(verification: Verification, precision: str) -> str:
    stored = "" if precision == "fp32" else f", numbers stored as {precision}"
    lines = [f"compared {verification.rows:,} rows{stored}"]
    for output in verification.outputs:
        verdict = "ok" if output.passed else f"over the tolerance {output.tolerance:g}"
        where = "" if output.row is None else f", largest at {output.unit} {output.row}"
        lines.append(
            f"{output.name}: error {output.absolute:.3g}, {output.relative:.3g} of the output's scale{where}: {verdict}"
        )
    return "\n".join(lines)
