"""The rows on which a block needs its values in a batch: names for them, before there is a batch."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

from xdsl.ir import BlockArgument, SSAValue

from gnnc.dialects.gnn import End
from gnnc.targets.neighbor_sampling import Sample


class Way(Enum):
    """How a batch comes by what kernels read for neighbors."""

    INDEXED = "indexed in memory"
    """It lies in memory, all of it."""
    GATHERED = "gathered"
    """The batch copies its distinct rows first."""
    TILED = "tiles"
    """It has been added up before, tile by tile; the batch finishes the sums of its targets."""


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


@dataclass(frozen=True)
class NeighborDemand:
    """Inputs are loaded for the nodes at `neighbor_end` of the edges that meet the batch with `end`.

    Edge sets are given by the places of the block's operands; both have the same edges.
    """

    edges: int
    end: End
    neighbor_edges: int
    neighbor_end: End
    node_set: str
    """The nodes that are loaded are of this set."""
    sample: Sample | None = None


def place_of(argument: SSAValue) -> int:
    """The place of a block's operand, from the argument that stands for it."""
    assert isinstance(argument, BlockArgument)
    return argument.index
