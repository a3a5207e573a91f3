"""What can't be split is refused with a reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from gnnc.dialects.gnn import ConvBlockOp
from gnnc.passes.gnn_index_convs import GnnIndexConvs
from gnnc.passes.gnn_prune_structure import GnnPruneStructure
from gnnc.passes.gnn_raise_messages import GnnRaiseMessages
from gnnc.passes.gnn_split_conv_blocks import GnnSplitConvBlocks

Parse = Callable[[str], Any]


@pytest.mark.parametrize("kind", [GnnRaiseMessages, GnnPruneStructure, GnnIndexConvs, GnnSplitConvBlocks])
def test_module_without_functions(kind: type[ModulePass]) -> None:
    with pytest.raises(PassFailedException, match="the module has no func.func @structure"):
        kind().apply(Context(), ModuleOp([]))


def test_split_twice(parse_model: Parse) -> None:
    model = parse_model("!n {\n  %y = gnn.relu %x : !n\n  func.return %y : !n\n}")
    GnnSplitConvBlocks().apply(Context(), model.module)
    with pytest.raises(PassFailedException, match="@forward has been split into ConvBlocks already"):
        GnnSplitConvBlocks().apply(Context(), model.module)


def test_result_on_edges(parse_model: Parse) -> None:
    model = parse_model("!m {\n  %m = gnn.gather %x at source of %e : !n, !e -> !m\n  func.return %m : !m\n}")
    GnnSplitConvBlocks().apply(Context(), model.module)
    model.module.verify()
    (block,) = (op for op in model.module.walk() if isinstance(op, ConvBlockOp))
    assert block.layer_index == 1
    assert [output.type for output in block.outputs] == [model.functions.forward.function_type.outputs.data[0]]


def test_softmax_at_one_end_is_not_reduced_at_the_other(parse_model: Parse) -> None:
    model = parse_model(
        "!n {\n  %m = gnn.gather %x at source of %e : !n, !e -> !m\n"
        "  %a = gnn.edge_softmax %m at source of %e eps 0.0 : !m, !e\n"
        "  %y = gnn.aggregate sum %a at target of %e : !m, !e -> !n\n  func.return %y : !n\n}"
    )
    with pytest.raises(PassFailedException, match="is reduced at the target of an edge set, and not where it is norm"):
        GnnSplitConvBlocks().apply(Context(), model.module)


def test_a_value_on_edges_that_no_set_has(parse_model: Parse) -> None:
    model = parse_model(
        '(!n, tensor<?x4xf32, #gnn.on<edges "f">>) {\n'
        '  %m = gnn.fill 1.0 : f64 -> tensor<?x4xf32, #gnn.on<edges "f">>\n'
        '  func.return %x, %m : !n, tensor<?x4xf32, #gnn.on<edges "f">>\n}'
    )
    with pytest.raises(PassFailedException, match='no edge set has the edges that a value is on, edges "f"'):
        GnnSplitConvBlocks().apply(Context(), model.module)


@pytest.mark.parametrize("loads", [0, -3])
def test_loads_are_one_at_least(parse_model: Parse, loads: int) -> None:
    model = parse_model("!n {\n  %y = gnn.relu %x : !n\n  func.return %y : !n\n}")
    GnnSplitConvBlocks(loads=loads).apply(Context(), model.module)
    model.module.verify()
