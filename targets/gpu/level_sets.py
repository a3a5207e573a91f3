"""Which nodes each block has to compute when only some outputs are asked for: the level sets V^l.

After DGI, section on partial inference: the nodes of a layer are the in-neighbours of those of the next layer, and the
nodes themselves; where |V^(l+1)| times the mean degree reaches the number of nodes, all are taken without looking.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias

import torch
from xdsl.ir import SSAValue

from gnnc.dialects.gnn import ConvBlockOp
from gnnc.dialects.gnn.attributes import domain_of
from gnnc.targets.edge_sets import EdgeSet
from gnnc.targets.gpu.batch import sampled_edges_of
from gnnc.targets.gpu.block_rows import NeighborDemand
from gnnc.targets.gpu.compiled_block import CompiledBlock

NodeSet: TypeAlias = range | torch.Tensor
"""Ascending distinct nodes: all of them as a range, or ids (int64)."""

NONE = torch.empty(0, dtype=torch.int64)


def level_sets(
    blocks: Sequence[ConvBlockOp],
    asked: Mapping[SSAValue, NodeSet],
    counts: Mapping[str, int],
    edge_sets: Callable[[SSAValue], EdgeSet],
    compiled: Callable[[ConvBlockOp], Sequence[CompiledBlock]],
) -> dict[tuple[ConvBlockOp, str], NodeSet]:
    """The nodes that each block computes, by node set, so that the rows that are `asked` for are there.

    `counts` are the node counts by set, `edge_sets` gives the edge set of an operand, `compiled` the functions of a
    block.
    """
    needed: dict[SSAValue, NodeSet] = dict(asked)
    result: dict[tuple[ConvBlockOp, str], NodeSet] = {}
    for block in reversed(blocks):
        for function in compiled(block):
            everything = range(counts[function.node_set])
            targets: NodeSet = everything if function.needs_all else NONE
            for output in function.outputs:
                targets = union(targets, needed.get(block.outputs[output], NONE), everything)
            result[block, function.node_set] = targets
            demand_operands(block, function, targets, counts, edge_sets, needed)
    return result


def demand_operands(
    block: ConvBlockOp,
    function: CompiledBlock,
    targets: NodeSet,
    counts: Mapping[str, int],
    edge_sets: Callable[[SSAValue], EdgeSet],
    needed: dict[SSAValue, NodeSet],
) -> None:
    """Adds the rows that a block's operands must have: those of the targets, and for some those of neighbours."""
    loaded: dict[str, NodeSet] = {function.node_set: targets}
    for demand in function.neighbor_demands:
        edges, others = edge_sets(block.operands[demand.edges]), edge_sets(block.operands[demand.neighbor_edges])
        everything = range(counts[demand.node_set])
        found = neighbors_of(targets, edges, others, demand, everything)
        loaded[demand.node_set] = union(loaded.get(demand.node_set, NONE), found, everything)
    for operand in (*block.targets, *block.neighbors):
        name = node_set_of(operand)
        rows = targets if operand in block.targets and name == function.node_set else loaded.get(name, NONE)
        needed[operand] = union(needed.get(operand, NONE), rows, range(counts[name]))


def node_set_of(value: SSAValue) -> str:
    domain = domain_of(value.type)
    assert domain is not None
    return domain.set_name.data


def neighbors_of(
    targets: NodeSet, edges: EdgeSet, others: EdgeSet, demand: NeighborDemand, everything: range
) -> NodeSet:
    """The nodes at the other end of the edges that meet the targets; all nodes where those are likely most."""
    met = edges.edge_count / max(1, edges.node_count(demand.end))
    if demand.sample is not None:
        met = min(met, demand.sample.fanout + 1)
    if len(targets) * met >= len(everything):
        return everything
    _, edge_ids = sampled_edges_of(edges, demand.end, targets, demand.sample)
    return torch.unique(others.index(demand.neighbor_end)[edge_ids])


def union(a: NodeSet, b: NodeSet, everything: range) -> NodeSet:
    if a is b or len(b) == 0:
        return a
    if len(a) == 0:
        return b
    if isinstance(a, range) or isinstance(b, range):
        return everything
    return torch.unique(torch.cat([a, b]))
