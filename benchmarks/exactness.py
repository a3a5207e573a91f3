"""Trained models on real graphs: is what gnnc computes what the model computes?

    python -m benchmarks.exactness FOLDER [--dataset cora ...] [--model gcn ...]

FOLDER holds `node/DATASET.npz` (or `graphs/DATASET.npz`) and `weights/DATASET-MODEL.safetensors` with
`weights/weights.json`. Each model runs at batch sizes 1 (on the first nodes only), 7, 256 and all nodes; prints the
largest error, relative to the largest output, and the test accuracy beside the recorded one. Exits 1 on a difference.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors.torch import load_file
from torch_geometric.nn import SGConv
from torch_geometric.nn.models import GAT, GCN, GIN, GraphSAGE

import gnnc

TOLERANCE = 1e-4
BATCH_SIZES = (7, 256, None)
FEW_NODES = 300

MODELS: dict[str, Callable[[int, int], torch.nn.Module]] = {
    "gcn": lambda f, c: GCN(f, 16, 2, c, dropout=0.5),
    "sage": lambda f, c: GraphSAGE(f, 64, 2, c, dropout=0.5, aggr="mean"),
    "gin": lambda f, c: GIN(f, 16, 2, c, dropout=0.5),
    "gin_bn": lambda f, c: GIN(f, 16, 2, c, dropout=0.5, norm="batch_norm"),
    "sgc": lambda f, c: SGConv(f, c, K=2),
    "gat": lambda f, c: GAT(f, 64, 2, c, dropout=0.6, act="elu", heads=8),
    "jknet": lambda f, c: GCN(f, 32, 3, c, dropout=0.5, jk="cat"),
}


class RowNormalized(torch.nn.Module):
    """A model on row-normalised features, as the weights were trained."""

    def __init__(self, model: torch.nn.Module):
        super().__init__()
        self.model = model

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.model(x / x.sum(1, keepdim=True).clamp(min=1), edge_index)


@dataclass(frozen=True)
class TrainedModel:
    """A model with its weights, its graph, and the test accuracy that was recorded when it was trained."""

    name: str
    model: torch.nn.Module
    graph: gnnc.Graph
    accuracy: float


@dataclass(frozen=True)
class Finding:
    """How one run compares with the model itself."""

    batch_size: int | None
    nodes: int
    error: float
    accuracy: float | None


def load_trained_model(folder: Path, dataset: str, kind: str) -> TrainedModel:
    """One of the trained models; FileNotFoundError or KeyError if the folder doesn't have it."""
    name = f"{dataset}-{kind}"
    graphs = folder / "graphs" if (folder / "graphs").is_dir() else folder / "node"
    graph = gnnc.Graph.load(graphs / f"{dataset}.npz")
    assert graph.x is not None
    model = RowNormalized(MODELS[kind](graph.x.shape[1], int(np.asarray(graph.y).max()) + 1))
    model.model.load_state_dict(load_file(folder / "weights" / f"{name}.safetensors"))
    recorded = json.loads((folder / "weights" / "weights.json").read_text())[f"{name}.safetensors"]
    return TrainedModel(name, model.eval(), graph, recorded["test_accuracy"])


def eager(model: torch.nn.Module, graph: gnnc.Graph) -> np.ndarray[Any, Any]:
    """What PyTorch computes."""
    with torch.no_grad():
        return model(torch.as_tensor(graph.x), torch.as_tensor(graph.edge_index)).numpy()


def relative_error(result: np.ndarray[Any, Any], expected: np.ndarray[Any, Any]) -> float:
    return float(np.abs(result - expected).max() / max(np.abs(expected).max(), 1e-30))


def first_nodes(graph: gnnc.Graph, count: int) -> gnnc.Graph:
    """The graph of the first nodes and the edges between them."""
    edges = np.asarray(graph.edge_index)
    return gnnc.Graph(x=np.asarray(graph.x)[:count], edge_index=edges[:, (edges < count).all(0)])


def check(trained: TrainedModel) -> list[Finding]:
    """Runs a model at all batch sizes, compiled once."""
    program = gnnc.compile(trained.model, trained.graph)
    expected = eager(trained.model, trained.graph)
    mask = np.asarray(trained.graph.test_mask)
    findings: list[Finding] = []
    for batch_size in BATCH_SIZES:
        result = program.run(batch_size=batch_size)
        accuracy = float((result.argmax(1) == np.asarray(trained.graph.y))[mask].mean())
        findings.append(Finding(batch_size, trained.graph.num_nodes, relative_error(result, expected), accuracy))
    few = first_nodes(trained.graph, FEW_NODES)
    result = program.run(graph=few, batch_size=1)
    findings.append(Finding(1, few.num_nodes, relative_error(result, eager(trained.model, few)), None))
    return findings


def is_right(finding: Finding, trained: TrainedModel) -> bool:
    """Within the tolerance, and the recorded accuracy to the digit."""
    same = finding.accuracy is None or round(finding.accuracy, 4) == trained.accuracy
    return finding.error <= TOLERANCE and same


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares compiled models with eager ones on real graphs.")
    parser.add_argument("folder", type=Path, help="folder with graphs and weights")
    parser.add_argument("--dataset", nargs="+", default=["cora", "citeseer", "pubmed"])
    parser.add_argument("--model", nargs="+", default=list(MODELS), choices=list(MODELS))
    arguments = parser.parse_args()
    wrong = 0
    for dataset in arguments.dataset:
        for kind in arguments.model:
            trained = load_trained_model(arguments.folder, dataset, kind)
            for finding in check(trained):
                right = is_right(finding, trained)
                wrong += not right
                accuracy = "-" if finding.accuracy is None else f"{finding.accuracy:.4f} of {trained.accuracy:.4f}"
                print(
                    f"{trained.name:16} batch {finding.batch_size or 'all'!s:>4} of {finding.nodes:6,} nodes  "
                    f"error {finding.error:.1e}  accuracy {accuracy:17}  {'ok' if right else 'WRONG'}",
                    flush=True,
                )
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
