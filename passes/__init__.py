"""The passes: one file a pass, one pass a file, the file named after the pass."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from xdsl.passes import ModulePass

# Imported as a top-level package, every class in here would exist twice, and no isinstance would hold.
if __name__ != "gnnc.passes":
    raise ImportError(f"this package is gnnc.passes, not {__name__}: write `import gnnc.passes`")


def get_all_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """gnnc's passes by name, each behind a function that imports it on use: start-up stays fast."""

    def gnn_index_convs() -> type[ModulePass]:
        from gnnc.passes.gnn_index_convs import GnnIndexConvs

        return GnnIndexConvs

    def gnn_raise_edge_sets() -> type[ModulePass]:
        from gnnc.passes.gnn_raise_edge_sets import GnnRaiseEdgeSets

        return GnnRaiseEdgeSets

    def gnn_raise_messages() -> type[ModulePass]:
        from gnnc.passes.gnn_raise_messages import GnnRaiseMessages

        return GnnRaiseMessages

    def gnn_prune_structure() -> type[ModulePass]:
        from gnnc.passes.gnn_prune_structure import GnnPruneStructure

        return GnnPruneStructure

    def gnn_split_conv_blocks() -> type[ModulePass]:
        from gnnc.passes.gnn_split_conv_blocks import GnnSplitConvBlocks

        return GnnSplitConvBlocks

    def gnn_unstack_joins() -> type[ModulePass]:
        from gnnc.passes.gnn_unstack_joins import GnnUnstackJoins

        return GnnUnstackJoins

    return {
        "gnn-index-convs": gnn_index_convs,
        "gnn-prune-structure": gnn_prune_structure,
        "gnn-raise-edge-sets": gnn_raise_edge_sets,
        "gnn-raise-messages": gnn_raise_messages,
        "gnn-split-conv-blocks": gnn_split_conv_blocks,
        "gnn-unstack-joins": gnn_unstack_joins,
        **kernel_passes(),
    }


def kernel_passes() -> dict[str, Callable[[], type[ModulePass]]]:
    """The passes of the FPGA path, from ConvBlocks to tasks."""

    def convert_gnn_to_kernel() -> type[ModulePass]:
        from gnnc.passes.convert_gnn_to_kernel import ConvertGnnToKernel

        return ConvertGnnToKernel

    def convert_kernel_to_task() -> type[ModulePass]:
        from gnnc.passes.convert_kernel_to_task import ConvertKernelToTask

        return ConvertKernelToTask

    def kernel_annotate_density() -> type[ModulePass]:
        from gnnc.passes.kernel_annotate_density import KernelAnnotateDensity

        return KernelAnnotateDensity

    def kernel_partition() -> type[ModulePass]:
        from gnnc.passes.kernel_partition import KernelPartition

        return KernelPartition

    return {
        "convert-gnn-to-kernel": convert_gnn_to_kernel,
        "convert-kernel-to-task": convert_kernel_to_task,
        "kernel-annotate-density": kernel_annotate_density,
        "kernel-partition": kernel_partition,
    }
