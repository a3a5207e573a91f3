"""Graphs as folders of mapped arrays, as large ones lie on disk."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import gnnc


def mapped(graph: gnnc.Graph, folder: Path) -> gnnc.Graph:
    """The graph from a folder of .npy files."""
    folder.mkdir(exist_ok=True)
    np.save(folder / "x.npy", np.asarray(graph.x))
    np.save(folder / "edge_index.npy", np.asarray(graph.edge_index))
    return gnnc.Graph.load(folder)
