"""Models with Convs written by hand in numba: what an engineer gets in an afternoon, without a compiler for it.

Each Conv is a loop over rows in parallel over compressed sparse rows, edges inside, features innermost; edge weights of
GCN are computed once, and products are torch's, before or after the sum, whichever makes the sum narrower.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from functools import cache, partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any

import numpy as np
import torch
from torch_geometric.nn import GATConv, GCNConv, GINConv, SAGEConv
from torch_geometric.nn.conv.gcn_conv import gcn_norm
from torch_geometric.utils import add_self_loops, remove_self_loops

from benchmarks.inference_models import Inference

MODELS = ("gcn", "sage", "gin", "gat", "jknet")


def is_installed() -> bool:
    return find_spec("numba") is not None


class Rows:
    """Edges by target: offsets int64 [nodes + 1], neighbors int32 [edges], and a weight an edge."""

    def __init__(self, edge_index: torch.Tensor, count: int, weight: torch.Tensor | None = None):
        order = torch.argsort(edge_index[1], stable=True)
        degrees = torch.bincount(edge_index[1], minlength=count)
        self.offsets = torch.cat([torch.zeros(1, dtype=torch.long), degrees.cumsum(0)]).numpy()
        self.neighbors = edge_index[0][order].int().numpy()
        self.degrees = degrees.clamp(min=1).unsqueeze(1)
        ones = torch.ones(edge_index.shape[1])
        self.weight = (ones if weight is None else weight[order]).numpy()

    def sum(self, x: torch.Tensor) -> torch.Tensor:
        out = np.empty(x.shape, np.float32)
        sum_kernel()(self.offsets, self.neighbors, self.weight, x.contiguous().numpy(), out)
        return torch.from_numpy(out)

    def attention(
        self, x: torch.Tensor, of_source: torch.Tensor, of_target: torch.Tensor, slope: float
    ) -> torch.Tensor:
        """x [nodes, heads, width], scores [nodes, heads]."""
        out = np.empty(x.shape, np.float32)
        given = (x.contiguous().numpy(), of_source.contiguous().numpy(), of_target.contiguous().numpy())
        attention_kernel()(self.offsets, self.neighbors, *given, slope, out)
        return torch.from_numpy(out)


def on_numba(inference: Inference, threads: int) -> Callable[[], torch.Tensor]:
    """A copy of a model whose Convs run in numba."""
    import_module("numba").set_num_threads(threads)
    x, edge_index = inference.arguments[:2]
    model = copy.deepcopy(inference.model)
    for conv in list(model.modules()):
        by_hand = convolution(conv, edge_index, x.shape[0])
        if by_hand is not None:
            conv.forward = by_hand

    def run() -> torch.Tensor:
        with torch.no_grad():
            return model(x, edge_index)

    return run


def convolution(conv: torch.nn.Module, edge_index: torch.Tensor, count: int) -> Callable[..., torch.Tensor] | None:
    """What computes a Conv, given its features; None for other modules."""
    match conv:
        case GCNConv():
            return partial(gcn, conv, Rows(*normalized(edge_index, count)))
        case SAGEConv():
            return partial(sage, conv, Rows(edge_index, count))
        case GINConv():
            return partial(gin, conv, Rows(edge_index, count))
        case GATConv():
            looped = add_self_loops(remove_self_loops(edge_index)[0], num_nodes=count)[0]
            return partial(gat, conv, Rows(looped, count))
        case _:
            return None


def normalized(edge_index: torch.Tensor, count: int) -> tuple[torch.Tensor, int, torch.Tensor]:
    looped, weight = gcn_norm(edge_index, None, count)
    return torch.as_tensor(looped), count, torch.as_tensor(weight)


def gcn(conv: Any, rows: Rows, x: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
    weight = conv.lin.weight
    if weight.shape[0] <= weight.shape[1]:
        return rows.sum(x @ weight.T).add_(conv.bias)
    return torch.nn.functional.linear(rows.sum(x), weight, conv.bias)


def sage(conv: Any, rows: Rows, x: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
    weight = conv.lin_l.weight
    if weight.shape[0] < weight.shape[1]:
        return rows.sum(x @ weight.T).div_(rows.degrees).add_(conv.lin_l.bias).addmm_(x, conv.lin_r.weight.T)
    mean = rows.sum(x).div_(rows.degrees)
    return torch.nn.functional.linear(mean, weight, conv.lin_l.bias).addmm_(x, conv.lin_r.weight.T)


def gin(conv: Any, rows: Rows, x: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
    return conv.nn(rows.sum(x).add_(x, alpha=1 + float(conv.eps)))


def gat(conv: Any, rows: Rows, x: torch.Tensor, *_: Any, **__: Any) -> torch.Tensor:
    projected = (x @ conv.lin.weight.T).view(-1, conv.heads, conv.out_channels)
    scores = (projected * conv.att_src).sum(-1), (projected * conv.att_dst).sum(-1)
    total = rows.attention(projected, *scores, conv.negative_slope)
    joined = total.flatten(1) if conv.concat else total.mean(1)
    return joined.add_(conv.bias)


def compiled(kernel: Callable[..., Any]) -> Any:
    return import_module("numba").njit(parallel=True, fastmath=True)(kernel)


@cache
def sum_kernel() -> Any:
    rows: Any = import_module("numba").prange

    def kernel(offsets: Any, neighbors: Any, weight: Any, x: Any, out: Any) -> None:
        for row in rows(len(offsets) - 1):
            for k in range(x.shape[1]):
                out[row, k] = 0.0
            for edge in range(offsets[row], offsets[row + 1]):
                neighbor, factor = neighbors[edge], weight[edge]
                for k in range(x.shape[1]):
                    out[row, k] += factor * x[neighbor, k]

    return compiled(kernel)


@cache
def attention_kernel() -> Any:
    rows: Any = import_module("numba").prange

    def largest_score(neighbors: Any, of_source: Any, of_target: Any, slope: Any) -> Any:
        largest = np.float32(-np.inf)
        for neighbor in neighbors:
            score = of_source[neighbor] + of_target
            largest = max(largest, score if score > 0 else slope * score)
        return largest

    found = import_module("numba").njit(fastmath=True)(largest_score)

    def kernel(offsets: Any, neighbors: Any, x: Any, of_source: Any, of_target: Any, slope: float, out: Any) -> None:
        for row in rows(len(offsets) - 1):
            others = neighbors[offsets[row] : offsets[row + 1]]
            for head in range(x.shape[1]):
                largest = found(others, of_source[:, head], of_target[row, head], slope)
                total = np.float32(0.0)
                out[row, head] = 0.0
                for neighbor in others:
                    score = of_source[neighbor, head] + of_target[row, head]
                    factor = np.exp((score if score > 0 else slope * score) - largest)
                    total += factor
                    for k in range(x.shape[2]):
                        out[row, head, k] += factor * x[neighbor, head, k]
                for k in range(x.shape[2]):
                    out[row, head, k] /= total

    return compiled(kernel)
