"""Features that stay the same from run to run, as products and kernels read them best."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import torch
from xdsl.dialects.builtin import ModuleOp

from gnnc.dialects.gnn import ConvBlockOp
from gnnc.dialects.gnn.attributes import domain_axis
from gnnc.passes.analysis.model_functions import argument_name, model_functions
from gnnc.targets.gpu.arena import LINE, RowsOf, new_rows
from gnnc.targets.gpu.sparse_rows import SparseRows, crossovers_of, sparse_features

MOST_BYTES = 4096
"""Longer rows stay where they are: they may be many, and little of such a row lies in its first and last line."""


@dataclass(frozen=True)
class KeptFeatures:
    """Features as they are stored, by the graph's name, and the other forms of some of them, by their address: sparse
    rows, for products, and rows that begin at cache lines, for kernels. The arrays live as long, so that no other one
    can have their address."""

    stored: dict[str, torch.Tensor] = field(default_factory=dict[str, torch.Tensor])
    sparse: dict[int, SparseRows] = field(default_factory=dict[int, SparseRows])
    in_lines: dict[int, torch.Tensor] = field(default_factory=dict[int, torch.Tensor])

    @staticmethod
    def of(features: Mapping[str, torch.Tensor], module: ModuleOp) -> KeptFeatures:
        """The features of a module on the level of ConvBlocks, by the graph's name."""
        read = [features[name] for name in read_for_neighbors(module) if name in features]
        sparse = sparse_features(features, crossovers_of(module))
        return KeptFeatures(dict(features), sparse, {x.data_ptr(): in_lines(x) for x in read})


NOTHING_KEPT = KeptFeatures()


def read_for_neighbors(module: ModuleOp) -> set[str]:
    """The graph's names of features that blocks read for neighbors."""
    forward = model_functions(module).forward
    blocks = [op for op in forward.body.block.ops if isinstance(op, ConvBlockOp)]
    read = {value for op in blocks for value in op.neighbors}
    arguments = [a for a in forward.body.block.args if a in read and domain_axis(a.type) == 0]
    return {name for a in arguments if (name := argument_name(forward, a.index)) is not None}


def in_lines(x: torch.Tensor) -> torch.Tensor:
    """An array on the host whose rows begin at cache lines, as those that blocks hand on; a copy if they don't. A row
    of 400 bytes, or one that begins in the middle of a line, takes a kernel 1.6 times as long."""
    kind = RowsOf(tuple(x.shape[1:]), x.dtype)
    if x.device.type != "cpu" or kind.stride * x.itemsize > MOST_BYTES:
        return x
    if x.data_ptr() % LINE == 0 and x.stride() == kind.strides:
        return x
    return new_rows(kind, x.shape[0]).copy_(x)
