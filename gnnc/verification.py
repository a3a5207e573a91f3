"""Comparing a program's outputs with what the model itself computes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch.utils._pytree import tree_leaves

DEFAULT_TOLERANCE = 1e-4


@dataclass(frozen=True)
class OutputComparison:
    """How one output differs from the model's.

    `absolute` is the largest absolute error, `relative` the same over the largest value of the model's output (its
    scale), `node` where it is.
    """

    name: str
    absolute: float
    relative: float
    node: int | None
    tolerance: float

    @property
    def passed(self) -> bool:
        # a NaN that the model does not have is no agreement
        return self.relative <= self.tolerance


@dataclass(frozen=True)
class Verification:
    """The comparison of every output, over so many nodes."""

    outputs: tuple[OutputComparison, ...]
    nodes: int

    @property
    def passed(self) -> bool:
        return all(output.passed for output in self.outputs)


@dataclass(frozen=True)
class Reference:
    """Rows of the model's own outputs for some nodes of the graph it was compiled with.

    `nodes` are ids (int64, shape [count]); `rows` holds, for each output, its rows for those nodes. `graph_hash` tells
    that graph from others.
    """

    nodes: torch.Tensor
    rows: tuple[torch.Tensor, ...]
    graph_hash: str

    def tensors(self) -> dict[str, torch.Tensor]:
        """As named tensors, to store."""
        digest = torch.tensor(list(bytes.fromhex(self.graph_hash)), dtype=torch.uint8)
        rows = {f"output.{i}": tensor for i, tensor in enumerate(self.rows)}
        return {"nodes": self.nodes, "graph": digest, **rows}

    @staticmethod
    def of(tensors: Mapping[str, torch.Tensor]) -> Reference:
        """From named tensors."""
        rows = tuple(tensors[f"output.{i}"] for i in range(len(tensors) - 2))
        return Reference(tensors["nodes"], rows, bytes(tensors["graph"].tolist()).hex())


def eager_outputs(model: torch.nn.Module, arguments: Mapping[str, torch.Tensor]) -> list[torch.Tensor]:
    """What the model itself computes, its tensors in order, in evaluation mode."""
    training = [module for module in model.modules() if module.training]
    model.eval()
    try:
        with torch.no_grad():
            return [leaf for leaf in tree_leaves(model(**arguments)) if leaf is not None]
    finally:
        for module in training:
            module.training = True


def hash_of(tensors: Mapping[str, torch.Tensor]) -> str:
    """A SHA-256 over names, shapes, types and contents."""
    digest = hashlib.sha256()
    for name in sorted(tensors):
        tensor = tensors[name].contiguous()
        digest.update(f"{name} {list(tensor.shape)} {tensor.dtype}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def compare(
    names: Sequence[str],
    results: Sequence[torch.Tensor],
    expected: Sequence[torch.Tensor],
    axes: Sequence[int],
    nodes: torch.Tensor,
    tolerance: float,
) -> Verification:
    """Compares outputs row by row; `axes` are their axes over nodes, `nodes` the id of each row.

    Equal infinities and NaN in the same places agree, as what the model computes is the measure.
    """
    rows = zip(names, results, expected, axes, strict=True)
    return Verification(tuple(compare_one(*row, nodes, tolerance) for row in rows), len(nodes))


def compare_one(
    name: str, result: torch.Tensor, expected: torch.Tensor, axis: int, nodes: torch.Tensor, tolerance: float
) -> OutputComparison:
    if result.numel() == 0:
        return OutputComparison(name, 0.0, 0.0, None, tolerance)
    ours, theirs = result.double(), expected.double()
    same = (ours == theirs) | (ours.isnan() & theirs.isnan())
    error = torch.where(same, 0.0, (ours - theirs).abs()).nan_to_num(nan=torch.inf)
    by_node = error.movedim(axis, 0).reshape(error.shape[axis], -1).amax(1)
    finite = theirs[theirs.isfinite()]
    scale = float(finite.abs().max()) if finite.numel() else 0.0
    largest, place = float(by_node.max()), int(by_node.argmax())
    relative = largest / scale if scale else largest
    return OutputComparison(name, largest, relative, int(nodes[place]), tolerance)
