"""The passes: one file a pass, one pass a file, the file named after the pass."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

# Imported as a top-level package, every class in here would exist twice, and no isinstance would hold.
if __name__ != "gnnc.passes":
    raise ImportError(f"this package is gnnc.passes, not {__name__}: write `import gnnc.passes`")


PASSES = {
    "convert-gnn-to-kernel": "ConvertGnnToKernel",
    "convert-gnn-to-loops": "ConvertGnnToLoops",
    "convert-kernel-to-task": "ConvertKernelToTask",
    "gnn-accumulate-linear": "GnnAccumulateLinear",
    "gnn-annotate-density": "GnnAnnotateDensity",
    "gnn-draw-samples": "GnnDrawSamples",
    "gnn-fold-weights": "GnnFoldWeights",
    "gnn-freeze-features": "GnnFreezeFeatures",
    "gnn-fuse-conv": "GnnFuseConv",
    "gnn-fuse-rows": "GnnFuseRows",
    "gnn-index-convs": "GnnIndexConvs",
    "gnn-inline-conv-blocks": "GnnInlineConvBlocks",
    "gnn-narrow-storage": "GnnNarrowStorage",
    "gnn-prune-structure": "GnnPruneStructure",
    "gnn-raise-edge-sets": "GnnRaiseEdgeSets",
    "gnn-raise-messages": "GnnRaiseMessages",
    "gnn-reorder-linear": "GnnReorderLinear",
    "gnn-sample-neighbors": "GnnSampleNeighbors",
    "gnn-select-primitives": "GnnSelectPrimitives",
    "gnn-sink-convs": "GnnSinkConvs",
    "gnn-split-conv-blocks": "GnnSplitConvBlocks",
    "gnn-unstack-joins": "GnnUnstackJoins",
    "kernel-annotate-density": "KernelAnnotateDensity",
    "kernel-partition": "KernelPartition",
}
"""The class of each pass, which stands in the file of the pass's name."""


def get_all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """gnnc's passes by name, each behind a function that imports it on use: start-up stays fast."""

    def loader(name: str, class_name: str) -> Callable[[], type[ModulePass]]:
        return lambda: getattr(import_module(f"gnnc.passes.{name.replace('-', '_')}"), class_name)

    return {name: loader(name, class_name) for name, class_name in PASSES.items()}
