"""What is said of a compiled model whose blocks hand on more than node values."""

from __future__ import annotations

import torch
from torch import Tensor

import gnnc
from gnnc.explanation import explain_module


class EdgeStates(torch.nn.Module):
    """Two layers with a state an edge, and a mean over all nodes in between."""

    def forward(self, x: Tensor, edge_index: Tensor) -> tuple[Tensor, Tensor]:
        source, target = edge_index
        state = (x[source] * x[target]).tanh()
        x = torch.zeros_like(x).index_add(0, target, state)
        x = x - x.mean(0)
        state = state + x[source] * x[target]
        return torch.zeros_like(x).index_add(0, target, state), state


def test_edges_and_values_of_the_whole_graph(random_graph: gnnc.Graph) -> None:
    program = gnnc.compile(EdgeStates().eval(), random_graph)
    assert program.verify(batch_size=3).passed
    explanation = explain_module(program.module)
    handed_on = [transfer for block in explanation.blocks for transfer in block.outputs]
    assert {transfer.unit for transfer in handed_on} == {"a node", "an edge", "in all"}
    assert len({transfer.name for transfer in handed_on}) == len(handed_on)
    text = explanation.as_text()
    assert "40 bytes an edge" in text and "40 bytes in all" in text
