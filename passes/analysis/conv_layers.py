"""Which Conv every reduction belongs to, and in which layer it is.

A Conv is all reductions of one edge set at one end in one layer: a GAT layer's softmax and sum are one. Layers belong
to a value and the restriction it is asked for under. The restriction is the end at which the enclosing reduction meets
the nodes: a gather at that end fetches the targets themselves (+0), any other one fetches neighbours (+1). A reduction
adds nothing. What does not depend on features has layer -1, so that fetching it from neighbours starts no Conv; but a
reduction in @forward has layer 0 at least, for a batch computes it on its targets alone.

After DGI, section on the tracer (layer index of a Conv: one more than the largest of those before it).

Stages are layers that count one thing more: what a reduction of all rows gives is there when all batches have run, and
so is used one stage later. Without such reductions stages and layers are the same.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from gnnc.dialects.gnn import ConvOperation, EdgeSetType, EdgeSoftmaxOp, End, EndAttr, GatherOp, GlobalReduceOp
from gnnc.dialects.gnn.attributes import domain_of
from gnnc.dialects.gnn.edge_sets import edge_set_type
from gnnc.passes.analysis.model_functions import ModelFunctions, returned

NO_FEATURES = -1


@dataclass(frozen=True)
class Restriction:
    """One end of one edge set."""

    edges: SSAValue
    end: EndAttr


def restriction_of(op: Operation) -> Restriction:
    """The end at which a gather or a reduction meets the nodes."""
    assert isinstance(op, GatherOp | ConvOperation)
    end = op.properties["end"]
    assert isinstance(end, EndAttr)
    return Restriction(op.operands[-1], end)


@dataclass
class ConvLayers:
    """The layers of a model's @forward: of values, those on edges at their home, and of reductions with the number of
    their Conv. `reductions` has the layer in which each reduction of all rows runs."""

    layers: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    convs: dict[Operation, tuple[int, int]] = field(default_factory=dict[Operation, tuple[int, int]])
    reductions: dict[GlobalReduceOp, int] = field(default_factory=dict[GlobalReduceOp, int])
    deepest: int = 0
    """The largest layer of a node value, of a reduction or of what the model returns."""


def conv_layers(functions: ModelFunctions) -> ConvLayers:
    """The layers of @forward, whose reductions needn't carry any yet."""
    return _LayerAnalysis(functions, 0).run(functions.forward)


def stages(functions: ModelFunctions) -> ConvLayers:
    """The same with one more for every reduction of all rows that a value depends on."""
    return _LayerAnalysis(functions, 1).run(functions.forward)


