"""What SPMM multiplies in truth, beside what the performance model expects of it.

The model takes `x y / n` multiplications for a pair of tiles, as if nonzeros lay evenly along the inner dimension. In
truth row k of Y is taken once for every nonzero in column k of X.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from gnnc.passes.analysis.primitives import Primitive
from gnnc.targets.fpga.matrices import Integers, Matrix, TileCounts, is_sparse, tile_counts
from gnnc.targets.fpga.pairs import Kind, Mapping, Pairs, Product, map_pairs, paired, pairs_of, stored_sparse

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True)
class Multiplications:
    """Of all pairs in the mode SPMM: what the model expects and what the nonzeros ask for."""

    expected: float = 0.0
    actual: int = 0

    def __add__(self, other: Multiplications) -> Multiplications:
        return Multiplications(self.expected + other.expected, self.actual + other.actual)


def spmm_multiplications(
    product: Product, x: Matrix, y: Matrix, mapping: Mapping, kind: Kind, p: int, coordinate_bytes: int
) -> Multiplications:
    """Counts one product: column k of a left tile meets row k of a right tile in as many multiplications as the product
    of their nonzeros, if the pair of tiles is in the mode SPMM."""
    formats = stored_sparse(product.x, coordinate_bytes), stored_sparse(product.y, coordinate_bytes)

    def in_spmm(pairs: Pairs) -> NDArray[np.bool_]:
        chosen = map_pairs(pairs, mapping, kind, p, (formats[0][pairs.x_entry], formats[1][pairs.y_entry]))
        return chosen == Primitive.SPMM

    expected = 0.0
    for pairs in pairs_of(product):
        expected += float((pairs.x * pairs.y / pairs.n)[in_spmm(pairs)].sum())
    if not expected:
        return Multiplications()
    columns, rows = tile_counts(x, product.x.tile[0], 1), row_counts(y, product.y.tile[1])
    x_parent = parents(product.x, columns.rows, columns.columns // product.x.tile[1])
    y_parent = parents(product.y, rows.rows // product.y.tile[0], rows.columns)
    x_rows, actual = product.x.rows, 0
    for thin in pairs_of(Product(columns, rows)):
        wide = paired(product.x, product.y, x_rows, x_parent[thin.x_entry], y_parent[thin.y_entry])
        actual += int((thin.x * thin.y)[in_spmm(wide)].sum())
    return Multiplications(expected, actual)


def row_counts(matrix: Matrix, width: int) -> TileCounts:
    """The nonzeros of each row in each block column, for tiles of one row."""
    if not is_sparse(matrix):
        return tile_counts(matrix, 1, width)
    from scipy.sparse import csr_array

    rows, columns = matrix.shape
    ones = np.ones(matrix.nnz, np.int64)
    blocks = csr_array((ones, matrix.indices // width, matrix.indptr.copy()), shape=(rows, -(-columns // width)))
    blocks.sum_duplicates()
    starts, places, counts = (np.asarray(a, np.int64) for a in (blocks.indptr, blocks.indices, blocks.data))
    return TileCounts((rows, columns), (1, width), starts, places, counts)


def parents(tiles: TileCounts, rows: Integers, columns: Integers) -> Integers:
    """The entry of the tile at each place of the grid."""
    across = tiles.grid[1]
    return np.searchsorted(tiles.rows * across + tiles.columns, rows * across + columns)
