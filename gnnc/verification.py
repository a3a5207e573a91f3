"""Comparing a program's outputs with what the model itself computes."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch

from gnnc.output_rows import OutputRows

DEFAULT_TOLERANCE = 1e-4
TOLERANCES = {"fp32": DEFAULT_TOLERANCE, "fp16": 0.02, "bf16": 0.02}
"""By how numbers are stored. With 16 bits the error is what was asked for; `verify` says how large it is."""


@dataclass(frozen=True)
class OutputComparison:
    """How one output differs from the model's.

    `absolute` is the largest absolute error, `relative` the same over the largest value of the model's output (its
    scale), `row` where it is and `unit` what a row is: a node or an edge.
    """

    name: str
    absolute: float
    relative: float
    row: int | None
    unit: str
    tolerance: float

    @property
    def passed(self) -> bool:
        # a NaN that the model does not have is no agreement
        return self.relative <= self.tolerance


@dataclass(frozen=True)
class Verification:
    """The comparison of every output, over so many rows."""

    outputs: tuple[OutputComparison, ...]
    rows: int

    @property
    def passed(self) -> bool:
        return all(output.passed for output in self.outputs)


@dataclass(frozen=True)
class Reference:
    """Some rows of the model's own outputs for the graph it was compiled with.

    `ids` are, by the set of nodes or edges that rows are of, their numbers (int64, shape [count]); `rows` holds the
    rows of each output, or all of a value of the whole graph. `graph_hash` tells that graph from others.
    """

    ids: Mapping[str, torch.Tensor]
    rows: tuple[torch.Tensor, ...]
    graph_hash: str

    def tensors(self) -> dict[str, torch.Tensor]:
        """As named tensors, to store."""
        digest = torch.tensor(list(bytes.fromhex(self.graph_hash)), dtype=torch.uint8)
        rows = {f"output.{i}": tensor for i, tensor in enumerate(self.rows)}
        return {"graph": digest, **rows, **{f"ids.{name}": ids for name, ids in self.ids.items()}}

    @staticmethod
    def of(tensors: Mapping[str, torch.Tensor]) -> Reference:
        """From named tensors."""
        ids = {name.removeprefix("ids."): tensor for name, tensor in tensors.items() if name.startswith("ids.")}
        rows = tuple(tensors[f"output.{i}"] for i in range(len(tensors) - len(ids) - 1))
        return Reference(ids, rows, bytes(tensors["graph"].tolist()).hex())


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
    rows: Sequence[OutputRows],
    ids: Mapping[str, torch.Tensor],
    tolerance: float,
) -> Verification:
    """Compares outputs row by row; `rows` say what those are, `ids` have the number of each by set.

    Equal infinities and NaN in the same places agree, as what the model computes is the measure.
    """
    compared = [compare_one(*output, ids, tolerance) for output in zip(names, results, expected, rows, strict=True)]
    return Verification(tuple(compared), sum(len(numbers) for numbers in ids.values()))


def compare_one(
    name: str,
    result: torch.Tensor,
    expected: torch.Tensor,
    rows: OutputRows,
    ids: Mapping[str, torch.Tensor],
    tolerance: float,
) -> OutputComparison:
    if result.numel() == 0:
        return OutputComparison(name, 0.0, 0.0, None, rows.unit, tolerance)
    ours, theirs = result.double(), expected.double()
    same = (ours == theirs) | (ours.isnan() & theirs.isnan())
    error = torch.where(same, 0.0, (ours - theirs).abs()).nan_to_num(nan=torch.inf)
    finite = theirs[theirs.isfinite()]
    scale = float(finite.abs().max()) if finite.numel() else 0.0
    largest = float(error.max())
    relative = largest / scale if scale else largest
    row = int(ids[rows.set_name][row_of_largest(error, rows.axis)]) if rows.kind else None
    return OutputComparison(name, largest, relative, row, rows.unit, tolerance)


def row_of_largest(error: torch.Tensor, axis: int) -> int:
    return int(error.movedim(axis, 0).reshape(error.shape[axis], -1).amax(1).argmax())
