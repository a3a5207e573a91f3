"""What can't be split is refused with a reason."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

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
    with pytest.raises(PassFailedException, match="@forward returns a value on edges"):
        GnnSplitConvBlocks().apply(Context(), model.module)


@pytest.mark.parametrize("loads", [0, -3])
def test_loads_are_one_at_least(parse_model: Parse, loads: int) -> None:
    model = parse_model("!n {\n  %y = gnn.relu %x : !n\n  func.return %y : !n\n}")
    GnnSplitConvBlocks(loads=loads).apply(Context(), model.module)
    model.module.verify()
