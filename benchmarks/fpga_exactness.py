"""Outputs of the simulator against the eager model: every model, real graph, order, mapping, loads and schedule.

    python -m benchmarks.fpga_exactness FOLDER [--graph cora ...] > exactness.md

FOLDER is as for benchmarks.dynasparse. NELL's features take 16 GB when they are dense, so there the eager model runs on
some nodes with all that reaches them: the graph that edges of three hops induce, which leaves the degrees of all nodes
within two hops, and so the outputs of two layers, as they are.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch_geometric.utils import k_hop_subgraph

import gnnc
from benchmarks.dynasparse import MODELS, ORDERS, graph_of, model_of
from benchmarks.dynasparse_tables import table
from gnnc.fpga_program import compile_for_fpga
from gnnc.targets.fpga.loads import LOADS
from gnnc.targets.fpga.pairs import MAPPINGS
from gnnc.targets.fpga.schedule import SCHEDULES
from gnnc.targets.fpga.simulator import Setting, simulate

GRAPHS = ("cora", "citeseer", "pubmed", "nell")
LIMIT = 1e-4
HEAD = """## Outputs against the eager model

Every model, real graph, order of products, mapping, loads and schedule. The error is the largest difference over the
largest output. NELL is compared on the few nodes, of random ones, whose eager graph fits the machine; all of its nodes
are compared with the same kernels in double precision in the tables above.
"""
SEEDS, MOST_NODES = 256, 6000  # of NELL


def eager(model: torch.nn.Module, graph: gnnc.Graph) -> tuple[Any, Any]:
    """Nodes and what the eager model computes for them."""
    edges = torch.as_tensor(np.asarray(graph.edge_index))
    if isinstance(graph.stored_x, np.ndarray):
        with torch.no_grad():
            return np.arange(graph.num_nodes), model(torch.as_tensor(graph.stored_x), edges).numpy()
    seeds = torch.as_tensor(np.random.default_rng(0).permutation(graph.num_nodes)[:SEEDS])
    while True:
        nodes, inner, places, _ = k_hop_subgraph(seeds, 3, edges, relabel_nodes=True, num_nodes=graph.num_nodes)
        if len(nodes) <= MOST_NODES:
            break
        seeds = seeds[: len(seeds) * 3 // 4]
    x = torch.from_numpy(graph.stored_x[nodes.numpy()].toarray())
    with torch.no_grad():
        return seeds.numpy(), model(x, inner)[places].numpy()


def largest_error(name: str, kind: str, folder: Path) -> tuple[int, int, float]:
    """How many runs there were, how many nodes each was compared on, and the largest error over the largest output."""
    graph = graph_of(name, folder, 1.0)
    model = model_of(name, kind, graph, folder)
    nodes, expected = eager(model, graph)
    runs, worst = 0, 0.0
    for order in ORDERS:
        program = compile_for_fpga(model, graph, order=order)
        numbers = program.numbers(graph)
        for mapping, loads, schedule in itertools.product(MAPPINGS, LOADS, SCHEDULES):
            run = simulate(numbers, program.plan, program.architecture, Setting(mapping, loads, schedule))
            assert all(run.cycles >= bound for bound in run.bounds().values())
            worst = max(worst, float(np.abs(run.outputs[0][nodes] - expected).max() / np.abs(expected).max()))
            runs += 1
    return runs, len(nodes), worst


def main() -> int:
    parser = argparse.ArgumentParser(description="Outputs of the simulator against the eager model.")
    parser.add_argument("folder", type=Path, help="folder with node/ and weights/")
    parser.add_argument("--graph", nargs="+", default=list(GRAPHS), choices=GRAPHS)
    arguments = parser.parse_args()
    rows: list[tuple[object, ...]] = []
    for name, kind in itertools.product(arguments.graph, MODELS):
        runs, nodes, error = largest_error(name, kind, arguments.folder)
        rows.append((name, kind, runs, f"{nodes:,}", f"{error:.1e}"))
        print(*rows[-1], "" if error <= LIMIT else "TOO LARGE", file=sys.stderr, flush=True)
    print(HEAD)
    print(table(["graph", "model", "runs", "nodes compared", "largest error"], rows))
    return 1 if any(float(str(row[-1])) > LIMIT for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
