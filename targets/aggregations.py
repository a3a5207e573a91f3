"""The aggregations that are no reduction, on the messages of some nodes: a batch's or all."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

import torch

from gnnc.dialects.gnn import (
    AggregateQuantileOp,
    AggregateRecurrentOp,
    Aggregation,
    Interpolation,
    ListMessagesOp,
    RecurrentCell,
)
from gnnc.dialects.gnn.attributes import domain_axis, row_shape

# Neighbourhoods of any size are laid out side by side in pieces of so many bytes.
PIECE_BYTES = 64 * 2**20


@dataclass(frozen=True)
class Neighborhoods:
    """Which of `count` nodes each message is for: `index`, int64. `firsts` has for every node the place of its first
    message among all of the whole graph, sorted by node."""

    index: torch.Tensor
    count: int
    firsts: torch.Tensor

    def sizes(self) -> torch.Tensor:
        return torch.bincount(self.index, minlength=self.count)

    def starts(self) -> torch.Tensor:
        """For every node the place of its first message among these, sorted by node."""
        sizes = self.sizes()
        return sizes.cumsum(0) - sizes


AggregationFunction: TypeAlias = Callable[..., torch.Tensor]
"""Takes the Neighborhoods, then the operands without the edges."""


def aggregation_of(op: Aggregation) -> AggregationFunction:
    """The function that computes an aggregation."""
    match op:
        case AggregateQuantileOp():
            return quantile_function(op)
        case AggregateRecurrentOp():
            return recurrent_function(op)
        case ListMessagesOp():
            return list_function(op)
        case _:
            raise NotImplementedError(op.name)


def quantile_function(op: AggregateQuantileOp) -> AggregationFunction:
    axis, interpolation, fill = domain_axis(op.messages.type), op.interpolation.data, op.fill.value.data

    def run(nodes: Neighborhoods, messages: torch.Tensor, quantiles: torch.Tensor) -> torch.Tensor:
        result = node_quantiles(nodes, messages.movedim(axis, 0), quantiles, interpolation, fill).movedim(0, axis)
        if quantiles.shape[0] == 1:
            return result
        # one row for each node and quantile; the quantiles go beside each other into the axis after the rows
        shape = list(result.shape)
        return result.reshape([*shape[:axis], nodes.count, -1, *shape[axis + 2 :]])

    return run


def node_quantiles(
    nodes: Neighborhoods, messages: torch.Tensor, quantiles: torch.Tensor, interpolation: Interpolation, fill: float
) -> torch.Tensor:
    """The quantiles of each node in turn, along axis 0."""
    sizes, starts, each = nodes.sizes(), nodes.starts(), quantiles.shape[0]
    if messages.shape[0] == 0:
        return messages.new_full([nodes.count * each, *messages.shape[1:]], fill)
    ordered = sorted_by_node(messages, nodes.index)
    # torch-geometric adds the place of the first message before it rounds; in its arithmetic, that matters
    points = (quantiles * (sizes - 1) + nodes.firsts).t().reshape(-1)
    firsts, starts, last = (v.repeat_interleave(each) for v in (nodes.firsts, starts, (sizes - 1).clamp(min=0)))

    def at(places: torch.Tensor) -> torch.Tensor:
        own = torch.minimum((places.long() - firsts).clamp(min=0), last)
        return ordered.index_select(0, (starts + own).clamp(max=ordered.shape[0] - 1))

    column = [-1] + [1] * (messages.dim() - 1)
    match interpolation:
        case Interpolation.LOWER:
            result = at(points.floor())
        case Interpolation.HIGHER:
            result = at(points.ceil())
        case Interpolation.NEAREST:
            result = at(points.round())
        case Interpolation.MIDPOINT:
            result = 0.5 * at(points.floor()) + 0.5 * at(points.ceil())
        case Interpolation.LINEAR:
            lower, upper = at(points.floor()), at(points.ceil())
            result = lower + (upper - lower) * points.frac().view(column)
    return result.masked_fill((sizes == 0).repeat_interleave(each).view(column), fill)


def sorted_by_node(messages: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    """Every number of the messages sorted along axis 0 by its node, and within a node by size."""
    column = [-1] + [1] * (messages.dim() - 1)
    spread = index.view(column).expand_as(messages)
    values, order = torch.sort(messages, dim=0)
    by_node = torch.argsort(spread.take_along_dim(order, 0), dim=0, stable=True)
    return values.take_along_dim(by_node, 0)


def recurrent_function(op: AggregateRecurrentOp) -> AggregationFunction:
    layers, both, biases = op.layers.value.data, op.bidirectional is not None, op.biases is not None
    width = row_shape(op.result.type)[0]
    cell = op.cell.data

    def run(nodes: Neighborhoods, messages: torch.Tensor, steps: int, *weights: torch.Tensor) -> torch.Tensor:
        result = messages.new_zeros((nodes.count, width))
        if steps == 0:
            return result
        cells = layers * (2 if both else 1)
        hidden, inner = weights[1].shape[1], weights[1].shape[0] // 4
        widest = max(messages.shape[1], weights[0].shape[0])
        size = max(1, PIECE_BYTES // (steps * widest * messages.element_size()))
        for start in range(0, nodes.count, size):
            stop = min(start + size, nodes.count)
            padded = listed(nodes, messages, start, stop, steps)
            first = padded.new_zeros((cells, stop - start, hidden))
            settings = (list(weights), biases, layers, 0.0, False, both, True)
            if cell is RecurrentCell.LSTM:
                output = torch.lstm(padded, [first, padded.new_zeros((cells, stop - start, inner))], *settings)[0]
            else:
                output = torch.gru(padded, first, *settings)[0]
            result[start:stop] = output[:, -1]
        return result

    return run


def list_function(op: ListMessagesOp) -> AggregationFunction:
    size, descending = op.size.value.data, op.descending is not None

    def run(nodes: Neighborhoods, messages: torch.Tensor) -> torch.Tensor:
        if descending:
            order = torch.argsort(messages[:, -1], descending=True, stable=True)
            nodes, messages = Neighborhoods(nodes.index[order], nodes.count, nodes.firsts), messages[order]
        return listed(nodes, messages, 0, nodes.count, size)

    return run


def listed(nodes: Neighborhoods, messages: torch.Tensor, start: int, stop: int, size: int) -> torch.Tensor:
    """The first `size` messages of the nodes from `start` to `stop`, in their order; zeros where there are fewer.

    Returns shape [stop - start, size, …].
    """
    order = torch.argsort(nodes.index, stable=True)
    node = nodes.index[order]
    rank = torch.arange(order.shape[0], device=order.device) - nodes.starts()[node]
    chosen = (node >= start) & (node < stop) & (rank < size)
    result = messages.new_zeros((stop - start, size, *messages.shape[1:]))
    result[node[chosen] - start, rank[chosen]] = messages[order[chosen]]
    return result
