"""The traced model as a module of the `gnn` dialect: weights, @structure and @forward.

@structure computes, once and on the whole graph, what does not depend on features: edge sets, degrees, masks. @forward
takes the features and those results. Row-wise structure work whose result is wider than what it is made of, and all
row-wise work on edges, is done again in @forward, where it runs on the rows of a batch and needs no memory for all.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NoReturn

import torch
from xdsl.builder import Builder as IRBuilder
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, IntegerAttr, ModuleOp, StringAttr, i64
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from gnnc.dialects.gnn import (
    ConstantOp,
    CountOp,
    DomainAttr,
    EdgeSetOp,
    EdgeSetType,
    EndAttr,
    FillOp,
    GatherOp,
    GlobalCallOp,
    GlobalReduceOp,
    LoadWeightOp,
    MaxDegreeOp,
    OperandAttr,
    RowwiseOp,
    ScatterOp,
    WeightOp,
    WholeGraphOp,
)
from gnnc.dialects.gnn.aten_calls import AtenCallOperation
from gnnc.dialects.gnn.attributes import AnyTensor
from gnnc.errors import UnsupportedModelError
from gnnc.frontend.aggregations import LargestDegree, aggregation_operation
from gnnc.frontend.binding_time import BindingTime
from gnnc.frontend.global_rules import reduction_of
from gnnc.frontend.inputs import EDGES, ModelInput
from gnnc.frontend.ir_types import argument_attribute, location, tensor_type
from gnnc.frontend.message_passing import (
    EdgeSet,
    EdgeSets,
    find_edge_sets,
    match_aggregation,
    match_gather,
    match_scatter,
)
from gnnc.frontend.named_operations import NAMED
from gnnc.frontend.refusals import advised
from gnnc.frontend.rowwise_rules import NotRowwise, is_random, operator_of, prove_rowwise
from gnnc.frontend.traced_values import Size, TracedModel, TracedValue, sizes_in

Times = dict[TracedValue, BindingTime]


def emit_module(
    model: TracedModel, inputs: Sequence[ModelInput], times: Times
) -> tuple[ModuleOp, dict[str, torch.Tensor]]:
    """The module and its weights by symbol. Raises UnsupportedModelError for what is not proved to be exact."""
    return ModuleEmitter(model, inputs, times).run()


class ModuleEmitter:
    """What the two functions share: domains, edge sets, weights."""

    def __init__(self, model: TracedModel, inputs: Sequence[ModelInput], times: Times):
        self.model = model
        self.inputs = {i.key: i for i in inputs}
        self.times = times
        self.domains = name_domains(model, self.inputs)
        live = live_values(model, times)
        self.order = [value for value in model.values if value in live]
        self.edge_sets: EdgeSets = find_edge_sets(self.order, lambda size: self.domains[size].is_nodes)
        self.weights: dict[TracedValue, str] = {}
        self.tensors: dict[str, torch.Tensor] = {}
        self.structure = StructureEmitter(self)
        self.forward = ForwardEmitter(self)

    def run(self) -> tuple[ModuleOp, dict[str, torch.Tensor]]:
        forward = self.forward.run()
        for output in self.model.outputs:
            self.check_output(output)
        structure = self.structure.finish()
        declarations = [WeightOp(name, tensor_type(tuple(t.shape), t.dtype, {})) for name, t in self.tensors.items()]
        return ModuleOp([*declarations, structure, forward]), self.tensors

    def check_output(self, output: TracedValue) -> None:
        if all(self.times[value] is not BindingTime.FEATURE for value in self.model.outputs):
            refuse(output, "the model returns nothing that depends on node features")

    def origin(self, size: Size) -> TracedValue | None:
        """The value that a run-time size is first the size of."""
        candidates = (v for v in self.model.values if len(v.outputs) == 1 and size in v.sizes)
        return next((v for v in candidates if size not in sizes_in((v.args, *v.kwargs.values()))), None)

    def weight_name(self, value: TracedValue) -> str:
        """The symbol of a weight; a value that was folded gets a name of its own."""
        if value not in self.weights:
            name = value.name if value.op == "weight" else f"folded.{value.name}"
            assert value.tensor is not None
            self.weights[value] = name
            # a copy: the program stays what it is when the model is trained on
            self.tensors[name] = value.tensor.detach().clone(memory_format=torch.contiguous_format)
        return self.weights[value]


def name_domains(model: TracedModel, inputs: dict[str, ModelInput]) -> dict[Size, DomainAttr]:
    """A name for every set that rows run over: the graph's nodes and edges, and edge sets derived from them."""
    domains: dict[Size, DomainAttr] = {}
    for value in model.values:
        if value.op == "input" and value.domain is not None:
            given = inputs[value.name]
            domains.setdefault(value.domain, DomainAttr(given.kind, given.set_name))
    for value in model.values:
        for shape, _ in value.outputs:
            for size in shape:
                if isinstance(size, Size) and size not in domains:
                    domains[size] = DomainAttr("edges", f"{EDGES}.{len(domains) - 1}")
    return domains


