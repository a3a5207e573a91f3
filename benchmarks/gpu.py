"""Inference of whole graphs on a CUDA device: gnnc against PyG on the same one.

    python -m benchmarks.gpu [--preset medium large] [--model gcn sage gin gat ...] [--repeats 20] [--device cuda]
        [--json OUT.json] [--markdown OUT.md]
    python -m benchmarks.gpu --interpret

Every case runs in a process of its own, in which the contestants take turns. What each computes is compared with the
model on the host before its time counts. `gnnc`, `torch ops`, `edge_index` and `csr` begin with features on the device
and leave results there; `to host` is gnnc with its results copied to the host. `torch ops` is gnnc without compiled
kernels, `edge_index` PyG as its documentation shows it, `csr` PyG on torch's sparse CSR adjacency with what it can
cache. Peaks are of the device's memory, over what was allocated before the contestant ran first: its copy of the graph
counts.

`--interpret` needs no device: on a small graph with a hub, every model runs in Triton's interpreter on the host, and is
compared with PyG.
"""

from __future__ import annotations

import argparse
import copy
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from datetime import date
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from unittest.mock import patch

import torch
from torch_geometric.nn import GCNConv

import gnnc
from benchmarks.generated_graphs import PRESETS, Shape, generate
from benchmarks.inference import TOLERANCE, error_of, geometric_mean, is_as_near
from benchmarks.inference_models import MODELS, ON_CSR, Inference

OWN, PEERS = ("gnnc", "torch ops", "to host"), ("edge_index", "csr")
SMALL = Shape(120, 900, 20, 7)

Run = Callable[[], torch.Tensor]


@dataclass(frozen=True)
class Timing:
    """One contestant: seconds a run, in turn with others, and the most bytes it took on the device."""

    name: str
    seconds: list[float]
    peak: int
    error: float

    @property
    def best(self) -> float:
        return min(self.seconds)


@dataclass(frozen=True)
class Case:
    """A model on a preset: the contestants that computed the right thing, and what went wrong with others."""

    model: str
    preset: str
    kernels: int
    first_run_seconds: float
    timings: list[Timing]
    failures: dict[str, str] = field(default_factory=dict[str, str])

    def timing(self, name: str) -> Timing | None:
        return next((t for t in self.timings if t.name == name), None)

    @property
    def best_peer(self) -> Timing | None:
        return min((t for t in self.timings if t.name in PEERS), key=lambda t: t.best, default=None)


def run_case(model: str, preset: str, device: str, repeats: int) -> Case:
    """Runs one case in this process."""
    shape = PRESETS[preset]
    inference = Inference(MODELS[model](shape.features, shape.classes), generate(shape))
    program = gnnc.compile(inference.model, inference.graph)
    expected = inference.run()
    timings: dict[str, Timing] = {}
    failures: dict[str, str] = {}
    runs: dict[str, Run] = {}
    first = 0.0
    for name, make in contestants(model, program, inference, device).items():
        torch.cuda.empty_cache()
        before = torch.cuda.memory_allocated(device)
        torch.cuda.reset_peak_memory_stats(device)
        begun = time.perf_counter()
        try:
            run = make()
            result = run()
        except (RuntimeError, NotImplementedError) as failure:
            failures[name] = str(failure).splitlines()[0]
            continue
        torch.cuda.synchronize(device)
        first = time.perf_counter() - begun if name == "gnnc" else first
        result, error = result.cpu(), error_of(result.cpu(), expected)
        if not (error <= TOLERANCE or is_as_near(result, expected, inference)):
            failures[name] = f"wrong by {error:.1e} of the output's scale"
            continue
        timings[name] = Timing(name, [], torch.cuda.max_memory_allocated(device) - before, error)
        runs[name] = run
    take_turns(runs, timings, device, repeats)
    return Case(model, preset, len(program.executor(device).kernels), first, list(timings.values()), failures)


def take_turns(runs: dict[str, Run], timings: dict[str, Timing], device: str, repeats: int) -> None:
    for _ in range(repeats):
        for name, run in runs.items():
            torch.cuda.synchronize(device)
            begun = time.perf_counter()
            run()
            torch.cuda.synchronize(device)
            timings[name].seconds.append(time.perf_counter() - begun)


