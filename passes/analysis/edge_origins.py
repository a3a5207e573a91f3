"""Where the edges of a set come from: the graph's relations, or index arithmetic of the model's own."""

from __future__ import annotations

from xdsl.ir import BlockArgument, SSAValue

from gnnc.dialects.gnn import (
    ConvBlockOp,
    ConvOperation,
    EdgeSetType,
    RelationOp,
    ReverseOp,
    UnionOp,
    WhereOp,
    WithLoopsOp,
    WithoutLoopsOp,
)
from gnnc.passes.analysis.model_functions import ModelFunctions

TERMS = (WithoutLoopsOp, WithLoopsOp, WhereOp, ReverseOp, UnionOp)


def edge_set_behind(functions: ModelFunctions, reduction: ConvOperation) -> SSAValue | None:
    """The value in @structure of the edge set that a reduction runs over, inside of a ConvBlock or not."""
    edges, block = reduction.operands[-1], reduction.parent_op()
    if isinstance(block, ConvBlockOp) and isinstance(edges, BlockArgument):
        edges = block.operands[edges.index]
    return functions.structure_value(edges)


def is_of_relations(edges: SSAValue) -> bool:
    """Whether every edge of a set is known to be an edge of the graph or a self-loop that was added to it."""
    maker = edges.owner
    if isinstance(maker, RelationOp):
        return True
    if not isinstance(maker, TERMS):
        return False
    return all(is_of_relations(operand) for operand in maker.operands if isinstance(operand.type, EdgeSetType))
