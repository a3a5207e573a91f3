"""A sum over neighbors alone, against MKL and a kernel written by hand in numba.

    python -m benchmarks.spmm [--nodes 100000] [--edges 2000000] [--width 128] [--threads 2] [--repeats 7]

All contestants get the same graph and float32 rows, take turns, and must agree. `kernel` is gnnc's machine code,
`program` a whole run around it with memory of its own for the result; the others write into memory that is there, as
the kernel does. numba takes part where it is installed. The floor is what the machine's memory needs for the bytes that
can't be avoided: rows and edges read once, results written once. `gathered` counts a row for every edge.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from importlib import import_module
from typing import Any

import torch

import gnnc
from benchmarks.generated_graphs import Shape, generate
from gnnc.dialects.gnn import End
from gnnc.targets.gpu.csr import whole_csr
from gnnc.targets.gpu.kernels.kernel import Kernel

TOLERANCE = 1e-4


class SumOfNeighbors(torch.nn.Module):
    """What a Conv does between two products."""

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        source, target = edge_index
        return torch.zeros_like(x).index_add(0, target, x[source])


def contestants(x: torch.Tensor, edge_index: torch.Tensor, threads: int) -> dict[str, Callable[[], torch.Tensor]]:
    program = gnnc.compile(SumOfNeighbors().eval(), gnnc.Graph(x=x, edge_index=edge_index))
    count = x.shape[0]
    ones = torch.ones(edge_index.shape[1])
    adjacency = torch.sparse_coo_tensor(edge_index.flip(0), ones, (count, count)).to_sparse_csr()
    into = torch.empty_like(x)
    runs: dict[str, Callable[[], torch.Tensor]] = {
        "kernel": kernel_of(program, x, torch.empty_like(x), threads),
        "program": lambda: program.run(threads=threads),
        "mkl": lambda: torch.mm(adjacency, x, out=into),
    }
    by_hand = numba_kernel(threads)
    if by_hand is not None:
        offsets, neighbors = adjacency.crow_indices().numpy(), adjacency.col_indices().int().numpy()
        rows, result = x.numpy(), torch.empty_like(x).numpy()
        runs["numba"] = lambda: torch.from_numpy(by_hand(offsets, neighbors, rows, result))
    return runs


def kernel_of(program: gnnc.Program, x: torch.Tensor, out: torch.Tensor, threads: int) -> Callable[[], torch.Tensor]:
    """The one kernel of a program, as its executor calls it for all rows."""
    program.run()
    (kernel,) = program.executor("cpu").kernels.values()
    assert isinstance(kernel, Kernel)
    edges = program.structure(program.graph_for(None), {})[0]
    csr = whole_csr(edges, End.TARGET)
    return lambda: kernel(csr, [x], [out], threads)[0]


def numba_kernel(threads: int) -> Any:
    """A loop over rows in parallel, edges inside, features innermost; None without numba."""
    try:
        compiler: Any = import_module("numba")
    except ImportError:
        return None
    compiler.set_num_threads(threads)

    def kernel(offsets: Any, neighbors: Any, x: Any, out: Any) -> Any:
        for row in compiler.prange(len(offsets) - 1):
            for k in range(x.shape[1]):
                out[row, k] = 0.0
            for edge in range(offsets[row], offsets[row + 1]):
                neighbor = neighbors[edge]
                for k in range(x.shape[1]):
                    out[row, k] += x[neighbor, k]
        return out

    return compiler.njit(parallel=True, fastmath=True)(kernel)


def measured(runs: dict[str, Callable[[], torch.Tensor]], repeats: int) -> dict[str, tuple[list[float], list[float]]]:
    """Seconds by the clock and of the processor, in turns, after one run each that must agree with the first."""
    expected = next(iter(runs.values()))().clone()
    for name, run in runs.items():
        error = float((run() - expected).abs().max() / expected.abs().max())
        if error > TOLERANCE:
            raise SystemExit(f"{name} is wrong by {error:.1e}")
    seconds: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in runs}
    for _ in range(repeats):
        for name, run in runs.items():
            begun, used = time.perf_counter(), time.process_time()
            run()
            seconds[name][0].append(time.perf_counter() - begun)
            seconds[name][1].append(time.process_time() - used)
    return seconds


def read_bandwidth(threads: int) -> float:
    """Bytes a second that the machine copies, reads and writes together."""
    torch.set_num_threads(threads)
    a, b = torch.zeros(2**26), torch.zeros(2**26)
    best = min(timed(lambda: b.copy_(a)) for _ in range(5))
    return 2 * a.numel() * 4 / best


def timed(run: Callable[[], Any]) -> float:
    begun = time.perf_counter()
    run()
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description="Times a sum over neighbors.")
    for name, default in (("nodes", 100_000), ("edges", 2_000_000), ("width", 128), ("threads", 2), ("repeats", 7)):
        parser.add_argument(f"--{name}", type=int, default=default)
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    graph = generate(Shape(a.nodes, a.edges, a.width, 2))
    x, edge_index = torch.as_tensor(graph.x), torch.as_tensor(graph.edge_index)
    seconds = measured(contestants(x, edge_index, a.threads), a.repeats)
    edges = edge_index.shape[1]
    floor = (2 * x.numel() * 4 + edges * 4) / read_bandwidth(a.threads)
    own = seconds["kernel"]
    print(f"{a.nodes:,} nodes, {edges:,} edges, {a.width} features, {a.threads} threads; floor {floor * 1e3:.1f} ms\n")
    print("| | clock, ms | processor, ms | gathered, GB/s | to the kernel, by the clock | of the processor |")
    print("|---|---|---|---|---|---|")
    for name, (wall, processor) in seconds.items():
        rate = edges * a.width * 4 / min(wall) / 1e9
        print(
            f"| {name} | {min(wall) * 1e3:.1f} | {min(processor) * 1e3:.1f} | {rate:.1f} "
            f"| {min(wall) / min(own[0]):.1f}x | {min(processor) / min(own[1]):.1f}x |"
        )


if __name__ == "__main__":
    main()
