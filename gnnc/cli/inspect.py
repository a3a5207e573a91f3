"""gnnc inspect."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import click

from gnnc.cli import options

if TYPE_CHECKING:
    from xdsl.dialects.builtin import ModuleOp

    from gnnc.stages import Stage


@click.command("inspect")
@options.artifact
@click.option("--ir", is_flag=True, help="Print the module itself.")
@click.option(
    "--emit",
    type=click.Choice(["blocks", "fused", "loops", "llvm", "object", "triton"]),
    help="Print a stage of the code: ConvBlocks, fused Convs, their loops, those in the llvm dialect, their "
    "machine code as an object file, or Triton.",
)
@click.option("--decisions", is_flag=True, help="Print what the passes decided, and what each choice costs.")
@options.json
def command(artifact: Path, ir: bool, emit: Stage | Literal["object"] | None, decisions: bool, as_json: bool) -> None:
    """Show what an artifact takes, computes and returns; of a task stream, its disassembly.

    \b
    gnnc inspect cora.gnnc
    gnnc inspect cora.gnnc --ir
    gnnc inspect fpga.gnnc/stream.bin
    gnnc inspect cora.gnnc --emit loops
    gnnc inspect cora.gnnc --decisions
    """
    if artifact.suffix == ".bin":
        click.echo(disassembly(artifact, as_json=as_json))
        return
    from gnnc.api import load
    from gnnc.artifact import STREAM, input_record
    from gnnc.errors import RunError
    from gnnc.explanation import explain_module
    from gnnc.outputs import output_names

    program = load(artifact)
    has_stream = (artifact / STREAM).is_file()
    if emit is not None:
        if has_stream:
            raise RunError("--emit shows code for CPUs and GPUs: print the kernels of an FPGA artifact with --ir")
        print_stage(program.module, emit)
        return
    if decisions:
        from gnnc import decisions as log

        found = log.decisions_of_program(program.module)
        click.echo(log.as_json(found) if as_json else log.as_text(found))
        return
    if ir:
        click.echo(str(program.module))
        return
    if has_stream:
        click.echo(disassembly(artifact / STREAM, as_json=as_json))
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


def print_stage(module: ModuleOp, stage: Stage | Literal["object"]) -> None:
    """Writes a stage of the code to standard output."""
    from gnnc.errors import RunError
    from gnnc.stages import object_file, stage_text

    if stage != "object":
        click.echo(stage_text(module, stage))
        return
    if sys.stdout.isatty():
        raise RunError("an object file is no text: send it to a file, as in --emit object > kernels.o")
    click.echo(object_file(module), nl=False)


def disassembly(stream: Path, *, as_json: bool) -> str:
    """A task stream in words, or as JSON."""
    from gnnc.errors import ArtifactError
    from gnnc.targets.fpga.stream import description
    from gnnc.targets.fpga.stream.reader import StreamError, read_stream

    try:
        contents = read_stream(stream)
    except StreamError as error:
        raise ArtifactError(f"{stream} is no task stream that can be used ({error}): compile again") from None
    return json.dumps(description.as_json(contents), indent=1) if as_json else description.as_text(contents)
