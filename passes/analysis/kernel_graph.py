"""A model as a graph of matrix products, as plain data: what convert-gnn-to-kernel reads out of the `gnn` operations
before it writes any.

A node value is a Form: a sum of terms, each a base value with adjacency matrices on its left and a weight on its right.
Everything linear only rewrites forms; an activation makes a kernel of one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from xdsl.dialects.builtin import LocationAttr
from xdsl.ir import SSAValue

from gnnc.dialects.gnn import EndAttr

# SSA values below are those of the `gnn` function that is converted.


@dataclass(frozen=True)
class EdgeFactor:
    """A number an edge: `value` itself, or, for a value with a number a node, that of the node at `end`."""

    value: SSAValue
    end: EndAttr | None = None
    divides: bool = False


@dataclass(frozen=True)
class Adjacency:
    """The matrix of an aggregation; see kernel.adjacency. `scales` and `diagonal` are products of single numbers."""

    edges: SSAValue
    end: EndAttr
    mean: bool
    factors: tuple[EdgeFactor, ...] = ()
    scales: tuple[SSAValue, ...] = ()
    diagonal: tuple[SSAValue | float, ...] | None = None


@dataclass(frozen=True)
class NormScale:
    """What a batch normalisation multiplies each channel by."""

    variance: SSAValue
    scale: SSAValue | None
    eps: float


@dataclass(frozen=True)
class Weight:
    """A weight as a product takes it, [in, out]. `source` is stored [out, in] if `transposed`; rows are those of
    [in, out]."""

    source: SSAValue
    transposed: bool
    rows: tuple[int, int] | None = None
    scales: tuple[NormScale | SSAValue, ...] = ()


@dataclass(frozen=True)
class Vector:
    """Numbers a channel: a stored vector, or a combination of two."""

    operation: Literal["load", "add", "sub", "scale"]
    operands: tuple[SSAValue | NormScale | Vector, ...]
    rows: tuple[int, int] | None = None


@dataclass(eq=False)
class Input:
    """Node values that the host puts into the accelerator's memory."""

    value: SSAValue


@dataclass(eq=False)
class Kernel:
    """One kernel; see the operations of the `kernel` dialect. `source` is the value that it computes."""

    kind: Literal["aggregate", "update"]
    segments: tuple[tuple[Adjacency | Base, Base | Weight], ...]
    source: SSAValue
    width: int
    layer: int
    location: LocationAttr
    addends: tuple[Base, ...] = ()
    scale: NormScale | None = None
    bias: Vector | None = None
    activation: tuple[str, float] | None = None
    residuals: list[Base] = field(default_factory=list["Base"])


Base: TypeAlias = "Input | Kernel"


@dataclass(frozen=True)
class Term:
    """`adjacencies[-1] x ... x adjacencies[0] x rows x base x weight`, times `scales`.

    `row_factors` scale the rows of the base before the first adjacency. `layers` has the layer of the base, then those
    of the Convs that the adjacencies belong to.
    """

    base: Base
    layers: tuple[int, ...]
    adjacencies: tuple[Adjacency, ...] = ()
    weight: Weight | None = None
    scales: tuple[SSAValue, ...] = ()
    row_factors: tuple[tuple[SSAValue, bool], ...] = ()

    @property
    def is_identity(self) -> bool:
        return not (self.adjacencies or self.weight or self.scales or self.row_factors)


@dataclass(frozen=True)
class Form:
    """`scale * (sum of terms) + bias`, a value of so many columns."""

    terms: tuple[Term, ...]
    width: int
    bias: Vector | None = None
    scale: NormScale | None = None

    @property
    def is_plain_sum(self) -> bool:
        return self.bias is None and self.scale is None

    @property
    def is_identity_sum(self) -> bool:
        return self.is_plain_sum and all(term.is_identity for term in self.terms)

    @property
    def layer(self) -> int:
        return max(term.layers[-1] for term in self.terms)


def with_diagonals(terms: Sequence[Term]) -> tuple[Term, ...]:
    """Terms in which `A x H x W + s x H x W` has become `(A + s I) x H x W`: GIN's own node is A's diagonal."""
    kept = list(terms)
    for own in terms:
        if own.adjacencies or own.row_factors:
            continue
        for place, other in enumerate(kept):
            if takes_diagonal(other, own):
                diagonal = own.scales or (1.0,)
                kept[place] = replace(other, adjacencies=(replace(other.adjacencies[0], diagonal=diagonal),))
                kept.remove(own)
                break
    return tuple(kept)


def takes_diagonal(term: Term, own: Term) -> bool:
    """Whether a term has one adjacency, without a diagonal, on the same values as `own`."""
    if len(term.adjacencies) != 1 or term.adjacencies[0].diagonal is not None or term.scales or term.row_factors:
        return False
    return term.base is own.base and term.weight == own.weight
