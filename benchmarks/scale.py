"""Whole graphs within a budget of memory: a run in RAM against runs with a store, each in a process of its own.

    python -m benchmarks.scale [--scale 0.1] [--model sage gat] [--memory 64MiB 128MiB] [--repeats 2] [--threads 2]
        [--page-cache 700MiB] [--fanout 10,10,10] [--folder DIR] [--json OUT.json] [--markdown OUT.md]
    python -m benchmarks.scale --star --memory 8MiB

The graph has the shape of ogbn-products (2.4 million nodes, 124 million directed edges, 100 features), scaled; models
are 3 layers, 128 wide, 47 classes. It lies in a folder of .npy files, which is made once. Contestants take turns.
Results must be as near as 1e-4 of their scale before times count. `peak` is anonymous memory over what the process had
after a run on a small graph, kernels loaded, preparation included; the page cache is not in it. A case runs twice: the
first run puts the edges in order, the second one, which finds them in order and nothing else, is timed. `processor` are
the seconds that all threads computed, which on a machine that is busy otherwise tell more than the clock.

With `--fanout`, a node sees so many of its neighbors in each layer; a run with a store then draws the samples of all
layers as a part of its preparation.

With `--star`, the graph is a star instead: one node is joined with a million others, there and back.

With `--page-cache`, runs with a store are processes in a control group (v1, as root) whose memory, anonymous and page
cache together, is the budget, what Python and torch take, and so many bytes: a file that is longer is read from disk.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import torch

import gnnc
from benchmarks.generated_graphs import PRESETS, Shape
from benchmarks.inference_models import MODELS
from gnnc.memory_sizes import memory_bytes
from gnnc.targets.gpu.arena import trim
from gnnc.targets.gpu.memory_meter import MemoryMeter

IN_RAM = "RAM"
TOLERANCE = 1e-4
STAR = Shape(1_000_001, 2_000_000, 100, 47)
INTERPRETER = 500 * 2**20
"""What Python, torch and MLIR take, code in the page cache included."""


@dataclass(frozen=True)
class Outcome:
    """One run: seconds to put the edges in order and to compute, by the clock and of the processor, bytes of memory,
    the ways its blocks ran."""

    model: str
    memory: str
    preparation: float
    seconds: float
    processor: float
    peak: int
    ways: str


def shape_of(scale: float) -> Shape:
    full = PRESETS["products"]
    return Shape(int(full.nodes * scale), int(full.edges * scale), full.features, full.classes)


def write_graph(folder: Path, shape: Shape, seed: int = 0) -> None:
    """A graph with skewed degrees and communities, written in pieces: no more than a few bytes a node are in memory."""
    random = np.random.default_rng(seed)
    folder.mkdir(parents=True)
    x = np.lib.format.open_memmap(folder / "x.npy", "w+", np.float32, (shape.nodes, shape.features))
    for start in range(0, shape.nodes, 2**16):
        part = x[start : start + 2**16]
        part[:] = random.standard_normal(part.shape, dtype=np.float32)
    pairs = shape.edges // 2
    edges = np.lib.format.open_memmap(folder / "edge_index.npy", "w+", np.int64, (2, 2 * pairs))
    ids = random.permutation(shape.nodes)
    for start in range(0, pairs, 2**21):
        count = min(2**21, pairs - start)
        first, second = pairs_of(random, shape, count)
        first, second = ids[first], ids[second]
        edges[:, start : start + count] = first, second
        edges[:, pairs + start : pairs + start + count] = second, first
    edges.flush()


def write_star(folder: Path, shape: Shape, seed: int = 0) -> None:
    """Node 0 and all others, there and back."""
    random = np.random.default_rng(seed)
    folder.mkdir(parents=True)
    np.save(folder / "x.npy", random.standard_normal((shape.nodes, shape.features), dtype=np.float32))
    others = random.permutation(np.arange(1, shape.nodes))
    hub = np.zeros_like(others)
    np.save(folder / "edge_index.npy", np.stack([np.concatenate([others, hub]), np.concatenate([hub, others])]))


def pairs_of(random: np.random.Generator, shape: Shape, count: int) -> tuple[Any, Any]:
    """Both ends of some edges: the first by a power law, the second mostly from the first one's community."""
    power = (shape.exponent - 1) / (shape.exponent - 2)
    first = (shape.nodes * random.random(count) ** power).astype(np.int64)
    first = first * 2_654_435_761 % shape.nodes  # popular nodes are everywhere
    near = first // shape.community * shape.community + random.integers(0, shape.community, count)
    far = random.integers(0, shape.nodes, count)
    return first, np.minimum(np.where(random.random(count) < shape.inside, near, far), shape.nodes - 1)


