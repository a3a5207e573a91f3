"""Machine code for the rows of CPU tensors, made once for a processor and kept on disk."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ctypes import byref, c_int64
from functools import cache
from io import StringIO
from pathlib import Path
from typing import Any

import torch
from xdsl.context import Context
from xdsl.dialects import scf
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Attribute
from xdsl.parser import Parser
from xdsl.printer import Printer

from gnnc.targets.gpu.kernels import cache as disk
from gnnc.targets.gpu.kernels import compiler
from gnnc.targets.gpu.kernels.machine import cpu
from gnnc.targets.gpu.kernels.memrefs import rows_descriptor
from gnnc.targets.gpu.kernels.threads import run_ranges

LOOPS = "#llvm.loop_annotation<unroll = <disable = true>, vectorize = <disable = true>>"
"""What LLVM is told of each loop: its body is vectors already. Unrolling takes a fifth of LLVM's time, and attention on
two heads of 64 numbers gets 5 to 10% slower."""


class MachineCode:
    """The machine code of a function named `kernel`, which computes some rows. `text` says all that the function
    depends on, `loops` makes a module with it."""

    def __init__(self, text: str, loops: Callable[[], ModuleOp]):
        """Raises NoKernelError if there is no such function."""
        self.entry, self.engine = machine_code(text, loops)

    def run(
        self, ranges: Sequence[tuple[int, int]], lists: Sequence[Any], arrays: Sequence[torch.Tensor], threads: int
    ) -> None:
        """Computes the rows of some ranges. The tensors behind `lists` and `arrays` live as long."""
        rows = [rows_descriptor(array) for array in arrays]
        self.call(ranges, [d for d, _ in (*lists, *rows)], threads)

    def call(self, ranges: Sequence[tuple[int, int]], descriptors: Sequence[Any], threads: int) -> None:
        """The same, of what MLIR is passed for arrays."""
        pointers = [byref(d) for d in descriptors]
        entry = self.entry

        def work(begin: int, end: int) -> None:
            entry(c_int64(begin), c_int64(end), *pointers)

        run_ranges(work, ranges, threads)


def machine_code(text: str, loops: Callable[[], ModuleOp]) -> tuple[Any, Any]:
    """The function, and the engine that holds it where it can't be kept on disk."""
    folder = disk.folder()
    library = None if folder is None else folder / f"{disk.key_of(text, made_by())}.so"
    if library is not None and library.is_file():
        return compiler.entry_of(library), None
    engine, code = compiler.object_code(generic(loops()))
    shared = None if library is None else compiler.linked(code)
    if library is None or shared is None:
        return compiler.entry_in(engine), engine
    disk.write(library, shared)
    return compiler.entry_of(library), None


def generic(module: ModuleOp) -> str:
    """A module as MLIR reads it; its short forms are not those of xDSL, which has no annotations of loops."""
    for op in module.walk():
        if isinstance(op, scf.ForOp):
            op.attributes["loop_annotation"] = loop_annotation()
    text = StringIO()
    GenericPrinter(text, print_generic_format=True).print_op(module)
    return text.getvalue()


@cache
def loop_annotation() -> Attribute:
    return Parser(Context(allow_unregistered=True), LOOPS).parse_attribute()


class GenericPrinter(Printer):
    """Prints each attribute once: a kernel has few types, and hundreds of values."""

    def print_attribute(self, attribute: Attribute) -> None:
        self.print_string(printed(attribute))


@cache
def printed(attribute: Attribute) -> str:
    text = StringIO()
    Printer(text, print_generic_format=True).print_attribute(attribute)
    return text.getvalue()


@cache
def made_by() -> str:
    """What else machine code depends on: the processor, MLIR, and the files that emit loops."""
    from importlib.metadata import version

    import gnnc.passes.loops

    loops = Path(gnnc.passes.loops.__file__).parent
    return "\n".join([cpu(), version("torch-mlir"), disk.sources_hash([loops, Path(compiler.__file__).parent])])
