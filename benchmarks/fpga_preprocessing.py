"""How long it takes, and how much memory, to make the task stream of a GCN for a graph of the size of Reddit.

    python -m benchmarks.fpga_preprocessing [--scale 1.0] [--folder DIR] > preprocessing.md

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
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from scipy.sparse import csr_array
from torch_geometric.nn.models import GCN

import gnnc
from benchmarks.synthetic_graphs import SHAPES
from gnnc.fpga_compile import compile_for_fpga
from gnnc.fpga_program import FpgaProgram
from gnnc.passes.analysis.partition import KernelShape, Limits, algorithm_9
from gnnc.targets.fpga.matrices import Matrix
from gnnc.targets.fpga.plan import Plan
from gnnc.targets.fpga.stream.writer import write_stream
from gnnc.targets.fpga.values import Numbers

HIDDEN = 128


def make_files(folder: Path, scale: float) -> None:
    """A CSR matrix with self-loops, columns that ascend within a row and GCN's values; and dense features."""
    shape, generator = SHAPES["reddit"], np.random.default_rng(0)
    nodes, edges = int(shape.nodes * scale), int(shape.edges * scale)
    degrees = generator.pareto(2.0, nodes) + 0.2
    # a little more than is asked for: double edges are dropped
    drawn = np.maximum(1, (degrees * 1.005 * edges / degrees.sum()).astype(np.int64))
    starts, parts = np.zeros(nodes + 1, np.int64), list[Any]()
    for first in range(0, nodes, 4096):
        last = min(nodes, first + 4096)
        rows = np.concatenate([np.repeat(np.arange(first, last), drawn[first:last]), np.arange(first, last)])
        columns = generator.integers(0, nodes, len(rows))
        columns[first - last :] = np.arange(first, last)
        keys = np.unique(rows * nodes + columns)
        starts[first + 1 : last + 1] = np.bincount(keys // nodes - first, minlength=last - first)
        parts.append((keys % nodes).astype(np.int32))
    starts = np.cumsum(starts)
    np.save(folder / "starts.npy", starts)
    np.save(folder / "columns.npy", np.concatenate(parts))
    norm = np.diff(starts).astype(np.float32) ** -0.5
    values = [
        np.repeat(norm[first : first + 4096], np.diff(starts[first : first + 4097])) * norm[part]
        for first, part in zip(range(0, nodes, 4096), parts, strict=True)
    ]
    np.save(folder / "values.npy", np.concatenate(values))
    features = np.lib.format.open_memmap(folder / "features.npy", "w+", np.float32, (nodes, shape.features))
    for first in range(0, nodes, 4096):
        features[first : first + 4096] = generator.random((min(4096, nodes - first), shape.features), np.float32)


def plan_for(nodes: int) -> tuple[Plan, FpgaProgram]:
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


class Files(Mapping[int, Matrix]):
    """The operands of a plan, each mapped into memory when it is asked for and no longer than it is used."""

    def __init__(self, folder: Path, plan: Plan, numbers: Numbers):
        self.folder = folder
        self.roles = {p: o.role for p, o in enumerate(plan.operands) if o.role != "intermediate"}
        self.weights = {place: numbers.matrix(place) for place, role in self.roles.items() if role == "weight"}

    def __getitem__(self, place: int) -> Matrix:
        if self.roles[place] == "weight":
            return self.weights[place]
        return self.mapped("features") if self.roles[place] == "features" else self.adjacency()

    def __iter__(self) -> Iterator[int]:
        return iter(self.roles)

    def __len__(self) -> int:
        return len(self.roles)

    def mapped(self, name: str) -> Any:
        return np.load(self.folder / f"{name}.npy", mmap_mode="r")

    def adjacency(self) -> Matrix:
        starts = np.load(self.folder / "starts.npy")
        matrix = csr_array((len(starts) - 1, len(starts) - 1), dtype=np.float32)
        matrix.data, matrix.indices, matrix.indptr = self.mapped("values"), self.mapped("columns"), starts
        return matrix


def measure(folder: Path) -> None:
    torch.set_num_threads(1)
    nodes = len(np.load(folder / "starts.npy")) - 1
    plan, program = plan_for(nodes)
    files = Files(folder, plan, program.numbers(program.graph_for(None)))
    before = peak()
    begin, cpu = time.perf_counter(), time.process_time()
    file = folder / "stream.bin"
    write_stream(file, plan, program.architecture, files)
    seconds, cpu = time.perf_counter() - begin, time.process_time() - cpu
    edges = len(files.mapped("columns"))
    print("## Preprocessing of the full Reddit shape\n")
    print(
        f"From CSR files to a stream on disk, one thread: {nodes:,} nodes, {edges:,} edges, N1 {plan.n1}, N2 {plan.n2};"
        f"\n{cpu:.1f} s of one processor, {seconds:.1f} s by the clock (other programs ran beside), stream "
        f"{file.stat().st_size / 1e9:.2f} GB,\npeak memory {peak():.2f} GiB, mapped files counted, {before:.2f} GiB "
        "of it before."
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
