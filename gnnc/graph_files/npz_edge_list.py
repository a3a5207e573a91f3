"""`.npz` files with `edges`, `node_features` and `node_labels`, as of the heterophilous graphs (Roman-empire, ...)."""

from __future__ import annotations

from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import numpy as np

from gnnc.errors import GraphError
from gnnc.graph_files.contents import Entries, LeftOut
from gnnc.graph_files.npz_archive import Archive

if TYPE_CHECKING:
    from numpy.typing import NDArray

NAMES = {"node_features": "x", "node_labels": "y"}
MASKS = {"train_masks": "train_mask", "val_masks": "val_mask", "test_masks": "test_mask"}


def matches(names: Collection[str]) -> bool:
    """Whether the arrays of these names are of this layout."""
    return "edges" in names


def read(archive: Archive) -> Entries:
    """Read `edges` (E, 2), `node_features` as `x`, `node_labels` as `y` and the first split of `train_masks` and so on.

    The layout stores an undirected edge once, and its loaders add the other direction: so does this one. The result is
    sorted by source and target, without duplicates, as PyG's loader leaves it.

    Raises GraphError.
    """
    edges = archive.whole_numbers("edges")
    if edges.ndim != 2 or edges.shape[1] != 2:
        raise GraphError(f"{archive.file}: edges has shape {edges.shape}; save one row (source, target) per edge.")
    entries: Entries = {"edge_index": both_directions(edges.T)}
    entries.update((name, archive[stored]) for stored, name in NAMES.items() if stored in archive.names)
    if "x" not in entries and "y" in entries and entries["y"].ndim:
        entries["num_nodes"] = len(entries["y"])
    for stored, name in MASKS.items():
        if stored in archive.names:
            entries[name] = _first_split(archive, stored)
            entries[stored] = LeftOut(f"{name} is the first of its splits")
    return {**archive.rest({"edges", *NAMES, *MASKS}), **entries}


def both_directions(edge_index: NDArray[Any]) -> NDArray[Any]:
    """Return the edges (2, E) and their reverses, each once, sorted by source and target."""
    both = np.concatenate([edge_index, edge_index[::-1]], axis=1)
    both = both[:, np.lexsort((both[1], both[0]))]
    new = np.ones(both.shape[1], np.bool_)
    new[1:] = (both[:, 1:] != both[:, :-1]).any(axis=0)
    return both[:, new]


def _first_split(archive: Archive, name: str) -> NDArray[Any]:
    masks = archive[name]
    if masks.ndim != 2 or not len(masks):
        raise GraphError(f"{archive.file}: {name} has shape {masks.shape}; save one row of node masks per split.")
    return masks[0]
