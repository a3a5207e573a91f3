"""Diffusion between all nodes and along edges."""

from __future__ import annotations

import torch
from torch import Tensor, nn


class DifFormer(nn.Module):
    """Wu et al., DIFFormer: Scalable (Graph) Transformers Induced by Energy Constrained Diffusion (2023), the simple
    kernel with heads, and propagation over the symmetrically normalised graph in every layer."""

    def __init__(self, width: int, hidden: int, classes: int, layers: int, heads: int):
        super().__init__()
        self.heads = heads
        self.into = nn.Linear(width, hidden)
        self.projections = nn.ModuleList(nn.Linear(hidden, 3 * heads * hidden) for _ in range(layers))
        self.norms = nn.ModuleList(nn.LayerNorm(hidden) for _ in range(layers))
        self.out = nn.Linear(hidden, classes)

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        source, target = edge_index
        degree = torch.zeros(x.size(0)).index_add(0, target, torch.ones(edge_index.size(1)))
        weight = (1 / degree[target].sqrt() * (1 / degree[source].sqrt())).nan_to_num(posinf=0.0, neginf=0.0)
        h = self.into(x).relu()
        for projection, norm in zip(self.projections, self.norms, strict=True):
            query, key, value = projection(h).view(x.size(0), 3, self.heads, -1).unbind(1)
            query, key = query / query.norm(), key / key.norm()
            # every head attends to all nodes: sum over nodes first
            moved = torch.einsum("lhm,lhd->hmd", key, value)
            numerator = torch.einsum("nhm,hmd->nhd", query, moved) + value.sum(0)
            normalizer = torch.einsum("nhm,hm->nh", query, key.sum(0)) + x.size(0)
            attended = numerator / normalizer.unsqueeze(-1)
            propagated = torch.zeros_like(value).index_add(0, target, weight.view(-1, 1, 1) * value[source])
            h = norm(0.5 * (attended + propagated).mean(1) + 0.5 * h)
        return self.out(h)
