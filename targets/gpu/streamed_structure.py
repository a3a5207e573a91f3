"""What depends on the graph alone, computed without the edges in memory: edge sets are terms over the graph's
relations, each of which is put in order on disk, and degrees follow from that order."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import torch
from xdsl.dialects.func import ReturnOp
from xdsl.ir import BlockArgument, Operation, SSAValue

from gnnc.dialects.gnn import (
    AggregateOp,
    ConstantOp,
    ConvBlockOp,
    ConvOperation,
    CountOp,
    EdgeSetType,
    End,
    EndAttr,
    FillOp,
    FusedConvOp,
    LoadWeightOp,
    MaxDegreeOp,
    Reduction,
    RelationOp,
    ReverseOp,
    SampledOp,
    UnionOp,
    WholeGraphOp,
    WithLoopsOp,
    WithoutLoopsOp,
)
from gnnc.dialects.gnn.attributes import domain_axis, domain_of, row_shape
from gnnc.dialects.gnn.edge_sets import edge_set_type
from gnnc.passes.analysis.cost_model import row_bytes
from gnnc.passes.analysis.model_functions import ModelFunctions, argument_name, returned
from gnnc.targets.gpu.batch_plan import WINDOW
from gnnc.targets.gpu.store.array_file import ArrayFile
from gnnc.targets.gpu.store.csc_file import CscFile
from gnnc.targets.gpu.store.edge_stream import EdgeStream, Relation, Reversed, Union, WithLoops, WithoutLoops
from gnnc.targets.gpu.store.sampled_edges import Sampled
from gnnc.targets.gpu.stored_edges import StoredEdgeSet
from gnnc.targets.neighbor_sampling import Sample
from gnnc.targets.torch_functions import constant, dtype_of, filled, function_of

Ordered = Callable[[EdgeStream, End, bool], CscFile]
"""Puts edges in order by one end, or finds them in order; with their origins or without."""

TERMS = (RelationOp, WithoutLoopsOp, WithLoopsOp, ReverseOp, SampledOp, UnionOp)


def reason_against(functions: ModelFunctions) -> str | None:
    """Why the structure of a program can't be streamed; None if it can."""
    values = [value for op in functions.forward.body.block.ops for value in (*op.operands, *op.results)]
    if any(is_on_edges(value) for value in values):
        return "values on edges go from one block to another, or into the program or out of it"
    for op in functions.structure.body.block.ops:
        if not is_streamable(op):
            return f"{op.name} needs all edges in memory"
    for argument in functions.forward.body.block.args:
        if isinstance(argument.type, EdgeSetType) and len(ends_of(argument)) > 1:
            return "edges are reduced at both ends"
    return None


def is_on_edges(value: SSAValue) -> bool:
    domain = domain_of(value.type)
    return domain is not None and not domain.is_nodes


def is_streamable(op: Operation) -> bool:
    if isinstance(op, TERMS):
        return not isinstance(op, RelationOp) or isinstance(op.edge_index, BlockArgument)
    if isinstance(op, FillOp):
        uses = [use.operation for use in op.result.uses]
        return not is_on_edges(op.result) or all(isinstance(user, AggregateOp) for user in uses)
    if isinstance(op, AggregateOp):
        return isinstance(op.messages.owner, FillOp) and op.reduction.data is Reduction.SUM
    if isinstance(op, ConvOperation | WholeGraphOp):
        return False
    on_edges = any(is_on_edges(value) for value in (*op.operands, *op.results))
    return not on_edges and not any(isinstance(result.type, EdgeSetType) for result in op.results)


def ends_of(edges: SSAValue) -> set[End]:
    """The ends at which the edges of a set are reduced, in the blocks that use it."""
    ends = set[End]()
    for use in edges.uses:
        user = use.operation
        if isinstance(user, ConvBlockOp | FusedConvOp):
            ends |= ends_of(user.regions[0].block.args[use.index])
        if isinstance(user, ConvOperation) and isinstance(end := user.properties["end"], EndAttr):
            ends.add(end.data)
    return ends


