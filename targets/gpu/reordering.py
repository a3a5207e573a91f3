"""Which order the nodes of a graph are processed in, by name or by what batches would load."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray
from xdsl.ir import Operation

from gnnc.dialects.gnn import ConvBlockOp
from gnnc.dialects.gnn.attributes import domain_of
from gnnc.passes.analysis.cost_model import row_bytes
from gnnc.targets.orders.neighborhoods import Neighborhoods
from gnnc.targets.orders.shared_inputs import shared_inputs_order
from gnnc.targets.orders.structure_orders import OrderName, degree_order, random_order, rcmk_order
from gnnc.targets.orders.unique_inputs import best_order

Reorder: TypeAlias = Literal["none", "auto"] | OrderName
REORDERS: tuple[Reorder, ...] = ("none", "auto", "stream", "rcmk", "degree", "random")

Find: TypeAlias = Callable[[Neighborhoods], NDArray[np.int64]]

CANDIDATES: tuple[OrderName, ...] = ("degree", "stream", "rcmk")
ORDERS: dict[OrderName, Find] = {
    "stream": shared_inputs_order,
    "rcmk": rcmk_order,
    "degree": degree_order,
    "random": random_order,
}

INPUT_SHARE = 0.5
"""The part of a budget that the inputs of a batch are expected to have; edges and results have the rest."""

BYTES_PER_NODE = 48
RCMK_BYTES_PER_EDGE = 24
"""What it takes to find an order."""


def choose_order(
    name: Reorder, graph: Neighborhoods, memory: int | None, width: int
) -> tuple[Reorder, NDArray[np.int64] | None]:
    """The order of a name and the nodes in it, None to leave them as they are. `auto` leaves them where a budget of
    `memory` bytes (None: no budget) holds all inputs, of `width` bytes each, and otherwise takes the order that loads
    fewest."""
    if name == "none":
        return "none", None
    if name != "auto":
        return name, ORDERS[name](graph)
    room = graph.nodes if memory is None else int(memory * INPUT_SHARE) // max(1, width)
    if room >= graph.nodes:
        return "none", None
    fitting: dict[OrderName, Find] = {n: ORDERS[n] for n in CANDIDATES if memory is None or need(n, graph) <= memory}
    best = best_order(graph, room, fitting)
    return ("none", None) if best is None else best


def need(name: str, graph: Neighborhoods) -> int:
    """Bytes to find an order."""
    return BYTES_PER_NODE * graph.nodes + (RCMK_BYTES_PER_EDGE * graph.edges if name == "rcmk" else 0)


def neighbor_bytes(operations: Iterable[Operation]) -> int:
    """The most bytes that a block loads for a neighbor."""
    blocks = [op for op in operations if isinstance(op, ConvBlockOp)]
    return max((sum(row_bytes(v.type) for v in op.neighbors if domain_of(v.type)) for op in blocks), default=0)


def neighborhoods_of(edge_index: torch.Tensor, nodes: int) -> Neighborhoods:
    """The edges of a graph in memory by target."""
    offsets = np.zeros(nodes + 1, np.int64)
    np.cumsum(torch.bincount(edge_index[1], minlength=nodes).numpy(), out=offsets[1:])
    neighbors = edge_index[0].index_select(0, torch.argsort(edge_index[1], stable=True))
    return Neighborhoods(offsets, neighbors.to(torch.int32).numpy())
