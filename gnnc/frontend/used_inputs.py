"""Which tensors of a graph a traced model really computes with: an object with all of them offers many more."""

from __future__ import annotations

from collections.abc import Sequence

from gnnc.frontend.inputs import ModelInput
from gnnc.frontend.traced_values import TracedModel, sizes_in


def used_inputs(model: TracedModel, inputs: Sequence[ModelInput]) -> tuple[ModelInput, ...]:
    """The inputs that the model computes with, and of those it only takes a size from, one for each size."""
    returned = (value for value in model.returned if value is not None)
    used = {id(operand) for value in model.values for operand in value.operands()} | {id(value) for value in returned}
    values = {value.name: value for value in model.values if value.op == "input"}
    kept = [i for i in inputs if id(values[i.key]) in used]
    named = {values[i.key].domain for i in kept}
    others = [v for v in model.values if v.op != "input"]
    sizes = {size for v in others for size in (*v.sizes, *sizes_in((v.args, *v.kwargs.values())))}
    for i in inputs:
        domain = values[i.key].domain
        if domain in sizes and domain not in named:
            kept.append(i)
            named.add(domain)
    return tuple(i for i in inputs if i in kept)


def with_inputs(model: TracedModel, inputs: Sequence[ModelInput]) -> TracedModel:
    """The model without the inputs that are not among these."""
    keys = {i.key for i in inputs}
    return TracedModel(tuple(v for v in model.values if v.op != "input" or v.name in keys), model.returned)
