"""Given features that are mostly zeros, as compressed sparse rows beside the dense array.

Only a product with a weight reads them so, where gnn-select-primitives says below which density; everything else reads
the array. Converting costs more than a product, so it is done for arrays that stay the same from run to run.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import torch
from xdsl.dialects.builtin import ModuleOp

from gnnc.dialects.gnn import LinearOp
from gnnc.passes.analysis.densities import outside
from gnnc.passes.analysis.model_functions import argument_name, model_functions
from gnnc.targets.gpu.csr import Csr, padded
from gnnc.targets.gpu.kernels.sparse_product import sparse_product

FEW_ROWS = 1024
"""So many rows tell that an array is dense; those that look sparse are counted."""


@dataclass(frozen=True)
class SparseRows:
    """Rows of a matrix: row r has the numbers `values` at the places that `csr` says, whose neighbors are columns.
    `density` is that of the whole array."""

    csr: Csr
    values: torch.Tensor
    columns: int
    density: float

    def rows(self, start: int, stop: int) -> SparseRows:
        if (start, stop) == (0, self.csr.rows):
            return self
        offsets = self.csr.offsets[start : stop + 1]
        first = int(offsets[0])
        return SparseRows(
            Csr(offsets - first, self.csr.neighbors[first:]), self.values[first:], self.columns, self.density
        )

    def times(self, weight: torch.Tensor, bias: torch.Tensor | None, out: torch.Tensor) -> torch.Tensor:
        """`self @ weight.T + bias`, into `out`; the bias has a number a column, or rows of its own."""
        if sparse_product(self.csr, self.values, weight, bias, out):
            return out
        product = torch.sparse.mm(self.matrix(), weight.t())
        return out.copy_(product) if bias is None else torch.add(product, bias, out=out)

    def matrix(self) -> torch.Tensor:
        """As a torch CSR tensor."""
        count = int(self.csr.offsets[-1])
        offsets, columns = self.csr.offsets.int(), self.csr.neighbors[:count]
        shape = (self.csr.rows, self.columns)
        with warnings.catch_warnings():
            # torch says once in a process that its CSR tensors are young
            warnings.filterwarnings("ignore", "Sparse CSR tensor support", UserWarning)
            return torch.sparse_csr_tensor(offsets, columns, self.values[:count], shape, check_invariants=False)


def crossovers_of(module: ModuleOp) -> dict[str, float]:
    """By the graph's name of an input, the density below which some product of the module reads it as sparse rows."""
    forward = model_functions(module).forward
    found: dict[str, float] = {}
    for op in forward.walk():
        if isinstance(op, LinearOp) and op.primitive is not None:
            name = argument_name(forward, getattr(outside(op.input), "index", -1)) or ""
            found[name] = max(found.get(name, 0.0), op.primitive.crossover.value.data)
    return found


def sparse_features(features: Mapping[str, torch.Tensor], crossovers: Mapping[str, float]) -> dict[int, SparseRows]:
    """By the address of their first number, the features that are less dense than their crossover."""
    chosen = {features[name]: crossover for name, crossover in crossovers.items() if name in features}
    return {x.data_ptr(): sparse_rows(x) for x, crossover in chosen.items() if is_sparser(x, crossover)}


def is_sparser(x: torch.Tensor, density: float) -> bool:
    """Whether fewer numbers of a matrix are nonzero; of dense ones only some rows are read."""
    some = x[:: max(1, x.shape[0] // FEW_ROWS)]
    if int(some.count_nonzero()) >= density * max(1, some.numel()):
        return False
    return int(x.count_nonzero()) < density * max(1, x.numel())


def sparse_rows(x: torch.Tensor) -> SparseRows:
    """A matrix as sparse rows."""
    rows, columns = x.nonzero(as_tuple=True)
    offsets = torch.zeros(x.shape[0] + 1, dtype=torch.int64)
    torch.cumsum(torch.bincount(rows, minlength=x.shape[0]), 0, out=offsets[1:])
    return SparseRows(Csr(offsets, padded(columns)), x[rows, columns], x.shape[1], rows.shape[0] / max(1, x.numel()))
