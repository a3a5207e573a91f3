"""While a model is traced, torch-geometric's aggregations that torch.export can't see through are one operator each.

Order-sensitive ones demand sorted edges, which no trace can check; the operators keep the edges' order at each node, so
on sorted edges they do what the modules do.
"""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Generator
from typing import Any

import torch

from gnnc.errors import UnsupportedModelError
from gnnc.frontend.aggregation_operators import LIST, NAMESPACE, QUANTILE, RECURRENT

Forward = Callable[..., Any]


@contextlib.contextmanager
def aggregations_as_operators() -> Generator[None]:
    """Replaces methods of torch-geometric's aggregation classes, if it has been imported; puts them back at the end."""
    package: Any = sys.modules.get("torch_geometric.nn.aggr")
    if package is None:
        yield
        return
    methods: dict[tuple[type, str], Forward] = {
        (package.QuantileAggregation, "forward"): quantile,
        (package.LSTMAggregation, "forward"): lstm,
        (package.GRUAggregation, "forward"): gru,
        (package.SortAggregation, "forward"): largest,
        (package.PatchTransformerAggregation, "forward"): whole_table,
        (package.Aggregation, "to_dense_batch"): dense_batch,
        (package.EquilibriumAggregation, "forward"): by_gradient,
    }
    before = {key: getattr(*key) for key in methods}
    try:
        for (owner, name), method in methods.items():
            setattr(owner, name, method)
        yield
    finally:
        for (owner, name), method in before.items():
            setattr(owner, name, method)


def operator(name: str) -> Any:
    return getattr(getattr(torch.ops, NAMESPACE), name)


def quantile(
    self: Any, x: torch.Tensor, index: Any = None, ptr: Any = None, dim_size: Any = None, dim: int = -2
) -> torch.Tensor:
    """QuantileAggregation.forward, and that of the median."""
    self.assert_index_present(index)
    axis = dim % x.dim()
    if self.q.numel() > 1 and axis == x.dim() - 1:
        raise UnsupportedModelError(f"{type(self).__name__} puts several quantiles into one number a node")
    return operator(QUANTILE)(x, index, dim_size, axis, self.q, self.interpolation, float(self.fill_value))


def lstm(
    self: Any, x: torch.Tensor, index: Any = None, ptr: Any = None, dim_size: Any = None, dim: int = -2, **more: Any
) -> torch.Tensor:
    """LSTMAggregation.forward."""
    return recurrent(self, "lstm", self.lstm, x, index, dim_size, dim, **more)


def gru(
    self: Any, x: torch.Tensor, index: Any = None, ptr: Any = None, dim_size: Any = None, dim: int = -2, **more: Any
) -> torch.Tensor:
    """GRUAggregation.forward."""
    return recurrent(self, "gru", self.gru, x, index, dim_size, dim, **more)


def recurrent(
    self: Any,
    cell: str,
    network: Any,
    x: torch.Tensor,
    index: Any,
    dim_size: Any,
    dim: int,
    max_num_elements: int | None = None,
) -> torch.Tensor:
    self.assert_index_present(index)
    self.assert_two_dimensional_input(x, dim)
    if max_num_elements is not None:
        raise UnsupportedModelError(f"{type(self).__name__} is given max_num_elements: leave it to the graph")
    weights: list[torch.Tensor] = network._flat_weights
    width = (network.proj_size or network.hidden_size) * (2 if network.bidirectional else 1)
    settings = network.num_layers, network.bidirectional, network.bias, width
    return operator(RECURRENT)(x, index, dim_size, cell, weights, *settings)


def largest(
    self: Any,
    x: torch.Tensor,
    index: Any = None,
    ptr: Any = None,
    dim_size: Any = None,
    dim: int = -2,
    max_num_elements: int | None = None,
) -> torch.Tensor:
    """SortAggregation.forward: the messages whose last number is largest, side by side."""
    self.assert_index_present(index)
    self.assert_two_dimensional_input(x, dim)
    return operator(LIST)(x, index, dim_size, self.k, True).view(dim_size, self.k * x.size(-1))


def dense_batch(
    self: Any,
    x: torch.Tensor,
    index: Any = None,
    ptr: Any = None,
    dim_size: Any = None,
    dim: int = -2,
    fill_value: float = 0.0,
    max_num_elements: int | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Aggregation.to_dense_batch, for a fixed number of messages a node."""
    self.assert_index_present(index)
    self.assert_two_dimensional_input(x, dim)
    if max_num_elements is None or fill_value != 0:
        return whole_table(self)
    count = operator(LIST)(x.new_ones((x.size(0), 1)), index, dim_size, max_num_elements, False)
    return operator(LIST)(x, index, dim_size, max_num_elements, False), count.squeeze(-1) > 0


def whole_table(self: Any, *arguments: Any, **keywords: Any) -> Any:
    """The forward of aggregations that are made of operators on such a table."""
    raise UnsupportedModelError(
        f"{type(self).__name__} lays all messages out in a table, a row a node and as wide as the largest degree in "
        "the graph, and computes on that: no batch has such a table; use another aggregation"
    )


def by_gradient(self: Any, *arguments: Any, **keywords: Any) -> torch.Tensor:
    """EquilibriumAggregation.forward."""
    raise UnsupportedModelError(
        f"{type(self).__name__} descends the gradient of a sum over all nodes, and a program has no gradients: use "
        "another aggregation"
    )
