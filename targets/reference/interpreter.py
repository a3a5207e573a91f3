"""xDSL's interpreter over torch tensors. Slow and plain: what a module means, to compare everything else with."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.interpreter import (
    Interpreter,
    InterpreterFunctions,
    PythonValues,
    ReturnedValues,
    TerminatorValue,
    impl,
    impl_terminator,
    register_impls,
)
from xdsl.interpreters.func import FuncFunctions
from xdsl.ir import Operation, SSAValue

from gnnc.dialects.gnn import (
    AggregateOp,
    AggregateQuantileOp,
    AggregateRecurrentOp,
    Aggregation,
    ConstantOp,
    ConvBlockOp,
    ConvOperation,
    CountOp,
    DomainAttr,
    EdgeSetOp,
    EdgeSetType,
    EdgeSoftmaxOp,
    End,
    EndAttr,
    EndpointsOp,
    FillOp,
    FusedConvOp,
    FusedRowsOp,
    GatherOp,
    GlobalCallOp,
    GlobalReduceOp,
    ListMessagesOp,
    LoadWeightOp,
    MaxDegreeOp,
    RelationOp,
    ReverseOp,
    RowwiseOp,
    SampledOp,
    ScatterOp,
    UnionOp,
    WhereOp,
    WholeGraphOp,
    WithLoopsOp,
    WithoutLoopsOp,
    YieldOp,
)
from gnnc.dialects.gnn.attributes import domain_axis, domain_of
from gnnc.dialects.gnn.edge_sets import edge_set_type
from gnnc.targets.aggregations import Neighborhoods, aggregation_of
from gnnc.targets.edge_origins import Part
from gnnc.targets.edge_sets import EdgeSet, aggregate, edge_softmax, reduce_rows
from gnnc.targets.neighbor_sampling import Sample, draw, sample_of
from gnnc.targets.reference.kernel_functions import KernelFunctions
from gnnc.targets.torch_functions import constant, filled, function_of, rowwise_operations

Values = tuple[Any, ...]


class GnnFunctions(InterpreterFunctions):
    """The `gnn` operations on torch tensors and edge sets.

    `weights` by symbol; `node_counts` by the name of the node domain. Sizes of edge domains are noted as values on them
    appear.
    """

    def __init__(self, weights: Mapping[str, torch.Tensor], node_counts: Mapping[str, int]):
        self.weights = weights
        self.sizes: dict[DomainAttr, int] = {DomainAttr("nodes", name): n for name, n in node_counts.items()}

    def note_sizes(self, values: Sequence[SSAValue], tensors: Sequence[Any]) -> None:
        """Remembers how many rows the domains of some values have."""
        for value, tensor in zip(values, tensors, strict=True):
            domain = domain_of(value.type)
            if domain is not None:
                self.sizes[domain] = tensor.shape[domain_axis(value.type)]
            elif isinstance(value.type, EdgeSetType):
                self.sizes[value.type.domain] = cast(EdgeSet, tensor).edge_count

    def node_count(self, name: str) -> int:
        return self.sizes[DomainAttr("nodes", name)]

    @impl(LoadWeightOp)
    def load_weight(self, interpreter: Interpreter, op: LoadWeightOp, args: Values) -> PythonValues:
        return (self.weights[op.weight.string_value()],)

    @impl(ConstantOp)
    def constant(self, interpreter: Interpreter, op: ConstantOp, args: Values) -> PythonValues:
        return (constant(op),)

    @impl(FillOp)
    def fill(self, interpreter: Interpreter, op: FillOp, args: Values) -> PythonValues:
        domain = domain_of(op.result.type)
        assert domain is not None
        return (filled(op.result.type, op.value.value.data, self.sizes[domain], "cpu"),)

    @impl(CountOp)
    def count(self, interpreter: Interpreter, op: CountOp, args: Values) -> PythonValues:
        return (self.sizes[op.domain],)

    def edge_set(self, op: Operation, edges: EdgeSet) -> PythonValues:
        self.note_sizes(op.results, [edges])
        return (edges,)

    @impl(RelationOp)
    def relation(self, interpreter: Interpreter, op: RelationOp, args: Values) -> PythonValues:
        part = Part(edge_set_type(op.result).edge_set.data, args[0].shape[1])
        return self.edges_from(op, args[0][0], args[0][1], (part,))

    @impl(EdgeSetOp)
    def general_edge_set(self, interpreter: Interpreter, op: EdgeSetOp, args: Values) -> PythonValues:
        sources, targets = args
        return self.edges_from(op, sources, targets, ())

    def edges_from(
        self, op: Operation, sources: torch.Tensor, targets: torch.Tensor, parts: tuple[Part, ...]
    ) -> PythonValues:
        type_ = edge_set_type(op.results[0])
        counts = self.node_count(type_.source.data), self.node_count(type_.target.data)
        return self.edge_set(op, EdgeSet(sources.long(), targets.long(), *counts, parts))

    @impl(WithoutLoopsOp)
    def without_loops(self, interpreter: Interpreter, op: WithoutLoopsOp, args: Values) -> PythonValues:
        return self.edge_set(op, args[0].without_loops())

    @impl(WithLoopsOp)
    def with_loops(self, interpreter: Interpreter, op: WithLoopsOp, args: Values) -> PythonValues:
        return self.edge_set(op, args[0].with_loops())

    @impl(WhereOp)
    def where(self, interpreter: Interpreter, op: WhereOp, args: Values) -> PythonValues:
        return self.edge_set(op, args[0].where(args[1]))

    @impl(SampledOp)
    def sampled(self, interpreter: Interpreter, op: SampledOp, args: Values) -> PythonValues:
        (edges,), end = args, op.end.data
        kept = drawn_edges(Sample(op.sample.fanout.data, op.sample.seed.data, op.layer.value.data), edges, end)
        mask = torch.zeros(edges.edge_count, dtype=torch.bool)
        mask[kept] = True
        return self.edge_set(op, edges.where(mask))

    @impl(UnionOp)
    def union(self, interpreter: Interpreter, op: UnionOp, args: Values) -> PythonValues:
        return self.edge_set(op, args[0].union(args[1]))

    @impl(ReverseOp)
    def reverse(self, interpreter: Interpreter, op: ReverseOp, args: Values) -> PythonValues:
        return self.edge_set(op, args[0].reverse())

    @impl(EndpointsOp)
    def endpoints(self, interpreter: Interpreter, op: EndpointsOp, args: Values) -> PythonValues:
        return (args[0].index(op.end.data),)

    @impl(GatherOp)
    def gather(self, interpreter: Interpreter, op: GatherOp, args: Values) -> PythonValues:
        nodes, edges = args
        return (nodes.index_select(domain_axis(op.nodes.type), edges.index(op.end.data)),)

    @impl(ScatterOp)
    def scatter(self, interpreter: Interpreter, op: ScatterOp, args: Values) -> PythonValues:
        messages, init, edges = args
        axis = domain_axis(op.messages.type)
        messages, index = seen_rows(op, messages, edges, op.end.data)
        return (reduce_rows(op.reduction.data, messages, index, init, axis, with_init=op.with_init is not None),)

    @impl(AggregateOp)
    def aggregate(self, interpreter: Interpreter, op: AggregateOp, args: Values) -> PythonValues:
        messages, edges = args
        axis = domain_axis(op.messages.type)
        messages, index = seen_rows(op, messages, edges, op.end.data)
        return (aggregate(op.reduction.data, messages, index, edges.node_count(op.end.data), axis),)

    @impl(EdgeSoftmaxOp)
    def edge_softmax(self, interpreter: Interpreter, op: EdgeSoftmaxOp, args: Values) -> PythonValues:
        scores, edges = args
        axis, end = domain_axis(op.scores.type), op.end.data
        seen, index = seen_rows(op, scores, edges, end)
        result = edge_softmax(seen, index, edges.node_count(end), axis, op.eps.value.data)
        kept = seen_edges(op, edges, end)
        # no reduction that sees this sample looks at the edges outside of it
        return (result if kept is None else torch.zeros_like(scores).index_copy(axis, kept, result),)

    @impl(AggregateQuantileOp)
    def aggregate_quantile(self, interpreter: Interpreter, op: AggregateQuantileOp, args: Values) -> PythonValues:
        return self.run_aggregation(op, args)

    @impl(AggregateRecurrentOp)
    def aggregate_recurrent(self, interpreter: Interpreter, op: AggregateRecurrentOp, args: Values) -> PythonValues:
        return self.run_aggregation(op, args)

    @impl(ListMessagesOp)
    def list_messages(self, interpreter: Interpreter, op: ListMessagesOp, args: Values) -> PythonValues:
        return self.run_aggregation(op, args)

    def run_aggregation(self, op: Aggregation, args: Values) -> PythonValues:
        messages, *others, edges = args
        end = op.properties["end"]
        assert isinstance(end, EndAttr)
        messages, index = seen_rows(op, messages, edges, end.data)
        nodes = Neighborhoods(index, edges.node_count(end.data), edges.incidence(end.data).offsets[:-1])
        return (aggregation_of(op)(nodes, messages, *others),)

    @impl(MaxDegreeOp)
    def max_degree(self, interpreter: Interpreter, op: MaxDegreeOp, args: Values) -> PythonValues:
        sizes = args[0].incidence(op.end.data).offsets.diff()
        return (int(sizes.max()) if sizes.numel() else 0,)

    @impl(ConvBlockOp)
    def conv_block(self, interpreter: Interpreter, op: ConvBlockOp, args: Values) -> PythonValues:
        return interpreter.run_ssacfg_region(op.body, args, "conv_block")

    @impl(FusedConvOp)
    def fused_conv(self, interpreter: Interpreter, op: FusedConvOp, args: Values) -> PythonValues:
        return interpreter.run_ssacfg_region(op.body, args, "fused_conv")

    @impl(FusedRowsOp)
    def fused_rows(self, interpreter: Interpreter, op: FusedRowsOp, args: Values) -> PythonValues:
        return interpreter.run_ssacfg_region(op.body, args, "fused_rows")

    @impl_terminator(YieldOp)
    def yield_(self, interpreter: Interpreter, op: YieldOp, args: Values) -> tuple[TerminatorValue, PythonValues]:
        return ReturnedValues(args), ()

    @impl(RowwiseOp)
    def rowwise(self, interpreter: Interpreter, op: RowwiseOp, args: Values) -> PythonValues:
        return self.call(op, args)

    @impl(GlobalReduceOp)
    def global_reduce(self, interpreter: Interpreter, op: GlobalReduceOp, args: Values) -> PythonValues:
        return self.call(op, args)

    @impl(GlobalCallOp)
    def global_call(self, interpreter: Interpreter, op: GlobalCallOp, args: Values) -> PythonValues:
        return self.call(op, args)

    @impl(WholeGraphOp)
    def whole_graph(self, interpreter: Interpreter, op: WholeGraphOp, args: Values) -> PythonValues:
        return self.call(op, args)

    def call(self, op: Operation, args: Values) -> PythonValues:
        result = function_of(op)(*args)
        results = tuple(result) if isinstance(result, tuple | list) else (result,)
        self.note_sizes(op.results, results)
        return results


def seen_edges(op: ConvOperation, edges: EdgeSet, end: End) -> torch.Tensor | None:
    """The edges that a reduction sees, by their places in the set and in its order; None for all."""
    sample = sample_of(op)
    return None if sample is None else drawn_edges(sample, edges, end)


def drawn_edges(sample: Sample, edges: EdgeSet, end: End) -> torch.Tensor:
    """The edges of a sample, by their places in the set and in its order."""
    incidence = edges.incidence(end)
    return draw(sample, edges, end, incidence.offsets.diff(), incidence.edges)[1].sort().values


def seen_rows(op: ConvOperation, values: torch.Tensor, edges: EdgeSet, end: End) -> tuple[torch.Tensor, torch.Tensor]:
    """The rows of an edge value that a reduction sees, and for each the node that it belongs to."""
    kept, axis = seen_edges(op, edges, end), domain_axis(op.operands[0].type)
    if kept is None:
        return values, edges.index(end)
    return values.index_select(axis, kept), edges.index(end)[kept]


def run_named(self: GnnFunctions, interpreter: Interpreter, op: Operation, args: Values) -> PythonValues:
    """Any operation whose meaning is one function of its operands."""
    return (function_of(op)(*args),)


for _operation in rowwise_operations():
    setattr(GnnFunctions, f"run_{_operation.__name__}", impl(_operation)(run_named))
register_impls(GnnFunctions)


def run_function(
    module: ModuleOp,
    name: str,
    arguments: Sequence[Any],
    weights: Mapping[str, torch.Tensor],
    node_counts: Mapping[str, int],
) -> tuple[Any, ...]:
    """Runs one function of a module, at any level, on whole tensors and edge sets.

    `node_counts` by the name of the node domain. Returns what the function returns.
    """
    functions = GnnFunctions(weights, node_counts)
    interpreter = Interpreter(module)
    interpreter.register_implementations(FuncFunctions())
    interpreter.register_implementations(functions)
    interpreter.register_implementations(KernelFunctions())
    function = next(op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data == name)
    functions.note_sizes(function.body.block.args, arguments)
    with torch.no_grad():
        return interpreter.call_op(name, tuple(arguments))