def contestants(model: str, program: gnnc.Program, inference: Inference, device: str) -> dict[str, Callable[[], Run]]:
    """What makes each contestant ready, with its own copy of the graph on the device."""

    def own(with_kernels: bool, on_device: bool) -> Run:
        used = program if with_kernels else without_kernels(program, device)
        x = inference.arguments[0].to(device) if on_device else None
        return lambda: used.run(x, device=device)

    found: dict[str, Callable[[], Run]] = {
        "gnnc": lambda: own(True, True),
        "torch ops": lambda: own(False, True),
        "to host": lambda: own(True, False),
        "edge_index": lambda: on_edge_index(inference, device),
    }
    return {**found, "csr": lambda: on_csr(inference, device)} if model in ON_CSR else found


def without_kernels(program: gnnc.Program, device: str) -> gnnc.Program:
    """The same program, which runs as if there were no Triton."""
    other = gnnc.Program(program.module, program.weights, program.inputs, program.outputs, graph=program.graph)
    with patch("gnnc.targets.gpu.fused_executor.runs_on", return_value=False), patch("warnings.warn"):
        other.executor(device)
    return other


def on_edge_index(inference: Inference, device: str) -> Run:
    model = copy.deepcopy(inference.model).to(device)
    arguments = [argument.to(device) for argument in inference.arguments]

    def run() -> torch.Tensor:
        with torch.no_grad():
            return model(*arguments)

    return run


def on_csr(inference: Inference, device: str) -> Run:
    """By target, with normalisations cached."""
    model = copy.deepcopy(inference.model).to(device)
    x, edge_index = (argument.to(device) for argument in inference.arguments[:2])
    ones = torch.ones(edge_index.shape[1], device=device)
    adjacency = torch.sparse_coo_tensor(edge_index.flip(0), ones, (x.shape[0], x.shape[0])).to_sparse_csr()
    for conv in model.modules():
        if isinstance(conv, GCNConv):
            conv.cached = True

    def run() -> torch.Tensor:
        with torch.no_grad():
            return model(x, adjacency)

    return run


def interpret(models: list[str]) -> int:
    """The exit code of a process that was told to interpret before it imported Triton: this one, or another."""
    if os.environ.get("TRITON_INTERPRET") == "1":
        return 0 if interpreted(models) else 1
    environment = {**os.environ, "TRITON_INTERPRET": "1"}
    command = [sys.executable, "-m", "benchmarks.gpu", *sys.argv[1:]]
    return subprocess.run(command, env=environment, check=False).returncode


def interpreted(models: list[str]) -> bool:
    """Whether all kernels compute in Triton's interpreter what PyG does; prints the errors."""
    from gnnc.targets.gpu import device_csr

    device_csr.PART_EDGES = 16  # so that there are hubs
    right = True
    for name in models:
        inference = Inference(MODELS[name](SMALL.features, SMALL.classes), generate(SMALL))
        program = gnnc.compile(inference.model, inference.graph)
        expected = inference.run()
        for batch_size in (None, 50):
            result = torch.as_tensor(program.run(device="cpu:0", batch_size=batch_size))
            error, kernels = error_of(result, expected), len(program.executor("cpu:0").kernels)
            is_right = kernels > 0 and (error <= TOLERANCE or is_as_near(result, expected, inference))
            right &= is_right
            wrong = "" if is_right else ", WRONG"
            print(f"{name}, batches of {batch_size or 'all'}: {kernels} kernels, error {error:.1e}{wrong}", flush=True)
    return right


def in_subprocess(arguments: argparse.Namespace, model: str, preset: str) -> Case:
    """Runs one case in a process of its own."""
    command = [sys.executable, "-m", "benchmarks.gpu", "--case", model, preset]
    command += ["--device", arguments.device, "--repeats", str(arguments.repeats)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, text=True)
    if done.returncode:
        return Case(model, preset, 0, 0.0, [], {"all": f"the process ended with {done.returncode}"})
    record: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    timings = [Timing(**t) for t in record.pop("timings")]
    return Case(timings=timings, **record)


