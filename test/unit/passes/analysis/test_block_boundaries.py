"""What is at hand after each layer, by price."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from gnnc.passes.analysis.block_boundaries import Prices, block_boundaries, collect_uses
from gnnc.passes.analysis.conv_layers import conv_layers
from gnnc.passes.analysis.cost_model import CostKind

Parse = Callable[[str], Any]

# layer 0: widen x; layer 1: aggregate, then narrow, with x as a residual
WIDENED = """!n {
  %w = gnn.load_weight @widen : tensor<16x4xf32>
  %p = gnn.linear %x, %w : !n, tensor<16x4xf32> -> !wide
  %m1 = gnn.gather %p at source of %e : !wide, !e -> tensor<?x16xf32, #gnn.on<edges "e">>
  %h1 = gnn.aggregate sum %m1 at target of %e : tensor<?x16xf32, #gnn.on<edges "e">>, !e -> !wide
  %v = gnn.load_weight @narrow : tensor<4x16xf32>
  %s = gnn.linear %h1, %v : !wide, tensor<4x16xf32> -> !n
  %t = gnn.relu %s : !n
  %m2 = gnn.gather %t at source of %e : !n, !e -> !m
  %h2 = gnn.aggregate sum %m2 at target of %e : !m, !e -> !n
  %y = gnn.add %h2, %x : !n, !n -> !n
  func.return %y : !n
}"""


def boundaries(model: Any, kind: CostKind, loads: int) -> list[list[str | None]]:
    layers = conv_layers(model.functions)
    found = block_boundaries(model.functions, layers, Prices(kind, loads))
    for boundary in found:
        assert boundary.price <= min(boundary.upstream_price, boundary.downstream_price)
    return [[v.name_hint for v in boundary.kept] for boundary in found]


@pytest.mark.parametrize(
    ("kind", "loads", "after_layer_0"),
    [("tensors", 8, ["x"]), ("bytes", 8, ["x"]), ("time", 8, ["x"]), ("time", 1, ["x"])],
)
def test_residual_is_a_reason_to_start_from_it(
    parse_model: Parse, kind: CostKind, loads: int, after_layer_0: list[str]
) -> None:
    assert boundaries(parse_model(WIDENED), kind, loads) == [after_layer_0, ["x", "t"]]


def test_without_the_residual_the_tie_binds_upstream(parse_model: Parse) -> None:
    model = parse_model(WIDENED.replace("%h2, %x", "%h2, %h2"))
    assert boundaries(model, "tensors", 8) == [["p"], ["t"]]
    assert boundaries(model, "bytes", 8) == [["x"], ["t"]]


def test_unused_feature_is_not_kept(parse_model: Parse) -> None:
    assert all("q" not in kept for kept in boundaries(parse_model(WIDENED), "time", 8))


def test_model_without_convs_has_no_boundary(parse_model: Parse) -> None:
    assert boundaries(parse_model("!n {\n  func.return %x : !n\n}"), "time", 8) == []


def test_result_of_an_early_layer_is_kept(parse_model: Parse) -> None:
    model = parse_model("""(!n, !n) {
      %m1 = gnn.gather %x at source of %e : !n, !e -> !m
      %h1 = gnn.aggregate sum %m1 at target of %e : !m, !e -> !n
      %r1 = gnn.relu %h1 : !n
      %m2 = gnn.gather %r1 at source of %e : !n, !e -> !m
      %h2 = gnn.aggregate sum %m2 at target of %e : !m, !e -> !n
      func.return %r1, %h2 : !n, !n
    }""")
    assert boundaries(model, "time", 8) == [["x"], ["r1"]]


def test_what_is_stored_stays_at_hand(parse_model: Parse) -> None:
    model = parse_model("""!n {
      %m1 = gnn.gather %x at source of %e : !n, !e -> !m
      %h1 = gnn.aggregate sum %m1 at target of %e : !m, !e -> !n
      %r1 = gnn.relu %h1 : !n
      %m2 = gnn.gather %r1 at source of %e : !n, !e -> !m
      %h2 = gnn.aggregate sum %m2 at target of %e : !m, !e -> !n
      %m3 = gnn.gather %h2 at source of %e : !n, !e -> !m
      %h3 = gnn.aggregate sum %m3 at target of %e : !m, !e -> !n
      %y = gnn.add %h3, %r1 : !n, !n -> !n
      func.return %y : !n
    }""")
    assert boundaries(model, "time", 8) == [["x"], ["r1"], ["r1", "h2"]]


def test_uses_by_layer_and_by_end(parse_model: Parse) -> None:
    model = parse_model("""!n {
      %a = gnn.gather %x at source of %e : !n, !e -> !m
      %b = gnn.gather %q at target of %e : !n, !e -> !m
      %s = gnn.edge_softmax %a at target of %e eps 0.0 : !m, !e
      %c = gnn.mul %s, %b : !m, !m -> !m
      %h1 = gnn.aggregate sum %c at target of %e : !m, !e -> !n
      %h = gnn.scatter max %c into %q at target of %e : !m, !n, !e
      %y = gnn.add %h1, %h : !n, !n -> !n
      func.return %y : !n
    }""")
    layers = conv_layers(model.functions)
    x, q, h1, y = (model.value(name) for name in ("x", "q", "h1", "y"))
    uses = collect_uses(model.functions, layers, [x, q, h1, y])
    assert (uses[x].neighbor_layers, uses[x].target_layers) == ({1}, set())
    assert (uses[q].neighbor_layers, uses[q].target_layers) == (set(), {1})
    assert uses[h1].rowwise == [y]
    assert [uses[v].is_output for v in (x, q, h1, y)] == [False, False, False, True]
