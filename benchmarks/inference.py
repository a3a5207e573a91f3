"""Inference of whole graphs: gnnc against what a user would otherwise run.

    python -m benchmarks.inference [--preset medium] [--model gcn sage gin gat] [--threads 2] [--repeats 5]
        [--reorder stream] [--compile] [--numba] [--dgl PYTHON] [--by-processor] [--json OUT.json] [--markdown OUT.md]

Every case runs in a process of its own, in which gnnc and its peers take turns; outputs are compared before times
count: each must be as near to PyG on edge_index as fp32 allows, or else no farther from the model in double precision
than that is. A peer's preparation (conversion, caches, compilation) is not part of its time; gnnc's stands beside it.
`edge_index` is PyG as its documentation shows it, `csr` PyG on torch's sparse CSR adjacency with what it can cache,
`layerwise` PyG's `inference(loader)` on whole neighborhoods where torch-sparse or pyg-lib is installed, `compile` the
first under torch.compile, `numba` with Convs written by hand in numba where that is installed, `dgl` DGL in an
environment of its own, whose PYTHON `--dgl` names. With `--reorder`, gnnc also runs with the nodes in another order,
which it finds once.
"""

from __future__ import annotations

import argparse
import json
import math
import platform
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

import torch

import gnnc
from benchmarks import numba_peer
from benchmarks.dgl_peer import MODELS as DGL_MODELS
from benchmarks.dgl_peer import DglPeer
from benchmarks.generated_graphs import PRESETS, generate
from benchmarks.inference_models import MODELS, Inference, peers_of
from gnnc.targets.gpu.reordering import REORDERS

TOLERANCE = 1e-4
ORIGIN = "edge_index"
REORDERED = "gnnc, reordered"
BY_PROCESSOR = "--by-processor" in sys.argv


@dataclass(frozen=True)
class Timing:
    """One contestant in one case: seconds by the clock and of the processor, and its error against PyG."""

    name: str
    wall: list[float]
    processor: list[float]
    error: float

    @property
    def best(self) -> float:
        """Of the processor where others share the machine, which the clock would blame on the contestants."""
        return min(self.processor if BY_PROCESSOR else self.wall)


@dataclass(frozen=True)
class Case:
    """A model on a preset: all contestants that computed the right thing, and what went wrong with others."""

    model: str
    preset: str
    threads: int
    compile_seconds: float
    first_run_seconds: float
    peak_bytes: int
    timings: list[Timing]
    failures: dict[str, str]

    def timing(self, name: str) -> Timing | None:
        return next((t for t in self.timings if t.name == name), None)

    @property
    def best_peer(self) -> Timing | None:
        return min((t for t in self.timings if t.name not in ("gnnc", REORDERED)), key=lambda t: t.best, default=None)


def run_case(model: str, preset: str, arguments: argparse.Namespace) -> Case:
    """Runs one case in this process."""
    threads: int = arguments.threads
    torch.set_num_threads(threads)
    graph = generate(PRESETS[preset])
    module = MODELS[model](PRESETS[preset].features, PRESETS[preset].classes)
    inference = Inference(module, graph)
    start = time.perf_counter()
    program = gnnc.compile(module, inference.graph)
    compiled = time.perf_counter() - start
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start = time.perf_counter()
    program.run()
    first = time.perf_counter() - start
    peak = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) * 1024
    contestants: dict[str, Callable[[], torch.Tensor]] = {"gnnc": program.run, **peers_of(model, inference)}
    if arguments.reorder:
        contestants[REORDERED] = partial(gnnc.compile(module, inference.graph).run, reorder=arguments.reorder)
    if arguments.compile:
        contestants["compile"] = inference.compiled()
    if arguments.numba and model in numba_peer.MODELS and numba_peer.is_installed():
        contestants["numba"] = numba_peer.on_numba(inference, threads)
    with dgl_peer(arguments.dgl, model, inference, threads) as dgl:
        contestants |= {} if dgl is None else {"dgl": dgl}
        expected = contestants[ORIGIN]()
        timings, failures = compete(contestants, expected, inference, arguments.repeats)
    return Case(model, preset, threads, compiled, first, peak, timings, failures)


@contextmanager
def dgl_peer(python: str | None, model: str, inference: Inference, threads: int) -> Generator[DglPeer | None]:
    if python is None or model not in DGL_MODELS:
        yield None
        return
    peer = DglPeer(python, model, inference, threads)
    try:
        yield peer
    finally:
        peer.close()


def compete(
    contestants: dict[str, Callable[[], torch.Tensor]], expected: torch.Tensor, inference: Inference, repeats: int
) -> tuple[list[Timing], dict[str, str]]:
    """Contestants take turns, after one run each whose result must be right."""
    failures: dict[str, str] = {}
    errors: dict[str, float] = {}
    for name, run in contestants.items():
        try:
            result = run()
            errors[name] = error_of(result, expected)
        except (RuntimeError, NotImplementedError, MemoryError) as failure:
            failures[name] = str(failure).splitlines()[0]
            continue
        if not (errors[name] <= TOLERANCE or is_as_near(result, expected, inference)):
            failures[name] = f"wrong by {errors[name]:.1e} of the output's scale"
    right = [name for name in contestants if name not in failures]
    wall: dict[str, list[float]] = {name: [] for name in right}
    processor: dict[str, list[float]] = {name: [] for name in right}
    for _ in range(repeats):
        for name in right:
            begun, used = time.perf_counter(), time.process_time()
            contestants[name]()
            wall[name].append(time.perf_counter() - begun)
            elsewhere = getattr(contestants[name], "processor_seconds", None)
            processor[name].append(time.process_time() - used if elsewhere is None else elsewhere)
    return [Timing(name, wall[name], processor[name], errors[name]) for name in right], failures


