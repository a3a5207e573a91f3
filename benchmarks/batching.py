"""Batches as large as a budget allows against batches of one size, and orders of nodes that share inputs.

    python -m benchmarks.batching [--preset arxiv flickr] [--model sage] [--room 0.25] [--repeats 5] [--without-orders]
        [--markdown OUT.md]

The ablation of DGI's evaluation: ST is the best static batch size of a grid, among those whose peak keeps within the
budget; 0.25ST and 0.5ST are what a careful user would take; Dynamic is `memory=`; All is that and `reorder="stream"`.
The budget is what arrays of all rows and the edges take, and `--room` of the widest layer's input for batches. Batches
run by torch's operations, as on a device: they gather the distinct inputs that they need. (Compiled kernels read them
where they lie, and take batches of 2,048 rows whatever the budget is.) Times are of the processor on one thread,
contestants take turns, and the median of the repeats counts; `Dynamic to ST` is the median of the ratios of runs that
followed each other, with the least and the largest. Finding an order is shown apart. Peaks are of the process. Results
must be as near as 1e-4 of their scale.

A second table has every order: distinct inputs of all batches, seconds, what it costs, and after how many runs that is
won back.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from statistics import median

import numpy as np
import torch

import gnnc
from benchmarks.generated_graphs import PRESETS, generate
from benchmarks.inference_models import MODELS
from gnnc.targets.gpu.executor import BatchedExecutor
from gnnc.targets.gpu.memory_meter import MemoryMeter

TOLERANCE = 1e-4
ORDERS = ("none", "random", "degree", "rcmk", "stream", "auto")
LARGE = 2**50


@dataclass(frozen=True)
class Timed:
    """Seconds, the peak in bytes, and the distinct inputs of all batches."""

    seconds: float
    peak: int
    inputs: int


class Case:
    """A model on a graph, run by torch's operations."""

    def __init__(self, preset: str, model: str):
        shape = PRESETS[preset]
        given = generate(shape)
        self.graph = gnnc.Graph(x=torch.as_tensor(given.x), edge_index=torch.as_tensor(given.edge_index))
        self.program = gnnc.compile(MODELS[model](shape.features, shape.classes), self.graph)
        self.executor = BatchedExecutor(self.program.module, self.program.weights)
        self.program._cpu_executor = self.executor  # pyright: ignore[reportPrivateUsage]
        self.program.run(memory=LARGE)
        # what stays of a budget for batches in the block that has least left
        beside = max(block.resident for block in self.program.report.blocks)
        self.resident = beside
        self.expected = torch.as_tensor(self.program.run())

    def budget(self, room: float) -> int:
        """Bytes: arrays of all rows and edges, and room for a share of the widest input."""
        widest = 4 * max(128, torch.as_tensor(self.graph.x).shape[1]) * self.graph.num_nodes
        return self.resident + int(room * widest)

    def run(self, *, batch_size: int | None = None, memory: int | None = None, reorder: str = "none") -> Timed:
        """One run. Raises SystemExit if it computes something else."""
        self.executor.workers.forget()
        with MemoryMeter("cpu") as meter:
            start = time.process_time()
            result = torch.as_tensor(self.program.run(batch_size=batch_size, memory=memory, reorder=reorder))
            seconds = time.process_time() - start
        worst = float((result - self.expected).abs().max())
        if not worst <= TOLERANCE * float(self.expected.abs().max()):
            raise SystemExit(f"batch {batch_size}, memory {memory}, order {reorder}: wrong by {worst}")
        inputs = 0 if memory is None else sum(b.neighbors for r in self.program.report.blocks for b in r.batches)
        held = 0 if memory is None else self.program.report.held
        return Timed(seconds, (meter.peak or 0) + held, inputs)

    def copies(self) -> int:
        """What a copy in another order takes."""
        x, edges = torch.as_tensor(self.graph.x), torch.as_tensor(self.graph.edge_index)
        return x.nbytes + edges.nbytes

    def structure_bytes(self) -> int:
        self.program.run(nodes=[0], memory=LARGE)
        return self.program.report.held


def best_static(case: Case, budget: int) -> tuple[int, dict[int, Timed]]:
    """The batch size of a grid that is fastest among those that keep within the budget, and all of them."""
    held = case.structure_bytes()
    grid: dict[int, Timed] = {}
    size = 256
    case.run(batch_size=size)  # the first run puts the edges in order, for all that follow
    while size < case.graph.num_nodes:
        timed = case.run(batch_size=size)
        grid[size] = Timed(timed.seconds, timed.peak + held, 0)
        if timed.peak + held > budget:
            break
        size = int(size * 2**0.5)
    fitting = {size: timed for size, timed in grid.items() if timed.peak <= budget}
    again = {size: min(timed.seconds, case.run(batch_size=size).seconds) for size, timed in fitting.items()}
    return min(again, key=lambda size: again[size]), grid


