"""A function in loops becomes machine code, through the MLIR that comes with torch-mlir."""

from __future__ import annotations

import ctypes
import shutil
import subprocess
import tempfile
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any

PIPELINE = (
    "convert-vector-to-scf,convert-scf-to-cf,expand-strided-metadata,lower-affine,convert-vector-to-llvm,"
    "finalize-memref-to-llvm,convert-arith-to-llvm,convert-math-to-llvm,convert-index-to-llvm,convert-cf-to-llvm,"
    "convert-func-to-llvm,reconcile-unrealized-casts,canonicalize,cse"
)
ENTRY = "_mlir_ciface_kernel"


@cache
def is_available() -> bool:
    """Whether MLIR is installed."""
    return find_spec("torch_mlir") is not None


@cache
def context() -> Any:
    """Where MLIR keeps its dialects: loading them takes as long as lowering a kernel."""
    return import_module("torch_mlir.ir").Context()


def lowered(text: str) -> Any:
    """The module in the `llvm` dialect."""
    mlir, passes = import_module("torch_mlir.ir"), import_module("torch_mlir.passmanager")
    with context():
        module = mlir.Module.parse(text)
        passes.PassManager.parse(f"builtin.module({PIPELINE})").run(module.operation)
        return module


def object_code(text: str) -> tuple[Any, bytes]:
    """The engine that holds a module's machine code, and the code as an object file."""
    execution = import_module("torch_mlir.execution_engine")
    engine = execution.ExecutionEngine(lowered(text), opt_level=2, enable_pic=True)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "kernel.o"
        engine.initialize()
        engine.dump_to_object_file(str(file))
        return engine, file.read_bytes()


def linked(code: bytes) -> bytes | None:
    """A shared library of an object file, or None where there is no linker."""
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "kernel.o", Path(folder) / "kernel.so"
        source.write_bytes(code)
        for linker in linkers():
            done = subprocess.run([*linker, "-shared", "-o", target, source], capture_output=True, check=False)
            if done.returncode == 0:
                return target.read_bytes()
    return None


@cache
def linkers() -> list[list[str]]:
    """The linker itself takes a third of the time that a compiler takes to call it. Kernels need no library."""
    found = [["ld"], *([compiler, "-nostdlib"] for compiler in ("cc", "gcc", "clang"))]
    return [linker for linker in found if shutil.which(linker[0])]


def entry_of(library: Path) -> Any:
    """The kernel of a shared library, as a ctypes function: calling it releases the lock of the interpreter."""
    return getattr(ctypes.CDLL(str(library)), ENTRY)


def entry_in(engine: Any) -> Any:
    """The kernel of an engine. The engine must live as long as the function."""
    address = engine.raw_lookup(ENTRY.removeprefix("_mlir_"))
    return ctypes.CFUNCTYPE(None)(address)