def streamed_structure(
    functions: ModelFunctions,
    inputs: Mapping[str, torch.Tensor],
    weights: Mapping[str, torch.Tensor],
    counts: Mapping[str, int],
    ordered: Ordered,
    folder: Path | None = None,
) -> tuple[Any, ...]:
    """The results of @structure, edge sets as they lie on disk. There must be no reason against it. With a folder,
    results that have a row a node are computed some rows at a time and lie there, too."""
    return _Structure(functions, inputs, weights, counts, ordered, folder).run()


def bytes_of_rows(functions: ModelFunctions, counts: Mapping[str, int]) -> int:
    """What the results of @structure that have a row a node would take in memory."""
    values = [v for v in returned(functions.structure).arguments if is_on_nodes(v)]
    return sum(counts[set_of(value)] * row_bytes(value.type) for value in values)


class _Structure:
    def __init__(
        self,
        functions: ModelFunctions,
        inputs: Mapping[str, torch.Tensor],
        weights: Mapping[str, torch.Tensor],
        counts: Mapping[str, int],
        ordered: Ordered,
        folder: Path | None,
    ):
        self.folder = folder
        self.functions = functions
        self.weights = weights
        self.counts = counts
        self.ordered = ordered
        block = functions.structure.body.block
        names = [argument_name(functions.structure, argument.index) or "" for argument in block.args]
        self.values: dict[SSAValue, Any] = {a: inputs[n] for a, n in zip(block.args, names, strict=True)}

    def run(self) -> tuple[Any, ...]:
        for op in self.functions.structure.body.block.ops:
            if not isinstance(op, ReturnOp) and not is_fill_of_edges(op) and not self.is_by_rows(op):
                results = self.computed(op)
                self.values.update(zip(op.results, results, strict=True))
        used = {self.functions.structure_place(a): a for a in self.functions.forward.body.block.args}
        return tuple(
            self.stored(value, used.get(place))
            for place, value in enumerate(returned(self.functions.structure).arguments)
        )

    def computed(self, op: Operation) -> tuple[Any, ...]:
        if isinstance(op, TERMS):
            return (self.term(op),)
        if isinstance(op, LoadWeightOp):
            return (self.weights[op.weight.string_value()],)
        if isinstance(op, ConstantOp):
            return (constant(op),)
        if isinstance(op, CountOp):
            return (self.row_count(op),)
        if isinstance(op, FillOp):
            domain = domain_of(op.result.type)
            rows = 0 if domain is None else self.counts[domain.set_name.data]
            return (filled(op.result.type, op.value.value.data, rows, "cpu"),)
        if isinstance(op, AggregateOp):
            return (self.degrees(op, 0, self.counts[set_of(op.result)]),)
        if isinstance(op, MaxDegreeOp):
            return (int(self.file(op.edges, op.end.data).offsets.diff().max()),)
        result = function_of(op)(*(self.values[operand] for operand in op.operands))
        return tuple(result) if isinstance(result, tuple | list) else (result,)

    def row_count(self, op: CountOp) -> int:
        if op.domain.is_nodes:
            return self.counts[op.domain.set_name.data]
        edges = next(v for v in self.values if isinstance(v.type, EdgeSetType) and v.type.domain == op.domain)
        return self.file(edges, next(iter(ends_of(edges) or {End.TARGET}))).edges

    def term(self, op: Operation) -> EdgeStream:
        type_ = edge_set_type(op.results[0])
        counts = self.counts[type_.source.data], self.counts[type_.target.data]
        operands = [self.values[operand] for operand in op.operands]
        if isinstance(op, RelationOp):
            return Relation(operands[0], *counts, name=type_.edge_set.data)
        if isinstance(op, SampledOp):
            end, sample = op.end.data, Sample(op.sample.fanout.data, op.sample.seed.data, op.layer.value.data)
            return Sampled(operands[0], self.ordered(operands[0], end, True), end, sample, *counts)
        if isinstance(op, UnionOp):
            return Union(operands[0], operands[1], *counts)
        if isinstance(op, ReverseOp):
            return Reversed(operands[0], *counts)
        return (WithLoops if isinstance(op, WithLoopsOp) else WithoutLoops)(operands[0], *counts)

    def degrees(self, op: AggregateOp, first: int, stop: int) -> torch.Tensor:
        """The sum of the same number over the edges of each of some nodes."""
        fill = op.messages.owner
        assert isinstance(fill, FillOp)
        offsets = self.file(op.edges, op.end.data).offsets[first : stop + 1]
        rows = torch.empty(stop - first, dtype=dtype_of(op.result.type))
        for start in range(0, rows.shape[0], WINDOW):
            rows[start : start + WINDOW] = offsets[start : start + WINDOW + 1].diff()
        rows *= fill.value.value.data
        shape = [1] * (len(filled(op.result.type, 0, 1, "cpu").shape) - 1)
        return rows.reshape(-1, *shape).expand_as(filled(op.result.type, 0, rows.shape[0], "cpu")).contiguous()

    def file(self, edges: SSAValue, end: End) -> CscFile:
        return self.ordered(self.values[edges], end, False)

    def stored(self, value: SSAValue, argument: SSAValue | None) -> Any:
        """A result as the blocks take it."""
        if isinstance(value.owner, Operation) and self.is_by_rows(value.owner):
            return self.on_disk(value)
        if not isinstance(value.type, EdgeSetType):
            return self.values[value]
        stream: EdgeStream = self.values[value]
        end = next(iter(ends_of(argument)), End.TARGET) if argument is not None else End.TARGET
        return StoredEdgeSet(self.file(value, end), end, stream.source_count, stream.target_count)

    # Values with a row a node, some rows at a time.

    def is_by_rows(self, op: Operation) -> bool:
        """Whether the results of an operation are never there as a whole."""
        users = {use.operation for result in op.results for use in result.uses}
        return (
            self.folder is not None
            and all(is_on_nodes(result) and domain_axis(result.type) == 0 for result in op.results)
            and all(isinstance(user, ReturnOp) or self.is_by_rows(user) for user in users)
        )

    def on_disk(self, value: SSAValue) -> torch.Tensor:
        assert self.folder is not None
        count, place = self.counts[set_of(value)], returned(self.functions.structure).arguments.index(value)
        file = ArrayFile(self.folder / structure_file(place), count, row_shape(value.type), dtype_of(value.type))
        file.open()
        for start in range(0, count, WINDOW):
            file.write(start, self.rows(value, start, min(count, start + WINDOW), {}))
        file.sync()
        file.close()
        return file.mapped()

    def rows(self, value: SSAValue, first: int, stop: int, known: dict[SSAValue, Any]) -> Any:
        """Some rows of a value, or a value without rows; `known` are those of others."""
        if not is_on_nodes(value):
            return self.values[value]
        if value in known:
            return known[value]
        op = value.owner
        if not isinstance(op, Operation) or not self.is_by_rows(op):
            return self.values[value].narrow(domain_axis(value.type), first, stop - first)
        if isinstance(op, AggregateOp):
            results: tuple[Any, ...] = (self.degrees(op, first, stop),)
        elif isinstance(op, FillOp):
            results = (filled(op.result.type, op.value.value.data, stop - first, "cpu"),)
        else:
            result = function_of(op)(*(self.rows(operand, first, stop, known) for operand in op.operands))
            results = tuple(result) if isinstance(result, tuple | list) else (result,)
        known.update(zip(op.results, results, strict=True))
        return known[value]


def structure_file(place: int) -> str:
    """The name of the file of a result of @structure."""
    return f"structure-{place}.npy"


def is_on_nodes(value: SSAValue) -> bool:
    domain = domain_of(value.type)
    return domain is not None and domain.is_nodes


def set_of(value: SSAValue) -> str:
    """The node set of a value with a row a node."""
    domain = domain_of(value.type)
    assert domain is not None
    return domain.set_name.data


def is_fill_of_edges(op: Operation) -> bool:
    return isinstance(op, FillOp) and is_on_edges(op.result)
