"""Layers of values and Convs, and what has none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from xdsl.ir import Operation
from xdsl.utils.exceptions import PassFailedException

from gnnc.passes.analysis.conv_layers import NO_FEATURES, conv_layers

Parse = Callable[[str], Any]

TWO_LAYERS = """!n {
  %scaled = gnn.mul %x, %d : !n, !n -> !n
  %root = gnn.sigmoid %d : !n
  %m1 = gnn.gather %scaled at source of %e : !n, !e -> !m
  %h1 = gnn.aggregate sum %m1 at target of %e : !m, !e -> !n
  %own = gnn.gather %h1 at target of %e : !n, !e -> !m
  %rest = gnn.sub %m1, %own : !m, !m -> !m
  %v1 = gnn.aggregate max %rest at target of %e : !m, !e -> !n
  %r1 = gnn.add %v1, %root : !n, !n -> !n
  %m2 = gnn.gather %r1 at source of %e : !n, !e -> !m
  %h2 = gnn.aggregate sum %m2 at target of %e : !m, !e -> !n
  func.return %h2 : !n
}"""


def test_layers_of_values(parse_model: Parse) -> None:
    model = parse_model(TWO_LAYERS)
    layers = conv_layers(model.functions).layers
    expected = {"x": 0, "q": 0, "d": NO_FEATURES, "root": NO_FEATURES, "scaled": 0, "h1": 1, "v1": 1, "r1": 1, "h2": 2}
    assert {name: layers[model.value(name)] for name in expected} == expected


def test_reductions_of_one_set_end_and_layer_are_one_conv(parse_model: Parse) -> None:
    model = parse_model(TWO_LAYERS)
    result = conv_layers(model.functions)
    convs = {name: result.convs[model.value(name).owner] for name in ("h1", "v1", "h2")}
    assert convs == {"h1": (1, 0), "v1": (1, 0), "h2": (2, 1)}
    assert len(result.convs) == 3
    assert result.deepest == 2


def test_model_without_convs(parse_model: Parse) -> None:
    result = conv_layers(parse_model("!n {\n  func.return %x : !n\n}").functions)
    assert not result.convs
    assert result.deepest == 0


def test_analysis_changes_nothing(parse_model: Parse) -> None:
    model = parse_model(TWO_LAYERS)
    before = str(model.module)
    conv_layers(model.functions)
    assert str(model.module) == before


def test_softmax_that_is_reduced_at_the_other_end_is_refused(parse_model: Parse) -> None:
    model = parse_model("""!n {
      %m = gnn.gather %x at source of %e : !n, !e -> !m
      %a = gnn.edge_softmax %m at target of %e eps 0.0 : !m, !e
      %y = gnn.aggregate sum %a at source of %e : !m, !e -> !n
      func.return %y : !n
    }""")
    with pytest.raises(PassFailedException, match="gnn.edge_softmax is reduced at the source of an edge set"):
        conv_layers(model.functions)


def test_reductions_are_the_keys(parse_model: Parse) -> None:
    model = parse_model(TWO_LAYERS)
    forward = model.functions.forward.body.block
    names: list[Operation] = [op for op in forward.ops if op.name == "gnn.aggregate"]
    assert list(conv_layers(model.functions).convs) == names
