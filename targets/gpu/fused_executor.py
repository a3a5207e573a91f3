"""The batched executor with compiled kernels: Convs are fused, and each is computed by machine code."""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import torch
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from gnnc.dialects.gnn import FusedConvOp, FusedOperation, FusedRowsOp
from gnnc.passes.loops.lanes import NoKernelError
from gnnc.passes.pipeline import fusing_pipeline, storing_pipeline
from gnnc.targets.gpu.executor import BatchedExecutor
from gnnc.targets.gpu.kernels import compiler
from gnnc.targets.gpu.kernels.kernel import AnyKernel, Kernel, RowsKernel


def executor_for_stores(module: ModuleOp, weights: Mapping[str, torch.Tensor]) -> BatchedExecutor:
    """An executor for runs with a store, whose blocks read for neighbors only what lies there."""
    stored = module.clone()
    for module_pass in storing_pipeline():
        module_pass.apply(Context(), stored)
    return executor_with_kernels(stored, weights)


def executor_with_kernels(module: ModuleOp, weights: Mapping[str, torch.Tensor]) -> BatchedExecutor:
    """An executor for the CPU. Without MLIR, or for Convs that have no kernel, torch's own operations serve."""
    if not compiler.is_available():
        warnings.warn(
            "torch-mlir is not installed: torch's own operations run instead of compiled kernels", stacklevel=2
        )
        return BatchedExecutor(module, weights)
    fused = module.clone()
    for module_pass in fusing_pipeline():
        module_pass.apply(Context(), fused)
    return BatchedExecutor(fused, weights, kernels_of(fused))


def kernels_of(module: ModuleOp) -> dict[FusedOperation, AnyKernel]:
    """The kernels of all fused operations; those that have none are dissolved into what they were made from."""
    kernels: dict[FusedOperation, AnyKernel] = {}
    for op in [o for o in module.walk() if isinstance(o, FusedConvOp | FusedRowsOp)]:
        try:
            kernels[op] = Kernel(op) if isinstance(op, FusedConvOp) else RowsKernel(op)
        except NoKernelError:
            dissolve(op)
    return kernels


def dissolve(op: FusedOperation) -> None:
    """Puts the operations of a fused one back in its place."""
    block = op.parent
    assert isinstance(block, Block)
    mapping: dict[SSAValue, SSAValue] = dict(zip(op.body.block.args, op.inputs, strict=True))
    terminator = op.body.block.last_op
    assert terminator is not None
    for inner in op.body.block.ops:
        if inner is not terminator:
            Rewriter.insert_op(inner.clone(value_mapper=mapping), InsertPoint.before(op))
    Rewriter.replace_op(op, [], [mapping[value] for value in terminator.operands])
