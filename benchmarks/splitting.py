"""What the price of a cut decides: a widening GAT layer, split by time, bytes and tensors.

    python -m benchmarks.splitting [--nodes 30000] [--edges 900000] [--batch-size 500]

A GAT layer 96 -> 2 x 64 on a random graph. Prints, for each price, how many rows went through matrix products (the
projection, once a node or once a neighbour), the time of a run, and the largest error against the model itself.
"""

from __future__ import annotations

import argparse
import time
from typing import Any, Self, get_args
from unittest.mock import patch

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch_geometric.nn import GATConv

import gnnc
from gnnc.passes.analysis.cost_model import CostKind
from gnnc.targets.gpu.kernels import dense_product

REPEATS = 3


PRODUCTS = tuple(getattr(op, form) for op in (torch.ops.aten.mm, torch.ops.aten.addmm) for form in ("default", "out"))


class CountMatmulRows(TorchDispatchMode):
    """Counts the rows that go through matrix products while it is active, all of them torch's."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = 0
        self.by_torch = patch.object(dense_product, "has_registers", lambda: False)

    def __enter__(self) -> Self:
        self.by_torch.start()
        return super().__enter__()

    def __exit__(self, *error: Any) -> None:
        super().__exit__(*error)
        self.by_torch.stop()

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        if func in PRODUCTS:
            self.rows += args[-2].shape[0]
        return func(*args, **(kwargs or {}))


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares how a widening GAT layer is split by each price.")
    parser.add_argument("--nodes", type=int, default=30_000)
    parser.add_argument("--edges", type=int, default=900_000)
    parser.add_argument("--batch-size", type=int, default=500)
    arguments = parser.parse_args()

    torch.manual_seed(0)
    model = GATConv(96, 64, heads=2).eval()
    x = torch.randn(arguments.nodes, 96)
    graph = gnnc.Graph(x=x, edge_index=torch.randint(0, arguments.nodes, (2, arguments.edges)))
    with torch.no_grad():
        expected = model(x, graph.edge_index)
    kinds: tuple[CostKind, ...] = get_args(CostKind)
    programs = {cost: gnnc.compile(model, graph, cost=cost) for cost in kinds}
    seconds: dict[str, list[float]] = {cost: [] for cost in kinds}
    rows: dict[str, int] = {}
    for cost, program in programs.items():
        with CountMatmulRows() as counted:
            result = program.run(batch_size=arguments.batch_size)
        rows[cost] = counted.rows
        assert float((result - expected).abs().max()) <= 1e-4 * float(expected.abs().max())
    for _ in range(REPEATS):
        for cost, program in programs.items():
            start = time.perf_counter()
            program.run(batch_size=arguments.batch_size)
            seconds[cost].append(time.perf_counter() - start)
    print(f"GAT 96 -> 2 x 64, {arguments.nodes:,} nodes, {arguments.edges:,} edges, batches of {arguments.batch_size}")
    for cost in kinds:
        share = rows[cost] / arguments.nodes
        print(f"cost={cost:8} {rows[cost]:9,} rows projected ({share:5.2f} a node)  {min(seconds[cost]):6.2f} s")


if __name__ == "__main__":
    main()
