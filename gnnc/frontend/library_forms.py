"""Modules of PyG that look at the values of tensors, in a form that torch.export can trace.

Each stands in for the module's own forward while a model is captured, and computes the same: `test/unit` compares both.
"""

from __future__ import annotations

import contextlib
import math
import sys
from collections.abc import Callable, Generator, Mapping
from typing import Any

import torch
from torch import Tensor

EdgeType = tuple[str, str, str]


@contextlib.contextmanager
def traceable_forms() -> Generator[None]:
    """While it is entered, the modules have their traceable form; if PyG is not loaded, no model has such modules."""
    patches = [(cls, forward) for name, forward in FORMS.items() if (cls := loaded_class(name)) is not None]
    before = [cls.forward for cls, _ in patches]
    for cls, forward in patches:
        cls.forward = forward
    try:
        yield
    finally:
        for (cls, _), forward in zip(patches, before, strict=True):
            cls.forward = forward


def loaded_class(name: str) -> Any:
    module, _, cls = name.rpartition(".")
    return getattr(sys.modules.get(module), cls, None)


def hetero_linear(self: Any, x: Tensor, type_vec: Tensor) -> Tensor:
    """A linear map for each type of row; the module itself sorts rows by type and works on slices."""
    result = x.new_zeros(x.size(0), self.out_channels)
    for number in range(self.num_types):
        result = torch.where((type_vec == number).unsqueeze(-1), x @ self.weight[number], result)
    return result if self.bias is None else result + self.bias[type_vec]


def hgt_conv(self: Any, x_dict: Mapping[str, Tensor], edge_index_dict: Mapping[EdgeType, Tensor]) -> dict[str, Tensor]:
    """Heterogeneous graph transformer (Hu et al.), one relation after the other; the module itself joins all node types
    into one tensor and all relations into one. The softmax of a node runs over its edges of all relations."""
    heads, width = self.heads, self.out_channels // self.heads
    keys: dict[str, Tensor] = {}
    queries: dict[str, Tensor] = {}
    values: dict[str, Tensor] = {}
    for type_, kqv in self.kqv_lin(x_dict).items():
        parts = (part.view(-1, heads, width) for part in torch.tensor_split(kqv, 3, dim=1))
        keys[type_], queries[type_], values[type_] = parts
    scores: dict[EdgeType, Tensor] = {}
    for type_, (source, target) in edge_index_dict.items():
        moved = torch.einsum("nhd,hde->nhe", keys[type_[0]], relation_weight(self, self.k_rel, type_))
        score = (queries[type_[2]][target] * moved[source]).sum(-1) * self.p_rel["__".join(type_)]
        scores[type_] = score / math.sqrt(width)
    result: dict[str, Tensor] = {}
    for node_type, query in queries.items():
        into = [type_ for type_ in edge_index_dict if type_[2] == node_type]
        if node_type not in self.dst_node_types:
            continue
        result[node_type] = attend(self, into, scores, edge_index_dict, values, query)
    return self_updates(self, result, x_dict)


def relation_weight(self: Any, linear: Any, type_: EdgeType) -> Tensor:
    """The matrices of one relation, [heads, width, width]."""
    place, count = self.edge_types_map[type_], len(self.edge_types)
    return linear.weight.view(self.heads, count, *linear.weight.shape[1:])[:, place]


def attend(
    self: Any,
    into: list[EdgeType],
    scores: Mapping[EdgeType, Tensor],
    edges: Mapping[EdgeType, Tensor],
    values: Mapping[str, Tensor],
    query: Tensor,
) -> Tensor:
    """Values weighted by a softmax over the edges of all relations into one node type: [nodes, heads * width]."""
    if not into:
        return query.new_zeros(query.size(0), self.out_channels)
    nothing = query.new_full(query.shape[:2], -torch.inf)
    largest = nothing
    for type_ in into:
        index = edges[type_][1].unsqueeze(-1).expand_as(scores[type_])
        largest = torch.maximum(largest, nothing.scatter_reduce(0, index, scores[type_], "amax"))
    largest = torch.where(largest == -torch.inf, 0.0, largest)
    total = torch.zeros_like(largest)
    weighted = torch.zeros_like(query)
    for type_ in into:
        source, target = edges[type_]
        weight = (scores[type_] - largest[target]).exp()
        total = total.index_add(0, target, weight)
        moved = torch.einsum("nhd,hde->nhe", values[type_[0]], relation_weight(self, self.v_rel, type_))
        weighted = weighted.index_add(0, target, weight.unsqueeze(-1) * moved[source])
    return (weighted / (total + 1e-16).unsqueeze(-1)).flatten(1)


def self_updates(self: Any, attended: dict[str, Tensor], x_dict: Mapping[str, Tensor]) -> Any:
    """The last projection of HGT and its gated skip connection."""
    projected = self.out_lin({type_: torch.nn.functional.gelu(out) for type_, out in attended.items()})
    result: dict[str, Tensor] = {}
    for type_, out in projected.items():
        if type_ not in attended:
            continue
        if out.size(-1) == x_dict[type_].size(-1):
            share = self.skip[type_].sigmoid()
            result[type_] = share * out + (1 - share) * x_dict[type_]
        else:
            result[type_] = out
    return result


FORMS: dict[str, Callable[..., Any]] = {
    "torch_geometric.nn.dense.linear.HeteroLinear": hetero_linear,
    "torch_geometric.nn.conv.hgt_conv.HGTConv": hgt_conv,
}
