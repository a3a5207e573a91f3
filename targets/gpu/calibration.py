"""Products measured on this machine: once, and kept on disk under the processor, torch and the number of threads."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import torch

from gnnc.passes.analysis.product_prices import ProductPrices
from gnnc.targets.gpu.kernels import cache
from gnnc.targets.gpu.kernels.dense_product import dense_product
from gnnc.targets.gpu.kernels.machine import cpu
from gnnc.targets.gpu.sparse_rows import sparse_rows
from gnnc.targets.gpu.workers import torch_threads

COLUMNS, WIDTHS = (32, 128, 512, 2048, 8192), (16, 64, 128, 256)
ROWS = 2048
DENSITIES = (0.02, 0.3)
"""The times of sparse rows at two densities lie on a line, which meets that of the dense product."""

SECONDS, FEWEST_TURNS, MOST_TURNS = 0.2, 4, 100
ATTEMPTS = 3


class BusyMachineError(Exception):
    """Other work on the machine has spoilt the times."""


def measure(threads: int, *, columns: tuple[int, ...] = COLUMNS, widths: tuple[int, ...] = WIDTHS) -> ProductPrices:
    """Measures products of all these sizes, in about ten seconds. Raises BusyMachineError where that can't be done."""
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad(), torch_threads(threads):
        cells = [measured(c, w, generator) for c in columns for w in widths]
    return ProductPrices(columns, widths, tuple(dense for dense, _ in cells), tuple(at for _, at in cells))


def measured(columns: int, width: int, generator: torch.Generator) -> tuple[float, float]:
    """Picoseconds of an operation of the dense product, and the density at which sparse rows take as long. Raises
    BusyMachineError if the times make no sense, several times over."""
    x = torch.randn(ROWS, columns, generator=generator)
    weight, out = torch.randn(width, columns, generator=generator), torch.empty(ROWS, width)
    draw = torch.rand(ROWS, columns, generator=generator)
    some, more = (sparse_rows(torch.where(draw < density, x, 0)) for density in DENSITIES)
    for _ in range(ATTEMPTS):
        dense, low, high = seconds(
            lambda: dense_product(x, weight, None, out) or torch.mm(x, weight.t(), out=out),
            lambda: some.times(weight, None, out),
            lambda: more.times(weight, None, out),
        )
        crossover = DENSITIES[0] + (dense - low) / max(high - low, 1e-12) * (DENSITIES[1] - DENSITIES[0])
        if low < high and DENSITIES[0] / 2 < crossover < 1:
            return round(dense / (2 * ROWS * columns * width) * 1e12, 2), round(crossover, 3)
    raise BusyMachineError


def seconds(*works: Callable[[], object]) -> list[float]:
    """The least time of each piece of work, in turns: small ones more often, for SECONDS in all."""
    times = [float("inf")] * len(works)
    end, turns = time.perf_counter() + SECONDS, 0
    while turns < FEWEST_TURNS or (time.perf_counter() < end and turns < MOST_TURNS):
        for place, work in enumerate(works):
            start = time.perf_counter()
            work()
            times[place] = min(times[place], time.perf_counter() - start)
        turns += 1
    return times


def place_of_prices(threads: int) -> Path | None:
    """Where the prices of this machine lie, or None where nothing can be kept."""
    folder = cache.folder("calibration")
    return None if folder is None else folder / f"{cache.key_of(cpu(), torch.__version__, str(threads))}.json"


def keep(prices: ProductPrices, threads: int) -> Path | None:
    """Writes prices where `known_prices` finds them."""
    path = place_of_prices(threads)
    if path is not None:
        cache.write(path, json.dumps(asdict(prices)).encode())
    return path


def known_prices(threads: int) -> ProductPrices | None:
    """What has been measured on this machine; None if nothing has, or if the file is damaged."""
    path = place_of_prices(threads)
    if path is None or not path.is_file():
        return None
    try:
        record = json.loads(path.read_text(encoding="utf-8"))
        columns, widths = (tuple(int(n) for n in record[name]) for name in ("columns", "widths"))
        dense, crossovers = (tuple(float(n) for n in record[name]) for name in ("dense", "crossovers"))
        prices = ProductPrices(columns, widths, dense, crossovers)
    except (ValueError, KeyError, TypeError):
        return None
    return prices if all(n > 0 for n in (*columns, *widths)) and all(0 <= c <= 1 for c in crossovers) else None
