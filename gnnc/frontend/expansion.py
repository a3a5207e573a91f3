"""Rewriting one value of a traced model in place, with new values before it."""

from __future__ import annotations

from typing import Any

import torch

from gnnc.frontend.traced_values import Shape, TracedValue


class Expansion:
    """One value that is rewritten in place; what it is made of then comes before it."""

    def __init__(self, value: TracedValue, before: list[TracedValue]):
        self.value = value
        self.before = before

    def call(self, op: str, *args: Any, shape: Shape | None = None, dtype: torch.dtype | None = None) -> TracedValue:
        """A new value; by default of the shape and type of its first argument. A type that is given is an argument of
        the operator, too."""
        first = args[0]
        output = (first.shape if shape is None else shape, dtype or first.dtype)
        name = f"{self.value.name}_{len(self.before)}"
        kwargs = {} if dtype is None else {"dtype": dtype}
        new = TracedValue(op, name, args, kwargs, (output,), self.value.location)
        self.before.append(new)
        return new

    def become(self, op: str, *args: Any, **kwargs: Any) -> None:
        """What the value is now; its shape and type stay."""
        self.value.op, self.value.args, self.value.kwargs = op, args, kwargs

    def reshaped(self, x: TracedValue, shape: Shape) -> TracedValue:
        return x if x.shape == shape else self.call("aten.view.default", x, shape, shape=shape)

    def become_reshaped(self, x: TracedValue) -> None:
        """The value is `x`, whose reduced axes may have to go."""
        self.become("aten.view.default", x, self.value.shape)
