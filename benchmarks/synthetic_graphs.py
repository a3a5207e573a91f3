"""Graphs that have the published statistics of graphs that can't be had here."""

from __future__ import annotations

from dataclasses import dataclass

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
    """A graph of `scale` times the nodes and the same mean degree: degrees fall by a power law, two of three edges stay
    within communities of some 200 nodes, ids are shuffled."""
    shape, generator = SHAPES[name], np.random.default_rng(seed)
    nodes, edges = int(shape.nodes * scale), int(shape.edges * scale) // 2
    popularity = (1 + np.arange(nodes)) ** -0.5
    cumulative = np.cumsum(generator.permutation(popularity))
    sources = np.searchsorted(cumulative, generator.random(edges) * cumulative[-1])
    targets = np.searchsorted(cumulative, generator.random(edges) * cumulative[-1])
    near = generator.random(edges) < 2 / 3
    targets[near] = (sources[near] // 200) * 200 + generator.integers(0, 200, int(near.sum()))
    ids = generator.permutation(nodes)
    sources, targets = ids[np.minimum(sources, nodes - 1)], ids[np.minimum(targets, nodes - 1)]
    edge_index = np.stack([np.concatenate([sources, targets]), np.concatenate([targets, sources])])
    x = generator.random((nodes, shape.features), dtype=np.float32)
    if shape.density < 1:
        x[generator.random(x.shape, dtype=np.float32) >= shape.density] = 0
    return gnnc.Graph(x=x, edge_index=edge_index, y=generator.integers(0, shape.classes, nodes))
