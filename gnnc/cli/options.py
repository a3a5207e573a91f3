"""Arguments and options that several commands take."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from gnnc.graph import AnyGraph

F = TypeVar("F", bound=Callable[..., Any])
Decorator = Callable[[F], F]

PATH = click.Path(path_type=Path)

artifact = click.argument("artifact", type=PATH, metavar="OUT.gnnc")
model = click.argument("model", metavar="MODEL")
json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")
node_table = click.option(
    "--node-table", type=PATH, metavar="NODES.csv", help="CSV with a row a node: id, features, perhaps y and a split."
)
graph = click.option(
    "--graph", "-g", "graph_path", type=PATH, required=True, metavar="GRAPH", help="Graph file or folder."
)
weights = click.option(
    "--weights", "-w", type=PATH, metavar="WEIGHTS", help="State dict of the model: .safetensors, or .pt."
)
cost = click.option(
    "--cost",
    type=click.Choice(["time", "bytes", "tensors"]),
    default="time",
    show_default=True,
    help="What the cut between layers minimises.",
)
batch_size = click.option("--batch-size", type=int, metavar="N", help="Target nodes a batch.")
memory = click.option(
    "--memory",
    metavar="SIZE",
    help="The most memory to use, such as 512MiB: the device's on cuda, of gnnc's own arrays on cpu.",
)
store = click.option(
    "--store",
    type=PATH,
    metavar="DIR",
    help="Keep what is as large as the graph in this folder, not in memory; go on with an interrupted run.",
)
reorder = click.option(
    "--reorder",
    type=click.Choice(["none", "auto", "stream", "rcmk", "degree", "random"]),
    default="none",
    show_default=True,
    help="Process the nodes in another order, in which batches share inputs.",
)
threads = click.option("--threads", type=int, metavar="N", help="Threads on the host.  [default: as torch has it]")
device = click.option("--device", default="cpu", show_default=True, metavar="DEVICE", help="cpu or cuda.")


def read_graph(path: Path, table: Path | None, scratch: Path | None = None) -> AnyGraph:
    """The graph that a command is given; text is read in pieces into `scratch`."""
    from gnnc.graph import load_graph

    return load_graph(path, table, scratch)
