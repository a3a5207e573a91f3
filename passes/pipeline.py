"""The passes from the front end's module to ConvBlocks, in order."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

from xdsl.passes import ModulePass

from gnnc.passes.analysis.cost_model import CostKind
from gnnc.passes.analysis.product_prices import ProductPrices

if TYPE_CHECKING:
    from gnnc.passes.gnn_narrow_storage import Precision


def block_pipeline(*, cost: CostKind = "time", loads: int = 8, freeze: bool = False) -> Sequence[ModulePass]:
    """From the level `model` to the level `blocks`; `cost` and `loads` as in gnn-split-conv-blocks, `freeze` with
    gnn-freeze-features."""
    from xdsl.transforms.canonicalize import CanonicalizePass
    from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination
    from xdsl.transforms.dead_code_elimination import DeadCodeElimination

    from gnnc.passes.gnn_fold_weights import GnnFoldWeights
    from gnnc.passes.gnn_freeze_features import GnnFreezeFeatures
    from gnnc.passes.gnn_reorder_linear import GnnReorderLinear

    return (
        *raising_pipeline(),
        GnnFoldWeights(),
        DeadCodeElimination(),
        *([GnnFreezeFeatures()] if freeze else []),
        GnnReorderLinear(degree=loads),
        CommonSubexpressionElimination(),
        CanonicalizePass(),
        *splitting_pipeline(cost=cost, loads=loads),
    )


def plain_block_pipeline() -> Sequence[ModulePass]:
    """The same with weights and linear layers as the model has them: the FPGA path folds all that is linear itself."""
    return (*raising_pipeline(), *splitting_pipeline())


def raising_pipeline() -> Sequence[ModulePass]:
    """From the level `model` to the level `raised`."""
    from xdsl.transforms.canonicalize import CanonicalizePass
    from xdsl.transforms.common_subexpression_elimination import CommonSubexpressionElimination
    from xdsl.transforms.dead_code_elimination import DeadCodeElimination

    from gnnc.passes.gnn_prune_structure import GnnPruneStructure
    from gnnc.passes.gnn_raise_edge_sets import GnnRaiseEdgeSets
    from gnnc.passes.gnn_raise_messages import GnnRaiseMessages
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
    )


def splitting_pipeline(*, cost: CostKind = "time", loads: int = 8) -> Sequence[ModulePass]:
    """From the level `raised` to the level `blocks`."""
    from gnnc.passes.gnn_index_convs import GnnIndexConvs
    from gnnc.passes.gnn_split_conv_blocks import GnnSplitConvBlocks

    return (GnnIndexConvs(), GnnSplitConvBlocks(cost=cost, loads=loads))


def storing_pipeline() -> Sequence[ModulePass]:
    """From ConvBlocks for runs in memory to those for runs with a store, samples drawn beforehand."""
    from xdsl.transforms.dead_code_elimination import DeadCodeElimination

    from gnnc.passes.gnn_draw_samples import GnnDrawSamples
    from gnnc.passes.gnn_inline_conv_blocks import GnnInlineConvBlocks
    from gnnc.passes.gnn_prune_structure import GnnPruneStructure
    from gnnc.passes.gnn_split_conv_blocks import GnnSplitConvBlocks

    drawing = (GnnDrawSamples(), GnnPruneStructure(), DeadCodeElimination())
    return (GnnInlineConvBlocks(), *drawing, GnnSplitConvBlocks(cost="stored"))


def fusing_pipeline() -> Sequence[ModulePass]:
    """From ConvBlocks to those that run with compiled kernels."""
    from gnnc.passes.gnn_accumulate_linear import GnnAccumulateLinear
    from gnnc.passes.gnn_fuse_conv import GnnFuseConv
    from gnnc.passes.gnn_fuse_rows import GnnFuseRows
    from gnnc.passes.gnn_sink_convs import GnnSinkConvs

    return (GnnFuseConv(), GnnAccumulateLinear(), GnnFuseRows(), GnnSinkConvs())


def choosing_pipeline(prices: ProductPrices | None = None, precision: Precision = "fp32") -> Sequence[ModulePass]:
    """At the level `blocks`, from the statistics of the graph: how products are computed, `prices` as measured, and how
    numbers are stored."""
    from gnnc.passes.gnn_annotate_density import GnnAnnotateDensity
    from gnnc.passes.gnn_narrow_storage import GnnNarrowStorage
    from gnnc.passes.gnn_select_primitives import GnnSelectPrimitives

    options = {} if prices is None else asdict(prices)
    return (GnnAnnotateDensity(), GnnSelectPrimitives(**options), GnnNarrowStorage(precision))
