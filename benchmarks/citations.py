"""Small graphs with wide, sparse features: gnnc against PyG on both of its kinds of edges.

    python -m benchmarks.citations --data FOLDER [--graph cora citeseer] [--model gcn sage "gat, 8 heads"]
        [--hidden 16 128] [--threads 1]

FOLDER holds the graphs as .npz files. Two layers, contestants in turns, outputs compared before times count: the least
milliseconds of the processor, over batches of runs. NELL's features take 16 GB as PyG has them, and gathered by edges,
as GraphSAGE does, 65 GB.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path

import torch
from torch_geometric.nn.models import GAT, GCN, GraphSAGE

import gnnc
from benchmarks.inference import TOLERANCE, error_of
from benchmarks.inference_models import Inference

MODELS: dict[str, Callable[[int, int, int], torch.nn.Module]] = {
    "gcn": lambda features, hidden, classes: GCN(features, hidden, 2, classes),
    "sage": lambda features, hidden, classes: GraphSAGE(features, hidden, 2, classes),
    "gat, 8 heads": lambda features, hidden, classes: GAT(features, hidden, 2, classes, heads=8),
}
BATCH_SECONDS, BATCHES = 0.2, 6


def row(graph: gnnc.Graph, model: str, hidden: int) -> list[str]:
    """Times of gnnc and both peers, and their ratios; a peer that is wrong or does not run has none."""
    torch.manual_seed(0)
    classes = int(torch.as_tensor(graph.y).max()) + 1
    inference = Inference(MODELS[model](torch.as_tensor(graph.x).shape[1], hidden, classes).eval(), graph)
    runs = {
        "gnnc": gnnc.compile(inference.model, inference.graph).run,
        "edge_index": inference.run,
        "csr": inference.on_csr(),
    }
    expected = inference.run()
    right = {name: run for name, run in runs.items() if is_right(run, expected)}
    best = milliseconds(right)
    shown = [f"{best[name]:.2f}" if name in best else "–" for name in runs]
    peers = [best[name] for name in ("edge_index", "csr") if name in best]
    return [*shown, f"{best['edge_index'] / best['gnnc']:.1f}x", f"{min(peers) / best['gnnc']:.1f}x"]


def is_right(run: Callable[[], torch.Tensor], expected: torch.Tensor) -> bool:
    try:
        return error_of(run(), expected) <= TOLERANCE
    except (RuntimeError, NotImplementedError):
        return False


def milliseconds(runs: dict[str, Callable[[], torch.Tensor]]) -> dict[str, float]:
    counts = {name: max(1, int(BATCH_SECONDS / max(1e-5, once(run, 1)))) for name, run in runs.items()}
    best = dict.fromkeys(runs, float("inf"))
    for _ in range(BATCHES):
        for name, run in runs.items():
            best[name] = min(best[name], once(run, counts[name]) * 1e3)
    return best


def once(run: Callable[[], torch.Tensor], count: int) -> float:
    """Seconds of the processor for one of `count` runs."""
    begun = time.process_time()
    for _ in range(count):
        run()
    return (time.process_time() - begun) / count


def main() -> None:
    parser = argparse.ArgumentParser(description="Times two-layer models on small graphs with sparse features.")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--graph", nargs="+", default=["cora", "citeseer"])
    parser.add_argument("--model", nargs="+", default=list(MODELS), choices=list(MODELS))
    parser.add_argument("--hidden", nargs="+", type=int, default=[16, 128])
    parser.add_argument("--threads", type=int, default=1)
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    print("| graph | model | hidden | gnnc | edge_index | csr | to edge_index | to the best peer |")
    print("|---|---|---|---|---|---|---|---|")
    for name in a.graph:
        graph = gnnc.Graph.load(a.data / f"{name}.npz")
        for model in a.model:
            for hidden in a.hidden:
                print(f"| {name} | {model} | {hidden} | {' | '.join(row(graph, model, hidden))} |", flush=True)


if __name__ == "__main__":
    main()
