"""gnnc explain."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from gnnc.cli import options

if TYPE_CHECKING:
    from gnnc.passes.analysis.cost_model import CostKind


@click.command("explain")
@options.model
@options.graph
@options.node_table
@options.weights
@options.cost
@options.json
def command(
    model: str, graph_path: Path, node_table: Path | None, weights: Path | None, cost: CostKind, as_json: bool
) -> None:
    """Say how a model would be run: its Convs and layers, what depends on structure only, its blocks and what they
    load; or why it is refused.

    \b
    gnnc explain model.py:build --graph cora.npz
    """
    from gnnc.api import compile as compile_model
    from gnnc.explanation import explain_module
    from gnnc.model_files import load_model

    program = compile_model(load_model(model, weights), options.read_graph(graph_path, node_table), cost=cost)
    explanation = explain_module(program.module)
    click.echo(json.dumps(explanation.as_json(), indent=1) if as_json else explanation.as_text())
