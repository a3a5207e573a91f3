"""Outputs of the simulator against the eager model: every model, real graph, order, mapping, loads and schedule.

    python -m benchmarks.fpga_exactness FOLDER [--graph cora ...] > exactness.md

FOLDER is as for benchmarks.dynasparse. NELL's features take 16 GB when they are dense, so there the eager model meets
them a slice of columns at a time: see benchmarks.feature_slices.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from pathlib import Path
from typing import Any

import numpy as np
import torch

import gnnc
from benchmarks.dynasparse import MODELS, ORDERS, graph_of, model_of
from benchmarks.dynasparse_tables import table
from benchmarks.feature_slices import eager_by_slices
from gnnc.fpga_compile import compile_for_fpga
from gnnc.targets.fpga.loads import LOADS
from gnnc.targets.fpga.pairs import MAPPINGS
from gnnc.targets.fpga.schedule import SCHEDULES
from gnnc.targets.fpga.simulator import Setting, simulate

GRAPHS = ("cora", "citeseer", "pubmed", "nell")
LIMIT = 1e-4
HEAD = """## Outputs against the eager model

Every model, real graph, order of products, mapping, loads and schedule. The error is the largest difference over the
largest output. NELL's features don't fit the machine when they are dense: its eager model meets them 512 columns at a
time, adds up what its first linear layers make of each slice, and goes on from the sums.
"""


def eager(model: torch.nn.Module, graph: gnnc.Graph) -> Any:
    """What the eager model computes for all nodes."""
    edges = torch.as_tensor(np.asarray(graph.edge_index))
    if not isinstance(graph.stored_x, np.ndarray):
        return eager_by_slices(model, graph.stored_x, edges)
    with torch.no_grad():
        return model(torch.as_tensor(graph.stored_x), edges).numpy()


def largest_error(name: str, kind: str, folder: Path) -> tuple[int, int, float]:
    """How many runs there were, how many nodes each was compared on, and the largest error over the largest output."""
    graph = graph_of(name, folder, 1.0)
    model = model_of(name, kind, graph, folder)
    expected = eager(model, graph)
    runs, worst = 0, 0.0
    for order in ORDERS:
        program = compile_for_fpga(model, graph, order=order)
        numbers = program.numbers(graph)
        for mapping, loads, schedule in itertools.product(MAPPINGS, LOADS, SCHEDULES):
            run = simulate(numbers, program.plan, program.architecture, Setting(mapping, loads, schedule))
            assert all(run.cycles >= bound for bound in run.bounds().values())
            worst = max(worst, float(np.abs(run.outputs[0] - expected).max() / np.abs(expected).max()))
            runs += 1
    return runs, len(expected), worst


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
