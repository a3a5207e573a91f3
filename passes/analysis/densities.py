"""The densities that are known before a run: of given features, of weights, and of adjacency matrices."""

from __future__ import annotations

import math

from xdsl.dialects.builtin import ModuleOp, SymbolRefAttr
from xdsl.ir import BlockArgument, SSAValue
from xdsl.traits import SymbolTable

from gnnc.dialects.gnn import (
    AggregateOp,
    ConvBlockOp,
    DensityAttr,
    DivOp,
    FusedOperation,
    GatherOp,
    LinearOp,
    LoadWeightOp,
    MatmulOp,
    MulOp,
    ReshapeOp,
    WeightOp,
)
from gnnc.dialects.gnn.attributes import EdgeSetType, row_shape
from gnnc.passes.analysis.edge_counts import edge_count, node_counts
from gnnc.passes.analysis.model_functions import DENSITY, argument_attribute, model_functions

UNKNOWN = DensityAttr()


class Densities:
    """Reads densities off a module: an argument of @forward and a weight carry theirs, that of an adjacency matrix
    follows from the counts of nodes and edges. Everything that is computed has none before a run."""

    def __init__(self, module: ModuleOp):
        self.module = module
        self.functions = model_functions(module)
        self.nodes = node_counts(module)

    def of_product(self, op: LinearOp | MatmulOp | AggregateOp) -> tuple[DensityAttr, DensityAttr]:
        """The densities of the two sides; those of an aggregation are of A and of the node values X."""
        if isinstance(op, AggregateOp):
            rows = gathered(op.messages)
            return self.of(op.edges), UNKNOWN if rows is None else self.of(rows)
        left, right = op.operands[:2]
        return self.of(left), self.of(right)

    def of(self, value: SSAValue) -> DensityAttr:
        """The density of a value in @forward or in a block of it."""
        value = outside(value)
        if isinstance(value.owner, LoadWeightOp):
            return self.of_weight(value.owner.weight)
        if not isinstance(value, BlockArgument):
            return UNKNOWN
        given = argument_attribute(self.functions.forward, value.index, DENSITY)
        if isinstance(given, DensityAttr):
            return given
        return self.of_adjacency(value) if isinstance(value.type, EdgeSetType) else UNKNOWN

    def of_weight(self, symbol: SymbolRefAttr) -> DensityAttr:
        declared = SymbolTable.lookup_symbol(self.module, symbol)
        given = declared.attributes.get(DENSITY) if isinstance(declared, WeightOp) else None
        return given if isinstance(given, DensityAttr) else UNKNOWN

    def of_adjacency(self, edges: SSAValue) -> DensityAttr:
        """Edges over pairs of nodes. Edges that are there twice are one number of the matrix, so no more than all."""
        made = self.functions.structure_value(edges)
        count = None if made is None else edge_count(made, self.functions.structure, self.nodes)
        assert isinstance(edges.type, EdgeSetType)
        ends = [self.nodes.get(name.data) for name in (edges.type.source, edges.type.target)]
        if count is None or None in ends:
            return UNKNOWN
        pairs = math.prod(end for end in ends if end is not None)
        return DensityAttr(min(count.edges, pairs), pairs)


def outside(value: SSAValue) -> SSAValue:
    """What an argument of a block or of a fused operation stands for in @forward."""
    while isinstance(value, BlockArgument) and isinstance(
        parent := value.block.parent_op(), ConvBlockOp | FusedOperation
    ):
        value = parent.operands[value.index]
    return value


def gathered(messages: SSAValue) -> SSAValue | None:
    """The node values that messages are rows of, perhaps scaled by numbers of their own; None for other messages."""
    op = messages.owner
    match op:
        case GatherOp():
            return op.nodes
        case ReshapeOp():
            return gathered(op.input)
        case MulOp() | DivOp():
            left, right = op.operands
            wide = right if isinstance(op, MulOp) and is_single(left) else left
            return gathered(wide) if is_single(left) or is_single(right) else None
        case _:
            return None


def is_single(value: SSAValue) -> bool:
    """Whether a value has one number a row."""
    return math.prod(row_shape(value.type)) == 1
