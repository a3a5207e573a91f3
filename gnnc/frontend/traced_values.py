"""What the front end works on between torch.export and the IR: values without duplicates, sizes with a meaning."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import torch


@dataclass(frozen=True)
class Size:
    """A size that is known at run time only. Two sizes are of one set if and only if their expressions are equal."""

    expression: str


Shape = tuple[int | Size, ...]


@dataclass(frozen=True)
class SourceLine:
    """A line of the user's model."""

    file: str
    line: int
    code: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" + (f": {self.code}" if self.code else "")


@dataclass(eq=False)
class TracedValue:
    """One value of the traced model.

    `op` is `input`, `weight`, `fill` or the name of an ATen operator (`aten.linear.default`). Arguments are values,
    sizes, plain Python values, or tuples of those. `outputs` has the shape and type of each result of the operator;
    a value whose operator has several is used through `item` values, whose `op` is `item` and arguments (value, index).
    """

    op: str
    name: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]
    outputs: tuple[tuple[Shape, torch.dtype], ...]
    location: SourceLine | None = None
    tensor: torch.Tensor | None = field(default=None, repr=False)

    @property
    def shape(self) -> Shape:
        return self.outputs[0][0]

    @property
    def dtype(self) -> torch.dtype:
        return self.outputs[0][1]

    @property
    def sizes(self) -> list[Size]:
        """The run-time sizes in the shape, axis by axis."""
        return [size for size in self.shape if isinstance(size, Size)]

    @property
    def domain(self) -> Size | None:
        """The size of the one axis that runs over nodes or edges, or None without one; two such axes have no domain."""
        return self.sizes[0] if len(self.sizes) == 1 else None

    @property
    def domain_axis(self) -> int:
        """The axis that runs over nodes or edges; the value must have one."""
        return next(axis for axis, size in enumerate(self.shape) if isinstance(size, Size))

    def operands(self) -> Iterator[TracedValue]:
        """The values among the arguments, in order."""
        yield from values_in(self.args)
        yield from values_in(tuple(self.kwargs.values()))


def values_in(argument: Any) -> Iterator[TracedValue]:
    """The values inside an argument."""
    if isinstance(argument, TracedValue):
        yield argument
    elif isinstance(argument, tuple | list):
        for item in argument:
            yield from values_in(item)


def sizes_in(argument: Any) -> Iterator[Size]:
    """The run-time sizes inside an argument."""
    if isinstance(argument, Size):
        yield argument
    elif isinstance(argument, tuple | list):
        for item in argument:
            yield from sizes_in(item)


@dataclass(frozen=True)
class TracedModel:
    """All values in an order in which operands come first, and what the model returns, None included."""

    values: tuple[TracedValue, ...]
    returned: tuple[TracedValue | None, ...]

    @property
    def outputs(self) -> tuple[TracedValue, ...]:
        """The values among what the model returns."""
        return tuple(value for value in self.returned if value is not None)
