"""The batched executor with compiled kernels: Convs are fused, and each is computed by machine code."""

from __future__ import annotations

import gc
import warnings
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import TypeVar

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
from gnnc.targets.gpu.kernels.dense_product import make_kernels
from gnnc.targets.gpu.kernels.kernel import AnyKernel, Kernel, RowsKernel
from gnnc.targets.gpu.kernels.work_text import text_of
from gnnc.targets.gpu.triton_kernels.kernel import TritonKernel, runs_on
from gnnc.targets.gpu.workers import Workers

KernelT = TypeVar("KernelT")


def executor_for_stores(module: ModuleOp, weights: Mapping[str, torch.Tensor]) -> BatchedExecutor:
    """An executor for runs with a store, whose blocks read for neighbors only what lies there."""
    stored = module.clone()
    for module_pass in storing_pipeline():
        module_pass.apply(Context(), stored)
    executor = executor_with_kernels(stored, weights)
    executor.workers = Workers(own_pages=True)
    return executor


def executor_with_kernels(module: ModuleOp, weights: Mapping[str, torch.Tensor]) -> BatchedExecutor:
    """An executor for the CPU. Without MLIR, or for Convs that have no kernel, torch's own operations serve."""
    if not compiler.is_available():
        warnings.warn(
            "torch-mlir is not installed: torch's own operations run instead of compiled kernels", stacklevel=2
        )
        return BatchedExecutor(module, weights)
    fused = fused_module(module)
    return BatchedExecutor(fused, weights, cpu_kernels_of(fused))


def executor_on_device(module: ModuleOp, weights: Mapping[str, torch.Tensor], device: str) -> BatchedExecutor:
    """An executor for a CUDA device. Without Triton, or for Convs that have no kernel, torch's own operations serve."""
    if not runs_on(device):
        if device.startswith("cuda"):
            warnings.warn(
                "triton is not installed: torch's own operations run instead of compiled kernels", stacklevel=2
            )
        return BatchedExecutor(module, weights)
    fused = fused_module(module)
    return BatchedExecutor(fused, weights, kernels_of(fused, triton_kernel))


def fused_module(module: ModuleOp) -> ModuleOp:
    """A copy with fused Convs."""
    fused = module.clone()
    for module_pass in fusing_pipeline():
        module_pass.apply(Context(), fused)
    return fused


def cpu_kernels_of(module: ModuleOp) -> dict[FusedOperation, AnyKernel]:
    """The kernels of all fused operations; those of products are made, too."""
    with collections_paused():
        make_kernels(module)
        return kernels_of(module, cpu_kernel)


def cpu_kernel(op: FusedConvOp | FusedRowsOp) -> AnyKernel:
    return Kernel(op) if isinstance(op, FusedConvOp) else RowsKernel(op)


def triton_kernel(op: FusedConvOp | FusedRowsOp) -> TritonKernel:
    """Row-wise work outside of Convs has no kernel: torch's operations do it."""
    if not isinstance(op, FusedConvOp):
        raise NoKernelError(f"{op.name} has no form in Triton")
    return TritonKernel(op)


def kernels_of(module: ModuleOp, make: Callable[[FusedConvOp | FusedRowsOp], KernelT]) -> dict[FusedOperation, KernelT]:
    """The kernels of all fused operations, one for equal ones; those that have none are dissolved into what they were
    made from."""
    kernels: dict[FusedOperation, KernelT] = {}
    made: dict[str, KernelT] = {}
    with collections_paused():
        for op in [o for o in module.walk() if isinstance(o, FusedConvOp | FusedRowsOp)]:
            text = text_of(op)
            try:
                kernels[op] = made[text] = made[text] if text in made else make(op)
            except NoKernelError:
                dissolve(op)
    return kernels


@contextmanager
def collections_paused() -> Generator[None]:
    """Without the garbage collector: emitting a kernel creates enough objects to start it, and one walk over all that
    torch holds takes as long as a kernel does."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


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
