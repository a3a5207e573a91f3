"""Graphs that have the published statistics of graphs that can't be had here."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

import gnnc


@dataclass(frozen=True)
class Shape:
    """Nodes, directed edges, features and their density, classes."""

    nodes: int
    edges: int
    features: int
    density: float
    classes: int


# Flickr and Reddit of GraphSAINT and GraphSAGE; the density of Flickr's features is Dynasparse's figure.
SHAPES = {
    "flickr": Shape(89_250, 899_756, 500, 0.464, 7),
    "reddit": Shape(232_965, 114_615_892, 602, 1.0, 41),
}


def synthetic_graph(name: str, scale: float = 1.0, seed: int = 0) -> gnnc.Graph:
    """A graph of `scale` times the nodes and the same mean degree, undirected, without loops or double edges: degrees
    fall by a power law, two of three edges stay within communities of some 200 nodes (of four times the mean degree if
    that is more), ids are shuffled."""
    shape, generator = SHAPES[name], np.random.default_rng(seed)
    nodes, edges = int(shape.nodes * scale), int(shape.edges * scale) // 2
    community = max(200, 4 * shape.edges // shape.nodes)
    popularity = np.cumsum(generator.permutation((1 + np.arange(nodes)) ** -0.5))
    keys = np.zeros(0, np.int64)
    while len(keys) < edges:
        drawn = pairs(generator, popularity, community, (edges - len(keys)) * 5 // 4 + 100)
        keys = np.sort(np.concatenate([keys, drawn]))
        keys = keys[np.diff(keys, prepend=-1) > 0]  # ten times as fast as np.unique, which hashes
    keys = generator.permutation(keys)[:edges]
    ids = generator.permutation(nodes)
    a, b = ids[keys // nodes], ids[keys % nodes]
    edge_index = np.stack([np.concatenate([a, b]), np.concatenate([b, a])])
    x = generator.random((nodes, shape.features), dtype=np.float32)
    if shape.density < 1:
        x[generator.random(x.shape, dtype=np.float32) >= shape.density] = 0
    return gnnc.Graph(x=x, edge_index=edge_index, y=generator.integers(0, shape.classes, nodes))


def pairs(generator: np.random.Generator, popularity: Any, community: int, count: int) -> Any:
    """Pairs of different nodes as smaller * nodes + larger; `popularity` is summed up."""
    nodes = len(popularity)
    a, b = (np.searchsorted(popularity, generator.random(count) * popularity[-1]) for _ in range(2))
    near = generator.random(count) < 2 / 3
    b[near] = a[near] // community * community + generator.integers(0, community, int(near.sum()))
    kept = (a != b) & (a < nodes) & (b < nodes)
    return np.minimum(a, b)[kept] * np.int64(nodes) + np.maximum(a, b)[kept]