def error_of(result: torch.Tensor, expected: torch.Tensor) -> float:
    return float((result - expected).abs().max() / expected.abs().max())


def is_as_near(result: torch.Tensor, expected: torch.Tensor, inference: Inference) -> bool:
    """Whether a result is no farther from what the model computes in double precision than PyG's in single is: a
    standard deviation of nearly equal numbers, as in PNA, has few digits in either."""
    exact = inference.in_double()
    return error_of(result, exact) <= 1.5 * error_of(expected, exact)


def in_subprocess(arguments: argparse.Namespace, model: str, preset: str) -> Case:
    """Runs one case in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.inference", "--case", model, preset]
    command += ["--threads", str(arguments.threads), "--repeats", str(arguments.repeats)]
    command += ["--reorder", arguments.reorder] if arguments.reorder else []
    command += ["--compile"] if arguments.compile else []
    command += ["--numba"] if arguments.numba else []
    command += ["--dgl", arguments.dgl] if arguments.dgl else []
    command += ["--by-processor"] if arguments.by_processor else []
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    record: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    timings = [Timing(**t) for t in record.pop("timings")]
    return Case(timings=timings, **record)


def table(cases: list[Case]) -> str:
    """The cases as markdown."""
    peers = list(dict.fromkeys(t.name for case in cases for t in case.timings if t.name != "gnnc"))
    lines = [
        f"| graph | model | gnnc | {' | '.join(peers)} | to edge_index | to the best peer | compile, first run |",
        f"|---|---|---|{'---|' * len(peers)}---|---|---|",
    ]
    lines += [row(case, peers) for case in cases]
    return "\n".join([*lines, "", *summary(cases)])


def row(case: Case, peers: list[str]) -> str:
    times = [f"{t.best:.3f}" if (t := case.timing(name)) is not None else "–" for name in ["gnnc", *peers]]
    ratios = [ratio(case, case.timing(ORIGIN)), ratio(case, case.best_peer)]
    shown = [f"{r:.1f}x" if r is not None else "–" for r in ratios]
    made = f"{case.compile_seconds:.1f} + {case.first_run_seconds:.1f} s"
    return f"| {' | '.join([case.preset, case.model, *times, *shown, made])} |"


def summary(cases: list[Case]) -> list[str]:
    """Geometric means, every case in which a peer was faster, and what did not compute the right thing."""
    lines = [
        f"Geometric mean against {title}: {geometric_mean(ratios):.1f}x."
        for title, ratios in (
            ("edge_index", [ratio(case, case.timing(ORIGIN)) for case in cases]),
            ("the best peer", [ratio(case, case.best_peer) for case in cases]),
        )
    ]
    for case in cases:
        own, best = case.timing("gnnc"), case.best_peer
        if own is not None and best is not None and best.best < own.best:
            lines.append(f"SLOWER: {case.model} on {case.preset}: {best.name} takes {best.best:.3f} s.")
        lines += [f"{case.model} on {case.preset}: {name}: {why}" for name, why in case.failures.items()]
    return lines


def ratio(case: Case, peer: Timing | None) -> float | None:
    """How much longer a peer takes than gnnc."""
    own = case.timing("gnnc")
    return None if own is None or peer is None else peer.best / own.best


def geometric_mean(ratios: list[float | None]) -> float:
    known = [math.log(ratio) for ratio in ratios if ratio is not None]
    return math.exp(sum(known) / len(known)) if known else math.nan


def main() -> None:
    parser = argparse.ArgumentParser(description="Times gnnc and its peers on whole graphs.")
    parser.add_argument("--preset", nargs="+", default=["medium"], choices=list(PRESETS))
    parser.add_argument("--model", nargs="+", default=["gcn", "sage", "gin", "gat"], choices=list(MODELS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--reorder", choices=REORDERS, help="run gnnc with nodes in this order, too")
    parser.add_argument("--compile", action="store_true", help="compete with torch.compile, too")
    parser.add_argument("--numba", action="store_true", help="compete with Convs in numba, too, where it is installed")
    parser.add_argument("--dgl", metavar="PYTHON", help="compete with DGL, too, in the environment of this Python")
    parser.add_argument("--by-processor", action="store_true", help="compare seconds of the processor")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--case", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        model, preset = arguments.case
        case = run_case(model, preset, arguments)
        print(json.dumps(asdict(case)))
        return
    cases: list[Case] = []
    for preset in arguments.preset:
        for model in arguments.model:
            cases.append(in_subprocess(arguments, model, preset))
            print(table(cases[-1:]).splitlines()[2], flush=True)
    text = (
        f"{platform.processor() or platform.machine()}, {arguments.threads} threads, {date.today()}\n\n{table(cases)}\n"
    )
    print(f"\n{text}")
    if arguments.markdown:
        arguments.markdown.write_text(text, encoding="utf-8")
    if arguments.json:
        record: list[dict[str, Any]] = [asdict(case) for case in cases]
        arguments.json.write_text(json.dumps(record, indent=1), encoding="utf-8")


if __name__ == "__main__":
    main()
