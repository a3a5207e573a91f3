"""Given features that are mostly zeros, as compressed sparse rows beside the dense array.

Only a product with a weight reads them so; everything else reads the array. Converting costs more than a product, so it
is done for arrays that stay the same from run to run.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import torch

LARGEST_DENSITY = 0.1
"""Above it dense products may be faster: they break even between 0.27 and 0.5 on the machines we know."""

FEWEST_COLUMNS = 128


@dataclass(frozen=True)
class SparseRows:
    """Rows of a matrix: `matrix` is a torch CSR tensor."""

    matrix: torch.Tensor

    def rows(self, start: int, stop: int) -> SparseRows:
        if (start, stop) == (0, self.matrix.shape[0]):
            return self
        offsets = self.matrix.crow_indices()[start : stop + 1]
        first, last = int(offsets[0]), int(offsets[-1])
        columns, values = self.matrix.col_indices()[first:last], self.matrix.values()[first:last]
        return SparseRows(csr_tensor(offsets - first, columns, values, self.matrix.shape[1]))

    def times(self, weight: torch.Tensor, bias: torch.Tensor | None, out: torch.Tensor) -> torch.Tensor:
        """`self @ weight.T + bias`, into `out`."""
        product = torch.sparse.mm(self.matrix, weight.t())
        return out.copy_(product) if bias is None else torch.add(product, bias, out=out)


def csr_tensor(offsets: torch.Tensor, columns: torch.Tensor, values: torch.Tensor, width: int) -> torch.Tensor:
    shape = (offsets.shape[0] - 1, width)
    return torch.sparse_csr_tensor(offsets, columns, values, shape, check_invariants=False)


def sparse_features(features: Mapping[str, torch.Tensor]) -> dict[int, SparseRows]:
    """By the address of their first number, the features that are worth it."""
    return {x.data_ptr(): sparse for x in features.values() if (sparse := sparse_form(x)) is not None}


def sparse_form(x: torch.Tensor) -> SparseRows | None:
    """A wide matrix of few numbers as sparse rows; None for other arrays."""
    if x.dim() != 2 or not x.dtype.is_floating_point or x.shape[1] < FEWEST_COLUMNS or not x.isfinite().all():
        return None
    if int(x.count_nonzero()) > LARGEST_DENSITY * x.numel():
        return None
    rows, columns = x.nonzero(as_tuple=True)
    offsets = torch.zeros(x.shape[0] + 1, dtype=torch.int64)
    torch.cumsum(torch.bincount(rows, minlength=x.shape[0]), 0, out=offsets[1:])
    with warnings.catch_warnings():
        # torch says once in a process that its CSR tensors are young
        warnings.filterwarnings("ignore", "Sparse CSR tensor support", UserWarning)
        return SparseRows(csr_tensor(offsets.int(), columns.int(), x[rows, columns], x.shape[1]))
