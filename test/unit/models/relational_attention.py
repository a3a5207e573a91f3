"""Attention whose scores know the relation of an edge."""

from __future__ import annotations

import torch
from torch import Tensor, nn
from torch_geometric.utils import softmax


class RelationalAttention(nn.Module):
    """Busbridge et al., Relational Graph Attention Networks (2019), additive scores normalised over all relations."""

    def __init__(self, width: int, hidden: int, classes: int, relations: int):
        super().__init__()
        self.weights = nn.ParameterList(
            torch.randn(relations, a, b) / a**0.5 for a, b in ((width, hidden), (hidden, classes))
        )
        self.queries = nn.ParameterList(torch.randn(relations, b) for b in (hidden, classes))
        self.keys = nn.ParameterList(torch.randn(relations, b) for b in (hidden, classes))

    def forward(self, x: Tensor, edge_index: Tensor, edge_type: Tensor) -> Tensor:
        source, target = edge_index
        for place, (weight, query, key) in enumerate(zip(self.weights, self.queries, self.keys, strict=True)):
            moved = torch.einsum("nf,rfg->nrg", x, weight)
            sent = moved[source].gather(1, edge_type.view(-1, 1, 1).expand(-1, 1, moved.size(-1))).squeeze(1)
            seen = moved[target].gather(1, edge_type.view(-1, 1, 1).expand(-1, 1, moved.size(-1))).squeeze(1)
            score = (seen * query[edge_type] + sent * key[edge_type]).sum(-1)
            alpha = softmax(nn.functional.leaky_relu(score, 0.2), target, num_nodes=x.size(0))
            out = torch.zeros(x.size(0), moved.size(-1)).index_add(0, target, alpha.unsqueeze(-1) * sent)
            x = nn.functional.elu(out) if place == 0 else out
        return x
