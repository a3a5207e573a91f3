"""Layer by layer against node by node: what it costs to compute every node, and some nodes.

    python -m benchmarks.nodewise [--preset arxiv] [--layers 1 2 3 4] [--batches 1 16 128 1024] [--samples 3]
        [--cap 64MiB] [--threads 1] [--folder DIR] [--markdown OUT.md]

Node by node means that a batch of random targets is computed from all of its neighborhood of as many hops as there are
layers. `trimmed` is gnnc itself on that neighborhood, each layer on the nodes that it needs, with the graph's structure
prepared; `pyg` is what a user of PyG writes, k_hop_subgraph and the model on the induced graph. Models are GraphSAGE,
every layer 128 wide, whose results on an induced graph are those on the whole one. A few batches are timed and stand
for all of them. Times are of the processor, contestants take turns, the least of a full run counts and the mean of
batches. Results must be as near as 1e-4 of their scale before times count.

With a cap, gnnc has a store and no more memory than that, edges in order beforehand, for all nodes at once and for the
batches of node by node. PyG's peak is measured beside graph and features in memory, and said to be over the cap.
"""

from __future__ import annotations

import argparse
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from datetime import date
from pathlib import Path

import numpy as np
import torch
from torch_geometric.nn.models import GraphSAGE
from torch_geometric.utils import k_hop_subgraph

import gnnc
from benchmarks.generated_graphs import PRESETS, generate
from gnnc.memory_sizes import memory_bytes
from gnnc.targets.gpu.memory_meter import MemoryMeter

WIDTH = 128
SHARES = (0.001, 0.01, 0.1)
"""Of the nodes, what partial inference computes."""

CONTESTANTS = ("trimmed", "pyg")
TOLERANCE = 1e-4


@dataclass(frozen=True)
class Timed:
    """Seconds of one way to compute `nodes` targets, and the bytes that it took at its peak."""

    layers: int
    way: str
    nodes: int
    seconds: float
    peak: int = 0


class Case:
    """A model of some layers, compiled, and its graph."""

    def __init__(self, folder: Path, layers: int):
        torch.manual_seed(0)
        self.layers = layers
        self.folder = folder
        self.graph = gnnc.Graph(
            x=torch.from_numpy(np.load(folder / "x.npy")),
            edge_index=torch.from_numpy(np.load(folder / "edge_index.npy")),
        )
        self.nodes = self.graph.num_nodes
        self.model = GraphSAGE(WIDTH, WIDTH, layers, WIDTH).eval()
        self.program = gnnc.compile(self.model, self.graph)
        self.expected = torch.as_tensor(self.program.run())

    def timed(self, way: str, nodes: int, compute: Callable[[], torch.Tensor], ids: torch.Tensor | None) -> Timed:
        """One run. Raises SystemExit if it computes something else."""
        with MemoryMeter("cpu") as meter:
            start = time.process_time()
            result = compute()
            seconds = time.process_time() - start
        wanted = self.expected if ids is None else self.expected[ids]
        worst = float((result - wanted).abs().max())
        if not worst <= TOLERANCE * float(self.expected.abs().max()):
            raise SystemExit(f"{self.layers} layers, {way}, {nodes} nodes: wrong by {worst}")
        return Timed(self.layers, way, nodes, seconds, meter.peak or 0)

    def full(self) -> Timed:
        return self.timed("full", self.nodes, self.program.run, None)

    def of_batch(self, way: str, ids: torch.Tensor) -> Timed:
        """The targets `ids` from their neighborhood alone."""
        compute = self.trimmed if way == "trimmed" else self.on_induced_graph
        return self.timed(way, len(ids), lambda: compute(ids), ids)

    def trimmed(self, ids: torch.Tensor) -> torch.Tensor:
        return torch.as_tensor(self.program.run(nodes=ids))

    def on_induced_graph(self, ids: torch.Tensor) -> torch.Tensor:
        x, edge_index = torch.as_tensor(self.graph.x), torch.as_tensor(self.graph.edge_index)
        subset, edges, places, _ = k_hop_subgraph(ids, self.layers, edge_index, relabel_nodes=True, num_nodes=len(x))
        with torch.no_grad():
            return self.model(x[subset], edges)[places]

    def stored(self, way: str, memory: str, ids: torch.Tensor | None) -> Timed:
        """A run with a store and so much memory; the edges have been put in order by a run before."""
        graph = gnnc.Graph.load(self.folder)
        with tempfile.TemporaryDirectory(dir=self.folder) as store:

            def compute() -> torch.Tensor:
                return torch.as_tensor(self.program.run(graph=graph, store=store, memory=memory, nodes=ids))

            compute()
            for done in Path(store).glob("run-*"):
                shutil.rmtree(done)
            return self.timed(way, self.nodes if ids is None else len(ids), compute, ids)


