"""Kills, full disks and too little memory, at random moments of runs with a store: nothing is lost, no bit changes.

    python -m benchmarks.soak [--kills 200] [--full-disk 0] [--limits 0] [--nodes 20000] [--edges 200000]
        [--memory 2MiB] [--model gcn gat sage] [--seed 0]

Every attempt is a process with the command `gnnc run`. After a random part of the time that an undisturbed one takes,
one of three things happens to it:

kills        SIGKILL ends it.
full-disk    Something else fills the disk on which the store and the output lie: a tmpfs, which only root can mount.
limits       It may have no more memory, addresses (RLIMIT_AS) or data (RLIMIT_DATA), than it has at that moment and up
             to 16 MiB beyond. What torch and MLIR load is there by then, in the process that all others are forked
             from: libraries that find no memory while they are loaded may end the process.

A run that is not killed must say what is wrong in one sentence, end with exit code 2 and leave nothing under the name
of the output, or beside it. The same command, given again, must go on; one that comes through is compared with the
undisturbed run, byte for byte, and the next attempt begins with an empty store. Batches in the journal must never
become fewer. Exit code 1 if anything is wrong. Where memory is short, two things are as they must be: batches may
have been halved, which rounds products otherwise, so such results must be within 1e-6 of their scale; and the C
library ends a process that has no memory for the data of a new thread, which is counted as `aborted`.
"""

from __future__ import annotations

import argparse
import io
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import torch
from torch_geometric.nn.models import GAT, GCN, GraphSAGE

import gnnc
from gnnc.cli.main import main as console_script

WIDTH = 32
MODELS: dict[str, Callable[[], torch.nn.Module]] = {
    "gcn": lambda: GCN(WIDTH, 32, 3, 8),
    "gat": lambda: GAT(WIDTH, 32, 3, 8, heads=2),
    "sage": lambda: GraphSAGE(WIDTH, 32, 3, 8),
}
WRONG_INPUT = 2
"""The exit code of a run that says what is wrong."""

HANGS = 120
"""After so many seconds a run is taken to hang."""

MOST_BYTES_LEFT = 16 * 2**20


@dataclass
class Count:
    """What has happened: runs that a fault has stopped, those of them that the C library ended, runs that came to their
    end, and what was wrong."""

    stopped: int = 0
    aborted: int = 0
    finished: int = 0
    wrong: list[str] = field(default_factory=list[str])


