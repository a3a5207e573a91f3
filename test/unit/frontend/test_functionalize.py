"""In-place operators become functional ones where nothing else sees what they write."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.export import Dim, ExportedProgram, export
from torch.fx import Node

from gnnc.frontend.functionalize import functionalize, written_operands


def exported(function: Callable[[Tensor, Tensor], Any]) -> ExportedProgram:
    class Model(torch.nn.Module):
        def forward(self, x: Tensor, index: Tensor) -> Any:
            return function(x, index)

    nodes, edges = Dim("nodes"), Dim("edges")
    arguments = (torch.randn(11, 4), torch.arange(23) % 11)
    return export(Model().eval(), arguments, dynamic_shapes=({0: nodes}, {0: edges}), strict=False)


def in_place(program: ExportedProgram) -> list[Node]:
    calls = [n for n in program.graph.nodes if n.op == "call_function" and hasattr(n.target, "_schema")]
    return [node for node in calls if written_operands(node)]


def counted(x: Tensor, index: Tensor) -> Tensor:
    degree = x.new_zeros(x.size(0)).scatter_add_(0, index, x.new_ones(index.size(0)))
    norm = degree.pow_(-0.5)
    norm.masked_fill_(norm == float("inf"), 0)
    return norm


def added(x: Tensor, index: Tensor) -> Tensor:
    out = x * 2
    out += x
    return out.relu_()


def view_of_what_dies(x: Tensor, index: Tensor) -> Tensor:
    out = (x * 2).view(-1, 2, 2)
    out += 1
    return out.flatten(1)


def seen_through_the_base(x: Tensor, index: Tensor) -> Tensor:
    out = x * 2
    out[:, 0] = 7.0
    return out


def seen_through_a_part(x: Tensor, index: Tensor) -> Tensor:
    out = x * 2
    left, right = out.chunk(2, dim=1)
    left.add_(1)
    return out + torch.cat([right, left], 1)


def seen_through_an_earlier_view(x: Tensor, index: Tensor) -> Tensor:
    out = x * 2
    view = out.t()
    out.mul_(3)
    return view.t() + out


def seen_through_a_dropout(x: Tensor, index: Tensor) -> Tensor:
    out = x * 2
    same = torch.nn.functional.dropout(out, training=False)
    same.add_(1)
    return out


def changes_an_input(x: Tensor, index: Tensor) -> Tensor:
    x.add_(1)
    return x * 2


def promoted(x: Tensor, index: Tensor) -> Tensor:
    out = x * 2
    out.add_(torch.ones(4, dtype=torch.float64))
    return out


PLAIN = [counted, added, view_of_what_dies, seen_through_a_dropout]
SHARED = [
    seen_through_the_base,
    seen_through_a_part,
    seen_through_an_earlier_view,
    changes_an_input,
    promoted,
]


@pytest.mark.parametrize("function", PLAIN, ids=lambda f: f.__name__)
def test_plain_ones_are_replaced(function: Callable[[Tensor, Tensor], Any]) -> None:
    program = exported(function)
    assert in_place(program)
    assert functionalize(program)
    assert not in_place(program)
    assert_computes(program, function)


@pytest.mark.parametrize("function", SHARED, ids=lambda f: f.__name__)
def test_others_are_left_to_torch(function: Callable[[Tensor, Tensor], Any]) -> None:
    program = exported(function)
    assert not functionalize(program)
    functional = program.run_decompositions({})
    assert not in_place(functional)
    assert_computes(functional, function)


def assert_computes(program: ExportedProgram, function: Callable[[Tensor, Tensor], Any]) -> None:
    for nodes, edges in ((1, 0), (5, 9), (7, 7)):
        x, index = torch.randn(nodes, 4), torch.randint(nodes, (edges,))
        torch.testing.assert_close(program.module()(x.clone(), index), function(x.clone(), index))
