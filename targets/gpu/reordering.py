"""Which order the nodes of a graph are processed in, by name or by what batches would load."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import partial
from typing import Literal, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from gnnc.dialects.gnn import ConvBlockOp
from gnnc.dialects.gnn.attributes import domain_of
from gnnc.passes.analysis.cost_model import row_bytes
from gnnc.targets.edge_order import ordered_by
from gnnc.targets.gpu.block_rows import Way
from gnnc.targets.gpu.executor import BatchedExecutor
from gnnc.targets.gpu.tiled_convs import kernels_in_parts, sum_bytes
from gnnc.targets.gpu.tiling import Demand, best_tiling, gather_price
from gnnc.targets.orders.neighborhoods import Neighborhoods
from gnnc.targets.orders.shared_inputs import shared_inputs_order
from gnnc.targets.orders.structure_orders import OrderName, degree_order, random_order, rcmk_order
from gnnc.targets.orders.unique_inputs import best_order, inputs_per_node

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

TILED_SHARE = 0.6
"""The part that sums and a tile have."""

BYTES_PER_NODE = 48
RCMK_BYTES_PER_EDGE = 24
"""What it takes to find an order."""


@dataclass(frozen=True)
class Load:
    """What a block reads for neighbors: bytes of each; and bytes of the sums of a target, where a run adds them up tile
    by tile if that is cheaper, None where every batch gathers its distinct neighbors."""

    row_bytes: int
    sum_bytes: int | None = None


def choose_order(
    name: Reorder, graph: Neighborhoods, memory: int | None, loads: Collection[Load]
) -> tuple[Reorder, NDArray[np.int64] | None]:
    """The order of a name and the nodes in it, None to leave them as they are. `auto` leaves them where a budget of
    `memory` bytes (None: no budget) holds all that any block loads, or tiles are as cheap as batches of any order; and
    otherwise takes the order that loads fewest bytes."""
    if name == "none":
        return "none", None
    if name != "auto":
        return name, ORDERS[name](graph)
    if memory is None:
        return "none", None
    loads = [load for load in loads if graph.nodes * load.row_bytes > memory * INPUT_SHARE]
    fitting: dict[OrderName, Find] = {n: ORDERS[n] for n in CANDIDATES if need(n, graph) <= memory}
    least = sum(gather_price(graph.nodes, load.row_bytes) for load in loads)
    best = best_order(graph, partial(price, graph, memory, loads), least, fitting)
    return ("none", None) if best is None else best


def price(graph: Neighborhoods, memory: int, loads: Collection[Load], order: NDArray[np.int64]) -> int:
    """Of all blocks, each as it would run in an order: tile by tile, which is the same in any order, or with batches
    that gather their distinct neighbors."""
    inputs: dict[int, float] = {}
    total = 0
    for load in loads:
        room = int(memory * INPUT_SHARE) // max(1, load.row_bytes)
        if room not in inputs:
            inputs[room] = inputs_per_node(graph, order, room)
        gathered = gather_price(int(inputs[room] * graph.nodes), load.row_bytes)
        tiled = tiled_price(graph.nodes, load, int(memory * TILED_SHARE))
        total += gathered if tiled is None else min(gathered, tiled)
    return total


def tiled_price(nodes: int, load: Load, room: int) -> int | None:
    """The price of a block tile by tile, edges in order; None if there is no such way."""
    if load.sum_bytes is None:
        return None
    tiling = best_tiling(nodes, [Demand(nodes, load.row_bytes, load.sum_bytes)], room)
    return None if tiling is None else tiling.price


def need(name: str, graph: Neighborhoods) -> int:
    """Bytes to find an order."""
    return BYTES_PER_NODE * graph.nodes + (RCMK_BYTES_PER_EDGE * graph.edges if name == "rcmk" else 0)


def loads_of(executor: BatchedExecutor, *, in_store: bool) -> list[Load]:
    """What each block loads for neighbors."""
    blocks = [op for op in executor.operations if isinstance(op, ConvBlockOp)]
    return [Load(neighbor_bytes(op), bytes_of_sums(op, executor) if in_store else None) for op in blocks]


def neighbor_bytes(op: ConvBlockOp) -> int:
    return sum(row_bytes(value.type) for value in op.neighbors if domain_of(value.type))


def bytes_of_sums(op: ConvBlockOp, executor: BatchedExecutor) -> int | None:
    """Those of a target of a block that can run tile by tile."""
    functions = executor.compile(op, "cpu", Way.TILED)
    kernels = [kernels_in_parts(op, compiled.node_set, executor.kernels) for compiled in functions]
    if any(compiled.neighbor_demands for compiled in functions) or not all(kernels):
        return None
    return sum(sum_bytes(kernel) for found in kernels if found is not None for kernel in found.values())


def neighborhoods_of(edge_index: torch.Tensor, nodes: int) -> Neighborhoods:
    """The edges of a graph in memory by target."""
    offsets, edges = ordered_by(edge_index[1], nodes)
    return Neighborhoods(offsets.numpy(), edge_index[0].to(torch.int32)[edges].numpy())
