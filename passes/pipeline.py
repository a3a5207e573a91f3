"""The passes from the front end's module to ConvBlocks, in order."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.passes import ModulePass

from gnnc.passes.analysis.cost_model import CostKind


def block_pipeline(*, cost: CostKind = "time", loads: int = 8) -> Sequence[ModulePass]:
    """From the level `model` to the level `blocks`; `cost` and `loads` as in gnn-split-conv-blocks."""
    from xdsl.transforms.canonicalize import CanonicalizePass
    from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination
    from xdsl.transforms.dead_code_elimination import DeadCodeElimination

    from gnnc.passes.gnn_fold_weights import GnnFoldWeights
    from gnnc.passes.gnn_index_convs import GnnIndexConvs
    from gnnc.passes.gnn_prune_structure import GnnPruneStructure
    from gnnc.passes.gnn_raise_edge_sets import GnnRaiseEdgeSets
    from gnnc.passes.gnn_raise_messages import GnnRaiseMessages
    from gnnc.passes.gnn_reorder_linear import GnnReorderLinear
    from gnnc.passes.gnn_split_conv_blocks import GnnSplitConvBlocks
    from gnnc.passes.gnn_unstack_joins import GnnUnstackJoins

    return (
        CommonSubexpressionElimination(),
        GnnRaiseEdgeSets(),
        GnnRaiseMessages(),
        GnnUnstackJoins(),
        CanonicalizePass(),
        CommonSubexpressionElimination(),
        GnnPruneStructure(),
        DeadCodeElimination(),
        GnnFoldWeights(),
        DeadCodeElimination(),
        GnnReorderLinear(degree=loads),
        CommonSubexpressionElimination(),
        CanonicalizePass(),
        GnnIndexConvs(),
        GnnSplitConvBlocks(cost=cost, loads=loads),
    )


def block_pipeline_before_kernels() -> Sequence[ModulePass]:
    """The same for the FPGA path: convert-gnn-to-kernel folds weights and orders products by itself."""
    from gnnc.passes.gnn_fold_weights import GnnFoldWeights
    from gnnc.passes.gnn_reorder_linear import GnnReorderLinear

    return [one for one in block_pipeline() if not isinstance(one, GnnFoldWeights | GnnReorderLinear)]
