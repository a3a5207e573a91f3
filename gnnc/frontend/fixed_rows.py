"""Tensors of the model that edges or ids index: how many rows they have is a question, not a constant."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from gnnc.errors import CaptureError
from gnnc.frontend.inputs import ModelInput
from gnnc.frontend.traced_values import TracedModel, TracedValue

# The place of the tensor that is indexed and that of the index; one that is a list has an index for each axis.
LOOKUPS = {
    "aten.index_select.default": (0, 2),
    "aten.index.Tensor": (0, 1),
    "aten.embedding.default": (0, 1),
    "aten.gather.default": (0, 2),
}
SCATTERS = {
    "aten.scatter_add.default": (0, 2),
    "aten.scatter_reduce.two": (0, 2),
    "aten.scatter.reduce": (0, 2),
    "aten.scatter.src": (0, 2),
    "aten.index_add.default": (0, 2),
    "aten.index_reduce.default": (0, 2),
    "aten.index_put.default": (0, 1),
}

# Operators whose result has only numbers that are in the operand, in the same order; and those that leave some out or
# have others beside.
ARRANGED = {
    "aten.view.default",
    "aten.reshape.default",
    "aten.expand_as.default",
    "aten.to.dtype",
    "aten.contiguous.default",
    "aten.squeeze.default",
    "aten.expand.default",
    "aten.unsqueeze.default",
    "aten.squeeze.dim",
    "aten._to_copy.default",
}
SELECTED = {
    "aten.select.int",
    "aten.slice.Tensor",
    "aten.index.Tensor",
    "aten.index_select.default",
    "aten.masked_select.default",
    "aten.cat.default",
    "aten.stack.default",
    "aten.flip.default",
    "aten.repeat.default",
    "aten.t.default",
    "aten.unbind.int",
    "aten.split.Tensor",
    "aten.split_with_sizes.default",
}


def check_fixed_rows(model: TracedModel, inputs: Sequence[ModelInput]) -> None:
    """Raises CaptureError where the ends of edges index a tensor whose rows are as many in every graph.

    Such a tensor has a row a node, and the model would be right for graphs of that size only.
    """
    edges = {i.key for i in inputs if i.index_into is not None}
    for value in model.values:
        place = (LOOKUPS | SCATTERS).get(value.op)
        if place is None or value.args[place[0]].sizes or not names_nodes(value.args[place[1]], edges):
            continue
        rows = value.args[place[0]].shape
        what = "gathered from" if value.op in LOOKUPS else "scattered into"
        line = f" (in {value.location})" if value.location else ""
        raise CaptureError(
            f"rows are {what} a tensor of fixed shape {list(rows)} by the ends of edges{line}: take the number of "
            "nodes from x.size(0); or, if it is a weight with a row a node, name it in "
            "gnnc.compile(..., node_weights={'emb.weight': 'nodes'})"
        )


def names_nodes(index: Any, edges: set[str]) -> bool:
    """Whether an index holds ends of edges, arranged in whatever way."""
    if isinstance(index, tuple):
        return any(names_nodes(item, edges) for item in index)
    if not isinstance(index, TracedValue):
        return False
    if index.op == "input":
        return index.name in edges
    call = index.args[0] if index.op == "item" else index
    return call.op in ARRANGED | SELECTED and names_nodes(call.args[0], edges)


def with_limits(model: TracedModel, inputs: Sequence[ModelInput]) -> tuple[ModelInput, ...]:
    """The inputs, those that the model looks up in a table with the number of its rows as their limit."""
    limits: dict[str, int] = {}
    for value in model.values:
        if value.op not in LOOKUPS:
            continue
        table, index = (value.args[place] for place in LOOKUPS[value.op])
        key, axis = looked_up(index), looked_up_axis(value)
        if key is not None and not table.sizes:
            limits[key] = min(table.shape[axis], limits.get(key, table.shape[axis]))
    return tuple(replace(i, limit=limits.get(i.key)) for i in inputs)


def looked_up(index: Any) -> str | None:
    """The input whose numbers an index has, one and all."""
    if isinstance(index, tuple):
        used = [item for item in index if item is not None]
        return looked_up(used[0]) if len(used) == 1 else None
    while index.op in ARRANGED:
        index = index.args[0]
    return index.name if index.op == "input" and not index.dtype.is_floating_point else None


def looked_up_axis(value: TracedValue) -> int:
    if value.op == "aten.index.Tensor":
        return next(axis for axis, index in enumerate(value.args[1]) if index is not None)
    return 0 if value.op == "aten.embedding.default" else value.args[1]
