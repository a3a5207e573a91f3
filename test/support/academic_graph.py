"""Graphs of papers, authors and institutes, made of any homogeneous graph."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

import gnnc

WIDTH = 10

RELATIONS = [
    ("paper", "cites", "paper"),
    ("author", "writes", "paper"),
    ("paper", "written by", "author"),
    ("author", "works at", "institute"),
    ("institute", "employs", "author"),
]
WIDTHS = {"paper": WIDTH, "author": 6, "institute": 5}

# The graphs that heterogeneous models are tried on: they take long to run node by node.
FEW = ("no edges", "one node with a loop", "duplicate edges", "random")


def papers_and_authors(graph: gnnc.Graph) -> gnnc.HeteroGraph:
    """Two types and the two relations between them."""
    full = hetero(graph)
    return gnnc.HeteroGraph(
        {type_: {"x": x} for type_, x in features(full).items() if type_ != "institute"},
        {relation: {"edge_index": edge_indices(full)[relation]} for relation in RELATIONS[1:3]},
    )


def hetero(graph: gnnc.Graph) -> gnnc.HeteroGraph:
    """Papers that cite each other as the graph's nodes do, half as many authors, two institutes that employ nobody."""
    generator = torch.Generator().manual_seed(graph.num_edges)
    papers = torch.arange(graph.num_nodes)
    counts = {"paper": graph.num_nodes, "author": 1 + graph.num_nodes // 2, "institute": 2}
    written = torch.stack([papers // 2, papers])[:, ::2]
    edges = [graph.edge_index, written, written.flip(0), torch.tensor([[0, 0], [0, 1]])]
    edges.append(torch.empty(2, 0, dtype=torch.int64))
    features = {type_: torch.randn(count, WIDTHS[type_], generator=generator) for type_, count in counts.items()}
    return gnnc.HeteroGraph(
        {type_: {"x": torch.as_tensor(graph.x) if type_ == "paper" else x} for type_, x in features.items()},
        {relation: {"edge_index": edge_index} for relation, edge_index in zip(RELATIONS, edges, strict=True)},
    )


def features(graph: gnnc.HeteroGraph) -> dict[str, Tensor]:
    return {str(e.type): torch.as_tensor(e.array) for e in graph.entries() if e.name == "x"}


def edge_indices(graph: gnnc.HeteroGraph) -> dict[Any, Tensor]:
    return {e.type: torch.as_tensor(e.array) for e in graph.entries() if e.name == "edge_index"}
