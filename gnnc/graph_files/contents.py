"""What a reader hands over: named entries, which become a Graph only once it has checked them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

# By name: `edge_index`, and where they are known `x`, `num_nodes`, `node_ids`, `label_names` and attributes.
Entries: TypeAlias = dict[str, Any]


@dataclass(frozen=True)
class LeftOut:
    """Stands for an entry that the source has and the graph does not get; asking the graph for it gives the reason."""

    reason: str
