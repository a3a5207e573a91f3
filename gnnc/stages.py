"""The stages of a program's code: its module, the loops of its kernels, what MLIR makes of those, and the kernels in
Triton."""

from __future__ import annotations

from contextlib import suppress
from typing import Literal

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.dialects.func import FuncOp

from gnnc.dialects.gnn import FusedConvOp, FusedOperation
from gnnc.errors import RunError
from gnnc.passes.convert_gnn_to_loops import ConvertGnnToLoops
from gnnc.passes.loops.lanes import NoKernelError
from gnnc.passes.pipeline import fusing_pipeline
from gnnc.targets.gpu.kernels import compiler
from gnnc.targets.gpu.kernels.kernel import generic
from gnnc.targets.gpu.triton_kernels.source import triton_source

Stage = Literal["blocks", "fused", "loops", "llvm", "triton"]
STAGES: tuple[Stage, ...] = ("blocks", "fused", "loops", "llvm", "triton")


def stage_text(module: ModuleOp, stage: Stage) -> str:
    """A module at the level of ConvBlocks as text: as it is, with fused Convs, with their loops, or those loops in the
    `llvm` dialect; or the kernels for CUDA as Triton. Raises RunError where MLIR is needed and missing."""
    if stage == "blocks":
        return str(module)
    module = module.clone()
    for module_pass in fusing_pipeline():
        module_pass.apply(Context(), module)
    if stage == "fused":
        return str(module)
    if stage == "triton":
        return "\n\n".join(triton_texts(module))
    ConvertGnnToLoops().apply(Context(), module)
    if stage == "loops":
        return str(module)
    if not compiler.is_available():
        raise RunError("the stage llvm is made by MLIR: install torch-mlir")
    kernels = {
        op.kernel.string_value() for op in module.walk() if isinstance(op, FusedOperation) and op.kernel is not None
    }
    functions = [op for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data in kernels]
    return "\n".join(str(compiler.lowered(generic(ModuleOp([function.clone()])))) for function in functions)


def triton_texts(module: ModuleOp) -> list[str]:
    """The kernels of fused Convs as Triton, each text once; Convs that have no form in it are left out."""
    texts: dict[str, None] = {}
    for op in [op for op in module.walk() if isinstance(op, FusedConvOp)]:
        with suppress(NoKernelError):
            texts[triton_source(op).text] = None
    return list(texts)
