"""What each pass is worth: a model with one of them off in turn.

    python -m benchmarks.ablation [--preset medium] [--model gcn sage gat rgcn] [--threads 1] [--repeats 4]

Variants take turns in one process and must agree; times are the least seconds of the processor over those of the whole
compiler.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from functools import partial
from unittest.mock import patch

import torch
from xdsl.passes import ModulePass

import gnnc
from benchmarks.generated_graphs import PRESETS, generate
from benchmarks.inference_models import MODELS, Inference
from gnnc.passes import get_all_passes
from gnnc.targets.gpu import arena, compiled_block
from gnnc.targets.gpu.kernels import dense_product

PASSES = (
    "gnn-fold-weights",
    "gnn-reorder-linear",
    "gnn-fuse-conv",
    "gnn-fuse-rows",
    "gnn-accumulate-linear",
    "gnn-sink-convs",
    "gnn-select-primitives",
)
WHOLE, BATCHES, PAGES, PRODUCTS = "whole", "batches for the cache", "huge pages", "kernels of products"
VARIANTS = (*PASSES, BATCHES, PAGES, PRODUCTS)
TOLERANCE = 1e-4


@contextmanager
def without(what: str) -> Generator[None]:
    """Within, a pass does nothing, or the executor does without something."""
    if what == WHOLE:
        yield
    elif what == BATCHES:
        with patch.multiple(compiled_block, CACHE_BYTES=2**60, MOST_ROWS=2**40):
            yield
    elif what == PAGES:
        with patch.object(arena, "advise_huge", nothing):
            yield
    elif what == PRODUCTS:
        with patch.object(dense_product, "has_registers", lambda: False):
            yield
    else:
        with patch.object(class_of(what), "apply", nothing):
            yield


def nothing(*_: object) -> None:
    return None


def class_of(name: str) -> type[ModulePass]:
    return get_all_passes()[name]()


def seconds(model: str, preset: str, threads: int, repeats: int) -> dict[str, float]:
    """By what is off, the least seconds of the processor."""
    shape = PRESETS[preset]
    inference = Inference(MODELS[model](shape.features, shape.classes), generate(shape))
    runs: dict[str, Callable[[], torch.Tensor]] = {}
    results: list[torch.Tensor] = []
    for what in (WHOLE, *VARIANTS):
        with without(what):
            program = gnnc.compile(inference.model, inference.graph)
            results.append(program.run(threads=threads))
        runs[what] = partial(program.run, threads=threads)
        error = float((results[-1] - results[0]).abs().max() / results[0].abs().max())
        if error > TOLERANCE:
            raise SystemExit(f"{model} without {what} is wrong by {error:.1e}")
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(repeats):
        for what, run in runs.items():
            with without(what):
                begun = time.process_time()
                run()
                best[what] = min(best[what], time.process_time() - begun)
    return best


def main() -> None:
    parser = argparse.ArgumentParser(description="Times models with one pass off in turn.")
    parser.add_argument("--preset", default="medium", choices=list(PRESETS))
    parser.add_argument("--model", nargs="+", default=["gcn", "sage", "gat", "rgcn"], choices=list(MODELS))
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=4)
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    print(f"| {a.preset} | whole, s | {' | '.join(VARIANTS)} |\n|{'---|' * (len(VARIANTS) + 2)}")
    for model in a.model:
        best = seconds(model, a.preset, a.threads, a.repeats)
        ratios = [f"{best[what] / best[WHOLE]:.2f}x" for what in best if what != WHOLE]
        print(f"| {model} | {best[WHOLE]:.3f} | {' | '.join(ratios)} |", flush=True)


if __name__ == "__main__":
    main()
