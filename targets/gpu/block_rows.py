"""The rows on which a block needs its values in a batch: names for them, before there is a batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

from xdsl.ir import SSAValue

from gnnc.dialects.gnn import End
from gnnc.targets.neighbor_sampling import Sample


@dataclass(frozen=True)
class Targets:
    """The rows of the batch's nodes."""


@dataclass(frozen=True)
class Edges:
    """The rows of the edges, or of a sample of them, that meet the batch with one end."""

    edges: SSAValue
    end: End
    sample: Sample | None = None


@dataclass(frozen=True)
class NeighborNodes:
    """The distinct nodes at one end of those edges."""

    at: Edges
    edges: SSAValue
    end: End


@dataclass(frozen=True)
class Stored:
    """All rows of an input, as they are stored: kernels read them at those nodes, without a copy."""

    at: NeighborNodes


@dataclass(frozen=True)
class UnionNodes:
    """The distinct nodes of several neighborhoods."""

    parts: tuple[NeighborNodes, ...]


Rows: TypeAlias = Targets | Edges | NeighborNodes | UnionNodes | Stored

TARGETS = Targets()
