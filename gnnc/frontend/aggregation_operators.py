"""Operators that stand for aggregations which torch.export can't trace: it sees one call, and the IR has an operation.

They are never run. `gnnc::aggregate_quantile(messages, index, count, …)` and its like take the node of each message in
`index` and the count of nodes.
"""

from __future__ import annotations

import torch

NAMESPACE = "gnnc"
QUANTILE, RECURRENT, LIST = "aggregate_quantile", "aggregate_recurrent", "list_messages"

torch.library.define(
    f"{NAMESPACE}::{QUANTILE}",
    "(Tensor messages, Tensor index, SymInt count, int dim, Tensor quantiles, str interpolation, float fill) -> Tensor",
)
torch.library.define(
    f"{NAMESPACE}::{RECURRENT}",
    "(Tensor messages, Tensor index, SymInt count, str cell, Tensor[] weights, int layers, bool bidirectional, "
    "bool biases, int width) -> Tensor",
)
torch.library.define(
    f"{NAMESPACE}::{LIST}", "(Tensor messages, Tensor index, SymInt count, int size, bool descending) -> Tensor"
)


def quantile_shape(
    messages: torch.Tensor,
    index: torch.Tensor,
    count: int,
    dim: int,
    quantiles: torch.Tensor,
    interpolation: str,
    fill: float,
) -> torch.Tensor:
    shape = list(messages.shape)
    shape[dim] = count
    if quantiles.numel() > 1:
        shape[dim + 1] *= quantiles.numel()
    return messages.new_empty(shape)


def recurrent_shape(
    messages: torch.Tensor,
    index: torch.Tensor,
    count: int,
    cell: str,
    weights: list[torch.Tensor],
    layers: int,
    bidirectional: bool,
    biases: bool,
    width: int,
) -> torch.Tensor:
    return messages.new_empty((count, width))


def list_shape(messages: torch.Tensor, index: torch.Tensor, count: int, size: int, descending: bool) -> torch.Tensor:
    return messages.new_empty((count, size, *messages.shape[1:]))


torch.library.register_fake(f"{NAMESPACE}::{QUANTILE}", quantile_shape)
torch.library.register_fake(f"{NAMESPACE}::{RECURRENT}", recurrent_shape)
torch.library.register_fake(f"{NAMESPACE}::{LIST}", list_shape)