def curve(case: Case, batches: Sequence[int], samples: int) -> list[Timed]:
    """A full run, batches of each size both ways, and partial runs, in turns."""
    random = torch.Generator().manual_seed(0)
    shares = [round(case.nodes * share) for share in SHARES]
    results: list[Timed] = []
    for _ in range(samples):
        results.append(case.full())
        for size in batches:
            ids = torch.randperm(case.nodes, generator=random)[:size]
            results += [case.of_batch(way, ids) for way in CONTESTANTS]
        for count in shares:
            ids = torch.randperm(case.nodes, generator=random)[:count]
            results.append(case.timed("partial", count, lambda ids=ids: case.trimmed(ids), ids))
    return results


def capped(case: Case, memory: str, way: str, size: int) -> list[Timed]:
    """A full run or one batch with a store, or one batch of PyG's."""
    random = torch.Generator().manual_seed(0)
    ids = torch.randperm(case.nodes, generator=random)[:size]
    if way == "pyg":
        return [case.of_batch(way, ids)]
    return [case.stored(way, memory, ids if way == "trimmed" else None)]


def in_subprocess(arguments: argparse.Namespace, folder: Path, *case: object) -> list[Timed]:
    command = [sys.executable, "-m", "benchmarks.nodewise", "--case", str(folder), *map(str, case)]
    options = ["--threads", str(arguments.threads), "--samples", str(arguments.samples), "--cap", arguments.cap]
    sizes = ["--batches", *map(str, arguments.batches)]
    done = subprocess.run([*command, *options, *sizes], stdout=subprocess.PIPE, check=True)
    found = [Timed(**record) for record in json.loads(done.stdout.splitlines()[-1])]
    for timed in found:
        print(timed, file=sys.stderr, flush=True)
    return found


def run_case(arguments: argparse.Namespace) -> list[Timed]:
    folder, layers, way, size = arguments.case
    torch.set_num_threads(arguments.threads)
    case = Case(Path(folder), int(layers))
    if way == "curve":
        return curve(case, arguments.batches, arguments.samples)
    return capped(case, arguments.cap, way, int(size))


def mean(results: Sequence[Timed], layers: int, way: str, nodes: int) -> float:
    found = [t.seconds for t in results if (t.layers, t.way, t.nodes) == (layers, way, nodes)]
    return sum(found) / len(found)


def full_seconds(results: Sequence[Timed], layers: int) -> float:
    return min(t.seconds for t in results if (t.layers, t.way) == (layers, "full"))


def curve_table(results: Sequence[Timed], nodes: int, layers: Sequence[int], batches: Sequence[int]) -> str:
    """How many times as long as a full run node by node takes, by batch size."""
    columns = [f"{way}, {size:,}" for way in CONTESTANTS for size in batches]
    lines = [f"| layers | full run | {' | '.join(columns)} |", "|---" * (2 + len(columns)) + "|"]
    for count in layers:
        full = full_seconds(results, count)
        cells = [
            f"{mean(results, count, way, size) * -(-nodes // size) / full:,.1f}x"
            for way in CONTESTANTS
            for size in batches
        ]
        lines.append(f"| {count} | {full:.3f} s | {' | '.join(cells)} |")
    return "\n".join(lines)


