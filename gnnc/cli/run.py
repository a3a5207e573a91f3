"""gnnc run."""

from __future__ import annotations

from pathlib import Path

import click

from gnnc.cli import options


@click.command("run")
@options.artifact
@options.graph
@options.node_table
@click.option(
    "--output", "-o", type=options.PATH, required=True, metavar="EMB.npy", help="What to write: .npy, .npz or .csv."
)
@click.option(
    "--nodes",
    "nodes_path",
    type=options.PATH,
    metavar="IDS.npy",
    help="Only these nodes, in this order: .npy, .txt, or .npz with ids by node type.",
)
@options.batch_size
@options.memory
@options.store
@options.reorder
@click.option("--fanout", metavar="N,N,…", help="Neighbours to draw a node, for each layer; -1 for all.")
@click.option("--seed", type=int, default=0, show_default=True, help="Which neighbours --fanout draws.")
@options.device
@options.threads
@click.option("--report", type=options.PATH, metavar="R.json|R.html", help="Write what each block and batch took.")
def command(
    artifact: Path,
    graph_path: Path,
    node_table: Path | None,
    output: Path,
    nodes_path: Path | None,
    batch_size: int | None,
    memory: str | None,
    store: Path | None,
    reorder: str,
    fanout: str | None,
    seed: int,
    device: str,
    threads: int | None,
    report: Path | None,
) -> None:
    """Run an artifact on a graph and write what the model returns, for every node. Several outputs go into an .npz.

    A .csv has the id of each node in its first column. Beside an .npy or .npz of a graph with ids of its own, the file
    EMB.ids.csv says which row belongs to which id.

    \b
    gnnc run cora.gnnc --graph cora.npz -o embeddings.npy
    gnnc run out.gnnc -g edges.csv --node-table nodes.csv -o scores.csv --nodes ids.txt
    gnnc run out.gnnc -g graph.npz -o sampled.npy --fanout 10,10 --seed 1
    gnnc run out.gnnc -g folder-of-npy -o embeddings.npy --store scratch --memory 512MiB --report run.html
    """
    from gnnc.api import load
    from gnnc.output_files import check_output, read_node_list, write_outputs
    from gnnc.outputs import flatten, output_names
    from gnnc.run_reports import check_report, write_report
    from gnnc.sampling import fan_outs_of_text

    check_output(output)
    if report is not None:
        check_report(report, budgeted=memory is not None or store is not None)
    fan_outs = None if fanout is None else fan_outs_of_text(fanout)
    program = load(artifact)
    graph = options.read_graph(graph_path, node_table, store)
    nodes = None if nodes_path is None else read_node_list(nodes_path, graph)
    result = program.run(
        graph=graph,
        nodes=nodes,
        batch_size=batch_size,
        memory=memory,
        store=store,
        reorder=reorder,
        fanout=fan_outs,
        seed=seed,
        device=device,
        threads=threads,
    )
    arrays = dict(zip(output_names(program.outputs), flatten(program.outputs, result), strict=True))
    for file in write_outputs(output, arrays, program.output_rows(), graph, nodes):
        click.echo(file)
    if report is not None:
        write_report(report, program.report)
        click.echo(report)
