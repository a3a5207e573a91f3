"""A fused operation as something to call with tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from ctypes import byref, c_int64
from functools import cache, cached_property
from io import StringIO
from pathlib import Path
from typing import Any, TypeAlias

import torch
from xdsl.dialects.builtin import ModuleOp, TensorType
from xdsl.ir import Attribute, SSAValue
from xdsl.printer import Printer

from gnnc.dialects.gnn import EdgeSetType, FusedConvOp, FusedOperation, FusedRowsOp
from gnnc.dialects.gnn.attributes import domain_of
from gnnc.passes.loops.arguments import KernelInput, Part, Role, kernel_inputs
from gnnc.targets.gpu.csr import Csr
from gnnc.targets.gpu.kernels import cache as disk
from gnnc.targets.gpu.kernels import compiler
from gnnc.targets.gpu.kernels.machine import cpu
from gnnc.targets.gpu.kernels.memrefs import rows_descriptor
from gnnc.targets.gpu.kernels.threads import even_ranges, ranges_without, run_ranges
from gnnc.targets.torch_functions import torch_dtype

OF_THE_PLACE = ("densities", "layer", "conv")
"""What operations say of their place in a model."""


class MachineCode:
    """The machine code of a fused operation, for CPU tensors."""

    def __init__(self, op: FusedOperation, part: Part = Part.WHOLE):
        """Raises NoKernelError if the operation has no form in loops."""
        self.inputs: Sequence[KernelInput] = kernel_inputs(op, part)
        self.entry, self.engine = machine_code(op, part)

    def run(
        self, ranges: Sequence[tuple[int, int]], lists: Sequence[Any], arrays: Sequence[torch.Tensor], threads: int
    ) -> None:
        """Computes the rows of some ranges. The tensors behind `lists` and `arrays` live as long."""
        rows = [rows_descriptor(array) for array in arrays]
        pointers = [byref(d) for d, _ in (*lists, *rows)]
        entry = self.entry

        def work(begin: int, end: int) -> None:
            entry(c_int64(begin), c_int64(end), *pointers)

        run_ranges(work, ranges, threads)


class Kernel(MachineCode):
    """A fused Conv, or a part of one."""

    def __init__(self, op: FusedConvOp, part: Part = Part.WHOLE):
        super().__init__(op, part)
        self.op = op
        self.part = part

    def __call__(
        self, csr: Csr, arrays: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor], threads: int
    ) -> Sequence[torch.Tensor]:
        """Writes the rows of the results into `outputs`, and gives those."""
        ranges = csr.ranges if threads > 1 else [(0, csr.rows)]
        hubs = csr.hubs if self.part is Part.WHOLE else ()
        self.run_rows(csr, ranges_without(hubs, ranges) if hubs else ranges, [*arrays, *outputs], threads)
        for hub in hubs:
            self.run_hub(csr, hub, dict(zip(self.inputs, arrays, strict=True)), outputs, threads)
        return outputs

    def run_rows(
        self, csr: Csr, ranges: Sequence[tuple[int, int]], arrays: Sequence[torch.Tensor], threads: int
    ) -> None:
        self.run(ranges, csr.descriptors, arrays, threads)

    def run_hub(
        self,
        csr: Csr,
        row: int,
        arrays: Mapping[KernelInput, torch.Tensor],
        outputs: Sequence[torch.Tensor],
        threads: int,
    ) -> None:
        """Computes one row, pieces of whose edges threads share."""
        pieces = csr.pieces_of(row)
        sums = self.first_sums.repeat(pieces.rows + 1, 1)
        of_pieces, total = sums[:-1], sums[-1:]
        own = {i: a[row].expand(pieces.rows, *a.shape[1:]) if i.role is Role.TARGET else a for i, a in arrays.items()}
        each = [(piece, piece + 1) for piece in range(pieces.rows)]
        self.adding.run_rows(pieces, each, [*(own[i] for i in self.adding.inputs), of_pieces], threads)
        self.merging.run_rows(Csr(torch.tensor([0, pieces.rows]), pieces.neighbors), [(0, 1)], [of_pieces, total], 1)
        known = [arrays[i] for i in self.finishing.inputs]
        self.finishing.run_rows(csr, [(row, row + 1)], [*known, total.expand(csr.rows, -1), *outputs], 1)

    # The same Conv in parts, for neighbors that aren't in memory at one time, and for rows that threads share.

    @cached_property
    def adding(self) -> Kernel:
        """Goes on from sums in memory: they are its only output."""
        return Kernel(self.op, Part.ADD_UP)

    @cached_property
    def merging(self) -> Kernel:
        """Adds sums of pieces of a row, which are its only array, to sums."""
        return Kernel(self.op, Part.MERGE)

    @cached_property
    def finishing(self) -> Kernel:
        """Computes the results from sums, which are the last of its arrays."""
        return Kernel(self.op, Part.FINISH)

    @cached_property
    def first_sums(self) -> torch.Tensor:
        """The sums of a row before the first edge."""
        from gnnc.passes.loops.kernel import first_sums
        from gnnc.passes.loops.row_loop import element_type

        # results may be stored in 16 bits, sums never are
        return torch.tensor(first_sums(self.op), dtype=torch_dtype(element_type(self.op)))


class RowsKernel(MachineCode):
    """Row-wise work."""

    def __init__(self, op: FusedRowsOp):
        super().__init__(op)

    def __call__(
        self, arrays: Sequence[torch.Tensor], outputs: Sequence[torch.Tensor], threads: int
    ) -> Sequence[torch.Tensor]:
        """Writes the rows of the results into `outputs`, and gives those."""
        self.run(even_ranges(outputs[0].shape[0], threads), [], [*arrays, *outputs], threads)
        return outputs


AnyKernel: TypeAlias = Kernel | RowsKernel


def machine_code(op: FusedOperation, part: Part) -> tuple[Any, Any]:
    """The function of a fused operation or of a part of it, and the engine that holds it where it can't be kept on
    disk."""
    folder = disk.folder()
    library = None if folder is None else folder / f"{disk.key_of(text_of(op), part.value, made_by())}.so"
    if library is not None and library.is_file():
        return compiler.entry_of(library), None
    engine, code = compiler.object_code(generic(loops_of(op, part)))
    shared = None if library is None else compiler.linked(code)
    if library is None or shared is None:
        return compiler.entry_in(engine), engine
    disk.write(library, shared)
    return compiler.entry_of(library), None


def loops_of(op: FusedOperation, part: Part = Part.WHOLE) -> ModuleOp:
    """A module with the function in loops of a fused operation or of a part of it."""
    from gnnc.passes.loops.kernel import loop_function

    return ModuleOp([loop_function(op, "kernel", part)])


def generic(module: ModuleOp) -> str:
    """A module as both xDSL and MLIR read it; their short forms differ for selects of vectors."""
    text = StringIO()
    Printer(text, print_generic_format=True).print_op(module)
    return text.getvalue()


def text_of(op: FusedOperation) -> str:
    """The name and body of a fused operation: all that its machine code depends on. Densities, places among the Convs
    and the names of values, of node types and of edge sets are no part of that."""
    arguments = op.body.block.args
    numbers: dict[SSAValue, int] = {argument: argument.index for argument in arguments}
    sets: dict[str, int] = {}
    lines = [op.name, *(spelled_type(argument.type, sets) for argument in arguments)]
    for inner in op.body.block.ops:
        operands = [str(numbers[operand]) for operand in inner.operands]
        given = {**inner.attributes, **inner.properties}
        attributes = [f"{name} = {spelled(given[name])}" for name in sorted(given) if name not in OF_THE_PLACE]
        types = [spelled_type(result.type, sets) for result in inner.results]
        lines.append("; ".join([inner.name, *operands, *attributes, *types]))
        numbers |= {result: len(numbers) + result.index for result in inner.results}
    return "\n".join(lines)


def spelled_type(type_: Attribute, sets: dict[str, int]) -> str:
    """A type with numbers for the names of sets, which `sets` has of those that came before."""

    def number(kind: str, name: str) -> int:
        return sets.setdefault(f"{kind} {name}", len(sets))

    if isinstance(type_, EdgeSetType):
        ends = [number("nodes", end.data) for end in (type_.source, type_.target)]
        return f"edges {number('edges', type_.edge_set.data)}, {ends[0]} -> {ends[1]}"
    domain = domain_of(type_)
    if domain is None:
        return spelled(type_)
    return f"{spelled(row_type(type_))} on {domain.kind.data} {number(domain.kind.data, domain.set_name.data)}"


@cache
def row_type(type_: Attribute) -> TensorType[Attribute]:
    """A type of rows without the name of their set."""
    assert isinstance(type_, TensorType)
    return TensorType(type_.element_type, type_.shape)


@cache
def spelled(attribute: Attribute) -> str:
    return str(attribute)


@cache
def made_by() -> str:
    """What else machine code depends on: the processor, MLIR, and the files that emit loops."""
    from importlib.metadata import version

    import gnnc.passes.loops

    loops = Path(gnnc.passes.loops.__file__).parent
    return "\n".join([cpu(), version("torch-mlir"), disk.sources_hash([loops, Path(compiler.__file__).parent])])
