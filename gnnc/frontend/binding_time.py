"""Binding times: what depends on weights only, on the structure of the graph, or on features."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import torch

from gnnc.errors import UnsupportedModelError
from gnnc.frontend.inputs import ModelInput
from gnnc.frontend.rowwise_rules import operator_of
from gnnc.frontend.traced_values import TracedModel, TracedValue, sizes_in


class BindingTime(IntEnum):
    """When a value is known: at compile time, for a given graph, or for given features. Later ones absorb earlier."""

    WEIGHT = 0
    STRUCTURE = 1
    FEATURE = 2


def binding_times(model: TracedModel, inputs: Sequence[ModelInput]) -> dict[TracedValue, BindingTime]:
    """The binding time of every value. A fill takes only shape and type from its operand, so it never is a feature."""
    features = {i.key for i in inputs if i.is_feature}
    times: dict[TracedValue, BindingTime] = {}
    for value in model.values:
        times[value] = binding_time(value, times, features)
    return times


def binding_time(value: TracedValue, times: dict[TracedValue, BindingTime], features: set[str]) -> BindingTime:
    if value.op == "input":
        return BindingTime.FEATURE if value.name in features else BindingTime.STRUCTURE
    if value.op == "weight":
        return BindingTime.WEIGHT
    asks_for_sizes = any(True for _ in sizes_in(value.args)) or bool(value.sizes)
    own = BindingTime.STRUCTURE if asks_for_sizes else BindingTime.WEIGHT
    return max([own, *(times[operand] for operand in value.operands())])


def fold_weights(model: TracedModel, times: dict[TracedValue, BindingTime]) -> None:
    """Computes what depends on weights only; afterwards each such value holds its `tensor`.

    Raises UnsupportedModelError for a random operator, whose result would be frozen.
    """
    for value in model.values:
        if times[value] is not BindingTime.WEIGHT or value.tensor is not None or len(value.outputs) > 1:
            continue
        value.tensor = compute(value)


def compute(value: TracedValue) -> torch.Tensor:
    if value.op == "fill":
        shape, dtype = value.outputs[0]
        return torch.full([s for s in shape if isinstance(s, int)], value.args[0], dtype=dtype)
    if value.op == "item":
        return evaluate(value.args[0])[value.args[1]]
    return evaluate(value)


def evaluate(value: TracedValue) -> torch.Tensor:
    """The result of an operator on tensors that are known."""
    overload = operator_of(value.op)
    if torch.Tag.nondeterministic_seeded in overload.tags:
        place = str(value.location) if value.location else ""
        raise UnsupportedModelError("a random value can't be compiled: fix it before export", op=value.op, source=place)
    with torch.no_grad():
        return overload(*known(value.args), **{k: known(v) for k, v in value.kwargs.items()})


def known(argument: Any) -> Any:
    if isinstance(argument, TracedValue):
        return argument.tensor
    return [known(item) for item in argument] if isinstance(argument, tuple) else argument
