"""Rows that a mask picks, worked on and put back: `x[mask] = f(x[mask])`.

How many rows a mask picks is known at run time only. But what is row-wise gives the same for a row whichever other rows
are there, so f runs on all rows, with zeros where the mask is false, and only masked rows are replaced:
`x = where(mask, f(where(mask, x, 0)), x)`. That holds while the picked rows are worked on row by row and end where they
came from; picked rows that go anywhere else are left as they are.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import torch

from gnnc.frontend.binding_time import BindingTime
from gnnc.frontend.expansion import Expansion
from gnnc.frontend.rowwise_rules import NotRowwise, prove_rowwise
from gnnc.frontend.traced_values import Shape, Size, TracedModel, TracedValue, sizes_in

# What gives the indices where a mask is true another shape.
LAYOUT = frozenset({"aten.view.default", "aten.squeeze.dim", "aten.squeeze.default", "aten.reshape.default"})

Times = dict[TracedValue, BindingTime]


@dataclass(frozen=True)
class Picked:
    """`value`, or the rows of it that are written to, where `mask` is true."""

    value: TracedValue
    mask: TracedValue


def keep_masked_rows_in_place(model: TracedModel, times: Times) -> TracedModel:
    """The model with rows that masks pick worked on where they are."""
    domains = masked_domains(model, times)
    if not domains:
        return model
    values: list[TracedValue] = []
    for value in model.values:
        rewrite(Expansion(value, values), domains)
        values.append(value)
    return TracedModel(tuple(values), model.returned)


def masked_domains(model: TracedModel, times: Times) -> dict[Size, Size]:
    """The sets of picked rows that can stay in place, and the sets they are picked from."""
    found: dict[Size, Size] = {}
    for value in model.values:
        picked = match_read(value)
        if picked is not None and value.domain is not None and times[value] is BindingTime.FEATURE:
            assert picked.value.domain is not None
            found[value.domain] = picked.value.domain
    wrong = {size for value in model.values for size in leaves(value, found, model)}
    return {size: base for size, base in found.items() if size not in wrong}


def leaves(value: TracedValue, found: dict[Size, Size], model: TracedModel) -> Iterable[Size]:
    """The sets of picked rows that a value takes to another place."""
    taken = {size for v in value.operands() for size in v.sizes if size in found}
    taken |= {size for size in sizes_in((value.args, *value.kwargs.values())) if size in found}
    written = match_write(value)
    if written is not None:
        taken -= {rows.domain for rows in (value.args[-1], value.args[-2]) if isinstance(rows, TracedValue)}
    elif value.domain in taken and stays_in_place(value):
        taken.discard(value.domain)
    if value in model.returned and value.domain in found:
        taken.add(value.domain)
    return taken


def stays_in_place(value: TracedValue) -> bool:
    """Whether a value on picked rows can be computed where they are, or need not be computed."""
    if value.op == "fill" or match_read(value) is not None or mask_behind(value) is not None:
        return True
    try:
        prove_rowwise(value.args[0] if value.op == "item" else value)
    except NotRowwise:
        return False
    return True


def rewrite(expansion: Expansion, domains: dict[Size, Size]) -> None:
    """One value with the picked rows in place."""
    value = expansion.value
    read, written = match_read(value), match_write(value)
    if read is not None and value.domain in domains:
        expansion.become("aten.where.ScalarOther", mask_like(expansion, read), read.value, 0)
    elif written is not None and written.value.domain in domains.values():
        rows = value.args[2] if value.op == "aten.index_put.default" else value.args[3]
        if isinstance(rows, TracedValue) and rows.domain == written.value.domain:
            expansion.become("aten.where.self", mask_like(expansion, written), rows, written.value)
    value.args = in_place(value.args, domains)
    value.kwargs = {name: in_place(argument, domains) for name, argument in value.kwargs.items()}
    value.outputs = tuple((in_place_shape(shape, domains), dtype) for shape, dtype in value.outputs)


def mask_like(expansion: Expansion, picked: Picked) -> TracedValue:
    """The mask with an axis for each of the value's, so that they broadcast."""
    axis = picked.value.domain_axis
    shape = tuple(size if a == axis else 1 for a, size in enumerate(picked.value.shape))
    return expansion.reshaped(picked.mask, shape)


def in_place(argument: Any, domains: dict[Size, Size]) -> Any:
    if isinstance(argument, Size):
        return domains.get(argument, argument)
    return tuple(in_place(item, domains) for item in argument) if isinstance(argument, tuple) else argument


def in_place_shape(shape: Shape, domains: dict[Size, Size]) -> Shape:
    return tuple(domains.get(size, size) if isinstance(size, Size) else size for size in shape)


def match_read(value: TracedValue) -> Picked | None:
    """`x[mask]`, or `x[indices]` and `x.index_select(0, indices)` with the indices where a mask is true."""
    match value.op:
        case "aten.index.Tensor":
            x, (*leading, index) = value.args
            axis = len(leading) if all(i is None for i in leading) else None
        case "aten.index_select.default":
            x, axis, index = value.args
        case _:
            return None
    return picked(x, axis, index)


def match_write(value: TracedValue) -> Picked | None:
    """`x[mask] = rows`, or `x.index_copy(0, indices, rows)` with the indices where a mask is true."""
    match value.op:
        case "aten.index_put.default" if value.args[3:] in ((), (False,)):
            x, (*leading, index) = value.args[:2]
            axis = len(leading) if all(i is None for i in leading) else None
        case "aten.index_copy.default":
            x, axis, index = value.args[:3]
        case _:
            return None
    return picked(x, axis, index)


def picked(x: TracedValue, axis: int | None, index: Any) -> Picked | None:
    mask = mask_behind(index)
    if mask is None or axis is None or x.domain is None or mask.domain != x.domain:
        return None
    return Picked(x, mask) if axis % len(x.shape) == x.domain_axis else None


def mask_behind(index: Any) -> TracedValue | None:
    """The mask that an index is, or whose true entries it lists in order."""
    if not isinstance(index, TracedValue):
        return None
    if index.dtype == torch.bool:
        return index if len(index.shape) == 1 else None
    while index.op in LAYOUT or (index.op == "aten.select.int" and index.args[1:] == (1, 0)):
        index = index.args[0]
    if index.op == "item":
        index = index.args[0]
    mask = index.args[0] if index.op in ("aten.nonzero.default", "aten.nonzero_numpy.default") else None
    return mask if mask is not None and mask.dtype == torch.bool and len(mask.shape) == 1 else None
