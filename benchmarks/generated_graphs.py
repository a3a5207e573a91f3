"""Seeded graphs with the shapes of published ones: symmetric, skewed degrees, communities, ids in no order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

import gnnc


@dataclass(frozen=True)
class Shape:
    """What a graph is like: nodes, directed edges, features and classes, the exponent of its degrees (larger is more
    even), and the share of edges that stay inside a community."""

    nodes: int
    edges: int
    features: int
    classes: int
    exponent: float = 2.5
    inside: float = 0.7
    community: int = 500


PRESETS = {
    "tiny": Shape(2_000, 20_000, 128, 47),
    "small": Shape(20_000, 240_000, 128, 47),
    "medium": Shape(170_000, 2_300_000, 128, 47),
    "large": Shape(600_000, 15_000_000, 100, 47),
    "flickr": Shape(89_250, 899_756, 500, 7),
    "arxiv": Shape(169_343, 2_315_598, 128, 40),
    "products": Shape(2_449_029, 123_718_280, 100, 47),
    "reddit": Shape(232_965, 114_615_892, 602, 41),
}
"""`medium` and `large` are the cases of docs/performance.md; the others have the sizes of the data sets they are called
after, edges counted in both directions."""


def generate(shape: Shape, seed: int = 0) -> gnnc.Graph:
    """A graph of a shape; the same for the same seed."""
    random = np.random.default_rng(seed)
    pairs = shape.edges // 2
    weights = (np.arange(1, shape.nodes + 1, dtype=np.float64) ** (-1 / (shape.exponent - 1)))[
        random.permutation(shape.nodes)
    ]
    cumulative = np.cumsum(weights / weights.sum())
    first = np.minimum(np.searchsorted(cumulative, random.random(pairs)), shape.nodes - 1)
    far = np.minimum(np.searchsorted(cumulative, random.random(pairs)), shape.nodes - 1)
    base = first // shape.community * shape.community
    near = np.minimum(base + random.integers(0, shape.community, pairs), shape.nodes - 1)
    second = np.where(random.random(pairs) < shape.inside, near, far)
    ids = random.permutation(shape.nodes)
    edges = both_directions(ids[first], ids[second], shape.nodes)
    x = torch.empty(shape.nodes, shape.features).numpy()  # at a cache line, as torch's own arrays
    random.standard_normal(dtype=np.float32, out=x)
    return gnnc.Graph(x=x, edge_index=edges)


def both_directions(first: np.ndarray[Any, Any], second: np.ndarray[Any, Any], nodes: int) -> np.ndarray[Any, Any]:
    """Pairs of nodes as edges there and back, in no order; loops and repeated pairs are left out, for libraries differ
    in what they make of those."""
    keys = np.unique(np.minimum(first, second) * nodes + np.maximum(first, second))
    low, high = keys // nodes, keys % nodes
    low, high = low[low != high], high[low != high]
    edges = np.stack([np.concatenate([low, high]), np.concatenate([high, low])])
    return edges[:, np.random.default_rng(0).permutation(edges.shape[1])]
