"""Reddit's full shape in the simulator: values of every node, dynamic mapping, literal and lean loads. Uncalibrated.

    python -m benchmarks.fpga_reddit [--model gcn sage] [--order A_HW AH_W] [--scale 1.0] > reddit.md

The graph is synthetic, as for benchmarks.dynasparse, and made once. Each model and order runs in a process of its own,
of which the peak memory counts. The outputs are compared with gnnc's batched executor: the messages of a layer of PyG
would take 59 GB.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import gnnc
from benchmarks.dynasparse import MODELS, ORDERS, largest_error, model_of
from benchmarks.dynasparse_tables import table
from benchmarks.synthetic_graphs import synthetic_graph
from gnnc.fpga_compile import compile_for_fpga
from gnnc.passes.analysis.linear_forms import Order
from gnnc.targets.fpga.simulator import Setting, simulate

HEAD = """## Reddit at full size

Dynamic mapping, the sizes of Algorithm 9, random weights. All nodes are compared with the batched executor, for PyG's
messages would take 59 GB. Seconds are the processor's: of the simulation with both loads, and of everything, compiling
and the executor's run included. The tiles of N1 = 16, which a search would try, are about as many as the edges, so
sizes are not searched.
"""
COLUMNS = ["model", "order", "N1, N2", "literal", "lean", "literal / lean", "lean / floor", "error"]
FIGURES = ["simulation, s", "all, s", "GiB at most"]


def save_graph(folder: Path, scale: float) -> None:
    """The graph as arrays, so that it is made once."""
    graph = synthetic_graph("reddit", scale)
    np.save(folder / "x.npy", graph.stored_x)
    np.save(folder / "edges.npy", np.asarray(graph.edge_index))
    np.save(folder / "y.npy", np.asarray(graph.y))


def run_case(folder: Path, kind: str, order: Order) -> dict[str, Any]:
    """The figures of one model and order."""
    x, edges, y = (np.load(folder / f"{name}.npy", mmap_mode="c") for name in ("x", "edges", "y"))
    graph = gnnc.Graph(x=x, edge_index=edges, y=y)
    model = model_of("reddit", kind, graph, folder)
    program = compile_for_fpga(model, graph, order=order)
    begin = time.process_time()
    numbers = program.numbers(graph)
    runs = [
        simulate(numbers, program.plan, program.architecture, Setting(loads=loads)) for loads in ("literal", "lean")
    ]
    simulated = time.process_time() - begin
    outputs = runs[1].outputs
    del numbers
    error = largest_error(outputs, [tensor.numpy() for tensor in program.expected(graph)])
    return {
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "sizes": f"{program.plan.n1}, {program.plan.n2}",
        "literal": runs[0].cycles,
        "lean": runs[1].cycles,
        "floor": runs[1].floor(),
        "error": error,
        "simulated": simulated,
        "seconds": time.process_time(),
        "gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20,
    }


def row_of(kind: str, order: str, r: dict[str, Any]) -> list[str]:
    ratios = [f"{r['literal'] / r['lean']:.1f}", f"{r['lean'] / r['floor']:.2f}"]
    spent = [f"{r['simulated']:.0f}", f"{r['seconds']:.0f}", f"{r['gib']:.1f}"]
    counts = [f"{r['literal']:,}", f"{r['lean']:,}"]
    return [kind, order, r["sizes"], *counts, *ratios, f"{r['error']:.1e}", *spent]


def main() -> int:
    parser = argparse.ArgumentParser(description="Reddit's full shape in the simulator.")
    parser.add_argument("--model", nargs="+", default=["gcn", "sage"], choices=list(MODELS))
    parser.add_argument("--order", nargs="+", default=list(reversed(ORDERS)), choices=ORDERS)
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--folder", type=Path, help="where to put the graph; a temporary folder if not given")
    parser.add_argument("--case", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        print(json.dumps(run_case(arguments.folder, *arguments.case)))
        return 0
    rows: list[list[str]] = []
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        save_graph(Path(folder), arguments.scale)
        for order in arguments.order:
            for kind in arguments.model:
                command = [sys.executable, "-m", "benchmarks.fpga_reddit", "--folder", folder, "--case", kind, order]
                done = subprocess.run(command, check=False, stdout=subprocess.PIPE, text=True)
                if done.returncode:
                    failed = f"failed with {done.returncode}"
                    rows.append([kind, order, failed, *["-"] * (len(COLUMNS) + len(FIGURES) - 3)])
                else:
                    rows.append(row_of(kind, order, json.loads(done.stdout)))
                print(*rows[-1], file=sys.stderr, sep=" | ", flush=True)
    print(HEAD)
    print(table([*COLUMNS, *FIGURES], rows))
    return 1 if any("failed" in row[2] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
