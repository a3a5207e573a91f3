"""How loops are handed to MLIR."""

from __future__ import annotations

import re

import pytest
from xdsl.dialects.builtin import ModuleOp, f32

from gnnc.passes.loops.product import product_function
from gnnc.targets.gpu.kernels import compiler
from gnnc.targets.gpu.kernels.machine_code import generic


@pytest.mark.skipif(not compiler.is_available(), reason="MLIR is not installed")
def test_llvm_leaves_loops_as_they_are_written() -> None:
    module = ModuleOp([product_function("kernel", f32, 1)])
    loops = str(module).count("scf.for")
    text = str(compiler.lowered(generic(module)))
    assert "#llvm.loop_unroll<disable = true>" in text
    assert "#llvm.loop_vectorize<disable = true>" in text
    assert len(re.findall(r"llvm\.br .*loop_annotation", text)) == loops == 4