def run_case(folder: Path, model: str, memory: str, threads: int, store: Path, fanout: list[int] | None) -> Outcome:
    """Runs one case in this process, from cold caches of its own; writes the result beside the store."""
    torch.set_num_threads(threads)
    graph = gnnc.Graph.load(folder)
    features, classes = int(np.asarray(graph.x).shape[1]), PRESETS["products"].classes
    # where layers are cut depends on how many neighbors a node has
    degree = graph.num_edges // graph.num_nodes
    tiny = gnnc.Graph(x=np.zeros((9, features), np.float32), edge_index=np.zeros((2, 9 * degree), np.int64))
    program = gnnc.compile(MODELS[model](features, classes), tiny)
    if memory == IN_RAM:
        program.run(graph=tiny)
    else:
        warm_up(program, features, store)
    with MemoryMeter("cpu") as meter:
        start = time.perf_counter()
        if memory == IN_RAM:
            graph = in_memory(program, folder)
            preparation, ways = time.perf_counter() - start, IN_RAM
        else:
            program.run(graph=graph, store=store, memory=memory, fanout=fanout)
            preparation, ways = program.report.preparation, ", ".join(block.way for block in program.report.blocks)
            for run in store.glob("run-*"):
                shutil.rmtree(run)
        start, processor = time.perf_counter(), time.process_time()
        where, limit = (None, None) if memory == IN_RAM else (store, memory)
        result = program.run(graph=graph, store=where, memory=limit, fanout=fanout)
        seconds, processor = time.perf_counter() - start, time.process_time() - processor
    np.save(store.with_suffix(".npy"), result)
    return Outcome(model, memory, preparation, seconds, processor, meter.peak or 0, ways)


def warm_up(program: gnnc.Program, features: int, store: Path) -> None:
    """Runs on a small graph, in memory and by tiles, so that kernels and what Python imports are there."""
    folder = store.with_name("small")
    write_graph(folder, Shape(4000, 40_000, features, 0))
    for memory in ("64MiB", "1MiB", "256KiB"):
        program.run(graph=gnnc.Graph.load(folder), store=store, memory=memory)
        shutil.rmtree(store)
    trim()


def in_memory(program: gnnc.Program, folder: Path) -> gnnc.Graph:
    """The graph read into memory, its edges put in order."""
    graph = gnnc.Graph(x=np.load(folder / "x.npy"), edge_index=np.load(folder / "edge_index.npy"))
    program.run(graph=graph, nodes=[0])
    return graph


@contextmanager
def limited(memory: str, page_cache: str | None) -> Generator[list[str]]:
    """What a command begins with that has little page cache."""
    if memory == IN_RAM or page_cache is None:
        yield []
        return
    group = Path(f"/sys/fs/cgroup/memory/gnnc-{os.getpid()}")
    group.mkdir()
    try:
        limit = memory_bytes(memory) + memory_bytes(page_cache) + INTERPRETER
        (group / "memory.limit_in_bytes").write_text(str(limit))
        yield ["sh", "-c", f'echo $$ > {group}/tasks && exec "$@"', "sh"]
    finally:
        group.rmdir()


def in_subprocess(arguments: argparse.Namespace, folder: Path, model: str, memory: str) -> Outcome:
    with tempfile.TemporaryDirectory(dir=arguments.folder) as name:
        store = Path(name) / "store"
        command = [sys.executable, "-m", "benchmarks.scale", "--case", str(folder), model, memory, str(store)]
        with limited(memory, arguments.page_cache) as before:
            command = [*before, *command, "--threads", str(arguments.threads)]
            command += ["--fanout", ",".join(map(str, arguments.fanout))] if arguments.fanout else []
            done = subprocess.run(command, stdout=subprocess.PIPE, check=True)
        sampled = f"-{'-'.join(map(str, arguments.fanout))}" if arguments.fanout else ""
        check_result(Path(name) / "store.npy", arguments.folder / f"expected-{model}{sampled}.npy", memory)
        return Outcome(**json.loads(done.stdout.splitlines()[-1]))