def live_values(model: TracedModel, times: Times) -> set[TracedValue]:
    """The values that the outputs are made of, once index tensors have been peeled down to what they spread."""
    live: set[TracedValue] = set()
    stack = list(model.outputs)
    while stack:
        value = stack.pop()
        if value in live:
            continue
        live.add(value)
        if times[value] is not BindingTime.WEIGHT:
            stack.extend(emitted_operands(value))
    return live


def emitted_operands(value: TracedValue) -> list[TracedValue]:
    if value.op == "item":
        return emitted_operands(value.args[0])
    gather, scatter = match_gather(value), match_scatter(value)
    if gather is not None:
        return [gather.nodes, gather.index]
    if scatter is not None:
        return [scatter.messages, scatter.init, scatter.index]
    return list(value.operands())


def refuse(value: TracedValue, reason: str) -> NoReturn:
    call = value.args[0] if value.op == "item" else value
    raise UnsupportedModelError(advised(reason), op=call.op, source=str(value.location) if value.location else "")


class FunctionEmitter:
    """Writes operations at the end of one function."""

    def __init__(self, module: ModuleEmitter):
        self.module = module
        self.block = Block()
        self.builder = IRBuilder(InsertPoint.at_end(self.block))
        self.known: dict[Any, SSAValue] = {}
        self.argument_attributes: list[DictionaryAttr] = []
        self.calls: dict[TracedValue, Operation] = {}
        self.current: TracedValue | None = None

    def type_of(self, value: TracedValue) -> AnyTensor:
        return tensor_type(value.shape, value.dtype, self.module.domains)

    def add_argument(self, type_: Attribute, attributes: dict[str, Attribute], name: str | None = None) -> SSAValue:
        self.argument_attributes.append(DictionaryAttr(attributes))
        argument = self.block.insert_arg(type_, len(self.block.args))
        argument.name_hint = name
        return argument

    def add_input(self, value: TracedValue, key: str) -> None:
        hint = key if SSAValue.is_valid_name(key) else None
        self.known[value] = self.add_argument(self.type_of(value), {"gnn.name": StringAttr(key)}, hint)

    @staticmethod
    def name(value: SSAValue, name: str) -> None:
        """Names a value in the text as the trace does, where that is a name the IR can have."""
        if SSAValue.is_valid_name(name):
            value.name_hint = name

    def insert(self, operation: Operation) -> Operation:
        if self.current is not None:
            operation.location = location(self.current.location)
        return self.builder.insert(operation)

    def operand(self, argument: Any) -> SSAValue:
        """The SSA value of a traced value, a size or a number."""
        if isinstance(argument, bool | int | float):
            return self.insert(ConstantOp(argument)).results[0]
        if argument not in self.known:
            self.known[argument] = self.provide(argument)
        return self.known[argument]

    def provide(self, argument: Any) -> SSAValue:
        """Makes a value that the function doesn't have yet."""
        if isinstance(argument, Size):
            self.check_count(argument)
        if isinstance(argument, TracedValue) and self.module.times[argument] is BindingTime.WEIGHT:
            assert argument.tensor is not None
            type_ = tensor_type(tuple(argument.tensor.shape), argument.tensor.dtype, {})
            return self.insert(LoadWeightOp(self.module.weight_name(argument), type_)).results[0]
        if isinstance(argument, TracedValue) and argument.op == "fill" and argument.domain is not None:
            self.size_is_known(argument.domain)
            return self.insert(FillOp(argument.args[0], self.type_of(argument))).results[0]
        return self.provide_other(argument)

    def size_is_known(self, size: Size) -> None:
        """Sees to it that the rows of a domain exist before they are counted or filled."""

    def check_count(self, size: Size) -> None:
        """A size in arithmetic must be that of a set of rows which the graph alone decides."""
        origin = self.module.origin(size)
        if origin is None or (origin.op != "input" and self.module.times[origin] is BindingTime.FEATURE):
            assert self.current is not None
            refuse(self.current, f"computes with {size.expression}, which is no count of nodes or edges")

    def provide_other(self, argument: Any) -> SSAValue:
        raise NotImplementedError

    def emit(self, value: TracedValue) -> None:
        """Writes the operation of one value whose operands can be provided."""
        before, self.current = self.current, value
        try:
            self.write(value)
        except UnsupportedModelError as error:
            if error.op:
                raise
            refuse(value, error.reason)
        self.current = before

    def write(self, value: TracedValue) -> None:
        call, place = value.args if value.op == "item" else (value, 0)
        operation = self.neighborhood_operation(value) or self.named_operation(value)
        if operation is None and call in self.calls:
            self.known[value] = self.calls[call].results[place]
        elif operation is None:
            self.calls[call] = self.insert(self.aten_call(self.generic_kind(call), call))
            self.known[value] = self.calls[call].results[place]
        else:
            self.known[value] = self.insert(operation).results[0]
        self.name(self.known[value], value.name)

    def neighborhood_operation(self, value: TracedValue) -> Operation | None:
        gather, scatter = match_gather(value), match_scatter(value)
        if gather is not None and self.crosses_edges(gather.index):
            edges, end = self.module.edge_sets.end_of(gather.index)
            return GatherOp(self.operand(gather.nodes), self.operand(edges), EndAttr(end))
        if scatter is not None and self.crosses_edges(scatter.index):
            edges, end = self.module.edge_sets.end_of(scatter.index)
            return ScatterOp(
                scatter.reduction,
                self.operand(scatter.messages),
                self.operand(scatter.init),
                self.operand(edges),
                EndAttr(end),
                with_init=scatter.with_init,
            )
        aggregation = match_aggregation(value)
        if aggregation is None:
            return None
        if not self.crosses_edges(aggregation.index):
            refuse(value, "it aggregates by an index that is no end of the graph's edges")
        edges, end = self.module.edge_sets.end_of(aggregation.index)
        return aggregation_operation(value, self, edges, EndAttr(end))

    def crosses_edges(self, index: TracedValue) -> bool:
        """Whether an index tensor goes from edges to nodes and is known before features are."""
        assert index.domain is not None
        if not self.module.edge_sets.has(index):
            return False
        edges, end = self.module.edge_sets.end_of(index)
        nodes = edges.source_nodes if end.value == "source" else edges.target_nodes
        on_edges = not self.module.domains[index.domain].is_nodes and self.module.domains[nodes].is_nodes
        return on_edges and self.module.times[index] is BindingTime.STRUCTURE

    def named_operation(self, value: TracedValue) -> Operation | None:
        """The dialect's own operation for a call that is proved row-wise, or None if it has none."""
        call = value.args[0] if value.op == "item" else value
        entry = NAMED.get(value.op)
        if self.generic_kind(call) is not RowwiseOp or entry is None:
            return None
        return entry(value, self)

    def generic_kind(self, call: TracedValue) -> type[AtenCallOperation]:
        """The general operation for an ATen call: row-wise if that is proved; otherwise each function decides."""
        try:
            prove_rowwise(call)
        except NotRowwise as reason:
            return self.not_rowwise(call, reason)
        return RowwiseOp

    def not_rowwise(self, call: TracedValue, reason: NotRowwise) -> type[AtenCallOperation]:
        raise NotImplementedError

    def aten_call(self, kind: type[AtenCallOperation], value: TracedValue) -> Operation:
        operands: list[SSAValue] = []

        def on_value(argument: Any) -> Attribute:
            operands.append(self.operand(argument))
            return OperandAttr(len(operands) - 1)

        arguments = [argument_attribute(argument, on_value) for argument in value.args]
        if any(isinstance(v, TracedValue | Size) for v in value.kwargs.values()):
            refuse(value, "takes a tensor or a size by keyword")
        keywords = {name: argument_attribute(v, on_value) for name, v in value.kwargs.items()}
        types = [tensor_type(shape, dtype, self.module.domains) for shape, dtype in value.outputs]
        if kind is GlobalReduceOp:
            reduction = reduction_of(value)
            assert reduction is not None
            return GlobalReduceOp(reduction, value.op, arguments, keywords, operands, types[0])
        return kind(value.op, arguments, keywords, operands, types)


