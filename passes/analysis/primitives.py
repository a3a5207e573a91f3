"""What a product of two tiles costs in each of the three modes of a core, and which mode is fastest. Integers only.

X is m x n with x nonzeros, Y is n x d with y nonzeros, p the side of the core's array (Dynasparse, section V,
performance model). Cycles are exact fractions; they are rounded up once a task.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction


class Primitive(IntEnum):
    """How a core multiplies two tiles. SPDMM_X skips the zeros of X, SPDMM_Y those of Y. SKIP: one of them is empty."""

    SKIP = 0
    GEMM = 1
    SPDMM_X = 2
    SPDMM_Y = 3
    SPMM = 4


@dataclass(frozen=True)
class TilePair:
    """A product of tiles, X of m x n with x nonzeros, Y of n x d with y nonzeros."""

    m: int
    n: int
    d: int
    x: int
    y: int


def cycles(primitive: Primitive, pair: TilePair, p: int) -> Fraction:
    """The cycles of a product: GEMM mnd/p^2; SpDMM 2 a mnd/p^2, a the density of the sparse side; SPMM a_X a_Y mnd/p.

    A product with an empty side is skipped and takes none.
    """
    if pair.x == 0 or pair.y == 0:
        return Fraction(0)
    match primitive:
        case Primitive.GEMM:
            return Fraction(pair.m * pair.n * pair.d, p * p)
        case Primitive.SPDMM_X:
            return Fraction(2 * pair.x * pair.d, p * p)
        case Primitive.SPDMM_Y:
            return Fraction(2 * pair.y * pair.m, p * p)
        case Primitive.SPMM:
            return Fraction(pair.x * pair.y, pair.n * p)
        case Primitive.SKIP:
            raise ValueError("two tiles with nonzeros can't be skipped")


def choose(pair: TilePair, p: int) -> Primitive:
    """The fastest primitive: GEMM if both densities are 1/2 or more, SPMM if both are below 2/p, SpDMM on the sparser
    side in between (Dynasparse, Algorithm 7). Equals the cheapest of the three for every p from 4 on."""
    if pair.x == 0 or pair.y == 0:
        return Primitive.SKIP
    x_extent, y_extent = pair.m * pair.n, pair.n * pair.d
    if 2 * pair.x >= x_extent and 2 * pair.y >= y_extent:
        return Primitive.GEMM
    if p * pair.x >= 2 * x_extent or p * pair.y >= 2 * y_extent:
        # the densities x / mn and y / nd, compared
        return Primitive.SPDMM_X if pair.x * pair.d <= pair.y * pair.m else Primitive.SPDMM_Y
    return Primitive.SPMM


@dataclass(frozen=True)
class Threshold:
    """What a Y tile decides for an X tile that it meets: `below` if X has fewer nonzeros than `count`, else `above`."""

    count: int
    below: Primitive
    above: Primitive

    def decide(self, x: int) -> Primitive:
        if x == 0 or self.below is Primitive.SKIP:
            return Primitive.SKIP
        return self.below if x < self.count else self.above


def threshold(m: int, n: int, d: int, y: int, p: int) -> Threshold:
    """`choose` for all X of m rows at once: one decision a Y tile, and a comparison a pair."""
    if y == 0:
        return Threshold(0, Primitive.SKIP, Primitive.SKIP)
    if 2 * y >= n * d:
        return Threshold(-(-m * n // 2), Primitive.SPDMM_X, Primitive.GEMM)
    if p * y >= 2 * n * d:
        return Threshold(y * m // d + 1, Primitive.SPDMM_X, Primitive.SPDMM_Y)
    return Threshold(-(-2 * m * n // p), Primitive.SPMM, Primitive.SPDMM_Y)
