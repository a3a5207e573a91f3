"""How long compiling takes, from a fresh interpreter: imports, torch.export, and gnnc's own share.

    python -m benchmarks.compile_time

Each model is compiled in a process of its own. `total` counts from the start of the process, imports included;
`export` is torch.export with its decompositions; `own` is the rest of gnnc.compile; `kernels` is what making the
machine code of a model takes when none of it is on disk, and `cached` when all is.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from torch_geometric.nn.models import GAT, GCN

import gnnc
from benchmarks.inference_models import MODELS, Inference

DEEP = ("gcn 2", "gat 2", "gat 12", "gcn 20", "gcn 50")
"""16 numbers wide, so many layers."""

WIDE = tuple(f"{name} 3" for name in MODELS)
"""Those of `benchmarks.inference`, 128 wide."""

REPEATS = 3


def measure(kind: str, layers: int) -> None:
    """Compiles one model and prints the seconds of torch.export, of the rest, and of its kernels, made and found."""
    from gnnc.frontend import lower
    from gnnc.targets.gpu import fused_executor
    from gnnc.targets.gpu.kernels import dense_product

    exports = timed(lower, "capture")
    kernels = timed(fused_executor, "cpu_kernels_of")
    model, graph = given(kind, layers)
    start = time.perf_counter()
    program = gnnc.compile(model, graph)
    total = time.perf_counter() - start
    with tempfile.TemporaryDirectory() as folder:
        os.environ["GNNC_CACHE"] = folder
        for _ in range(2):
            dense_product.kernel_for.cache_clear()
            fused_executor.executor_with_kernels(program.module, program.weights)
    print(exports[0], total - exports[0], *kernels)


def given(kind: str, layers: int) -> tuple[torch.nn.Module, gnnc.Graph]:
    """A model and Cora for it."""
    graph = gnnc.Graph.load(Path(__file__).parents[1] / "examples" / "data" / "graphs" / "cora.npz")
    if f"{kind} {layers}" in WIDE:
        inference = Inference(MODELS[kind](1433, 7), graph)
        return inference.model, inference.graph
    model = GCN(1433, 16, layers, 7) if kind == "gcn" else GAT(1433, 16, layers, 7, heads=2)
    return model.eval(), graph


def timed(module: Any, name: str) -> list[float]:
    """A list to which every call of a function adds its seconds."""
    seconds: list[float] = []
    function = getattr(module, name)

    def measured(*arguments: Any) -> Any:
        start = time.perf_counter()
        result = function(*arguments)
        seconds.append(time.perf_counter() - start)
        return result

    setattr(module, name, measured)
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description="Measures compile times on Cora's shape.")
    parser.add_argument("--one", nargs=2, metavar=("KIND", "LAYERS"), help="measure one model in this process")
    arguments = parser.parse_args()
    if arguments.one:
        measure(arguments.one[0], int(arguments.one[1]))
        return
    columns = " ".join(f"{name:>8}" for name in ("total", "export", "own", "kernels", "cached"))
    print(f"{'model':8} {'layers':>6} {columns}   seconds, best of {REPEATS}")
    for name in (*DEEP, *WIDE):
        rows: list[tuple[float, ...]] = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            command = [sys.executable, "-m", "benchmarks.compile_time", "--one", *name.split()]
            output = subprocess.run(command, check=True, capture_output=True, text=True).stdout
            export, own, *kernels = (float(word) for word in output.split())
            rows.append((time.perf_counter() - start - sum(kernels), export, own, *kernels))
        kind, layers = name.split()
        print(
            f"{kind:8} {layers:>6} {' '.join(f'{min(column):8.2f}' for column in zip(*rows, strict=True))}", flush=True
        )


if __name__ == "__main__":
    main()
