"""Products of many rows with a small weight: a kernel against torch."""

from __future__ import annotations

import gc

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.nn.models import GraphSAGE
from xdsl.dialects.builtin import Float32Type, ModuleOp

import gnnc
from gnnc.passes.loops.product import product_function
from gnnc.targets.gpu import out_functions
from gnnc.targets.gpu.kernels import dense_product as products
from gnnc.targets.gpu.kernels.dense_product import dense_product

pytestmark = pytest.mark.skipif(not products.has_registers(), reason="the kernel is for 32 vector registers")

TOLERANCE = {torch.float32: 1e-5, torch.float64: 1e-12}


def assert_close(found: torch.Tensor, expected: torch.Tensor) -> None:
    scale = max(1.0, float(expected.abs().max())) if expected.numel() else 1.0
    torch.testing.assert_close(found, expected, rtol=0, atol=TOLERANCE[found.dtype] * scale)


def random(*shape: int, dtype: torch.dtype = torch.float32, seed: int = 0) -> torch.Tensor:
    return torch.randn(*shape, dtype=dtype, generator=torch.Generator().manual_seed(seed))


@settings(max_examples=80, deadline=None)
@given(
    rows=st.integers(0, 40),
    depth=st.sampled_from([1, 2, 16, 47, 128, 256, 600]),
    columns=st.sampled_from([1, 7, 16, 17, 32, 40, 47, 63, 64, 65, 100, 128, 200]),
    dtype=st.sampled_from([torch.float32, torch.float64]),
    added=st.sampled_from(["nothing", "bias", "rows"]),
    padding=st.sampled_from([0, 5]),
    threads=st.sampled_from([1, 3]),
)
def test_products(
    rows: int, depth: int, columns: int, dtype: torch.dtype, added: str, padding: int, threads: int
) -> None:
    x = random(rows, depth + padding, dtype=dtype)[:, :depth]
    weight = random(columns, depth, dtype=dtype, seed=1)
    shapes = {"nothing": None, "bias": (columns,), "rows": (rows, columns)}
    shape = shapes[added]
    plus = None if shape is None else random(*shape, dtype=dtype, seed=2)
    out = torch.full((rows, columns + padding), torch.nan, dtype=dtype)
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        assert dense_product(x, weight, plus, out[:, :columns])
    finally:
        torch.set_num_threads(before)
    assert_close(out[:, :columns], x @ weight.t() + (0 if plus is None else plus))
    assert out[:, columns:].isnan().all(), "something was written after a row"


@pytest.mark.parametrize("rows", [1, 5, 6, 7, 13])
@pytest.mark.parametrize("columns", [40, 128])
@pytest.mark.parametrize("depth", [64, 300])
def test_added_to_rows_in_their_place(rows: int, columns: int, depth: int) -> None:
    x, weight, out = random(rows, depth), random(columns, depth, seed=1), random(rows, columns, seed=2)
    expected = x @ weight.t() + out
    assert dense_product(x, weight, out, out)
    assert_close(out, expected)


def test_a_row_does_not_depend_on_those_beside_it() -> None:
    x, weight, bias = random(100, 100), random(100, 100, seed=1), random(100, seed=2)
    whole, some = torch.empty(100, 100), torch.empty(11, 100)
    assert dense_product(x, weight, bias, whole) and dense_product(x[37:48], weight, bias, some)
    assert torch.equal(whole[37:48], some)


def test_long_sums_are_as_close_as_short_ones() -> None:
    x, weight, out = random(6, 4096).abs(), random(16, 4096, seed=1).abs(), torch.empty(6, 16)
    assert dense_product(x, weight, None, out)
    expected = x.double() @ weight.double().t()
    assert float(((out - expected) / expected).abs().max()) < 2e-6


def test_nan_and_infinity_stay_in_their_row() -> None:
    x, weight, out = random(20, 16), random(33, 16, seed=1), torch.empty(20, 33)
    x[3, 2], x[4, 5] = torch.nan, torch.inf
    assert dense_product(x, weight, None, out)
    assert out[3].isnan().all() and out[4].isinf().all()
    assert out[[0, 1, 2, *range(5, 20)]].isfinite().all()


@pytest.mark.parametrize(
    "x, weight, out",
    [
        (random(5, 8).bfloat16(), random(4, 8).bfloat16(), torch.empty(5, 4).bfloat16()),
        (random(5, 8), random(4, 8), torch.empty(4, 5).t()),
        (random(5, 800), random(800, 800), torch.empty(5, 800)),
        (random(5, 0), random(4, 0), torch.empty(5, 4)),
    ],
    ids=["16 bits", "columns side by side", "large", "empty"],
)
def test_what_torch_computes(x: torch.Tensor, weight: torch.Tensor, out: torch.Tensor) -> None:
    assert not dense_product(x, weight, None, out)


def test_panels_live_as_long_as_their_weight() -> None:
    gc.collect()
    before = len(products.KNOWN)
    weight = random(16, 16)
    assert dense_product(random(3, 16), weight, None, torch.empty(3, 16))
    assert len(products.KNOWN) == before + 1
    del weight
    gc.collect()
    assert len(products.KNOWN) == before


@pytest.mark.parametrize("has_registers", [True, False])
def test_a_model_with_and_without(has_registers: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(products, "has_registers", lambda: has_registers)
    answers: list[bool] = []

    def noted(*given: torch.Tensor) -> bool:
        answers.append(dense_product(*given))
        return answers[-1]

    monkeypatch.setattr(out_functions, "dense_product", noted)
    torch.manual_seed(0)
    model, x, edge_index = GraphSAGE(20, 33, 2, 5).eval(), random(30, 20), torch.randint(0, 30, (2, 90))
    program = gnnc.compile(model, gnnc.Graph(x=x, edge_index=edge_index))
    torch.testing.assert_close(program.run(), model(x, edge_index), rtol=1e-4, atol=1e-5)
    assert answers and all(answer is has_registers for answer in answers)


@pytest.mark.parametrize("vectors", [1, 2, 3, 4])
def test_the_function_is_valid(vectors: int) -> None:
    ModuleOp([product_function("kernel", Float32Type(), vectors)]).verify()
