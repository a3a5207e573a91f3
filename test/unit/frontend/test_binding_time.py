"""What is known at compile time, what the graph decides, and what needs features."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric.nn.models import GCN, GIN, GraphSAGE

from gnnc.errors import UnsupportedModelError
from gnnc.frontend.arguments import Arguments
from gnnc.frontend.binding_time import BindingTime, binding_times, fold_weights
from gnnc.frontend.capture import capture
from gnnc.frontend.inputs import ModelInput
from gnnc.frontend.message_passing import match_scatter
from gnnc.frontend.traced_values import TracedModel, TracedValue
from gnnc.frontend.value_numbering import number_values

INPUTS = [
    ModelInput("x", "nodes", "nodes", 0, (4,), torch.float32),
    ModelInput("edge_index", "edges", "edges", 1, (2,), torch.int64, ("nodes", "nodes")),
]

Times = dict[TracedValue, BindingTime]


class Model(torch.nn.Module):
    """A function of x and edge_index, with a weight."""

    def __init__(self, function: Callable[..., Any]):
        super().__init__()
        self.function = function
        self.weight = torch.nn.Parameter(torch.randn(4, 4))

    def forward(self, x: Tensor, edge_index: Tensor) -> Any:
        return self.function(self.weight, x, edge_index)


def timed(model: torch.nn.Module) -> tuple[TracedModel, Times]:
    traced = number_values(capture(model.eval(), Arguments.by_name(INPUTS)), INPUTS)
    return traced, binding_times(traced, INPUTS)


def output_times(function: Callable[..., Any]) -> list[BindingTime]:
    traced, times = timed(Model(function))
    return [times[output] for output in traced.outputs]


def scatter_times(model: torch.nn.Module) -> list[BindingTime]:
    traced, times = timed(model)
    return [times[value] for value in traced.values if match_scatter(value) is not None]


def test_the_latest_operand_decides() -> None:
    def forward(w: Tensor, x: Tensor, edge_index: Tensor) -> tuple[Tensor, ...]:
        return w.exp(), edge_index[0] + 1, edge_index * w.sum(), x * 2, x[edge_index[0]], x * w.sum()

    weight, structure, feature = BindingTime.WEIGHT, BindingTime.STRUCTURE, BindingTime.FEATURE
    assert output_times(forward) == [weight, structure, structure, feature, feature, feature]


def test_sizes_and_fills_belong_to_the_structure() -> None:
    def forward(w: Tensor, x: Tensor, edge_index: Tensor) -> tuple[Tensor, ...]:
        h = x.relu()
        return (
            torch.zeros_like(h),
            h.new_ones(h.size(0)),
            torch.arange(h.size(0)),
            w.expand(h.size(0), 4, 4),
            w.new_ones(3),
        )

    assert output_times(forward) == [BindingTime.STRUCTURE] * 4 + [BindingTime.WEIGHT]


def test_a_count_of_edges_is_structure() -> None:
    """SAGE's mean divides by the number of neighbours, which it finds with ones shaped like the messages."""
    times = scatter_times(GraphSAGE(4, 4, 2, 4))
    assert sorted(times) == [BindingTime.STRUCTURE, BindingTime.FEATURE, BindingTime.FEATURE]


def test_the_norm_of_gcn_is_structure() -> None:
    times = scatter_times(GCN(4, 4, 2, 4))
    assert sorted(times) == [BindingTime.STRUCTURE, BindingTime.FEATURE, BindingTime.FEATURE]


def test_what_depends_on_weights_only_is_folded() -> None:
    """GIN scales with 1 + eps, a weight if it is trained."""
    model = GIN(4, 4, 2, 4, norm="batch_norm", train_eps=True)
    torch.nn.init.constant_(model.convs[0].get_parameter("eps"), 0.25)
    traced, times = timed(model)
    fold_weights(traced, times)
    early = [value for value in traced.values if times[value] is BindingTime.WEIGHT]
    assert all(value.tensor is not None for value in early)
    (first, *_) = [value for value in early if value.op == "aten.add.Tensor"]
    assert first.tensor is not None
    assert float(first.tensor) == pytest.approx(1.25)


def test_folding_takes_every_kind_of_call() -> None:
    def forward(w: Tensor, x: Tensor, edge_index: Tensor) -> Tensor:
        largest, _ = torch.stack([w, w.new_full((4, 4), 0.5)]).max(0)
        return x @ torch.cat([largest, w[:, :2].softmax(1)], dim=1)

    model = Model(forward)
    traced, times = timed(model)
    fold_weights(traced, times)
    folded = traced.outputs[0].args[1].tensor
    expected = torch.cat([model.weight.clamp(min=0.5), model.weight[:, :2].softmax(1)], dim=1)
    torch.testing.assert_close(folded, expected.detach())


def with_noise(w: Tensor, x: Tensor, edge_index: Tensor) -> Tensor:
    return x + torch.rand(4)


def test_a_random_weight_is_refused() -> None:
    traced, times = timed(Model(with_noise))
    with pytest.raises(UnsupportedModelError, match=r"aten\.rand\.default.*random"):
        fold_weights(traced, times)
