"""What a ConvBlock computes, put together from its batches."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import torch
from xdsl.ir import SSAValue

from gnnc.dialects.gnn import ConvBlockOp, EdgeSetType, GlobalReduceOp, LinearOp, Reduction, YieldOp
from gnnc.dialects.gnn.attributes import domain_axis, domain_of, row_shape
from gnnc.targets.edge_sets import EdgeSet
from gnnc.targets.gpu.arena import LINE, Arena, RowsOf, fresh
from gnnc.targets.gpu.batch import Batch, EdgeSlice
from gnnc.targets.torch_functions import dtype_of, shape_with

COMBINE = {
    Reduction.SUM: torch.add,
    Reduction.MUL: torch.mul,
    Reduction.MAX: torch.maximum,
    Reduction.MIN: torch.minimum,
}


@dataclass(frozen=True)
class ResultKind:
    """What a result is like: its set (empty for a value of the whole graph), its axis over that, a row, and whether a
    product gives it."""

    set_name: str
    is_on_nodes: bool
    axis: int
    rows: RowsOf
    is_product: bool


def kind_of(result: SSAValue, made: SSAValue) -> ResultKind:
    """That of a block's result, which `made` is inside of it."""
    domain, rows = domain_of(result.type), RowsOf(row_shape(result.type), dtype_of(result.type))
    is_product = isinstance(made.owner, LinearOp)
    if domain is None:
        return ResultKind("", False, 0, rows, is_product)
    return ResultKind(domain.set_name.data, domain.is_nodes, domain_axis(result.type), rows, is_product)


@lru_cache(maxsize=1024)
def outputs_of(op: ConvBlockOp) -> tuple[tuple[SSAValue, ResultKind], ...]:
    """What a block hands on, and what that is like. Read off the types once: that takes longer than a batch of a small
    graph."""
    terminator = op.body.block.last_op
    assert isinstance(terminator, YieldOp)
    pairs = zip(op.outputs, terminator.values, strict=True)
    return tuple((output, kind_of(output, made)) for output, made in pairs)


@lru_cache(maxsize=1024)
def edge_sets_read(op: ConvBlockOp) -> tuple[tuple[int, str], ...]:
    """The edge sets among a block's operands: their places and names."""
    types = [value.type for value in op.operands]
    return tuple((place, t.edge_set.data) for place, t in enumerate(types) if isinstance(t, EdgeSetType))


class BlockResults:
    """The results of one run of a block: an array of all rows for each, or a running reduction.

    Reductions of floating-point numbers run in double precision, so that they don't depend on the size of batches.
    """

    def __init__(
        self,
        op: ConvBlockOp,
        operands: Sequence[Any],
        counts: Mapping[str, int],
        arena: Arena,
        returned: Collection[SSAValue],
        device: str = "cpu",
        *,
        few: bool = False,
    ):
        """Arrays lie on a device, or on the host; there memory is from the arena, but for what is `returned` to the
        caller. Where only a `few` rows of that are computed, it lies on small pages: a huge one is filled with zeros
        for the first row that is written to it."""
        self.op = op
        self.arena = arena
        self.device = device
        self.returned = returned
        self.few = few
        edges = [(name, operands[place]) for place, name in edge_sets_read(op)]
        self.edge_counts = {name: e.edge_count for name, e in edges if isinstance(e, EdgeSet)}
        self.counts = counts
        self.outputs = outputs_of(op)
        self.values = [self.array_for(output, kind) for output, kind in self.outputs]

    def array_for(self, output: SSAValue, kind: ResultKind) -> torch.Tensor | None:
        """An array for all rows of a result, None for one without rows."""
        if not kind.set_name:
            return None
        if self.device != "cpu":
            return torch.empty(shape_with(output.type, self.row_count(kind)), dtype=kind.rows.dtype, device=self.device)
        if output in self.returned or kind.axis != 0:
            return self.of_its_own(shape_with(output.type, self.row_count(kind)), kind.rows.dtype)
        return self.arena.empty(kind.rows, self.row_count(kind))

    def of_its_own(self, shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
        return torch.empty(*shape, dtype=dtype) if self.few else fresh(shape, dtype)

    def places(self, outputs: Sequence[int], batch: Batch, arena: Arena) -> list[torch.Tensor | None]:
        """Memory for a batch's rows of some results: their own, where they lie side by side and in front. A product
        whose rows would end inside of cache lines takes longer than with lines of its own and a copy."""
        return [self.place(self.outputs[place][1], self.values[place], batch, arena) for place in outputs]

    def place(self, kind: ResultKind, values: torch.Tensor | None, batch: Batch, arena: Arena) -> torch.Tensor | None:
        if values is None or not kind.is_on_nodes or kind.axis != 0 or self.device != "cpu":
            return None
        if isinstance(batch.nodes, range) and not (kind.is_product and end_inside_lines(values)):
            return batch.part_of(values, 0)
        return arena.empty(kind.rows, batch.rows)

    def row_count(self, kind: ResultKind) -> int:
        return (self.counts if kind.is_on_nodes else self.edge_counts)[kind.set_name]

    def add(self, place: int, rows: Batch | EdgeSlice | None, value: torch.Tensor | None) -> None:
        """Takes what a batch computed of one result; None of a reduction if it had no rows."""
        if value is None:
            return
        known = self.values[place]
        if rows is None:
            part = value.cpu().double() if value.dtype.is_floating_point else value.cpu()
            self.values[place] = part if known is None else COMBINE[self.reduction(place)](known, part)
            return
        assert known is not None
        rows.store(value, known, self.outputs[place][1].axis)

    def done(self, batch: Batch) -> None:
        """All results of a batch are there."""

    def reduction(self, place: int) -> Reduction:
        terminator = self.op.body.block.last_op
        assert isinstance(terminator, YieldOp)
        reduce = terminator.values[place].owner
        assert isinstance(reduce, GlobalReduceOp)
        return reduce.reduction.data

    def finished(self) -> list[torch.Tensor]:
        """All results. Over no rows a sum is 0, a product 1, `any` false and `all` true; a largest or a smallest number
        does not exist: then raises IndexError, as torch does."""
        return [self.finish(place, output) for place, (output, _) in enumerate(self.outputs)]

    def finish(self, place: int, output: SSAValue) -> torch.Tensor:
        value = self.values[place]
        if value is not None:
            return value.to(self.outputs[place][1].rows.dtype)
        reduction, dtype = self.reduction(place), dtype_of(output.type)
        if dtype != torch.bool and reduction in (Reduction.MAX, Reduction.MIN):
            raise IndexError("the model takes the largest or smallest of no rows, which does not exist")
        neutral = reduction in (Reduction.MUL, Reduction.MIN)
        return torch.full(shape_with(output.type, 0), int(neutral), dtype=dtype)


def end_inside_lines(rows: torch.Tensor) -> bool:
    """Whether rows longer than a cache line don't take up whole ones."""
    size = math.prod(rows.shape[1:]) * rows.itemsize
    return size > LINE and rows.stride(0) * rows.itemsize % LINE != 0
