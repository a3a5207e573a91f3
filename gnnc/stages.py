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
from gnnc.targets.gpu.kernels.machine_code import generic
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
    require_mlir(stage)
    return "\n".join(str(compiler.lowered(generic(ModuleOp([function])))) for function in kernel_functions(module))


def object_file(module: ModuleOp) -> bytes:
    """The machine code of a module at the level of ConvBlocks, for this processor: an object file with a function for
    each kernel. Raises RunError without MLIR."""
    require_mlir("object")
    module = module.clone()
    for module_pass in (*fusing_pipeline(), ConvertGnnToLoops()):
        module_pass.apply(Context(), module)
    return compiler.object_code(generic(ModuleOp(kernel_functions(module))))[1]


def require_mlir(stage: str) -> None:
    if not compiler.is_available():
        raise RunError(f"the stage {stage} is made by MLIR: install torch-mlir")


def kernel_functions(module: ModuleOp) -> list[FuncOp]:
    """Copies of the functions in loops of a module's kernels."""
    kernels = {
        op.kernel.string_value() for op in module.walk() if isinstance(op, FusedOperation) and op.kernel is not None
    }
    return [op.clone() for op in module.ops if isinstance(op, FuncOp) and op.sym_name.data in kernels]


def triton_texts(module: ModuleOp) -> list[str]:
    """The kernels of fused Convs as Triton, each text once; Convs that have no form in it are left out."""
    texts: dict[str, None] = {}
    for op in [op for op in module.walk() if isinstance(op, FusedConvOp)]:
        with suppress(NoKernelError):
            texts[triton_source(op).text] = None
    return list(texts)
