"""How many distinct inputs batches load in an order, from a few of them; and which order is the cheapest."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from gnnc.targets.orders.neighborhoods import Neighborhoods
from gnnc.targets.orders.structure_orders import OrderName

SAMPLES = 8
"""Batches that are looked at."""

WINDOW = 2**12
"""The fewest edges that are looked at together."""

WORTHWHILE = 0.9
"""The price of an order must be no more than this share of that of the graph's own order."""

FEW = 1.5
"""Where the graph's own order has no more than this times the least price, no other order is looked for."""


def inputs_per_node(graph: Neighborhoods, order: NDArray[np.int64], room: int) -> float:
    """The distinct inputs that are loaded for each target, where a batch has room for so many of them."""
    seen = np.zeros(graph.nodes, np.bool_)
    targets = loaded = stop = 0
    for sample in range(SAMPLES):
        start = max(stop, graph.nodes * sample // SAMPLES)
        stop, inputs = batch_from(graph, order, start, room, seen)
        seen[:] = False
        targets, loaded = targets + stop - start, loaded + inputs
    return loaded / max(1, targets)


def batch_from(
    graph: Neighborhoods, order: NDArray[np.int64], start: int, room: int, seen: NDArray[np.bool_]
) -> tuple[int, int]:
    """Where the batch that begins at `start` ends, to about a window of edges, and its distinct inputs, which are noted
    as `seen`."""
    step = max(1, max(WINDOW, room // 8) * graph.nodes // max(1, graph.edges))
    inputs = 0
    while start < graph.nodes and inputs < room:
        seen[graph.of(order[start : start + step])] = True
        start, inputs = min(graph.nodes, start + step), int(np.count_nonzero(seen))
    return start, inputs


def best_order(
    graph: Neighborhoods,
    price: Callable[[NDArray[np.int64]], float],
    least: float,
    orders: Mapping[OrderName, Callable[[Neighborhoods], NDArray[np.int64]]],
) -> tuple[OrderName, NDArray[np.int64]] | None:
    """The order with the lowest price, with its name; None where the graph's own is as good. `least` is a price below
    which no order can get."""
    own = price(np.arange(graph.nodes))
    best: tuple[OrderName, NDArray[np.int64]] | None = None
    if own <= FEW * least:
        return best
    lowest = WORTHWHILE * own
    for name, order_of in orders.items():
        order = order_of(graph)
        found = price(order)
        if found < lowest:
            best = name, order
            lowest = found
    return best