def table(cases: list[Case]) -> str:
    """The cases as markdown: milliseconds (least, median), peaks in MiB, ratios of the least times."""
    names = [*OWN, *PEERS]
    titles = ["graph", "model", "kernels", *names, "to edge_index", "to the best peer", "peak, PyG's", "first run"]
    lines = [
        f"| {' | '.join(titles)} |",
        f"|{'---|' * len(titles)}",
        *(row(case, names) for case in cases),
        "",
    ]
    for title, ratios in (
        ("edge_index", [ratio(case, case.timing("edge_index")) for case in cases]),
        ("the best peer", [ratio(case, case.best_peer) for case in cases]),
    ):
        lines.append(f"Geometric mean against {title}: {geometric_mean(ratios):.1f}x.")
    return "\n".join([*lines, *(line for case in cases for line in problems(case))])


def row(case: Case, names: list[str]) -> str:
    times = [milliseconds(case.timing(name)) for name in names]
    ratios = [ratio(case, case.timing("edge_index")), ratio(case, case.best_peer)]
    shown = [f"{r:.1f}x" if r is not None else "–" for r in ratios]
    taken = [case.timing(name) for name in ("gnnc", "edge_index")]
    peaks = [f"{timing.peak / 2**20:.0f}" if timing is not None else "–" for timing in taken]
    cells = [case.preset, case.model, str(case.kernels), *times, *shown, ", ".join(peaks)]
    return f"| {' | '.join(cells)} | {case.first_run_seconds:.1f} s |"


def milliseconds(timing: Timing | None) -> str:
    if timing is None or not timing.seconds:
        return "–"
    return f"{timing.best * 1e3:.2f}, {statistics.median(timing.seconds) * 1e3:.2f}"


def ratio(case: Case, peer: Timing | None) -> float | None:
    own = case.timing("gnnc")
    return None if own is None or peer is None else peer.best / own.best


def problems(case: Case) -> list[str]:
    """Whatever was faster than gnnc, and what did not compute the right thing."""
    own = case.timing("gnnc")
    faster = [t for t in case.timings if own is not None and t.name != "to host" and t.best < own.best]
    lines = [f"SLOWER: {case.model} on {case.preset}: {t.name} takes {t.best * 1e3:.2f} ms." for t in faster]
    return lines + [f"{case.model} on {case.preset}: {name}: {why}" for name, why in case.failures.items()]


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="Checks and times gnnc and PyG on a CUDA device.")
    parser.add_argument("--preset", nargs="+", default=["medium", "large"], choices=list(PRESETS))
    parser.add_argument("--model", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--repeats", type=int, default=20)
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--interpret", action="store_true", help="check kernels in Triton's interpreter, without times")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--case", nargs=2, help=argparse.SUPPRESS)
    return parser.parse_args()


def refusal(arguments: argparse.Namespace) -> str | None:
    """Why nothing can be run here, in one sentence."""
    if arguments.interpret and find_spec("triton") is None:
        return "Triton is not installed: pip install triton."
    if not arguments.interpret and not torch.cuda.is_available():
        return "This machine has no CUDA device that torch can use: run it on one that has, or with --interpret."
    return None


def main() -> None:
    arguments = parsed()
    why = refusal(arguments)
    if why is not None:
        print(why, file=sys.stderr)
        raise SystemExit(2)
    if arguments.interpret:
        raise SystemExit(interpret(arguments.model))
    if arguments.case:
        model, preset = arguments.case
        print(json.dumps(asdict(run_case(model, preset, arguments.device, arguments.repeats))))
        return
    cases: list[Case] = []
    for preset in arguments.preset:
        for model in arguments.model:
            cases.append(in_subprocess(arguments, model, preset))
            print(row(cases[-1], [*OWN, *PEERS]), flush=True)
    name = torch.cuda.get_device_name(arguments.device)
    text = f"{name}, torch {torch.__version__}, {date.today()}\n\n{table(cases)}\n"
    print(f"\n{text}")
    if arguments.markdown:
        arguments.markdown.write_text(text, encoding="utf-8")
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(case) for case in cases], indent=1), encoding="utf-8")
    raise SystemExit(1 if any(case.failures for case in cases) else 0)


if __name__ == "__main__":
    main()
