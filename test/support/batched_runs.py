"""A program at several batch sizes, compared with what the model itself computes."""

from __future__ import annotations

from typing import Any

import torch
from torch.utils._pytree import tree_leaves

import gnnc

BATCH_SIZES = (1, 3, 64, None)
TOLERANCE = 1e-4


def assert_exact(program: gnnc.Program, graph: Any, expected: Any, case: str) -> None:
    """At every batch size the program gives what is expected, NaN where that has NaN.

    Errors are relative to the largest number of an output: where numbers cancel, torch itself is no more precise.
    """
    for batch_size in BATCH_SIZES:
        result = program.run(graph=graph, batch_size=batch_size)
        assert_same(result, expected, f"{case}, batch size {batch_size or 'all'}")


def assert_same(result: Any, expected: Any, case: str) -> None:
    for actual, wanted in zip(tree_leaves(result), tree_leaves(expected), strict=True):
        finite = wanted[wanted.isfinite()] if wanted.is_floating_point() else wanted[:0]
        scale = float(finite.abs().max()) if finite.numel() else 1.0
        torch.testing.assert_close(
            torch.as_tensor(actual),
            wanted,
            rtol=0,
            atol=TOLERANCE * max(scale, 1e-3),
            equal_nan=True,
            msg=lambda message: f"{case}: {message}",
        )