def partial_table(results: Sequence[Timed], nodes: int, layers: Sequence[int], batches: Sequence[int]) -> str:
    """Partial runs beside full ones and beside node by node: with the largest batch, and at its best."""
    lines = [
        "| layers | share of the nodes | to a full run | trimmed, 1,024 | pyg, 1,024 | pyg at its best |",
        "|---" * 6 + "|",
    ]
    for count in layers:
        for share in SHARES:
            wanted = round(nodes * share)
            partial = mean(results, count, "partial", wanted)

            def times(way: str, size: int, count: int = count, wanted: int = wanted, partial: float = partial) -> float:
                return mean(results, count, way, size) * -(-wanted // min(size, wanted)) / partial

            fitting = [size for size in batches if size <= wanted] or [min(batches)]
            best = min(times("pyg", size) for size in fitting)
            usual = [f"{times(way, 1024):.1f}x" if 1024 in fitting else "–" for way in CONTESTANTS]
            ratio = partial / full_seconds(results, count)
            lines.append(f"| {count} | {share:.1%} | {ratio:.2f}x | {' | '.join(usual)} | {best:.1f}x |")
    return "\n".join(lines)


def cap_table(results: Sequence[Timed], nodes: int, cap: int) -> str:
    """Runs within the cap: seconds for all nodes, and the peak of one."""
    lines = ["| way | batch | all nodes | to the store run | peak |", "|---" * 5 + "|"]
    store = next(t for t in results if t.way == "store")
    lines.append(f"| layer by layer, with a store | – | {store.seconds:.1f} s | 1.0x | {mebibytes(store.peak)} |")
    for way in CONTESTANTS:
        for t in (t for t in results if t.way == way):
            total = t.seconds * -(-nodes // t.nodes)
            note = "" if t.peak <= cap else ", over the cap"
            size = f"{t.nodes:,}"
            lines.append(
                f"| {way} | {size} | {total:,.0f} s | {total / store.seconds:,.0f}x | {mebibytes(t.peak)}{note} |"
            )
    return "\n".join(lines)


def mebibytes(size: int) -> str:
    return f"{size / 2**20:.0f} MiB"


def graph_folder(folder: Path, preset: str) -> Path:
    """The graph as a folder of .npy files, made once."""
    place = folder / preset
    if not place.exists():
        graph = generate(PRESETS[preset])
        place.mkdir(parents=True)
        np.save(place / "x.npy", np.asarray(graph.x)[:, :WIDTH])
        np.save(place / "edge_index.npy", np.asarray(graph.edge_index))
    return place


def main() -> None:
    parser = argparse.ArgumentParser(description="Times inference layer by layer against node by node.")
    parser.add_argument(
        "--preset", default="arxiv", choices=[name for name in PRESETS if PRESETS[name].features == WIDTH]
    )
    parser.add_argument("--layers", nargs="+", type=int, default=[1, 2, 3, 4])
    parser.add_argument("--batches", nargs="+", type=int, default=[1, 16, 128, 1024])
    parser.add_argument("--samples", type=int, default=3, help="batches of each size that are timed")
    parser.add_argument("--cap", default="64MiB")
    parser.add_argument("--capped", nargs="*", type=int, default=[1, 16, 128, 1024], help="batches under the cap")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--folder", type=Path, default=Path("build/nodewise"), help="for the graph and stores")
    parser.add_argument("--markdown", type=Path)
    parser.add_argument("--case", nargs=4, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.case:
        print(json.dumps([asdict(timed) for timed in run_case(arguments)]))
        return
    folder = graph_folder(arguments.folder, arguments.preset)
    nodes, edges = np.load(folder / "x.npy", mmap_mode="r").shape[0], np.load(folder / "edge_index.npy", "r").shape[1]
    results = [t for count in arguments.layers for t in in_subprocess(arguments, folder, count, "curve", 0)]
    within = [(way, size) for way in CONTESTANTS for size in arguments.capped]
    three = [t for way, size in [("store", 0), *within] for t in in_subprocess(arguments, folder, 3, way, size)]
    growth = full_seconds(results, max(arguments.layers)) / full_seconds(results, min(arguments.layers))
    text = "\n\n".join(
        [
            f"{nodes:,} nodes, {edges:,} edges, {arguments.threads} threads, {date.today()}",
            curve_table(results, nodes, arguments.layers, [*arguments.batches]),
            f"A full run of {max(arguments.layers)} layers to one of {min(arguments.layers)}: {growth:.2f}x",
            partial_table(results, nodes, arguments.layers, arguments.batches),
            f"3 layers within {arguments.cap}:\n\n{cap_table(three, nodes, memory_bytes(arguments.cap))}",
        ]
    )
    print(text)
    if arguments.markdown:
        arguments.markdown.write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
