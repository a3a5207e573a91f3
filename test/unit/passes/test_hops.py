"""Many hops: what is carried from block to block does not grow with their number."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from torch import Tensor

import gnnc
from gnnc.dialects.gnn import ConvBlockOp
from gnnc.passes.analysis.model_functions import model_functions

HOPS = 6


class Hops(torch.nn.Module):
    def __init__(self, join: Callable[[Tensor], Tensor]):
        super().__init__()
        self.linear = torch.nn.Linear(10, 4)
        self.join = join

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        hops = [self.linear(x)]
        for _ in range(HOPS):
            hops.append(torch.zeros_like(hops[-1]).index_add(0, edge_index[1], hops[-1][edge_index[0]]))
        return self.join(torch.stack(hops, dim=1))


JOINS: dict[str, Callable[[Tensor], Tensor]] = {
    "sum": lambda h: h.sum(1),
    "mean": lambda h: h.mean(1),
    "max": lambda h: h.max(1).values,
    "amin": lambda h: h.amin(1),
}


@pytest.mark.parametrize("join", JOINS)
def test_a_join_over_hops_is_a_running_one(join: str, random_graph: gnnc.Graph) -> None:
    model = Hops(JOINS[join]).eval()
    program = gnnc.compile(model, random_graph)
    for batch_size in (1, 3, None):
        assert program.verify(batch_size=batch_size).passed
    blocks = [op for op in model_functions(program.module).forward.body.block.ops if isinstance(op, ConvBlockOp)]
    assert len(blocks) in (HOPS, HOPS + 1)
    # the hop itself and what has been joined so far
    assert max(len(block.outputs) for block in blocks) <= 2
    assert max(len(block.neighbors) + len(block.targets) for block in blocks) <= 3