def check_result(result: Path, expected: Path, memory: str) -> None:
    """A run in RAM is what the others are compared with."""
    if memory == IN_RAM:
        shutil.move(result, expected)
        return
    found, wanted = np.load(result, mmap_mode="r"), np.load(expected, mmap_mode="r")
    starts = range(0, len(found), 2**16)
    worst = max(float(np.abs(found[i : i + 2**16] - wanted[i : i + 2**16]).max()) for i in starts)
    scale = max(float(np.abs(wanted[i : i + 2**16]).max()) for i in starts)
    if not worst <= TOLERANCE * scale:
        raise SystemExit(f"{memory}: wrong by {worst}, of {scale}")


def table(outcomes: list[Outcome]) -> str:
    """The best of each case, as markdown, with ratios to the run in RAM."""
    head = ["model", "memory", "preparation", "compute", "to RAM", "processor", "to RAM", "peak", "blocks"]
    lines = [f"| {' | '.join(head)} |", "|---" * len(head) + "|"]
    cases = dict.fromkeys((o.model, o.memory) for o in outcomes)
    best = {case: min((o for o in outcomes if (o.model, o.memory) == case), key=lambda o: o.seconds) for case in cases}
    for (model, memory), o in best.items():
        ram = best.get((model, IN_RAM))
        ratios = (
            [f"{a / b:.1f}x" for a, b in ((o.seconds, ram.seconds), (o.processor, ram.processor))] if ram else ["", ""]
        )
        peak = max(p.peak for p in outcomes if (p.model, p.memory) == (model, memory))
        cells = [model, memory, f"{o.preparation:.1f} s", f"{o.seconds:.1f} s", ratios[0], f"{o.processor:.1f} s"]
        lines.append(f"| {' | '.join([*cells, ratios[1], f'{peak / 2**20:.0f} MiB', o.ways])} |")
    return "\n".join(lines)


def numbers(text: str) -> list[int]:
    return [int(part) for part in text.split(",")]


def main() -> None:
    parser = argparse.ArgumentParser(description="Times runs with a store against runs in RAM.")
    parser.add_argument("--scale", type=float, default=0.1, help="of products; 1 is full scale")
    parser.add_argument("--star", action="store_true", help="a node with a million neighbors, instead")
    parser.add_argument("--model", nargs="+", default=["sage", "gat"], choices=list(MODELS))
    parser.add_argument("--memory", nargs="+", default=["64MiB", "256MiB"])
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--page-cache", help="bytes of it for a run with a store; default: all there is")
    parser.add_argument("--fanout", type=numbers, help="neighbors that a node sees in each layer, as 10,10,10")
    parser.add_argument(
        "--without-ram", action="store_true", help="no run in RAM: compare with results of an earlier one"
    )
    parser.add_argument("--folder", type=Path, default=Path("build/scale"), help="for the graph and stores")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--case", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        folder, model, memory, store = arguments.case
        outcome = run_case(Path(folder), model, memory, arguments.threads, Path(store), arguments.fanout)
        print(json.dumps(asdict(outcome)))
        return
    shape = STAR if arguments.star else shape_of(arguments.scale)
    folder = arguments.folder / f"graph-{shape.nodes}-{shape.edges}"
    if not folder.exists():
        (write_star if arguments.star else write_graph)(folder, shape)
    outcomes: list[Outcome] = []
    for model in arguments.model:
        for _ in range(arguments.repeats):
            for memory in [*([] if arguments.without_ram else [IN_RAM]), *arguments.memory]:
                outcomes.append(in_subprocess(arguments, folder, model, memory))
                print(outcomes[-1], file=sys.stderr, flush=True)
    size = f"{shape.nodes:,} nodes, {shape.edges:,} edges, {arguments.threads} threads, {date.today()}"
    text = f"{size}\n\n{table(outcomes)}\n"
    print(text)
    if arguments.markdown:
        arguments.markdown.write_text(text, encoding="utf-8")
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(o) for o in outcomes], indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
