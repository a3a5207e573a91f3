"""gnnc compile."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gnnc.cli import options

if TYPE_CHECKING:
    from gnnc.passes.analysis.cost_model import CostKind


@click.command("compile")
@options.model
@options.graph
@options.node_table
@options.weights
@click.option("--target", default="gpu", show_default=True, help="What runs the program: gpu (a CUDA device or a CPU).")
@options.cost
@click.option(
    "--keep-reference", type=click.IntRange(0), default=0, metavar="N", help="Store the model's own rows for N nodes."
)
@click.option("--output", "-o", type=options.PATH, required=True, metavar="OUT.gnnc", help="The artifact to write.")
def command(
    model: str,
    graph_path: Path,
    node_table: Path | None,
    weights: Path | None,
    target: str,
    cost: CostKind,
    keep_reference: int,
    output: Path,
) -> None:
    """Compile a trained model into an artifact.

    MODEL is file.py:callable or package.module:callable; the callable returns a torch.nn.Module. The graph says which
    inputs there are and how wide; the artifact runs on any graph with the same ones.

    \b
    gnnc compile model.py:build --weights weights.pt --graph cora.npz -o cora.gnnc
    gnnc compile model.py:build -w weights.pt -g edges.csv --node-table nodes.csv -o out.gnnc --keep-reference 100
    """
    from gnnc.api import compile as compile_model
    from gnnc.artifact import check_target
    from gnnc.model_files import load_model

    check_target(output)
    graph = options.read_graph(graph_path, node_table)
    program = compile_model(load_model(model, weights), graph, target, cost=cost, keep_reference=keep_reference)
    program.save(output)
    click.echo(f"{output}: compiled for {len(program.inputs)} inputs, {len(program.weights)} weights")