@dataclass(frozen=True)
class Case:
    """An artifact, its graph, the memory of a run; and a folder for the store, the output and what is printed."""

    artifact: Path
    graph: Path
    memory: str
    folder: Path

    @property
    def store(self) -> Path:
        return self.folder / "store"

    @property
    def output(self) -> Path:
        return self.folder / "out.npy"

    @property
    def printed(self) -> Path:
        return self.artifact.with_name("printed")

    def start(self) -> int:
        """The id of a process that runs the command."""
        process = os.fork()
        if process:
            return process
        status = 1
        try:
            descriptor = os.open(self.printed, os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
            os.dup2(descriptor, 1)
            os.dup2(descriptor, 2)
            # one thread: those of torch and the store's writer begin after the fork
            files = ["--graph", str(self.graph), "--output", str(self.output), "--store", str(self.store)]
            console_script(["run", str(self.artifact), *files, "--memory", self.memory, "--threads", "1"])
            status = 0
        except SystemExit as end:
            status = end.code if isinstance(end.code, int) else 1
        except BaseException:
            import traceback

            traceback.print_exc()
        finally:
            os._exit(status)

    def clear(self) -> None:
        shutil.rmtree(self.store, ignore_errors=True)
        self.output.unlink(missing_ok=True)

    def journaled(self) -> int:
        """Whole lines in the journals of the store."""
        return sum(path.read_bytes().count(b"\n") for path in self.store.glob("run-*/journal"))


def kill(process: int, case: Case, choose: random.Random) -> Callable[[], object]:
    os.kill(process, signal.SIGKILL)
    return lambda: None


def fill_disk(process: int, case: Case, choose: random.Random) -> Callable[[], object]:
    other = case.folder / "other"
    with other.open("wb", buffering=0) as stream, suppress(OSError):
        while stream.write(b"0" * 2**16):
            pass
    os.truncate(other, max(0, other.stat().st_size - choose.choice([0, 2**14, 2**18])))
    return other.unlink


def limit_memory(process: int, case: Case, choose: random.Random) -> Callable[[], object]:
    kind, name = choose.choice([(resource.RLIMIT_AS, "VmSize"), (resource.RLIMIT_DATA, "VmData")])
    with suppress(ProcessLookupError, FileNotFoundError):  # it may have ended
        lines = Path(f"/proc/{process}/status").read_text(encoding="ascii").splitlines()
        taken = next((int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:")), None)
        if taken is not None:
            limit = taken + choose.randrange(MOST_BYTES_LEFT)
            resource.prlimit(process, kind, (limit, resource.RLIM_INFINITY))
    return lambda: None


@dataclass(frozen=True)
class Fault:
    """What is done to a process at work; it gives what takes that back once the process has ended. Whether the process
    ends by it without a word, and whether batches are halved: products of fewer rows are rounded otherwise."""

    disturb: Callable[[int, Case, random.Random], Callable[[], object]]
    ends: bool = False
    halves: bool = False


FAULTS = {"kills": Fault(kill, ends=True), "full disk": Fault(fill_disk), "limits": Fault(limit_memory, halves=True)}


def soak(case: Case, fault: Fault, attempts: int, choose: random.Random) -> Count:
    """Disturbs runs until so many were stopped, or something is wrong."""
    length, count = 0.0, Count()
    for _ in ("warm", "undisturbed"):  # the first run compiles kernels
        case.clear()
        began = time.perf_counter()
        if os.waitpid(case.start(), 0)[1]:
            raise SystemExit(f"the undisturbed run failed: {case.printed.read_text(encoding='utf-8')}")
        length = time.perf_counter() - began
    expected = case.output.read_bytes()
    case.clear()
    while count.stopped < attempts and not count.wrong:
        before = case.journaled()
        process = case.start()
        time.sleep(choose.uniform(0, length))
        take_back = fault.disturb(process, case, choose)
        status = ended(process)
        take_back()
        judge(case, fault, status, expected, before, count)
    if not count.wrong and case.store.exists():
        judge(case, fault, ended(case.start()), expected, 0, count)
    return count


def ended(process: int) -> int:
    """The status of a process; one that hangs is aborted."""
    until = time.monotonic() + HANGS
    while time.monotonic() < until:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return status
        time.sleep(0.01)
    os.kill(process, signal.SIGABRT)
    return os.waitpid(process, 0)[1]


def judge(case: Case, fault: Fault, status: int, expected: bytes, before: int, count: Count) -> None:
    """Counts what has come of a run. `before` are the batches in its journal when it began."""
    if case.journaled() < before:
        count.wrong.append("batches were lost")
    if status == 0:
        count.finished += 1
        if case.output.read_bytes() != expected and not (fault.halves and is_close(case.output, expected)):
            count.wrong.append("the result is another one")
        case.clear()
        return
    count.stopped += 1
    if case.output.exists():
        count.wrong.append("there is an output of a run that was stopped")
    if fault.ends and os.WIFSIGNALED(status):
        return
    said = case.printed.read_text(encoding="utf-8").strip()
    if fault.halves and said.endswith("cannot allocate memory for thread-local data: ABORT"):
        count.aborted += 1
        return
    if os.waitstatus_to_exitcode(status) != WRONG_INPUT or not said.startswith("error: ") or "\n" in said:
        count.wrong.append(f"it ended with {os.waitstatus_to_exitcode(status)} and said: {said}")
    if left := sorted(path.name for path in case.folder.iterdir() if path.name not in ("store", "other")):
        count.wrong.append(f"it left {', '.join(left)}")


def is_close(output: Path, expected: bytes) -> bool:
    found, right = np.load(output), np.load(io.BytesIO(expected))
    return bool(np.abs(found - right).max() <= 1e-6 * np.abs(right).max())


def write_graph(folder: Path, nodes: int, edges: int) -> None:
    generator = np.random.default_rng(0)
    folder.mkdir(parents=True, exist_ok=True)
    np.save(folder / "x.npy", generator.standard_normal((nodes, WIDTH), dtype=np.float32))
    np.save(folder / "edge_index.npy", generator.integers(0, nodes, (2, edges)))


@contextmanager
def small_disk(folder: Path, size: str) -> Generator[Path | None]:
    """A file system of its own, None where mounting is not allowed."""
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "tmpfs", folder], check=False)
    try:
        yield folder if done.returncode == 0 else None
    finally:
        if done.returncode == 0:
            subprocess.run(["umount", folder], check=True)


def main() -> None:
    parser = argparse.ArgumentParser(description="Disturbs runs with a store at random moments.")
    parser.add_argument("--kills", type=int, default=200, help="of all models together")
    parser.add_argument("--full-disk", type=int, default=0, help="runs that a full disk stops, of all models together")
    parser.add_argument("--limits", type=int, default=0, help="runs that a lack of memory stops, likewise")
    parser.add_argument("--nodes", type=int, default=20_000)
    parser.add_argument("--edges", type=int, default=200_000)
    parser.add_argument("--memory", default="2MiB")
    parser.add_argument("--model", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    stops = {"kills": arguments.kills, "full disk": arguments.full_disk, "limits": arguments.limits}
    choose, good = random.Random(arguments.seed), True
    with tempfile.TemporaryDirectory() as name, small_disk(Path(name) / "disk", "64m") as disk:
        graph = Path(name) / "graph"
        write_graph(graph, arguments.nodes, arguments.edges)
        for model in arguments.model:
            torch.manual_seed(0)
            tiny = gnnc.Graph(x=np.zeros((9, WIDTH), np.float32), edge_index=np.zeros((2, 9), np.int64))
            program = gnnc.compile(MODELS[model]().eval(), tiny)
            artifact = Path(name) / f"{model}.gnnc"
            program.save(artifact)
            for name_of_fault, fault in FAULTS.items():
                attempts = -(-stops[name_of_fault] // len(arguments.model))
                place = Path(name) / f"{model} {name_of_fault}"
                if attempts and fault.disturb is fill_disk:
                    if disk is None:
                        print(f"{model}, full disk: left out, for a small disk can't be mounted here", flush=True)
                        continue
                    place = disk
                if attempts:
                    place.mkdir(exist_ok=True)
                    count = soak(Case(artifact, graph, arguments.memory, place), fault, attempts, choose)
                    print(f"{model}, {name_of_fault}: {count}", flush=True)
                    good = good and not count.wrong
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
