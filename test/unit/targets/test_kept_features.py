"""Features that stay the same from run to run, as kernels read them best."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch_geometric.nn.models import GCN, GraphSAGE

import gnnc
from gnnc.targets.gpu.arena import LINE
from gnnc.targets.gpu.kept_features import in_lines, read_for_neighbors
from gnnc.targets.gpu.kernels.memrefs import rows_descriptor


def shifted(x: torch.Tensor) -> torch.Tensor:
    """The same numbers, from the middle of a cache line on."""
    buffer = torch.empty(x.numel() + LINE, dtype=x.dtype)
    start = 1 if buffer.data_ptr() % LINE == 0 else 0
    return buffer[start : start + x.numel()].view(x.shape).copy_(x)


@pytest.mark.parametrize("shape", [(9, 100), (9, 128), (9, 7), (9, 3, 20), (0, 100)])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_rows_begin_at_lines_or_lie_within_one(shape: tuple[int, ...], dtype: torch.dtype) -> None:
    x = shifted(torch.randn(shape).to(dtype))
    laid_out = in_lines(x)
    torch.testing.assert_close(laid_out, x, rtol=0, atol=0)
    assert laid_out.data_ptr() % LINE == 0
    stride, size = laid_out.stride(0) * x.itemsize, x[0].nbytes if shape[0] else x.shape[1] * x.itemsize
    assert stride % LINE == 0 if size >= LINE else LINE % stride == 0


def test_what_lies_well_stays_where_it_is() -> None:
    for x in (torch.zeros(9, 128), torch.zeros(9), torch.zeros(9, 1, 32), shifted(torch.zeros(9, 1433))):
        assert in_lines(x) is x


class Summed(torch.nn.Module):
    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]])


class SummedAndGiven(torch.nn.Module):
    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return torch.zeros_like(x).index_add(0, edge_index[1], x[edge_index[0]]), x


@pytest.mark.parametrize("width", [100, 128])
def test_the_numbers_do_not_depend_on_where_rows_begin(width: int) -> None:
    x, edge_index = torch.randn(40, width), torch.randint(0, 40, (2, 300))
    graphs = [gnnc.Graph(x=given, edge_index=edge_index) for given in (x, shifted(x), shifted(x).numpy())]
    program = gnnc.compile(Summed().eval(), graphs[0])
    assert read_for_neighbors(program.module) == {"x"}
    first, *others = [np.asarray(program.run(graph=graph)) for graph in graphs]
    for other in others:
        np.testing.assert_array_equal(other, first)


def test_features_that_are_results_are_the_given_ones() -> None:
    x, edge_index = shifted(torch.randn(40, 100)), torch.randint(0, 40, (2, 300))
    program = gnnc.compile(SummedAndGiven().eval(), gnnc.Graph(x=x, edge_index=edge_index))
    assert read_for_neighbors(program.module) == {"x"}
    assert program.run()[1].data_ptr() == x.data_ptr()


def test_what_is_multiplied_first_stays_where_it_is() -> None:
    x, edge_index = torch.randn(9, 100), torch.randint(0, 9, (2, 30))
    program = gnnc.compile(GCN(100, 16, 2, 5).eval(), gnnc.Graph(x=x, edge_index=edge_index))
    assert read_for_neighbors(program.module) == set()


def test_kernels_read_rows_in_lines_and_products_the_given_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another stride would make products round otherwise than those of a run with a store."""
    x, edge_index = shifted(torch.randn(40, 100)), torch.randint(0, 40, (2, 300))
    program = gnnc.compile(GraphSAGE(100, 128, 1).eval(), gnnc.Graph(x=x, edge_index=edge_index))
    assert read_for_neighbors(program.module) == {"x"}
    read: list[torch.Tensor] = []

    def noting(array: torch.Tensor) -> Any:
        read.append(array)
        return rows_descriptor(array)

    monkeypatch.setattr("gnnc.targets.gpu.kernels.machine_code.rows_descriptor", noting)
    program.run()
    wide = [array for array in read if array.shape == x.shape and array.stride(0) == 112]
    assert len(wide) > 0
    assert all(array.data_ptr() % LINE == 0 for array in wide)
