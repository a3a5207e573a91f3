"""Models written for PyG's old NeighborSampler: forward takes the edges of every layer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch_geometric.nn import GATConv, SAGEConv

import gnnc

WIDTH = 10


class Sampled(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.convs = nn.ModuleList([SAGEConv((WIDTH, WIDTH), 8), SAGEConv((8, 8), 8), SAGEConv((8, 8), 3)])

    def forward(self, x: Tensor, adjs: Any) -> Tensor:
        for i, (edge_index, _, size) in enumerate(adjs):
            x_target = x[: size[1]]
            x = self.convs[i]((x, x_target), edge_index)
            if i != len(self.convs) - 1:
                x = F.dropout(x.relu(), p=0.5, training=self.training)
        return x.log_softmax(dim=-1)


class Skips(nn.Module):
    """Says how many layers it has, and takes edge attributes by the ids of edges."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.num_layers = 2
        self.first, self.second = GATConv((WIDTH, WIDTH), 4, edge_dim=2), GATConv((4, 4), 4, edge_dim=2)
        self.skip = nn.Linear(WIDTH, 4)

    def forward(self, x: Tensor, adjs: Any, edge_attr: Tensor) -> Tensor:
        first, second = [adj.to("cpu") for adj in adjs]
        h = self.first((x, x[: first.size[1]]), first.edge_index, edge_attr[first.e_id]).relu()
        h = self.second((h, h[: second.size[1]]), second.edge_index, edge_attr[second.e_id])
        return h + self.skip(x[: second.size[1]])


def test_every_layer_gets_all_edges(nasty_graphs: Mapping[str, gnnc.Graph], assert_exact: Any) -> None:
    assert_exact(gnnc.compile(Sampled().eval(), nasty_graphs["random"]), nasty_graphs)


def test_ids_of_edges(nasty_graphs: Mapping[str, gnnc.Graph], assert_exact: Any) -> None:
    graphs = {
        kind: gnnc.Graph(x=g.x, edge_index=g.edge_index, edge_attr=torch.rand(g.num_edges, 2))
        for kind, g in nasty_graphs.items()
    }
    assert_exact(gnnc.compile(Skips().eval(), graphs["random"]), graphs)


def test_the_number_of_layers_must_be_known(random_graph: gnnc.Graph) -> None:
    class Unknown(nn.Module):
        def forward(self, x: Tensor, adjs: Any) -> Tensor:
            return x

    with pytest.raises(gnnc.CaptureError, match="nothing says how many: set model.num_layers before it is compiled"):
        gnnc.compile(Unknown().eval(), random_graph)
