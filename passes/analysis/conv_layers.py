"""Which Conv every reduction belongs to, and in which layer it is.

A Conv is all reductions of one edge set at one end in one layer: a GAT layer's softmax and sum are one. Layers belong
to a value and the restriction it is asked for under. The restriction is the end at which the enclosing reduction meets
the nodes: a gather at that end fetches the targets themselves (+0), any other one fetches neighbours (+1). A reduction
adds nothing. What does not depend on features has layer -1, so that fetching it from neighbours starts no Conv; but a
reduction in @forward has layer 0 at least, for a batch computes it on its targets alone.

After DGI, section on the tracer (layer index of a Conv: one more than the largest of those before it).
"""

from __future__ import annotations

from dataclasses import dataclass, field

from xdsl.dialects.func import FuncOp
from xdsl.ir import Block, Operation, SSAValue
from xdsl.utils.exceptions import PassFailedException

from gnnc.dialects.gnn import ConvOperation, EndAttr, GatherOp
from gnnc.dialects.gnn.attributes import domain_of
from gnnc.passes.analysis.model_functions import ModelFunctions

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
    """The layers of a model's @forward: of node values, and of reductions with the number of their Conv."""

    layers: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    convs: dict[Operation, tuple[int, int]] = field(default_factory=dict[Operation, tuple[int, int]])

    @property
    def deepest(self) -> int:
        """The largest layer of a Conv, 0 without one."""
        return max((layer for layer, _ in self.convs.values()), default=0)


def conv_layers(functions: ModelFunctions) -> ConvLayers:
    """The layers of @forward, whose reductions needn't carry any yet."""
    return _LayerAnalysis(functions).run(functions.forward)


class _LayerAnalysis:
    def __init__(self, functions: ModelFunctions):
        self.functions = functions
        self.result = ConvLayers()
        self.on_edges: dict[tuple[SSAValue, Restriction], int] = {}
        self.numbers: dict[tuple[Restriction, int], int] = {}

    def run(self, forward: FuncOp) -> ConvLayers:
        for argument in forward.body.block.args:
            known_before = self.functions.structure_place(argument) is not None
            self.result.layers[argument] = NO_FEATURES if known_before else 0
        for op in forward.body.block.ops:
            self.visit(op)
        return self.result

    def visit(self, op: Operation) -> None:
        if isinstance(op, ConvOperation):
            restriction = restriction_of(op)
            layer = max(0, *(self.layer_of(v, restriction) for v in op.operands[:-1]))
            number = self.numbers.setdefault((restriction, layer), len(self.numbers))
            self.result.convs[op] = (layer, number)
            self.result.layers[op.results[0]] = layer
            return
        layer = max((self.result.layers.get(v, NO_FEATURES) for v in op.operands), default=NO_FEATURES)
        for value in op.results:
            if not is_on_edges(value):
                self.result.layers[value] = layer

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
