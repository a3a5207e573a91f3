"""The arrays of a graph, homogeneous or not, in one form: what a model takes, a run checks and a file stores."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

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
