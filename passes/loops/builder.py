"""Scalars and vectors with one set of operators: a scalar that meets a vector is broadcast."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeAlias

from xdsl.builder import Builder
from xdsl.dialects import arith, math, memref, scf, vector
from xdsl.dialects.builtin import (
    AnyFloat,
    BFloat16Type,
    DenseArrayBase,
    DenseIntOrFPElementsAttr,
    Float16Type,
    FloatAttr,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    VectorType,
    f32,
    i1,
    i32,
    i64,
)
from xdsl.dialects.utils import FastMathFlag
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

if TYPE_CHECKING:
    from collections.abc import Generator

index = IndexType()
CONTRACT = arith.FastMathFlagsAttr([FastMathFlag.ALLOW_CONTRACT])
"""A product and a sum may become one rounding (FMA)."""

BinaryOp: TypeAlias = type[arith.AddfOp] | type[arith.SubfOp] | type[arith.MulfOp] | type[arith.DivfOp]


class LoopBuilder:
    """Appends operations to a block; `element` is the type of the numbers, `width` how many a vector holds."""

    def __init__(self, block: Block, element: AnyFloat, width: int):
        self.builder = Builder(InsertPoint.at_end(block))
        self.element = element
        self.set_width(width)
        self.top = block
        self.constants: dict[tuple[str, str], SSAValue] = {}
        self.numbers: dict[SSAValue, float] = {}
        self.wide: dict[tuple[SSAValue, int], SSAValue] = {}
        """Vectors of scalars, by their width, that are there in this block."""

    def add(self, op: Operation) -> SSAValue:
        self.builder.insert(op)
        return op.results[0]

    def insert(self, op: Operation) -> None:
        self.builder.insert(op)

    @contextmanager
    def inside(self, block: Block) -> Generator[None]:
        """Everything goes into `block` for a while."""
        outer = self.builder, self.wide
        self.builder, self.wide = Builder(InsertPoint.at_end(block)), dict(self.wide)
        try:
            yield
        finally:
            self.builder, self.wide = outer

    @contextmanager
    def narrowed_to(self, width: int) -> Generator[None]:
        """Vectors hold so many numbers for a while."""
        outer = self.width
        self.set_width(width)
        try:
            yield
        finally:
            self.set_width(outer)

    def set_width(self, width: int) -> None:
        self.width = width
        self.vector_type = VectorType(self.element, [width])

    # Constants stand at the top of the function, once each.

    def constant(self, kind: str, value: float, attribute: Callable[[], Attribute]) -> SSAValue:
        """A number of some kind; `attribute` makes it where it is the first of its kind."""
        key = (kind, repr(value))  # 0.0 and -0.0 are equal, and not the same
        if key not in self.constants:
            op = arith.ConstantOp(attribute())  # pyright: ignore[reportArgumentType]
            first = self.top.first_op
            where = InsertPoint.at_end(self.top) if first is None else InsertPoint.before(first)
            Builder(where).insert(op)
            self.constants[key] = op.result
        return self.constants[key]

    def index(self, value: int) -> SSAValue:
        return self.constant("index", value, lambda: IntegerAttr(value, index))

    def i32(self, value: int) -> SSAValue:
        return self.constant("i32", value, lambda: IntegerAttr(value, i32))

    def number(self, value: float) -> SSAValue:
        number = self.constant("number", value, lambda: FloatAttr(value, self.element))
        self.numbers[number] = value
        return number

    def splat(self, value: float) -> SSAValue:
        type_ = self.vector_type
        return self.constant(f"splat {self.width}", value, lambda: DenseIntOrFPElementsAttr.from_list(type_, [value]))

    def zeros(self, type_: VectorType[Attribute]) -> SSAValue:
        element = type_.element_type
        assert isinstance(element, AnyFloat)
        known = VectorType(element, [self.width])
        return self.constant(f"zeros {type_}", 0.0, lambda: DenseIntOrFPElementsAttr.from_list(known, [0.0]))

    # Numbers: scalars of the element type, vectors of `width` of them.

    def is_vector(self, value: SSAValue) -> bool:
        return isinstance(value.type, VectorType)

    def widened(self, value: SSAValue) -> SSAValue:
        """A scalar in all lanes of a vector; a vector as it is."""
        if self.is_vector(value):
            return value
        if value in self.numbers:
            return self.splat(self.numbers[value])
        key = (value, self.width)
        if key not in self.wide:
            self.wide[key] = self.add(vector.BroadcastOp(value, self.vector_type))
        return self.wide[key]

    def matched(self, *values: SSAValue) -> list[SSAValue]:
        if any(self.is_vector(value) for value in values):
            return [self.widened(value) for value in values]
        return list(values)

    def binary(self, op: BinaryOp, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        lhs, rhs = self.matched(lhs, rhs)
        return self.add(op(lhs, rhs, CONTRACT))

    def plus(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self.binary(arith.AddfOp, lhs, rhs)

    def minus(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self.binary(arith.SubfOp, lhs, rhs)

    def times(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self.binary(arith.MulfOp, lhs, rhs)

    def over(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self.binary(arith.DivfOp, lhs, rhs)

    def maximum(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """The larger one; NaN if one is NaN, as in torch."""
        lhs, rhs = self.matched(lhs, rhs)
        return self.add(arith.MaximumfOp(lhs, rhs))

    def minimum(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        lhs, rhs = self.matched(lhs, rhs)
        return self.add(arith.MinimumfOp(lhs, rhs))

    def compare(self, predicate: str, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        """A comparison of scalars; xDSL has none of vectors."""
        return self.add(arith.CmpfOp(lhs, rhs, predicate))

    def select(self, condition: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
        """Lane by lane where the condition is a vector."""
        if self.is_vector(condition) or self.is_vector(yes) or self.is_vector(no):
            yes, no = self.widened(yes), self.widened(no)
        return self.add(arith.SelectOp(condition, yes, no))

    def sqrt(self, value: SSAValue) -> SSAValue:
        return self.add(math.SqrtOp(value))

    def horizontal_sum(self, value: SSAValue) -> SSAValue:
        """The sum of all lanes of a vector."""
        return self.add(
            vector.ReductionOp.build(
                operands=[value, []],
                result_types=[self.element],
                properties={
                    "kind": vector.CombiningKindAttr(vector.CombiningKindFlag.ADD),
                    "fastmath": REASSOCIATE,
                },
            )
        )

    def shuffled(self, value: SSAValue, lanes: Sequence[int], other: SSAValue | None = None) -> SSAValue:
        """A vector with some lanes of another; those of a third one follow the last."""
        places = DenseArrayBase.from_list(i64, lanes)
        return self.add(vector.ShuffleOp(value, other or value, places, result_type=self.vector_type))

    def lanes_of(self, value: SSAValue, start: int, following: SSAValue | None = None) -> SSAValue:
        """A vector that begins with lane `start` of another, and goes on in the one that follows or, without, around
        its end."""
        if start == 0:
            return value
        return self.shuffled(value, range(start, start + self.width), following or value)

    def lane(self, value: SSAValue, lane: int) -> SSAValue:
        """A number of a vector."""
        return self.add(vector.ExtractOp(value, [lane], self.element))

    # The bits of numbers.

    @property
    def bits_type(self) -> IntegerType:
        return IntegerType(8 * self.element.size)

    def integers(self, value: int, like: SSAValue) -> SSAValue:
        """An integer of as many bits as a number has, as a vector where `like` is one."""
        if not self.is_vector(like):
            return self.constant("bits", value, lambda: IntegerAttr(value, self.bits_type))
        return self.constant(f"bits {self.width}", value, lambda: self.splat_of_bits(value))

    def splat_of_bits(self, value: int) -> Attribute:
        return DenseIntOrFPElementsAttr.from_list(VectorType(self.bits_type, [self.width]), [value])

    def bits(self, value: SSAValue) -> SSAValue:
        type_ = VectorType(self.bits_type, [self.width]) if self.is_vector(value) else self.bits_type
        return self.add(arith.BitcastOp(value, type_))

    def from_bits(self, value: SSAValue) -> SSAValue:
        return self.add(arith.BitcastOp(value, self.vector_type if self.is_vector(value) else self.element))

    def integer_minus(self, value: SSAValue, by: int) -> SSAValue:
        return self.add(arith.SubiOp(value, self.integers(by, value)))

    def shifted_left(self, value: SSAValue, by: int) -> SSAValue:
        return self.add(arith.ShLIOp(value, self.integers(by, value)))

    def shifted_right(self, value: SSAValue, by: int) -> SSAValue:
        """Keeps the sign."""
        return self.add(arith.ShRSIOp(value, self.integers(by, value)))

    def where_negative(self, sign: SSAValue, value: SSAValue) -> SSAValue:
        """`value` where `sign` has its sign bit set, 0 elsewhere."""
        sign, value = self.matched(sign, value)
        everywhere = self.shifted_right(self.bits(sign), 8 * self.element.size - 1)
        return self.from_bits(self.add(arith.AndIOp(self.bits(value), everywhere)))

    # Indices and memory.

    def index_plus(self, lhs: SSAValue, rhs: SSAValue) -> SSAValue:
        return self.add(arith.AddiOp(lhs, rhs))

    def offset(self, base: SSAValue | None, by: int) -> SSAValue:
        """`base + by`; no base is 0."""
        if base is None:
            return self.index(by)
        return base if by == 0 else self.index_plus(base, self.index(by))

    def load_index(self, array: SSAValue, place: SSAValue) -> SSAValue:
        """An integer of an array of indices, as `index`."""
        return self.add(arith.IndexCastOp(self.load(array, place), index))

    def load(self, array: SSAValue, *places: SSAValue) -> SSAValue:
        return self.extended(self.add(memref.LoadOp.get(array, list(places))))

    def store(self, value: SSAValue, array: SSAValue, *places: SSAValue) -> None:
        self.insert(memref.StoreOp.get(self.narrowed(value, element_of(array)), array, list(places)))

    # Arrays may hold numbers in fewer bits than they are computed in.

    def extended(self, value: SSAValue) -> SSAValue:
        """A number that was loaded, as it is computed with; an integer as it is."""
        is_vector = self.is_vector(value)
        if not isinstance(element_of(value) if is_vector else value.type, BFloat16Type | Float16Type):
            return value
        return self.add(arith.ExtFOp(value, self.vector_type if is_vector else self.element))

    def narrowed(self, value: SSAValue, element: Attribute) -> SSAValue:
        """A number as it is stored."""
        if not isinstance(element, BFloat16Type | Float16Type):
            return value
        return self.add(arith.TruncFOp(value, VectorType(element, [self.width]) if self.is_vector(value) else element))

    def mask(self, count: int | SSAValue) -> SSAValue:
        """The first `count` lanes."""
        known = self.index(count) if isinstance(count, int) else count
        return self.add(vector.CreateMaskOp([known], VectorType(i1, [self.width])))

    def load_vector(self, array: SSAValue, row: SSAValue, column: SSAValue, count: int | SSAValue) -> SSAValue:
        """`count` neighbouring numbers of a row; the other lanes are 0."""
        type_ = VectorType(element_of(array), [self.width])
        if count == self.width:
            return self.extended(self.add(vector.LoadOp(array, [row, column], type_)))
        masked = vector.MaskedLoadOp(array, [row, column], self.mask(count), self.zeros(type_), type_)
        return self.extended(self.add(masked))

    def store_vector(
        self, value: SSAValue, array: SSAValue, row: SSAValue, column: SSAValue, count: int | SSAValue
    ) -> None:
        value = self.narrowed(value, element_of(array))
        if count == self.width:
            self.insert(vector.StoreOp(value, array, [row, column]))
        else:
            self.insert(vector.MaskedStoreOp(array, [row, column], self.mask(count), value))

    # Control flow.

    def loop(
        self,
        begin: SSAValue,
        end: SSAValue,
        step: SSAValue,
        carried: Sequence[SSAValue],
        body: Callable[[SSAValue, list[SSAValue]], Sequence[SSAValue]],
    ) -> list[SSAValue]:
        """A for loop; `body` gets the place and what is carried around, and gives the next of that."""
        block = Block(arg_types=[index, *[value.type for value in carried]])
        with self.inside(block):
            following = body(block.args[0], list(block.args[1:]))
            self.insert(scf.YieldOp(*following))
        op = scf.ForOp(begin, end, step, list(carried), Region(block))
        self.insert(op)
        return list(op.results)

    def when(self, condition: SSAValue, body: Callable[[], None]) -> None:
        """What happens only if a condition holds."""
        block = Block()
        with self.inside(block):
            body()
            self.insert(scf.YieldOp())
        self.insert(scf.IfOp(condition, [], Region(block)))


REASSOCIATE = arith.FastMathFlagsAttr([FastMathFlag.REASSOC])
"""Lanes may be added pairwise, in a fixed tree."""


def element_of(value: SSAValue) -> Attribute:
    """The type of the numbers of an array or a vector."""
    assert isinstance(value.type, MemRefType | VectorType)
    return value.type.element_type


def rows_type(element: Attribute) -> MemRefType[Attribute]:
    """An array of rows, each of which lies in one piece."""
    from xdsl.dialects.builtin import DYNAMIC_INDEX, StridedLayoutAttr

    return MemRefType(element, [DYNAMIC_INDEX, DYNAMIC_INDEX], StridedLayoutAttr([None, 1]))


def list_type(element: Attribute) -> MemRefType[Attribute]:
    """A plain array."""
    from xdsl.dialects.builtin import DYNAMIC_INDEX

    return MemRefType(element, [DYNAMIC_INDEX])


__all__ = ["CONTRACT", "LoopBuilder", "f32", "index", "list_type", "rows_type"]