class StructureEmitter(FunctionEmitter):
    """@structure: everything that is known before features are."""

    def __init__(self, module: ModuleEmitter):
        super().__init__(module)
        self.results: list[SSAValue] = []
        self.result_of: dict[SSAValue, int] = {}
        for i in module.inputs.values():
            if not i.is_feature:
                value = next(v for v in module.model.values if v.op == "input" and v.name == i.key)
                self.add_input(value, i.key)

    def result(self, argument: TracedValue | EdgeSet | Size | LargestDegree) -> tuple[int, SSAValue]:
        """The place of a value among the results of @structure; adds it if need be."""
        value = self.operand(argument)
        if value not in self.result_of:
            self.result_of[value] = len(self.results)
            self.results.append(value)
        return self.result_of[value], value

    def provide_other(self, argument: Any) -> SSAValue:
        if isinstance(argument, EdgeSet):
            return self.edge_set(argument)
        if isinstance(argument, Size):
            self.size_is_known(argument)
            return self.insert(CountOp(self.module.domains[argument])).results[0]
        if isinstance(argument, LargestDegree):
            return self.insert(MaxDegreeOp(self.operand(argument.edges), argument.end)).results[0]
        assert isinstance(argument, TracedValue)
        for operand in emitted_operands(argument):
            self.operand(operand)
        self.emit(argument)
        return self.known[argument]

    def size_is_known(self, size: Size) -> None:
        origin = self.module.origin(size)
        if origin is not None and origin.op != "input":
            self.operand(origin)

    def edge_set(self, edges: EdgeSet) -> SSAValue:
        names = [self.module.domains[s].set_name for s in (edges.domain, edges.source_nodes, edges.target_nodes)]
        sources, targets = self.operand(edges.sources), self.operand(edges.targets)
        result = self.insert(EdgeSetOp(sources, targets, EdgeSetType(*names))).results[0]
        result.name_hint = "edges"
        return result

    def not_rowwise(self, call: TracedValue, reason: NotRowwise) -> type[AtenCallOperation]:
        if torch.Tag.nondeterministic_seeded in operator_of(call.op).tags:
            refuse(call, "it is random: an exact result does not exist")
        return WholeGraphOp

    def finish(self) -> FuncOp:
        self.insert(ReturnOp(*self.results))
        types = ([a.type for a in self.block.args], [r.type for r in self.results])
        return FuncOp("structure", types, Region(self.block), arg_attrs=ArrayAttr(self.argument_attributes))