class _LayerAnalysis:
    def __init__(self, functions: ModelFunctions, barrier: int):
        self.functions = functions
        self.barrier = barrier
        self.result = ConvLayers()
        self.on_edges: dict[tuple[SSAValue, Restriction], int] = {}
        self.numbers: dict[tuple[Restriction, int], int] = {}
        self.edge_sets: list[SSAValue] = []

    def run(self, forward: FuncOp) -> ConvLayers:
        self.edge_sets = edge_sets_of(forward.body.block)
        for argument in forward.body.block.args:
            known_before = self.functions.structure_place(argument) is not None
            self.result.layers[argument] = NO_FEATURES if known_before else 0
        for op in forward.body.block.ops:
            self.visit(op)
        self.result.deepest = max(0, *self.layers_of_work(returned(forward).arguments))
        return self.result

    def layers_of_work(self, outputs: Sequence[SSAValue]) -> Iterator[int]:
        yield from self.result.reductions.values()
        for value, layer in self.result.layers.items():
            domain = domain_of(value.type)
            if domain is not None and (domain.is_nodes or value in outputs):
                yield layer

    def visit(self, op: Operation) -> None:
        if isinstance(op, ConvOperation):
            restriction = restriction_of(op)
            layer = max(0, *(self.layer_of(v, restriction) for v in op.operands[:-1]))
            number = self.numbers.setdefault((restriction, layer), len(self.numbers))
            self.result.convs[op] = (layer, number)
            self.result.layers[op.results[0]] = layer
            return
        if isinstance(op, GlobalReduceOp):
            layer = max(0, *(self.layer_at_home(v) for v in op.operands))
            self.result.reductions[op] = layer
            self.result.layers[op.results[0]] = layer + self.barrier
            return
        for value in op.results:
            if is_on_edges(value):
                self.result.layers[value] = self.layer_at_home(value)
            else:
                known = (self.result.layers.get(v, NO_FEATURES) for v in op.operands)
                self.result.layers[value] = max(known, default=NO_FEATURES)

    def layer_at_home(self, value: SSAValue) -> int:
        if not is_on_edges(value) or isinstance(value.owner, Block):
            return self.result.layers.get(value, NO_FEATURES)
        if nearest(value, EdgeSoftmaxOp) is None and nearest(value, GatherOp) is None:
            return max((self.layer_at_home(v) for v in value.owner.operands), default=NO_FEATURES)
        return self.layer_of(value, home_of(value, self.edge_sets))

    def layer_of(self, value: SSAValue, restriction: Restriction) -> int:
        """The layer of a value for the rows that a restriction asks for."""
        if not is_on_edges(value):
            return self.result.layers[value]
        key = (value, restriction)
        if key not in self.on_edges:
            self.on_edges[key] = self.layer_on_edges(value, restriction)
        return self.on_edges[key]

    def layer_on_edges(self, value: SSAValue, restriction: Restriction) -> int:
        op = value.owner
        if isinstance(op, Block):
            return self.result.layers[value]
        if isinstance(op, ConvOperation):
            require_same_end(op, restriction)
            return self.result.layers[value]
        if isinstance(op, GatherOp):
            nodes = self.result.layers[op.nodes]
            return nodes if restriction_of(op) == restriction else nodes + 1
        return max((self.layer_of(v, restriction) for v in op.operands), default=NO_FEATURES)


def edge_sets_of(block: Block) -> list[SSAValue]:
    """The edge sets among the arguments of a function or of a ConvBlock."""
    return [argument for argument in block.args if isinstance(argument.type, EdgeSetType)]


def home_of(value: SSAValue, edge_sets: Sequence[SSAValue]) -> Restriction:
    """The batches in which an edge value is computed where it is wanted for itself, as an output or for later blocks:
    those of the end at which a softmax in it is normalised, or else of the targets.

    Raises PassFailedException if it is on none of the `edge_sets`.
    """
    softmax, gather = nearest(value, EdgeSoftmaxOp), nearest(value, GatherOp)
    if softmax is not None:
        return restriction_of(softmax)
    domain = domain_of(value.type)
    sets = [gather.operands[-1]] if gather is not None else edge_sets
    found = next((edges for edges in sets if edge_set_type(edges).domain == domain), None)
    if found is None:
        raise PassFailedException(f"no edge set has the edges that a value is on, {domain}")
    return Restriction(found, EndAttr(End.TARGET))


def nearest(value: SSAValue, kind: type[Operation]) -> Operation | None:
    """The operation of a kind that an edge value is computed with, row by row on its edges."""
    stack, seen = [value], {value}
    while stack:
        op = stack.pop().owner
        if isinstance(op, kind):
            return op
        if isinstance(op, Block | GatherOp):
            continue
        fresh = [v for v in op.operands if is_on_edges(v) and v not in seen]
        seen.update(fresh)
        stack.extend(fresh)
    return None


def require_same_end(softmax: Operation, restriction: Restriction) -> None:
    """A batch holds all the edges that meet its nodes at one end, so a softmax over others is out of reach.

    Raises PassFailedException if `softmax` is over another end than the restriction's.
    """
    if restriction_of(softmax) != restriction:
        end = restriction.end.data.value
        raise PassFailedException(
            f"{softmax.name} is reduced at the {end} of an edge set, and not where it is normalised"
        )


def is_on_edges(value: SSAValue) -> bool:
    domain = domain_of(value.type)
    return domain is not None and not domain.is_nodes


def is_on_nodes(value: SSAValue) -> bool:
    domain = domain_of(value.type)
    return domain is not None and domain.is_nodes
