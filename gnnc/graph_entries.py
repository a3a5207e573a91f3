"""The arrays of a graph, homogeneous or not, in one form: what a model takes, a run checks and a file stores."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

# The numbers of the nodes: every graph has them, as PyG's loaders call them, for models that look nodes up in a table.
NODE_IDS = "n_id"

EdgeType: TypeAlias = tuple[str, str, str]
"""Source type, relation, target type."""


@dataclass(frozen=True)
class Entry:
    """One array of a graph.

    `name` is what a model calls it (`x`, `edge_index`), `kind` "nodes" or "edges", `set_name` the set that its rows
    are, `type` the node type or edge type, None in a homogeneous graph. An edge index says which node sets its two rows
    index.
    """

    name: str
    kind: str
    set_name: str
    type: str | EdgeType | None
    array: Any
    index_into: tuple[str, str] | None = None

    @property
    def key(self) -> str:
        """The name of the array in files and artifacts: `x`, `x__paper`, `edge_index__author__writes__paper`."""
        return self.name if self.type is None else f"{self.name}__{self.set_name}"


def set_name_of(type: str | EdgeType) -> str:
    """`author__writes__paper` for an edge type."""
    return type if isinstance(type, str) else "__".join(type)


def node_id_entries(entries: Iterable[Entry], node_counts: Mapping[str, int]) -> list[Entry]:
    """An entry for the numbers of the nodes of each type of a graph, without the numbers, where it has none."""
    import torch

    entries = list(entries)
    has = {entry.set_name for entry in entries if entry.name == NODE_IDS}
    typed = all(entry.type is not None for entry in entries)
    return [
        Entry(NODE_IDS, "nodes", name, name if typed else None, torch.empty(count, dtype=torch.int64, device="meta"))
        for name, count in node_counts.items()
        if name not in has
    ]


def is_node_ids(key: str) -> bool:
    """Whether the array of this key, where the graph does not have it, is the numbers of the nodes."""
    return key == NODE_IDS or key.startswith(f"{NODE_IDS}__")
