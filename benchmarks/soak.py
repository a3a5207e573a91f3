"""Kills runs with a store at random moments, and lets them go on: no batch is lost, no bit changes.

    python -m benchmarks.soak [--kills 200] [--nodes 20000] [--edges 200000] [--memory 2MiB] [--model gcn gat sage]

Every attempt is a process that SIGKILL ends after a random part of the time that an undisturbed run takes. One that
comes through is compared with the undisturbed run, byte for byte, and the next attempt begins with an empty store.
Batches in the journal must never become fewer. Exit code 1 if anything is wrong.
"""

from __future__ import annotations

import argparse
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch_geometric.nn.models import GAT, GCN, GraphSAGE

import gnnc

WIDTH = 32
MODELS: dict[str, Callable[[], torch.nn.Module]] = {
    "gcn": lambda: GCN(WIDTH, 32, 3, 8),
    "gat": lambda: GAT(WIDTH, 32, 3, 8, heads=2),
    "sage": lambda: GraphSAGE(WIDTH, 32, 3, 8),
}


@dataclass
class Count:
    """What has happened: kills that met a run at work, runs that came to their end, and faults found."""

    kills: int = 0
    finished: int = 0
    corrupted: int = 0
    lost: int = 0
    failed: int = 0

    @property
    def is_good(self) -> bool:
        return not (self.corrupted or self.lost or self.failed)


@dataclass(frozen=True)
class Case:
    """A program, the folder of its graph, and how it runs."""

    program: gnnc.Program
    graph: Path
    memory: str

    def start(self, store: Path, output: Path) -> int:
        """The id of a process that runs it and saves what comes out."""
        process = os.fork()
        if process:
            return process
        status = 1
        try:
            # one thread: those of torch and the store's writer begin after the fork
            result = self.program.run(graph=gnnc.Graph.load(self.graph), store=store, memory=self.memory, threads=1)
            np.save(output, result)
            status = 0
        finally:
            os._exit(status)


def write_graph(folder: Path, nodes: int, edges: int) -> None:
    generator = np.random.default_rng(0)
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "x.npy", generator.standard_normal((nodes, WIDTH), dtype=np.float32))
    np.save(folder / "edge_index.npy", generator.integers(0, nodes, (2, edges)))


def journaled(store: Path) -> int:
    """Whole lines in the journals of a store."""
    return sum(path.read_bytes().count(b"\n") for path in store.glob("run-*/journal"))


def soak(case: Case, folder: Path, kills: int, choose: random.Random) -> Count:
    """Kills attempts until there were enough."""
    store, output, whole = folder / "store", folder / "out.npy", folder / "whole.npy"
    length = 0.0
    for name in ("warm", "undisturbed"):  # the first run compiles kernels
        began = time.perf_counter()
        _, status = os.waitpid(case.start(folder / name, whole), 0)
        length = time.perf_counter() - began
        if status:
            raise SystemExit("the undisturbed run failed")
    expected, count = whole.read_bytes(), Count()
    while count.kills < kills and count.is_good:
        before = journaled(store)
        process = case.start(store, output)
        time.sleep(choose.uniform(0, length))
        os.kill(process, signal.SIGKILL)
        _, status = os.waitpid(process, 0)
        count.lost += journaled(store) < before
        if os.WIFSIGNALED(status):
            count.kills += 1
            continue
        count.failed += os.WEXITSTATUS(status) != 0
        count.finished += 1
        count.corrupted += output.read_bytes() != expected
        shutil.rmtree(store, ignore_errors=True)
    if count.is_good and store.exists():
        _, status = os.waitpid(case.start(store, output), 0)
        count.failed += status != 0
        count.finished += 1
        count.corrupted += output.read_bytes() != expected
    return count


def main() -> None:
    parser = argparse.ArgumentParser(description="Kills runs with a store at random moments.")
    parser.add_argument("--kills", type=int, default=200, help="of all models together")
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--edges", type=int, default=200_000)
    parser.add_argument("--memory", default="2MiB")
    parser.add_argument("--model", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    choose, good = random.Random(arguments.seed), True
    with tempfile.TemporaryDirectory() as name:
        graph = Path(name) / "graph"
        write_graph(graph, arguments.nodes, arguments.edges)
        for model in arguments.model:
            torch.manual_seed(0)
            tiny = gnnc.Graph(x=np.zeros((9, WIDTH), np.float32), edge_index=np.zeros((2, 9), np.int64))
            program = gnnc.compile(MODELS[model]().eval(), tiny)
            folder = Path(name) / model
            folder.mkdir()
            count = soak(
                Case(program, graph, arguments.memory), folder, -(-arguments.kills // len(arguments.model)), choose
            )
            print(f"{model}: {count}", flush=True)
            good = good and count.is_good
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
