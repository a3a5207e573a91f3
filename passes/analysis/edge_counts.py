"""How many edges an edge set has, from how many the relations of the graph have: nothing is counted here.

The counts are attributes of the module: `gnn.node_counts` on itself, `gnn.edges` and `gnn.loops` on the arguments of
@structure that hold relations.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp
from xdsl.dialects.func import FuncOp
from xdsl.ir import BlockArgument, SSAValue

from gnnc.dialects.gnn import RelationOp, ReverseOp, UnionOp, WithLoopsOp, WithoutLoopsOp
from gnnc.dialects.gnn.edge_sets import edge_set_type
from gnnc.passes.analysis.model_functions import EDGES, LOOPS, NODE_COUNTS, argument_attribute


@dataclass(frozen=True)
class EdgeCount:
    """The edges of a set, and how many of them join a node with itself."""

    edges: int
    loops: int


def node_counts(module: ModuleOp) -> Mapping[str, int]:
    """The nodes of each set, as far as the module says it."""
    counts = module.attributes.get(NODE_COUNTS)
    if not isinstance(counts, DictionaryAttr):
        return {}
    return {name: count.value.data for name, count in counts.data.items() if isinstance(count, IntegerAttr)}


def edge_count(value: SSAValue, structure: FuncOp, nodes: Mapping[str, int]) -> EdgeCount | None:
    """The count of an edge set of @structure, or None where only the graph itself can tell."""
    op = value.owner
    match op:
        case RelationOp():
            return count_of_argument(op.edge_index, structure)
        case ReverseOp():
            return edge_count(op.edges, structure, nodes)
        case WithoutLoopsOp():
            count = edge_count(op.edges, structure, nodes)
            return None if count is None else EdgeCount(count.edges - count.loops, 0)
        case WithLoopsOp():
            count, added = edge_count(op.edges, structure, nodes), nodes.get(edge_set_type(value).source.data)
            return None if count is None or added is None else EdgeCount(count.edges + added, count.loops + added)
        case UnionOp():
            first, second = (edge_count(v, structure, nodes) for v in op.operands)
            return (
                None if not first or not second else EdgeCount(first.edges + second.edges, first.loops + second.loops)
            )
        case _:
            return None


def count_of_argument(value: SSAValue, structure: FuncOp) -> EdgeCount | None:
    """What stands beside an argument of @structure."""
    if not isinstance(value, BlockArgument):
        return None
    edges, loops = (argument_attribute(structure, value.index, name) for name in (EDGES, LOOPS))
    if not isinstance(edges, IntegerAttr) or not isinstance(loops, IntegerAttr):
        return None
    return EdgeCount(edges.value.data, loops.value.data)
