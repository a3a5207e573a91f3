"""The three primitives, executed as a core executes them, multiply by multiply: slow, to check the fast path with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from gnnc.passes.analysis.primitives import Primitive, TilePair, choose
from gnnc.targets.fpga.matrices import Matrix, is_sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray

Tile = Any  # a dense float32 tile


@dataclass(frozen=True)
class Executed:
    """The product of two tiles, and how many multiplications it took."""

    product: NDArray[np.float64]
    macs: int


def execute(primitive: Primitive, x: Tile, y: Tile) -> Executed:
    """Multiplies two tiles in one mode, in double precision."""
    match primitive:
        case Primitive.GEMM:
            return gemm(x, y)
        case Primitive.SPDMM_X:
            return spdmm(x, y)
        case Primitive.SPDMM_Y:
            turned = spdmm(y.T, x.T)
            return Executed(turned.product.T, turned.macs)
        case Primitive.SPMM:
            return spmm(x, y)
        case Primitive.SKIP:
            return Executed(np.zeros((x.shape[0], y.shape[1])), 0)


def gemm(x: Tile, y: Tile) -> Executed:
    """Every number of X meets every number of its row of Y, zero or not."""
    product = np.zeros((x.shape[0], y.shape[1]))
    for k in range(x.shape[1]):
        product += np.outer(x[:, k].astype(np.float64), y[k])
    return Executed(product, x.shape[0] * x.shape[1] * y.shape[1])


def spdmm(x: Tile, y: Tile) -> Executed:
    """Every nonzero of X meets the whole of its row of Y."""
    product = np.zeros((x.shape[0], y.shape[1]))
    macs = 0
    for i, k in zip(*np.nonzero(x), strict=True):
        product[i] += np.float64(x[i, k]) * y[k]
        macs += y.shape[1]
    return Executed(product, macs)


def spmm(x: Tile, y: Tile) -> Executed:
    """Every nonzero of X meets the nonzeros of its row of Y."""
    product = np.zeros((x.shape[0], y.shape[1]))
    macs = 0
    for i, k in zip(*np.nonzero(x), strict=True):
        for j in np.flatnonzero(y[k]):
            product[i, j] += np.float64(x[i, k]) * np.float64(y[k, j])
            macs += 1
    return Executed(product, macs)


def tile_of(matrix: Matrix, row: int, column: int, height: int, width: int) -> Tile:
    """One tile of a matrix, dense."""
    rows, columns = slice(row * height, (row + 1) * height), slice(column * width, (column + 1) * width)
    tile = matrix[rows, columns]
    return tile.toarray() if is_sparse(tile) else np.asarray(tile)


def execute_task(x: Matrix, y: Matrix, sizes: tuple[int, int, int], place: tuple[int, int], p: int) -> list[Executed]:
    """The pairs of one task of a product, in the modes that the rule picks; `sizes` are m, n and d of a tile."""
    m, n, d = sizes
    executed: list[Executed] = []
    for t in range(-(-x.shape[1] // n)):
        left, right = tile_of(x, place[0], t, m, n), tile_of(y, t, place[1], n, d)
        height, inner, width = (int(size) for size in (*left.shape, right.shape[1]))
        pair = TilePair(height, inner, width, int(np.count_nonzero(left)), int(np.count_nonzero(right)))
        executed.append(execute(choose(pair, p), left, right))
    return executed