def in_turns(contestants: Mapping[str, Callable[[], Timed]], repeats: int) -> dict[str, list[Timed]]:
    """The runs of each, turn by turn."""
    runs: dict[str, list[Timed]] = {name: [] for name in contestants}
    for _ in range(repeats):
        for name, run in contestants.items():
            runs[name].append(run())
    return runs


def ablation(case: Case, ordered: Case, room: float, repeats: int) -> tuple[int, int, dict[str, list[Timed]]]:
    """The budget, the best static batch size, and the runs of the five of the paper. `ordered` is the same case once
    more: a program keeps structure and batches for the graph that it ran on last, and a graph in another order is
    another one."""
    budget = case.budget(room)
    best, _ = best_static(case, budget)
    contestants = {
        "0.25ST": lambda: case.run(batch_size=best // 4),
        "0.5ST": lambda: case.run(batch_size=best // 2),
        "ST": lambda: case.run(batch_size=best),
        "Dynamic": lambda: case.run(memory=budget),
        "All": lambda: ordered.run(memory=budget + case.copies(), reorder="stream"),
    }
    for first in ("All", "Dynamic"):  # the order is found once, and batches are planned once
        contestants[first]()
    return budget, best, in_turns(contestants, repeats)


def orders(case: Case, room: float, repeats: int) -> dict[str, tuple[Timed, float]]:
    """Each order, and the seconds that it takes to find it and to copy the graph."""
    budget = case.budget(room)
    found: dict[str, tuple[Timed, float]] = {}
    for name in ORDERS:
        memory = budget if name == "none" else budget + case.copies()
        case.run(memory=memory, reorder=name)
        cost = case.program.report.reordering
        label = name if name != "auto" else f"auto ({case.program.report.reorder})"
        runs = [case.run(memory=memory, reorder=name) for _ in range(repeats)]
        found[label] = min(runs, key=lambda timed: timed.seconds), cost
    return found


def ablation_lines(preset: str, budget: int, best: int, found: Mapping[str, Sequence[Timed]]) -> str:
    medians = {name: median(timed.seconds for timed in runs) for name, runs in found.items()}
    cells = [f"{seconds / medians['ST']:.2f}" for seconds in medians.values()]
    ratios = sorted(d.seconds / s.seconds for d, s in zip(found["Dynamic"], found["ST"], strict=True))
    filled = f"{max(timed.peak for timed in found['Dynamic']) / budget:.0%}"
    head = f"| {preset} | {budget / 2**20:.0f} MiB | {best:,} | {medians['ST']:.2f} s"
    turns = f"{median(ratios):.2f} ({ratios[0]:.2f} to {ratios[-1]:.2f})"
    return f"{head} | {' | '.join(cells)} | {turns} | {filled} |"


def order_lines(preset: str, found: Mapping[str, tuple[Timed, float]]) -> list[str]:
    random, own = found["random"][0], found["none"][0]
    lines: list[str] = []
    for name, (timed, cost) in found.items():
        saved = own.seconds - timed.seconds
        pays = "–" if name == "none" or saved <= 0 else f"{int(np.ceil(cost / saved))} runs"
        fewer = f"{1 - timed.inputs / random.inputs:.0%}"
        lines.append(
            f"| {preset} | {name} | {timed.inputs:,} | {fewer} | {timed.seconds:.2f} s | {cost:.2f} s | {pays} |"
        )
    return lines


def report(presets: Sequence[str], model: str, room: float, repeats: int, *, with_orders: bool) -> str:
    first = [
        "| graph | budget | ST | time of ST | 0.25ST | 0.5ST | ST | Dynamic | All | Dynamic to ST | peak of Dynamic |",
        "|---" * 11 + "|",
    ]
    second = [
        "| graph | order | distinct inputs | fewer than random | run | finding it | pays after |",
        "|---" * 7 + "|",
    ]
    for preset in presets:
        case = Case(preset, model)
        first.append(ablation_lines(preset, *ablation(case, Case(preset, model), room, repeats)))
        print(first[-1], flush=True)
        second += order_lines(preset, orders(case, room, repeats)) if with_orders else []
    return "\n".join([*first, "", *second] if with_orders else first)


def main() -> None:
    parser = argparse.ArgumentParser(description="Times batches of a budget and orders of nodes.")
    parser.add_argument("--preset", nargs="+", default=["arxiv", "flickr"], choices=list(PRESETS))
    parser.add_argument("--model", default="sage", choices=list(MODELS))
    parser.add_argument("--room", type=float, default=0.25, help="of the widest input, for batches")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--without-orders", action="store_true", help="the first table alone")
    parser.add_argument("--markdown", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    with_orders = not arguments.without_orders
    tables = report(arguments.preset, arguments.model, arguments.room, arguments.repeats, with_orders=with_orders)
    text = f"{arguments.model}, room for {arguments.room:.0%} of the widest input, {date.today()}\n\n{tables}\n"
    print(text)
    if arguments.markdown:
        arguments.markdown.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
