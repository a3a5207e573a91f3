"""What can't be computed exactly is refused, with the operator or torch's reason, and the model's line."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import pytest
import torch
import torch.nn.functional as F

import gnnc
from gnnc.errors import CaptureError, UnsupportedModelError

WIDTH = 6

GRAPH = gnnc.Graph(
    x=torch.randn(5, WIDTH, generator=torch.Generator().manual_seed(0)),
    edge_index=torch.tensor([[0, 1, 2, 2, 4, 3, 3], [1, 0, 2, 1, 3, 4, 0]]),
)


class Base(torch.nn.Module):
    permutation: torch.Tensor
    calls: torch.Tensor

    def __init__(self) -> None:
        super().__init__()
        self.weight = torch.nn.Parameter(torch.rand(WIDTH, WIDTH))
        self.register_buffer("permutation", torch.tensor([1, 0]))
        self.register_buffer("calls", torch.zeros(()))


Forward: TypeAlias = Callable[[Base, torch.Tensor, torch.Tensor], Any]


@dataclass(frozen=True)
class Refusal:
    """A forward that is refused: for the operator named, or while it is captured; the message has these words."""

    forward: Forward
    op: str | None
    reason: str


def refused(forward: Forward, op: str | None, reason: str) -> Refusal:
    return Refusal(forward, op, reason)


def neighbors(x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
    return torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])


def smallest(x: torch.Tensor) -> torch.Tensor:
    return torch.linalg.vector_norm(x, -float("inf"), dim=0)


def nearest(x: torch.Tensor, count: int) -> torch.Tensor:
    """A kNN graph made from features."""
    distances = (x[:, None] - x[None]).square().sum(-1)
    return distances.topk(count, largest=False).indices


def distinct(x: torch.Tensor) -> torch.Tensor:
    return torch.unique(x)


NOT_CAPTURED = None

MIXING: dict[str, Refusal] = {
    "all pairs": refused(
        lambda s, x, edge_index: (x @ x.T).relu().sum(1), "aten.matmul.default", "multiplies over all"
    ),
    "softmax over all pairs": refused(
        lambda s, x, edge_index: (x @ x.T).softmax(-1) @ x, "aten.matmul.default", "multiplies over all nodes or edges"
    ),
    "neighbours in feature space": refused(
        lambda s, x, edge_index: x[nearest(x, 2)].mean(1), "aten.sub.Tensor", "along another axis"
    ),
    "argmax over nodes": refused(
        lambda s, x, edge_index: x + x.argmax(0), "aten.argmax.default", "looks for the maximum over all nodes or edges"
    ),
    "place of the maximum": refused(
        lambda s, x, edge_index: x + x.max(0).indices, "aten.max.dim", "takes the maximum over all nodes or edges"
    ),
    "median over nodes": refused(lambda s, x, edge_index: x - x.median(0).values, "aten.median.dim", "over all nodes"),
    "smallest norm": refused(
        lambda s, x, edge_index: x / smallest(x),
        "aten.linalg_vector_norm.default",
        "takes the norm over all",
    ),
    "argmax of everything": refused(lambda s, x, edge_index: x + x.argmax(), "aten.argmax.default", "maximum over all"),
    "cumulative sum": refused(
        lambda s, x, edge_index: x.cumsum(0), "aten.cumsum.default", "accumulates over all nodes"
    ),
    "negative axis": refused(
        lambda s, x, edge_index: x.cumsum(-2), "aten.cumsum.default", "accumulates over all nodes"
    ),
    "flip": refused(lambda s, x, edge_index: x.flip(0), "aten.flip.default", "reverses over all nodes"),
    "roll without axis": refused(lambda s, x, edge_index: x.roll(1), "aten.roll.default", "shifts over all nodes"),
    "roll over nodes": refused(lambda s, x, edge_index: x.roll(1, 0), "aten.roll.default", "shifts over all nodes"),
    "sort over nodes": refused(
        lambda s, x, edge_index: torch.sort(x, dim=0)[0], "aten.sort.default", "sorts over all nodes"
    ),
    "triangle": refused(lambda s, x, edge_index: x.tril(), "aten.tril.default", "not known to keep rows apart"),
    "attention over nodes": refused(
        lambda s, x, edge_index: F.scaled_dot_product_attention(x, x, x),
        "aten.scaled_dot_product_attention.default",
        "attends from every node",
    ),
    "distances": refused(
        lambda s, x, edge_index: (x[:, None] - x[None]).abs().sum((1, 2)), "aten.sub.Tensor", "along another axis"
    ),
    "values between all pairs": refused(
        lambda s, x, edge_index: torch.where(torch.eye(x.size(0)) > 0, x.sum(1), 0.0).sum(1),
        "aten.where.ScalarOther",
        "two axes",
    ),
    "kernel over all pairs": refused(
        lambda s, x, edge_index: torch.einsum("nf,mf->nm", x, x).sum(1), "aten.einsum.default", "all pairs"
    ),
    "sequence of nodes": refused(
        lambda s, x, edge_index: F.conv1d(x.t()[None], s.weight[:, :, None])[0].t(), "aten.conv1d.default", "not known"
    ),
    "folded rows": refused(
        lambda s, x, edge_index: x.view(-1, 2).softmax(1).view(-1, 6), "aten.view.default", "folds rows"
    ),
    "rows and columns exchanged": refused(
        lambda s, x, edge_index: x.t().reshape(-1), "aten._unsafe_view.default", "folds rows"
    ),
    "row per feature": refused(lambda s, x, edge_index: x.repeat(2, 1), "aten.repeat.default", "repeats rows"),
    "first row for all": refused(lambda s, x, edge_index: x - x[0], "aten.select.int", "picks one over all nodes"),
    "first row by gather": refused(
        lambda s, x, edge_index: x - x.gather(1, s.permutation[None]).sum(1, keepdim=True),
        "aten.gather.default",
        "does not go with the rows",
    ),
    "padded rows": refused(
        lambda s, x, edge_index: F.pad(x, (0, 0, 1, 0))[:-1], "aten.pad.default", "pads over all nodes"
    ),
    "stacked on the rows": refused(
        lambda s, x, edge_index: torch.cat([x, x]), "aten.cat.default", "joins over all nodes"
    ),
    "joined with a weight": refused(
        lambda s, x, edge_index: torch.cat([x, s.weight]), "aten.cat.default", "with and without rows"
    ),
    "one squeeze too many": refused(
        lambda s, x, edge_index: x.sum(1, keepdim=True).squeeze(), "aten.squeeze.default", "give squeeze a dim"
    ),
}

CHOOSING: dict[str, Refusal] = {
    "permuted nodes": refused(
        lambda s, x, edge_index: x[torch.argsort(x[:, 0])], "aten.argsort.default", "sorts over all nodes"
    ),
    "fixed nodes": refused(
        lambda s, x, edge_index: x - x[s.permutation].sum(), "aten.index.Tensor", "picks over all nodes"
    ),
    "nodes by feature": refused(
        lambda s, x, edge_index: x[x[:, 0].long()], "aten.index.Tensor", "index that differs from row to row"
    ),
    "nodes by position": refused(
        lambda s, x, edge_index: x[torch.arange(x.size(0)).flip(0)],
        "aten.index.Tensor",
        "index that differs from row to row",
    ),
    "masked nodes": refused(
        lambda s, x, edge_index: x[x[:, 0] > 0], "aten.index.Tensor", "index that differs from row to row"
    ),
    "best nodes": refused(
        lambda s, x, edge_index: x.topk(2, 0)[0], "aten.topk.default", "looks for the largest over all nodes"
    ),
    "top-k pooling": refused(
        lambda s, x, edge_index: x[(x @ s.weight[0]).topk(2)[1]], "aten.topk.default", "over all nodes"
    ),
    "distinct values": refused(
        lambda s, x, edge_index: distinct(x), "aten._unique2.default", "not known to keep rows apart"
    ),
    "places of values": refused(
        lambda s, x, edge_index: x.nonzero().float(), "aten.nonzero.default", "not known to keep rows apart"
    ),
    "edges by feature": refused(
        lambda s, x, edge_index: neighbors(x, edge_index[:, x[edge_index[0], 0] > 0]),
        "aten.index.Tensor",
        "index that differs from row to row",
    ),
    "last edge wins": refused(
        lambda s, x, edge_index: x.index_copy(0, edge_index[1], x[edge_index[0]]),
        "aten.index_copy.default",
        "different nodes or edges",
    ),
    "scaled scatter": refused(
        lambda s, x, edge_index: x.index_add(0, edge_index[1], x[edge_index[0]], alpha=2),
        "aten.index_add.default",
        "different nodes or edges",
    ),
    "smaller index": refused(
        lambda s, x, edge_index: x.scatter_add(0, edge_index[1][:, None].expand(-1, 2), x[edge_index[0]]),
        "aten.scatter_add.default",
        "different nodes",
    ),
}

RANDOM: dict[str, Refusal] = {
    "live dropout": refused(lambda s, x, edge_index: F.dropout(x, 0.5), "aten.native_dropout.default", "is random"),
    "live alpha dropout": refused(
        lambda s, x, edge_index: F.alpha_dropout(x, 0.5, training=True), "aten.bernoulli.p", "is random"
    ),
    "live feature dropout": refused(lambda s, x, edge_index: F.dropout1d(x, 0.5), "aten.bernoulli.p", "is random"),
    "live rrelu": refused(lambda s, x, edge_index: F.rrelu(x, training=True), "aten.rrelu.default", "is random"),
    "noise like x": refused(lambda s, x, edge_index: x + torch.rand_like(x), "aten.rand_like.default", "is random"),
    "noise": refused(lambda s, x, edge_index: x + torch.rand(x.size(0), 1), "aten.rand.default", "is random"),
    "random weight": refused(lambda s, x, edge_index: x @ torch.randn(WIDTH, 2), "aten.randn.default", "random"),
    "gumbel noise": refused(lambda s, x, edge_index: F.gumbel_softmax(x), "aten.exponential.default", "is random"),
    "random order": refused(
        lambda s, x, edge_index: x[torch.randperm(x.size(0))], "aten.index.Tensor", "differs from row to row"
    ),
    "random edges": refused(
        lambda s, x, edge_index: neighbors(x, edge_index[:, torch.rand(edge_index.size(1)) > 0.5]),
        "aten.rand.default",
        "is random",
    ),
    "random features": refused(
        lambda s, x, edge_index: torch.bernoulli(x.sigmoid()), "aten.bernoulli.default", "is random"
    ),
}

OTHER: dict[str, Refusal] = {
    "nothing is learned from features": refused(
        lambda s, x, edge_index: torch.ones_like(x), "fill", "depend on node features"
    ),
    "complex numbers": refused(
        lambda s, x, edge_index: x.to(torch.complex64).abs(), "aten._to_copy.default", "complex64"
    ),
    "matrix over nodes": refused(
        lambda s, x, edge_index: x + torch.zeros(x.size(0), x.size(0)).sum(1, keepdim=True),
        "aten.zeros.default",
        "two axes",
    ),
    "square root of the count": refused(
        lambda s, x, edge_index: x / x.size(0) ** 0.5, "aten.div.Tensor", "which is no count"
    ),
    "count of chosen nodes": refused(
        lambda s, x, edge_index: x * x[x[:, 0] > 0].size(0), "aten.mul.Tensor", "which is no count"
    ),
    "range of a chosen size": refused(
        lambda s, x, edge_index: x * torch.arange(x.nonzero().size(0)).sum(), "aten.arange.default", "which is no count"
    ),
    "number read out": refused(lambda s, x, edge_index: x * x.sum().item(), "aten.mul.Tensor", "which is no count"),
}

CAPTURE: dict[str, Refusal] = {
    "branch on features": refused(lambda s, x, edge_index: x if x.sum() > 0 else -x, NOT_CAPTURED, "data-dependent"),
    "node count from edges": refused(
        lambda s, x, edge_index: x.new_zeros(int(edge_index.max()) + 1, WIDTH), NOT_CAPTURED, "data-dependent"
    ),
    "loop over nodes": refused(
        lambda s, x, edge_index: torch.stack([row for row in x]), NOT_CAPTURED, "specialized it to be a constant"
    ),
    "as many nodes as edges": refused(
        lambda s, x, edge_index: x + edge_index[0, :, None], NOT_CAPTURED, r"edges.*nodes|nodes.*edges"
    ),
    "pairs of nodes": refused(lambda s, x, edge_index: x.view(2, -1, WIDTH).sum(0), NOT_CAPTURED, r"% 2"),
    "all rows but one": refused(
        lambda s, x, edge_index: F.pad(x[1:], (0, 0, 1, 0)), NOT_CAPTURED, "Not all values of nodes"
    ),
    "distance matrix": refused(lambda s, x, edge_index: torch.cdist(x, x).sum(1), NOT_CAPTURED, r"size\(\)\[0\] <= 25"),
    "numpy": refused(lambda s, x, edge_index: torch.from_numpy(x.numpy()), NOT_CAPTURED, "numpy"),
    "sparse matrix": refused(
        lambda s, x, edge_index: torch.sparse_coo_tensor(edge_index, x[:7, 0], (x.size(0), x.size(0))) @ x,
        NOT_CAPTURED,
        "",
    ),
    "its own error": refused(lambda s, x, edge_index: s.nothing, NOT_CAPTURED, "AttributeError: .*nothing"),
    "state": refused(lambda s, x, edge_index: x + s.calls.add_(1), NOT_CAPTURED, "changes its buffers calls"),
    "state by index": refused(
        lambda s, x, edge_index: x + s.calls.fill_(2.0), NOT_CAPTURED, "changes its buffers calls"
    ),
}

REFUSALS = {**MIXING, **CHOOSING, **RANDOM, **OTHER, **CAPTURE}


def model_of(forward: Forward) -> torch.nn.Module:
    """torch notes the lines of functions that are called forward."""
    forward.__code__ = forward.__code__.replace(co_name="forward")
    return type("Model", (Base,), {"forward": forward})().eval()


@pytest.mark.parametrize("name", list(REFUSALS))
def test_is_refused_by_name_and_line(name: str) -> None:
    refusal = REFUSALS[name]
    with pytest.raises((UnsupportedModelError, CaptureError)) as caught:
        gnnc.compile(model_of(refusal.forward), GRAPH)
    message = str(caught.value)
    assert re.search(refusal.reason, message), message
    if refusal.op is not None:
        assert isinstance(caught.value, UnsupportedModelError)
        assert caught.value.op == refusal.op
    elif "buffers" not in refusal.reason:
        assert isinstance(caught.value, CaptureError)
        assert caught.value.reason and caught.value.reason in message
    if "buffers" not in refusal.reason:
        line = refusal.forward.__code__.co_firstlineno
        assert f"{__file__}:{line}" in message
