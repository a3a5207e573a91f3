"""Prices: what they count, and what grows with what."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hypothesis import given
from hypothesis import strategies as st
from xdsl.dialects.builtin import DYNAMIC_INDEX, Float64Type, TensorType, f32, i1

from gnnc.dialects.gnn import DomainAttr
from gnnc.dialects.gnn.attributes import tensor_on
from gnnc.passes.analysis.cost_model import (
    compute_price,
    matmul_flops_per_row,
    recompute_price,
    row_bytes,
    store_price,
)

Parse = Callable[[str], Any]

NODES = DomainAttr("nodes", "n")
sizes = st.integers(0, 10_000)
loads = st.integers(1, 100)


def test_row_bytes_leave_out_the_domain_axis() -> None:
    assert row_bytes(tensor_on(NODES, (DYNAMIC_INDEX, 2, 3), f32)) == 24
    assert row_bytes(tensor_on(NODES, (8, DYNAMIC_INDEX), Float64Type())) == 64
    assert row_bytes(tensor_on(NODES, (DYNAMIC_INDEX,), i1)) == 1
    assert row_bytes(TensorType(f32, [4, 4])) == 64


def test_flops_of_products_alone(parse_model: Parse) -> None:
    model = parse_model("""!wide {
      %w = gnn.load_weight @widen : tensor<16x4xf32>
      %p = gnn.linear %x, %w : !n, tensor<16x4xf32> -> !wide
      %v = gnn.load_weight @narrow : tensor<4x16xf32>
      %q2 = gnn.matmul %x, %v : !n, tensor<4x16xf32> -> !wide
      %y = gnn.add %p, %q2 : !wide, !wide -> !wide
      %z = gnn.reshape %y : !wide -> tensor<?x4x4xf32, #gnn.on<nodes "n">>
      %s = gnn.broadcast %z : tensor<?x4x4xf32, #gnn.on<nodes "n">> -> tensor<?x4x4xf32, #gnn.on<nodes "n">>
      func.return %y : !wide
    }""")
    flops = {name: matmul_flops_per_row(model.value(name).owner) for name in ("p", "q2", "y")}
    assert flops == {"p": 2 * 4 * 16, "q2": 2 * 4 * 16, "y": 0}
    assert compute_price(model.value("p").owner) > compute_price(model.value("y").owner) > 0
    assert compute_price(model.value("z").owner) == compute_price(model.value("s").owner) == 0


def test_only_time_prices_recomputation(parse_model: Parse) -> None:
    model = parse_model("!n {\n  %y = gnn.relu %x : !n\n  func.return %y : !n\n}")
    relu = model.value("y").owner
    assert recompute_price("bytes", relu, 8) == recompute_price("tensors", relu, 8) == 0
    assert recompute_price("time", relu, 1) == 0
    assert recompute_price("time", relu, 8) == 7 * compute_price(relu)


@given(sizes, loads, st.booleans())
def test_tensors_cost_one_each(size: int, loads: int, stored: bool) -> None:
    assert store_price("tensors", size, loads, stored=stored) == 1


@given(sizes, loads)
def test_bytes_are_one_write_and_the_loads(size: int, loads: int) -> None:
    assert store_price("bytes", size, loads, stored=True) == size * loads
    assert store_price("bytes", size, loads, stored=False) == size * (loads + 1)


@given(sizes, loads)
def test_time_grows_with_loads_and_writing(size: int, loads: int) -> None:
    stored, fresh = (store_price("time", size, loads, stored=s) for s in (True, False))
    assert stored <= fresh <= store_price("time", size, loads + 1, stored=False)
