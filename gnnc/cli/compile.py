"""gnnc compile."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from gnnc.cli import options

if TYPE_CHECKING:
    from gnnc.passes.analysis.cost_model import CostKind
    from gnnc.passes.analysis.linear_forms import Order
    from gnnc.passes.gnn_narrow_storage import Precision
    from gnnc.passes.kernel_partition import PartitionMethod


@click.command("compile")
@options.model
@options.graph
@options.node_table
@options.weights
@click.option(
    "--target", default="gpu", show_default=True, help="What runs the program: gpu (a CUDA device or a CPU), or fpga."
)
@click.option("--arch", default="u250", show_default=True, metavar="FILE", help="fpga: architecture file, or its name.")
@click.option(
    "--order",
    type=click.Choice(["AH_W", "A_HW", "auto"]),
    default="auto",
    show_default=True,
    help="fpga: aggregate before or after multiplying with the weight.",
)
@click.option(
    "--partition",
    type=click.Choice(["alg9", "alg9-exact", "search"]),
    default="alg9",
    show_default=True,
    help="fpga: how tiles are sized.",
)
@options.cost
@click.option(
    "--keep-reference", type=click.IntRange(0), default=0, metavar="N", help="Store the model's own rows for N nodes."
)
@click.option(
    "--freeze-features",
    is_flag=True,
    help="Compute now what depends on this graph and its features alone; run on no other.",
)
@click.option(
    "--precision",
    type=click.Choice(["fp32", "bf16", "fp16"]),
    default="fp32",
    show_default=True,
    help="How features, weights of linear layers and what layers hand on are stored; 16 bits change results.",
)
@click.option("--output", "-o", type=options.PATH, required=True, metavar="OUT.gnnc", help="The artifact to write.")
def command(
    model: str,
    graph_path: Path,
    node_table: Path | None,
    weights: Path | None,
    target: str,
    arch: str,
    order: Order,
    partition: PartitionMethod,
    cost: CostKind,
    keep_reference: int,
    freeze_features: bool,
    precision: Precision,
    output: Path,
) -> None:
    """Compile a trained model into an artifact.

    MODEL is file.py:callable or package.module:callable; the callable returns a torch.nn.Module. The graph says which
    inputs there are and how wide; the artifact runs on any graph with the same ones.

    \b
    gnnc compile model.py:build --weights weights.pt --graph cora.npz -o cora.gnnc
    gnnc compile model.py:build -w weights.pt -g edges.csv --node-table nodes.csv -o out.gnnc --keep-reference 100
    gnnc compile model.py:build -w weights.pt -g cora.npz --target fpga --partition search -o cora.gnnc
    """
    from gnnc.api import compile as compile_model
    from gnnc.artifact import check_target
    from gnnc.model_files import load_model

    check_target(output)
    graph = options.read_graph(graph_path, node_table)
    program = compile_model(
        load_model(model, weights),
        graph,
        target,
        cost=cost,
        keep_reference=keep_reference,
        freeze_features=freeze_features,
        precision=precision,
        arch=arch,
        order=order,
        partition=partition,
    )
    program.save(output)
    click.echo(f"{output}: compiled for {len(program.inputs)} inputs, {len(program.weights)} weights")
