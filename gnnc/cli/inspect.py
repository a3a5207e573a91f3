"""gnnc inspect."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gnnc.cli import options

if TYPE_CHECKING:
    from gnnc.stages import Stage


@click.command("inspect")
@options.artifact
@click.option("--ir", is_flag=True, help="Print the module itself.")
@click.option(
    "--emit",
    type=click.Choice(["blocks", "fused", "loops", "llvm"]),
    help="Print a stage of the code: ConvBlocks, fused Convs, their loops, or those in the llvm dialect.",
)
@options.json
def command(artifact: Path, ir: bool, emit: Stage | None, as_json: bool) -> None:
    """Show what an artifact takes, computes and returns.

    \b
    gnnc inspect cora.gnnc
    gnnc inspect cora.gnnc --ir
    gnnc inspect cora.gnnc --emit loops
    """
    from gnnc.api import load
    from gnnc.artifact import input_record
    from gnnc.explanation import explain_module
    from gnnc.outputs import output_names

    program = load(artifact)
    if emit is not None:
        from gnnc.stages import stage_text

        click.echo(stage_text(program.module, emit))
        return
    if ir:
        click.echo(str(program.module))
        return
    explanation = explain_module(program.module)
    if as_json:
        record = {
            "inputs": [input_record(i) for i in program.inputs],
            "outputs": program.outputs,
            "weights": {name: list(tensor.shape) for name, tensor in program.weights.items()},
            **explanation.as_json(),
        }
        click.echo(json.dumps(record, indent=1))
        return
    click.echo("Takes:")
    for i in program.inputs:
        sizes = [str(size) for size in i.row_shape]
        sizes.insert(i.axis, i.set_name)
        click.echo(f"  {i.key}: {str(i.dtype).removeprefix('torch.')} [{', '.join(sizes)}]")
    click.echo(f"Returns: {', '.join(output_names(program.outputs))}")
    numbers = sum(tensor.numel() for tensor in program.weights.values())
    click.echo(f"Weights: {len(program.weights)}, {numbers:,} numbers\n")
    click.echo(explanation.as_text())
