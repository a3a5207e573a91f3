"""A model with layer-wise inference of its own, which a compiler makes superfluous."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import torch
from torch import Tensor, nn
from torch_geometric.nn import SAGEConv


class Sage(nn.Module):
    """Hamilton et al., Inductive Representation Learning on Large Graphs (2017)."""

    def __init__(self, width: int, hidden: int, classes: int, layers: int):
        super().__init__()
        widths = [width, *[hidden] * (layers - 1), classes]
        self.convs = nn.ModuleList(SAGEConv(a, b) for a, b in zip(widths, widths[1:], strict=False))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        for place, conv in enumerate(self.convs):
            x = conv(x, edge_index)
            if place < len(self.convs) - 1:
                x = nn.functional.dropout(x.relu(), 0.5, self.training)
        return x

    @torch.no_grad()
    def inference(self, x: Tensor, loader: Iterable[Any]) -> Tensor:
        """Layer after layer, with a loader whose batches hold all neighbours of some nodes."""
        for place, conv in enumerate(self.convs):
            parts: list[Tensor] = []
            for batch in loader:
                h = conv(x[batch.n_id], batch.edge_index)[: batch.batch_size]
                parts.append(h.relu() if place < len(self.convs) - 1 else h)
            x = torch.cat(parts)
        return x
