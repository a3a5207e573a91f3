"""Equal calls are one value, and equal sizes one size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch_geometric.nn.models import GAT, GCN

from gnnc.errors import UnsupportedModelError
from gnnc.frontend.arguments import Arguments
from gnnc.frontend.capture import capture
from gnnc.frontend.inputs import ModelInput
from gnnc.frontend.message_passing import find_edge_sets, match_scatter
from gnnc.frontend.traced_values import Size, TracedModel, TracedValue
from gnnc.frontend.value_numbering import number_values

INPUTS = [
    ModelInput("x", "nodes", "nodes", 0, (4,), torch.float32),
    ModelInput("edge_index", "edges", "edges", 1, (2,), torch.int64, ("nodes", "nodes")),
]


def traced(model: torch.nn.Module) -> TracedModel:
    return number_values(capture(model.eval(), Arguments.by_name(INPUTS)), INPUTS)


def traced_function(function: Callable[[Tensor, Tensor], Any]) -> TracedModel:
    class Model(torch.nn.Module):
        def forward(self, x: Tensor, edge_index: Tensor) -> Any:
            return function(x, edge_index)

    return traced(Model())


def operators(model: TracedModel) -> list[str]:
    return [value.op for value in model.values if value.op not in ("input", "weight")]


def sizes(model: TracedModel) -> set[Size]:
    return {size for value in model.values for shape, _ in value.outputs for size in shape if isinstance(size, Size)}


@pytest.mark.parametrize("model", [GCN(4, 4, 20, 4), GAT(4, 4, 3, 4, heads=2)], ids=["gcn", "gat"])
def test_all_layers_speak_of_the_same_edges(model: torch.nn.Module) -> None:
    """Every layer rebuilds its self-loops with a size of its own; after numbering there is one."""
    numbered = traced(model)
    scatters = [value for value in numbered.values if match_scatter(value) is not None]
    assert len({id(match_scatter(value).index) for value in scatters}) == 1  # type: ignore[union-attr]
    assert len({scatter.args[3].domain for scatter in scatters}) == 1
    nodes = numbered.outputs[0].domain
    sets = {edges for edges, _ in find_edge_sets(numbered.values, lambda size: size == nodes).ends.values()}
    assert len(sets) == 1
    # nodes, edges, edges without loops, those with loops added
    assert len(sizes(numbered)) == 4


def test_what_changes_nothing_vanishes() -> None:
    def forward(x: Tensor, edge_index: Tensor) -> Tensor:
        x = x.clone().contiguous().detach().view(-1, 4).view(x.shape).expand(-1, 4)[:, :][: x.size(0)]
        return torch.nn.functional.dropout(x, 0.5, training=False).relu()

    assert operators(traced_function(forward)) == ["aten.relu.default"]


def test_a_shorter_slice_stays() -> None:
    assert operators(traced_function(lambda x, edge_index: x[:, 1:])) == ["aten.slice.Tensor"]


def test_writing_over_everything_is_what_was_written() -> None:
    def forward(x: Tensor, edge_index: Tensor) -> Tensor:
        y = x.relu()
        y[:] = x.tanh()
        return y

    model = traced_function(forward)
    assert model.outputs[0].op in ("aten.tanh.default", "aten.copy.default")


def test_equal_calls_are_one_value() -> None:
    model = traced_function(lambda x, edge_index: (x.relu() + 1, x.relu() + 1, x.relu() + 2))
    assert operators(model) == ["aten.relu.default", "aten.add.Tensor", "aten.add.Tensor"]
    assert model.outputs[0] is model.outputs[1]
    assert model.outputs[0] is not model.outputs[2]


@pytest.mark.parametrize(("one", "other"), [(1, 1.0), (1, True), (0.0, -0.0), (2, 2.0)])
def test_numbers_of_different_types_differ(one: float, other: float) -> None:
    model = traced_function(lambda x, edge_index: (edge_index * one, edge_index * other))
    assert model.outputs[0] is not model.outputs[1]
    assert operators(model).count("aten.mul.Tensor") == 2


def test_keywords_count() -> None:
    def forward(x: Tensor, edge_index: Tensor) -> tuple[Tensor, ...]:
        return x.to(torch.float64), x.to(torch.float16), x.to(torch.float64, copy=True)

    model = traced_function(forward)
    assert model.outputs[0] is not model.outputs[1]


def test_a_fill_takes_shape_and_type_from_its_operand_and_no_more() -> None:
    def forward(x: Tensor, edge_index: Tensor) -> tuple[Tensor, ...]:
        h = x.relu()
        return torch.zeros_like(x), torch.zeros_like(h), h.new_zeros(h.shape), torch.full_like(h, 0), torch.ones_like(h)

    zeros, *others, ones = traced_function(forward).outputs
    assert zeros.op == "fill"
    assert not list(zeros.operands())
    assert all(value is zeros for value in others)
    assert ones is not zeros


def test_what_is_filled_with_a_size_or_over_all_pairs_is_no_fill() -> None:
    def forward(x: Tensor, edge_index: Tensor) -> tuple[Tensor, Tensor]:
        return torch.full((x.size(0),), x.size(0)), torch.zeros(x.size(0), x.size(0))

    assert [value.op for value in traced_function(forward).outputs] == ["aten.full.default", "aten.zeros.default"]


def test_several_results_are_taken_one_by_one() -> None:
    model = traced_function(lambda x, edge_index: x.max(1))
    assert [(value.op, value.args[1]) for value in model.outputs] == [("item", 0), ("item", 1)]
    assert model.outputs[0].args[0] is model.outputs[1].args[0]


def test_an_input_changed_in_place_is_no_result() -> None:
    model = traced_function(lambda x, edge_index: x.mul_(2) + 1)
    assert [value.op for value in model.outputs] == ["aten.add.Tensor"]


def test_an_input_may_be_returned() -> None:
    (output,) = traced_function(lambda x, edge_index: x).outputs
    assert (output.op, output.name) == ("input", "x")


def test_only_tensors_are_returned() -> None:
    with pytest.raises(UnsupportedModelError, match="returns 3, which is not a tensor"):
        traced_function(lambda x, edge_index: (x, 3))


def test_weights_and_constants_hold_their_numbers() -> None:
    class Model(torch.nn.Module):
        shift: Tensor

        def __init__(self) -> None:
            super().__init__()
            self.linear = torch.nn.Linear(4, 4)
            self.register_buffer("shift", torch.tensor([1.0, 2.0, 3.0, 4.0]), persistent=False)

        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return self.linear(x) + self.shift + torch.tensor([5.0, 6.0, 7.0, 8.0])

    model = Model()
    tensors = {value.name: value.tensor for value in traced(model).values if value.op == "weight"}
    assert set(tensors) >= {"linear.weight", "linear.bias", "shift"}
    known = [tensor for tensor in tensors.values() if tensor is not None]
    assert len(known) == len(tensors)
    for expected in (model.linear.weight, model.linear.bias, model.shift, torch.tensor([5.0, 6.0, 7.0, 8.0])):
        assert any(torch.equal(tensor, expected) for tensor in known)


def test_a_line_of_the_model_is_remembered() -> None:
    class Model(torch.nn.Module):
        def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
            return x.tanh()  # this line

    value: TracedValue = traced(Model()).outputs[0]
    assert value.location is not None
    assert value.location.file == __file__
    assert value.location.code == "return x.tanh()  # this line"
