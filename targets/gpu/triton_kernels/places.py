"""Which numbers of a row a program works on, written as arithmetic of what Triton knows when it compiles.

A row is flat. A place in it is a number in mixed radix, the most significant digit first: that of a GAT's result is
(head, channel). A digit is one integer for the whole program, or a vector of consecutive ones along the second axis of
a tile. An operand that is broadcast has a place with fewer digits, one that is laid out in another way the same number
in another radix.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

from gnnc.passes.loops.lanes import NoKernelError

WIDEST = 1024
"""The most numbers of a row that lie in one tile."""


@dataclass(frozen=True)
class Digit:
    """`text` is 0 to `size` - 1; a vector has `width` of them and is that where `mask` is true, if there is one."""

    text: str
    size: int
    width: int = 1
    mask: str | None = None

    @property
    def constant(self) -> int | None:
        return int(self.text) if self.text.isdigit() else None


Place: TypeAlias = tuple[Digit, ...]


def width_of(place: Place) -> int:
    """How many numbers of a row a place stands for."""
    return max((digit.width for digit in place), default=1)


def masks_of(place: Place) -> list[str]:
    """What must be true for numbers at a place to be there."""
    return list(dict.fromkeys(digit.mask for digit in place if digit.mask is not None))


def power_of_two(size: int) -> int:
    """The smallest one that is not less: the size of an axis in Triton."""
    return 1 << max(0, size - 1).bit_length()


class Places:
    """Arithmetic on places. What it computes gets names in `lines`, each once: nothing of it depends on edges."""

    def __init__(self, lines: list[str]):
        self.lines = lines
        self.names: dict[str, str] = {}
        self.vectors: dict[int, Digit] = {}

    def named(self, expression: str, letter: str = "i") -> str:
        """The name of an expression."""
        if expression.isidentifier() or expression.isdigit():
            return expression
        if expression not in self.names:
            self.names[expression] = f"{letter}{len(self.names)}"
            self.lines.append(f"{self.names[expression]} = {expression}")
        return self.names[expression]

    def vector(self, size: int) -> Digit:
        """All of `size` numbers at once, the same ones whenever they are asked for."""
        if size not in self.vectors:
            if size > WIDEST:
                raise NoKernelError(f"a sum over {size} numbers of a row is too wide for a tile")
            lanes = self.named(f"tl.arange(0, {power_of_two(size)})[None, :]")
            mask = None if power_of_two(size) == size else self.named(f"{lanes} < {size}", "in")
            self.vectors[size] = Digit(lanes, size, power_of_two(size), mask)
        return self.vectors[size]

    def flat(self, place: Place) -> Digit:
        """A place as one digit."""
        if len(place) <= 1:
            return place[0] if place else Digit("0", 1)
        total, terms = 1, list[str]()
        for digit in reversed(place):
            if digit.constant != 0:
                terms.insert(0, scaled(digit, total))
            total *= digit.size
        masks = masks_of(place)
        mask = None if not masks else self.named(" & ".join(masks), "in")
        return Digit(self.named(" + ".join(terms) or "0"), total, width_of(place), mask)

    def axes(self, place: Place, shape: Sequence[int]) -> list[Place]:
        """The same place, a part of it for each axis of a row's shape."""
        parts: list[Place] = []
        for size in reversed(shape):
            place, low = self.split(place, size)
            parts.insert(0, low)
        return parts

    def split(self, place: Place, size: int) -> tuple[Place, Place]:
        """A place above and below a power of its radix."""
        left, low, below = list(place), list[Digit](), 1
        while below < size:
            digit, missing = left.pop(), size // below
            if size % below or (missing % digit.size and digit.size % missing):
                whole = self.flat((*left, digit, *low))
                return (self.over(whole, size),), (self.modulo(whole, size),)
            if digit.size > missing:
                left.append(self.over(digit, missing))
                digit = self.modulo(digit, missing)
            low.insert(0, digit)
            below *= digit.size
        return tuple(left), tuple(low)

    def constant(self, number: int, size: int) -> Digit:
        return Digit(str(number), size)

    def over(self, digit: Digit, by: int) -> Digit:
        text = str(digit.constant // by) if digit.constant is not None else self.named(f"{digit.text} // {by}")
        return Digit(text, digit.size // by, digit.width, digit.mask)

    def modulo(self, digit: Digit, by: int) -> Digit:
        text = str(digit.constant % by) if digit.constant is not None else self.named(f"{digit.text} % {by}")
        return Digit(text, by, digit.width, digit.mask)

    def part(self, digit: Digit, start: int, size: int) -> Digit:
        """Counted from `start`, and true only in the `size` numbers behind it."""
        inside = self.named(f"({digit.text} >= {start}) & ({digit.text} < {start + size})", "in")
        mask = inside if digit.mask is None else self.named(f"{digit.mask} & {inside}", "in")
        return Digit(self.named(f"{digit.text} - {start}"), size, digit.width, mask)


def scaled(digit: Digit, by: int) -> str:
    if digit.constant is not None:
        return str(digit.constant * by)
    return digit.text if by == 1 else f"{digit.text} * {by}"
