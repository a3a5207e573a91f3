"""gnn-draw-samples: samples of neighbours become edge sets of their own."""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, FunctionType, IntegerAttr, ModuleOp, i64
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from gnnc.dialects.gnn import ConvBlockOp, ConvOperation, EdgeSetType, End, EndAttr, SampleAttr, SampledOp
from gnnc.dialects.gnn.attributes import domain_of, with_domain
from gnnc.dialects.gnn.edge_sets import edge_set_type
from gnnc.passes.analysis.conv_layers import is_on_edges
from gnnc.passes.analysis.model_functions import PLACE, ModelFunctions, model_functions, returned


@dataclass(frozen=True)
class GnnDrawSamples(ModulePass):
    """Lets every reduction that carries a sample run over an edge set of the sampled edges alone, a `gnn.sampled` of
    @structure; what is computed on its edges is computed on those. No reduction carries a sample after that, so that
    Convs can be fused. Runs after gnn-sample-neighbors, while @forward is not split into blocks.

    Drawing a sample beforehand takes a pass over all edges, once a graph: runs with a store keep it.
    """

    name = "gnn-draw-samples"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = model_functions(op)
        operations = list(functions.forward.body.block.ops)
        if any(isinstance(inner, ConvBlockOp) for inner in operations):
            raise PassFailedException("@forward is split into blocks: run gnn-inline-conv-blocks first")
        drawing = Drawing(functions)
        for inner in operations:
            if isinstance(inner, ConvOperation) and inner.sample is not None and not is_on_edges(inner.results[0]):
                drawing.reduce_drawn(inner, inner.sample)
        drawing.add_arguments()
        erase_unused(operations)


@dataclass
class Drawing:
    """@forward while its reductions move to edges that are drawn: `drawn` are those, by the edges that they are of, the
    end and the layer, `redone` what has been computed on them, by the value on all edges."""

    functions: ModelFunctions
    drawn: dict[tuple[SSAValue, End, int], BlockArgument] = field(
        default_factory=dict[tuple[SSAValue, End, int], BlockArgument]
    )
    redone: dict[tuple[SSAValue, SSAValue], SSAValue] = field(default_factory=dict[tuple[SSAValue, SSAValue], SSAValue])
    terms: list[SSAValue] = field(default_factory=list[SSAValue])

    def reduce_drawn(self, op: ConvOperation, sample: SampleAttr) -> None:
        """Puts a reduction over the drawn edges in the place of one that carries a sample."""
        edges = op.operands[-1]
        new = self.copy(op, edges, self.drawn_edges(op, edges, sample))
        for old, result in zip(op.results, new.results, strict=True):
            old.replace_all_uses_with(result)

    def drawn_edges(self, op: ConvOperation, edges: SSAValue, sample: SampleAttr) -> BlockArgument:
        """An argument of @forward that stands for the sample."""
        end, layer = op.properties["end"], op.layer_index
        assert isinstance(end, EndAttr)
        assert layer is not None
        key = edges, end.data, layer
        if key not in self.drawn:
            whole = self.functions.structure_value(edges)
            assert whole is not None, "the pass that gave the sample has looked at the edges"
            type_ = edge_set_type(whole)
            name = f"{type_.edge_set.data}.layer{layer}{'' if end.data is End.TARGET else '.source'}"
            term = SampledOp(whole, end, layer, sample, EdgeSetType(name, type_.source, type_.target))
            Rewriter.insert_op(term, InsertPoint.before(returned(self.functions.structure)))
            self.terms.append(term.result)
            block = self.functions.forward.body.block
            self.drawn[key] = block.insert_arg(term.result.type, len(block.args))
        return self.drawn[key]

    def on_drawn(self, value: SSAValue, edges: SSAValue, drawn: SSAValue) -> SSAValue:
        """A value on the drawn edges: copied operation by operation where it is on all of them."""
        if value is edges:
            return drawn
        if isinstance(value.type, EdgeSetType):
            raise PassFailedException("samples of edges that are met from both of their ends can't be drawn beforehand")
        if not is_on_edges(value):
            return value
        if (value, drawn) not in self.redone:
            if not isinstance(value.owner, Operation):
                raise PassFailedException("a value of all edges goes into the model: it can't be drawn beforehand")
            new = self.copy(value.owner, edges, drawn)
            self.redone |= {(old, drawn): result for old, result in zip(value.owner.results, new.results, strict=True)}
        return self.redone[value, drawn]

    def copy(self, op: Operation, edges: SSAValue, drawn: SSAValue) -> Operation:
        """The same operation on drawn edges, right before it."""
        new = op.clone({operand: self.on_drawn(operand, edges, drawn) for operand in op.operands})
        new.properties.pop("sample", None)
        Rewriter.insert_op(new, InsertPoint.before(op))
        for result in new.results:
            if domain_of(result.type) == edge_set_type(edges).domain:
                Rewriter.replace_value_with_new_type(result, with_domain(result.type, edge_set_type(drawn).domain))
        return new

    def add_arguments(self) -> None:
        """Lets @structure return the samples, and @forward take them."""
        structure, forward = self.functions.structure, self.functions.forward
        terminator, arguments = returned(structure), forward.body.block.args
        first, before = len(terminator.arguments), len(arguments) - len(self.terms)
        terminator.operands = [*terminator.arguments, *self.terms]
        results = [value.type for value in terminator.arguments]
        structure.function_type = FunctionType.from_lists(structure.function_type.inputs.data, results)
        known = forward.arg_attrs.data if forward.arg_attrs else [DictionaryAttr({})] * before
        places = [DictionaryAttr({PLACE: IntegerAttr(first + i, i64)}) for i in range(len(self.terms))]
        forward.arg_attrs = ArrayAttr([*known, *places])
        types = [argument.type for argument in arguments]
        forward.function_type = FunctionType.from_lists(types, forward.function_type.outputs.data)


def erase_unused(operations: list[Operation]) -> None:
    """What was computed on all edges."""
    for op in reversed(operations):
        if op.results and all(not result.uses for result in op.results):
            Rewriter.erase_op(op)
