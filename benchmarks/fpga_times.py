"""How long simulations take: a GCN on Cora, NELL and Flickr's shape, from the graph to outputs and cycles.

    python -m benchmarks.fpga_times FOLDER > times.md

FOLDER is as for benchmarks.dynasparse. One thread; compiling and reading files are not counted.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import torch

from benchmarks.dynasparse import ORDERS, graph_of, model_of
from benchmarks.dynasparse_tables import table
from gnnc.fpga_compile import compile_for_fpga
from gnnc.targets.fpga.loads import Loads
from gnnc.targets.fpga.simulator import Setting, simulate

LIMITS = {"cora": 1, "nell": 10, "flickr": 15}  # seconds
MODES: tuple[Loads, ...] = ("literal", "lean")
HEAD = """## Time of a simulation

A GCN, from the graph to outputs and cycles, one thread; compiling and reading files are not counted. Other programs may
run beside: seconds of the processor, and by the clock.
"""


def main() -> int:
    parser = argparse.ArgumentParser(description="How long simulations take.")
    parser.add_argument("folder", type=Path, help="folder with node/ and weights/")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    rows: list[list[str]] = []
    late = False
    for name, limit in LIMITS.items():
        graph = graph_of(name, arguments.folder, 1.0)
        model = model_of(name, "gcn", graph, arguments.folder)
        for order in ORDERS:
            program = compile_for_fpga(model, graph, order=order)
            for loads in MODES:
                begin, cpu = time.perf_counter(), time.process_time()
                simulate(program.numbers(graph), program.plan, program.architecture, Setting(loads=loads))
                seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
                late |= cpu > limit
                rows.append([name, order, loads, f"{cpu:.2f}", f"{seconds:.2f}", str(limit)])
    print(HEAD)
    print(table(["graph", "order", "loads", "processor, s", "clock, s", "at most, s"], rows))
    return 1 if late else 0


if __name__ == "__main__":
    sys.exit(main())