class ForwardEmitter(FunctionEmitter):
    """@forward: everything that depends on features."""

    def __init__(self, module: ModuleEmitter):
        super().__init__(module)
        for i in module.inputs.values():
            if i.is_feature:
                value = next(v for v in module.model.values if v.op == "input" and v.name == i.key)
                self.add_input(value, i.key)

    def run(self) -> FuncOp:
        for value in self.module.order:
            late = self.module.times[value] is BindingTime.FEATURE
            if late and value.op != "input":
                self.emit(value)
        results = [self.output(output) for output in self.module.model.outputs]
        self.current = None
        self.insert(ReturnOp(*results))
        types = ([a.type for a in self.block.args], [r.type for r in results])
        return FuncOp("forward", types, Region(self.block), arg_attrs=ArrayAttr(self.argument_attributes))

    def output(self, value: TracedValue) -> SSAValue:
        """A value that the model returns; what is structure comes from @structure as a whole."""
        is_structure = self.module.times[value] is BindingTime.STRUCTURE
        return self.from_structure(value) if is_structure and value not in self.known else self.operand(value)

    def provide_other(self, argument: Any) -> SSAValue:
        if isinstance(argument, TracedValue) and self.is_recomputed(argument):
            self.emit(argument)
            return self.known[argument]
        return self.from_structure(argument)

    def from_structure(self, argument: TracedValue | EdgeSet | Size | LargestDegree) -> SSAValue:
        """A result of @structure as an argument."""
        place, value = self.module.structure.result(argument)
        return self.add_argument(value.type, {"gnn.structure": IntegerAttr(place, i64)}, value.name_hint)

    def is_recomputed(self, value: TracedValue) -> bool:
        """Whether a structure value is computed again from the rows of a batch rather than kept for the whole graph.

        On edges always, if it can be: a number an edge for each of many layers is what fixed memory has no room for. On
        nodes only where it is wider than all it is made of.
        """
        if value.domain is None or value.op in ("input", "item") or not self.is_provable(value):
            return False
        if match_gather(value) is not None:
            return True
        if not self.module.domains[value.domain].is_nodes:
            return value.dtype.is_floating_point
        return width(value) > sum(width(operand) for operand in value.operands() if operand.sizes)

    def is_provable(self, value: TracedValue) -> bool:
        gather = match_gather(value)
        if gather is not None:
            return self.crosses_edges(gather.index)
        if match_scatter(value) is not None:
            return False
        try:
            prove_rowwise(value)
        except NotRowwise:
            return False
        return True

    def not_rowwise(self, call: TracedValue, reason: NotRowwise) -> type[AtenCallOperation]:
        if reduction_of(call) is not None:
            return GlobalReduceOp
        without_rows = not any(operand.sizes for operand in call.operands()) and not any(
            isinstance(size, Size) for shape, _ in call.outputs for size in shape
        )
        if without_rows and not is_random(call.op):
            return GlobalCallOp
        refuse(call, f"it {reason}")


def width(value: TracedValue) -> int:
    """How many bytes a row has."""
    return math.prod(s for s in value.shape if isinstance(s, int)) * value.dtype.itemsize
