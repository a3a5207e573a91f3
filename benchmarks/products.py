"""Products of rows with a small weight: gnnc's kernel against torch's, which is MKL on most processors.

    python -m benchmarks.products [--rows 2048 170000] [--threads 1] [--repeats 7]

Both write `x @ weight.T + bias` into memory that is there, take turns, and must agree. 2,048 rows of 128 numbers are
what a batch has, and stay in the second-level cache; 170,000 come from memory.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable

import torch

from gnnc.targets.gpu.kernels.dense_product import dense_product

SHAPES = (
    (16, 7), (16, 16), (64, 64), (100, 128), (128, 7), (128, 16), (128, 40), (128, 47), (128, 64), (128, 100),
    (128, 128), (128, 256), (256, 128), (256, 256), (500, 128), (512, 512), (1433, 16), (1433, 128),
)  # fmt: skip
"""Numbers of a row of x, and of the result."""

TOLERANCE = 1e-5
SECONDS = 0.05
"""So long each turn of a contestant takes, at least."""


def measured(rows: int, depth: int, columns: int, repeats: int) -> tuple[float, float]:
    """GFLOP/s of the processor, of torch's product and of the kernel."""
    generator = torch.Generator().manual_seed(0)
    x, weight = (torch.randn(count, depth, generator=generator) for count in (rows, columns))
    bias, out, into = torch.randn(columns, generator=generator), torch.empty(rows, columns), torch.empty(rows, columns)
    runs = (
        lambda: torch.addmm(bias, x, weight.t(), out=out),
        lambda: dense_product(x, weight, bias, into),
    )
    for run in runs:
        run()
    if float((out - into).abs().max()) > TOLERANCE * float(out.abs().max()):
        raise SystemExit(f"the kernel is wrong at {depth} and {columns}")
    times = [min(times) for times in zip(*([seconds(run) for run in runs] for _ in range(repeats)), strict=True)]
    work = 2 * rows * depth * columns / 1e9
    return work / times[0], work / times[1]


def seconds(run: Callable[[], object]) -> float:
    """Of the processor, for one product."""
    begun, used, count = time.perf_counter(), time.process_time(), 0
    while time.perf_counter() - begun < SECONDS:
        run()
        count += 1
    return (time.process_time() - used) / count


def main() -> None:
    parser = argparse.ArgumentParser(description="Times products of rows with a small weight.")
    parser.add_argument("--rows", type=int, nargs="+", default=[2048, 170_000])
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=7)
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    print("| weight | " + " | ".join(f"{rows:,} rows: torch | kernel | ratio" for rows in a.rows) + " |")
    print("|---|" + "---|---|---|" * len(a.rows))
    for depth, columns in SHAPES:
        rates = [measured(rows, depth, columns, a.repeats) for rows in a.rows]
        cells = [f"{torchs:.0f} | {own:.0f} | {own / torchs:.2f}x" for torchs, own in rates]
        print(f"| {depth} to {columns} | {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
