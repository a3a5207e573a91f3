"""The function of a dense product: rows times a matrix, plus rows that are there.

A few rows meet a panel, some vectors of neighbouring columns of the matrix: their sums stay in registers while the loop
goes down the panel, as in Goto and van de Geijn, Anatomy of high-performance matrix multiplication (2008), section 4.
Graph models multiply very many rows with small matrices: a matrix stays in the cache as it is, and rows needn't be
packed, which is what libraries of matrix products spend a fifth of the time of such products on.

begin, end    the first row to compute and the one after the last
rows          [n, k]
panels        [p * k, vectors]: panel after panel, with zeros after the last column
added         [n, columns]; a row stride of 0 says that one row is added to all
out           [n, columns], which may be `added` itself
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, func, memref, vector
from xdsl.dialects.builtin import AnyFloat, FunctionType, UnitAttr
from xdsl.ir import Block, Region, SSAValue

from gnnc.passes.loops.builder import LoopBuilder, index, rows_type
from gnnc.passes.loops.row_loop import VECTOR_BYTES

ROWS = {1: 8, 2: 8, 3: 8, 4: 6}
"""By the vectors of a panel, how many rows meet it at once: their sums, a row of the panel and a number are in 32
registers. Narrow products wait for memory: more rows at once don't help them."""

BLOCK = 256
"""So many products are added up by themselves, as edges are in `kernel`: for the error of long sums."""


def product_function(name: str, element: AnyFloat, vectors: int) -> func.FuncOp:
    """The function for panels of some vectors, of which the last one may lack columns."""
    return ProductLoop(element, vectors).function(name)


class ProductLoop:
    """Emits the function."""

    def __init__(self, element: AnyFloat, vectors: int):
        self.element = element
        self.vectors = vectors
        self.width = VECTOR_BYTES // element.size
        self.at_once = ROWS[vectors]

    def function(self, name: str) -> func.FuncOp:
        types = [index, index, *[rows_type(self.element)] * 4]
        block = Block(arg_types=types)
        self.b = LoopBuilder(block, self.element, self.width)
        begin, self.end, self.rows, self.panels, self.added, self.out = block.args
        b = self.b
        self.depth, self.columns = self.size(self.rows, 1), self.size(self.out, 1)
        self.last = b.add(arith.SubiOp(self.end, b.index(1)))
        count = b.add(arith.DivUIOp(self.size(self.panels, 0), self.depth))

        def rows(first: SSAValue, _: list[SSAValue]) -> list[SSAValue]:
            # after the last row comes the last one again
            places = [b.add(arith.MinSIOp(b.offset(first, i), self.last)) for i in range(self.at_once)]
            return b.loop(b.index(0), count, b.index(1), [], lambda panel, _: self.panel(places, panel))

        b.loop(begin, self.end, b.index(self.at_once), [], rows)
        b.insert(func.ReturnOp())
        function = func.FuncOp(name, FunctionType.from_lists(types, []), Region(block))
        function.attributes["llvm.emit_c_interface"] = UnitAttr()
        return function

    def size(self, array: SSAValue, axis: int) -> SSAValue:
        return self.b.add(memref.DimOp(array, self.b.index(axis)))

    def panel(self, places: Sequence[SSAValue], panel: SSAValue) -> list[SSAValue]:
        """Some rows times one panel. All that is added is loaded before anything is stored: a row may come twice."""
        b = self.b
        first = b.add(arith.MuliOp(panel, b.index(self.vectors * self.width)))
        columns = [b.offset(first, v * self.width) for v in range(self.vectors)]
        left = b.add(arith.MinSIOp(b.add(arith.SubiOp(self.columns, columns[-1])), b.index(self.width)))
        counts: list[int | SSAValue] = [*[self.width] * (self.vectors - 1), left]
        where = [(row, column, count) for row in places for column, count in zip(columns, counts, strict=True)]

        def add(begin: SSAValue, to: list[SSAValue]) -> list[SSAValue]:
            sums = self.sums(places, panel, begin, b.add(arith.MinSIOp(b.offset(begin, BLOCK), self.depth)))
            totals = [b.plus(total, b.load_vector(to[0], *at)) for total, at in zip(sums, where, strict=True)]
            for total, at in zip(totals, where, strict=True):
                b.store_vector(total, self.out, *at)
            return [self.out]

        b.loop(b.index(0), self.depth, b.index(BLOCK), [self.added], add)
        return []

    def sums(self, places: Sequence[SSAValue], panel: SSAValue, begin: SSAValue, end: SSAValue) -> list[SSAValue]:
        """Row after row, the vectors of the product with rows `begin` to `end` of a panel."""
        b = self.b
        top = b.add(arith.MuliOp(panel, self.depth))

        def step(k: SSAValue, so_far: list[SSAValue]) -> list[SSAValue]:
            at = b.index_plus(top, k)
            columns = [b.load_vector(self.panels, at, b.index(v * self.width), self.width) for v in range(self.vectors)]
            factors = [b.widened(b.load(self.rows, row, k)) for row in places]
            pairs = [(factor, column) for factor in factors for column in columns]
            return [
                b.add(vector.FMAOp(factor, column, total))
                for (factor, column), total in zip(pairs, so_far, strict=True)
            ]

        zeros = [b.splat(0.0)] * (len(places) * self.vectors)
        return b.loop(begin, end, b.index(1), zeros, step)
