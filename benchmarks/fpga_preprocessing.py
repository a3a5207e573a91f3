"""How long it takes, and how much memory, to make the task stream of a GCN for a graph of the size of Reddit.

    python -m benchmarks.fpga_preprocessing [--scale 1.0] [--folder DIR]

The graph is synthetic, with Reddit's nodes, edges and features. It lies in files, as CSR sorted by target, that the
measured process maps into memory; making it is not measured. What is measured is a process of its own on one thread,
from those files to a stream on disk. Peak memory counts mapped pages, too.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch
from torch_geometric.nn.models import GCN

import gnnc
from benchmarks.synthetic_graphs import SHAPES
from gnnc.fpga_program import compile_for_fpga
from gnnc.passes.analysis.partition import KernelShape, Limits, algorithm_9
from gnnc.targets.fpga.plan import Plan
from gnnc.targets.fpga.stream.writer import write_stream

HIDDEN = 128


def make_files(folder: Path, scale: float) -> None:
    """A CSR matrix with columns that ascend within a row, GCN's values, and dense features."""
    shape, generator = SHAPES["reddit"], np.random.default_rng(0)
    nodes, edges = int(shape.nodes * scale), int(shape.edges * scale)
    degrees = generator.pareto(2.0, nodes) + 0.2
    counts = np.maximum(1, (degrees * edges / degrees.sum()).astype(np.int64))
    starts = np.concatenate([[0], np.cumsum(counts)])
    np.save(folder / "starts.npy", starts)
    columns = np.lib.format.open_memmap(folder / "columns.npy", "w+", np.int32, (int(starts[-1]),))
    values = np.lib.format.open_memmap(folder / "values.npy", "w+", np.float32, (int(starts[-1]),))
    norm = counts.astype(np.float32) ** -0.5
    for first in range(0, nodes, 4096):
        last = min(nodes, first + 4096)
        part = slice(int(starts[first]), int(starts[last]))
        rows = np.repeat(np.arange(first, last), counts[first:last])
        drawn = generator.integers(0, nodes, len(rows))
        drawn = drawn[np.lexsort((drawn, rows))]
        columns[part], values[part] = drawn, norm[rows] * norm[drawn]
    features = np.lib.format.open_memmap(folder / "features.npy", "w+", np.float32, (nodes, shape.features))
    for first in range(0, nodes, 4096):
        features[first : first + 4096] = generator.random((min(4096, nodes - first), shape.features), np.float32)


def plan_for(nodes: int) -> tuple[Plan, gnnc.Program]:
    """The plan of a GCN for so many nodes, partitioned by Algorithm 9, and the program of a small graph it is from."""
    shape = SHAPES["reddit"]
    small = gnnc.Graph(x=np.ones((64, shape.features), np.float32), edge_index=np.zeros((2, 1), np.int64))
    program = compile_for_fpga(GCN(shape.features, HIDDEN, 2, shape.classes).eval(), small, order="A_HW")
    a = program.architecture
    shapes = [KernelShape(kernel.kind, nodes, kernel.width) for kernel in program.plan.kernels]
    n1, n2 = algorithm_9(shapes, Limits(a.p_sys, a.cores, a.n_max, 4))
    kernels, first = [], 0
    for kernel in program.plan.kernels:
        fusion = max(1, min(-(-kernel.width // n2), a.result_buffer_bytes // (4 * kernel.height(n1, n2) * n2)))
        kernels.append(replace(kernel, first_task=first, fusion=fusion))
        first += -(-nodes // kernel.height(n1, n2)) * -(-kernel.width // n2)
    return replace(program.plan, nodes=nodes, n1=n1, n2=n2, kernels=tuple(kernels)), program


def measure(folder: Path) -> None:
    from scipy.sparse import csr_array

    torch.set_num_threads(1)
    starts = np.load(folder / "starts.npy")
    nodes = len(starts) - 1
    plan, program = plan_for(nodes)
    numbers = program.numbers(program.graph_for(None))  # pyright: ignore[reportAttributeAccessIssue]  # an FPGA program
    base = peak()
    begin, cpu = time.perf_counter(), time.process_time()
    columns, values = (np.load(folder / f"{name}.npy", mmap_mode="r") for name in ("columns", "values"))
    adjacency = csr_array((nodes, nodes), dtype=np.float32)
    adjacency.data, adjacency.indices, adjacency.indptr = values, columns, starts
    matrices = {}
    for place, operand in enumerate(plan.operands):
        if operand.role == "adjacency":
            matrices[place] = adjacency
        elif operand.role == "features":
            matrices[place] = np.load(folder / "features.npy", mmap_mode="r")
        elif operand.role == "weight":
            matrices[place] = numbers.matrix(place)
    file = folder / "stream.bin"
    write_stream(file, plan, program.architecture, matrices)  # pyright: ignore[reportAttributeAccessIssue]  # as above
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    print(
        f"{nodes:,} nodes, {len(columns):,} edges, N1 {plan.n1}, N2 {plan.n2}: {seconds:.1f} s ({cpu:.1f} s of CPU), "
        f"stream {file.stat().st_size / 1e9:.2f} GB, peak memory {peak():.2f} GiB, {base:.2f} GiB of it before"
    )


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def main() -> int:
    parser = argparse.ArgumentParser(description="Preprocessing of a graph of Reddit's size.")
    parser.add_argument("--scale", type=float, default=1.0)
    parser.add_argument("--folder", type=Path, help="where to put the files; a temporary folder if not given")
    parser.add_argument("--measure", action="store_true", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.measure:
        measure(arguments.folder)
        return 0
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        make_files(Path(folder), arguments.scale)
        command = [sys.executable, "-m", "benchmarks.fpga_preprocessing", "--folder", folder, "--measure"]
        environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        return subprocess.run(command, check=False, env=environment).returncode


if __name__ == "__main__":
    sys.exit(main())
