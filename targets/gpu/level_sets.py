"""Which nodes each block has to compute when only some outputs are asked for: the level sets V^l.

After DGI, section on partial inference: the nodes of a layer are the in-neighbours of those of the next layer, and the
nodes themselves; where |V^(l+1)| times the mean degree reaches the number of nodes, all are taken without looking.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

import torch
from xdsl.ir import SSAValue

from gnnc.dialects.gnn import ConvBlockOp
from gnnc.targets.edge_sets import EdgeSet
from gnnc.targets.gpu.batch import edges_of
from gnnc.targets.gpu.block_compiler import NeighborDemand

NodeSet: TypeAlias = range | torch.Tensor
"""Ascending distinct nodes: all of them as a range, or ids (int64)."""


def level_sets(
    blocks: Sequence[ConvBlockOp],
    asked: NodeSet,
    returned: Sequence[SSAValue],
    nodes: int,
    edge_sets: Callable[[SSAValue], EdgeSet],
    demands: Callable[[ConvBlockOp], Sequence[NeighborDemand]],
) -> dict[ConvBlockOp, NodeSet]:
    """The nodes that each block computes so that the `returned` values are there for the nodes that are asked for.

    `edge_sets` gives the edge set of an operand, `demands` which neighbours a block's inputs are loaded for.
    """
    needed: dict[SSAValue, NodeSet] = dict.fromkeys(returned, asked)
    result: dict[ConvBlockOp, NodeSet] = {}
    for block in reversed(blocks):
        targets: NodeSet = torch.empty(0, dtype=torch.int64)
        for output in block.outputs:
            targets = union(targets, needed.get(output, targets), nodes)
        result[block] = targets
        for operand in block.targets:
            needed[operand] = union(needed.get(operand, targets), targets, nodes)
        if not block.neighbors:
            continue
        loaded = targets
        for demand in demands(block):
            edges, others = edge_sets(block.operands[demand.edges]), edge_sets(block.operands[demand.neighbor_edges])
            loaded = union(loaded, neighbors_of(targets, edges, others, demand, nodes), nodes)
        for operand in block.neighbors:
            needed[operand] = union(needed.get(operand, loaded), loaded, nodes)
    return result


def neighbors_of(targets: NodeSet, edges: EdgeSet, others: EdgeSet, demand: NeighborDemand, nodes: int) -> NodeSet:
    """The nodes at the other end of the edges that meet the targets; all nodes where those are likely most."""
    if len(targets) * edges.edge_count >= nodes * max(1, edges.node_count(demand.end)):
        return range(nodes)
    _, edge_ids = edges_of(edges.incidence(demand.end), targets)
    return torch.unique(others.index(demand.neighbor_end)[edge_ids])


def union(a: NodeSet, b: NodeSet, nodes: int) -> NodeSet:
    if a is b or len(b) == 0:
        return a
    if isinstance(a, range) or isinstance(b, range):
        return range(nodes)
    return torch.unique(torch.cat([a, b]))
