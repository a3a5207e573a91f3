"""DGL as a contestant of `benchmarks.inference`, in a Python of its own, for it needs an older torch.

    PYTHON benchmarks/dgl_server.py FOLDER MODEL THREADS

FOLDER holds x.npy, edge_index.npy and weights.npz, a PyG model's weights by name. The first line written says that the
model is ready, or why not; its output then lies in FOLDER/output.npy. Every line read is answered, after one more run,
with the seconds of the processor that it took.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import torch

dgl: Any = import_module("dgl")
convs: Any = import_module("dgl.nn.pytorch")

Weights = dict[str, torch.Tensor]
Layer = Callable[[torch.Tensor], torch.Tensor]


def fill(parameter: torch.Tensor, value: torch.Tensor) -> None:
    parameter.data.copy_(value.reshape(parameter.shape))


def norms(graph: Any) -> torch.Tensor:
    """GCN's edge weights, by in-degrees at both ends, as PyG caches them."""
    scale = graph.in_degrees().float().clamp(min=1).rsqrt()
    source, target = graph.edges()
    return scale[source] * scale[target]


def gcn_layer(graph: Any, w: Weights, place: int) -> Layer:
    weight, weights = w[f"convs.{place}.lin.weight"], norms(graph)
    conv = convs.GraphConv(weight.shape[1], weight.shape[0], norm="none")
    fill(conv.weight, weight.t().contiguous())
    fill(conv.bias, w[f"convs.{place}.bias"])
    return lambda x: conv(graph, x, edge_weight=weights)


def sage_layer(graph: Any, w: Weights, place: int) -> Layer:
    weight = w[f"convs.{place}.lin_l.weight"]
    conv = convs.SAGEConv(weight.shape[1], weight.shape[0], "mean")
    fill(conv.fc_neigh.weight, weight)
    fill(conv.fc_self.weight, w[f"convs.{place}.lin_r.weight"])
    fill(conv.fc_self.bias, w[f"convs.{place}.lin_l.bias"])
    return lambda x: conv(graph, x)


def gin_layer(graph: Any, w: Weights, place: int) -> Layer:
    parts: list[torch.nn.Module] = []
    for i in (0, 1):
        weight = w[f"convs.{place}.nn.lins.{i}.weight"]
        linear = torch.nn.Linear(weight.shape[1], weight.shape[0])
        fill(linear.weight, weight)
        fill(linear.bias, w[f"convs.{place}.nn.lins.{i}.bias"])
        parts += [linear, torch.nn.ReLU()]
    conv = convs.GINConv(torch.nn.Sequential(*parts[:3]), "sum")
    return lambda x: conv(graph, x)


def gat_layer(graph: Any, w: Weights, place: int) -> Layer:
    vectors, bias = w[f"convs.{place}.att_src"], w[f"convs.{place}.bias"]
    heads, size = vectors.shape[1:]
    weight = w[f"convs.{place}.lin.weight"]
    conv = convs.GATConv(weight.shape[1], size, heads, allow_zero_in_degree=True)
    fill(conv.fc.weight, weight)
    fill(conv.attn_l, vectors)
    fill(conv.attn_r, w[f"convs.{place}.att_dst"])
    joined = bias.numel() == heads * size
    fill(conv.bias, bias if joined else bias.repeat(heads))
    return (lambda x: conv(graph, x).flatten(1)) if joined else (lambda x: conv(graph, x).mean(1))


LAYERS = {"gcn": gcn_layer, "sage": sage_layer, "gin": gin_layer, "gat": gat_layer, "jknet": gcn_layer}
WITH_LOOPS = ("gcn", "gat", "jknet")


def forward_of(model: str, edges: torch.Tensor, count: int, w: Weights) -> Layer:
    """The model on a graph, its preparation done."""
    graph = dgl.graph((edges[0], edges[1]), num_nodes=count)
    if model in WITH_LOOPS:
        graph = dgl.add_self_loop(dgl.remove_self_loop(graph))
    graph.create_formats_()
    layers = [
        LAYERS[model](graph, w, place) for place in range(1 + max(int(n.split(".")[1]) for n in w if "convs" in n))
    ]

    def forward(x: torch.Tensor) -> torch.Tensor:
        kept: list[torch.Tensor] = []
        for layer in layers:
            x = layer(x)
            if layer is not layers[-1] or model == "jknet":
                x = x.relu()
            kept.append(x)
        if model == "jknet":
            return torch.nn.functional.linear(torch.cat(kept, dim=1), w["lin.weight"], w["lin.bias"])
        return x

    return forward


def main() -> None:
    folder, model, threads = Path(sys.argv[1]), sys.argv[2], int(sys.argv[3])
    torch.set_num_threads(threads)
    x, edges = (torch.from_numpy(np.load(folder / f"{name}.npy")) for name in ("x", "edge_index"))
    weights = {name: torch.from_numpy(array) for name, array in np.load(folder / "weights.npz").items()}
    with torch.no_grad():
        forward = forward_of(model, edges, x.shape[0], weights)
        np.save(folder / "output.npy", forward(x).numpy())
        print("ready", flush=True)
        for _ in sys.stdin:
            begun = time.process_time()
            forward(x)
            print(time.process_time() - begun, flush=True)


if __name__ == "__main__":
    main()
