"""X @ W.T plus rows as a kernel, for very many rows and a small W."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import torch
from torch.utils.weak import WeakTensorKeyDictionary
from xdsl.dialects.builtin import AnyFloat, Float32Type, Float64Type, ModuleOp

from gnnc.dialects.gnn import LinearOp
from gnnc.dialects.gnn.attributes import row_shape
from gnnc.passes.loops.product import product_function
from gnnc.passes.loops.row_loop import VECTOR_BYTES
from gnnc.targets.gpu.kernels import compiler
from gnnc.targets.gpu.kernels.machine import cpu
from gnnc.targets.gpu.kernels.machine_code import MachineCode
from gnnc.targets.gpu.kernels.memrefs import columns_descriptor, rows_descriptor
from gnnc.targets.gpu.kernels.threads import even_ranges
from gnnc.targets.torch_functions import dtype_of

ELEMENTS: dict[torch.dtype, AnyFloat] = {torch.float32: Float32Type(), torch.float64: Float64Type()}

PANEL = 4
"""Vectors of a panel; the last one may have fewer."""

LARGEST_WEIGHT = 2 * 2**20
"""Bytes: a larger weight doesn't stay in the cache while rows pass by."""


def dense_product(x: torch.Tensor, weight: torch.Tensor, added: torch.Tensor | None, out: torch.Tensor) -> bool:
    """Writes into `out` the product of a matrix with the transpose of `weight`, plus a bias or rows that are `added`,
    which may be `out` itself. False where there is no kernel for it, and nothing is written."""
    if not (x.dtype == weight.dtype == out.dtype and fits(weight.shape, weight.dtype)):
        return False
    added = zeros(x.dtype, weight.shape[0]) if added is None else added
    if any(array.stride(-1) != 1 for array in (x, added, out)):
        return False
    rows, depth = x.shape
    added_stride = added.stride(0) if added.dim() == 2 else 0
    of_x = columns_descriptor(x, rows, x.stride(0), 0, depth)
    threads = torch.get_num_threads()
    ranges = even_ranges(rows, threads)
    for part in parts_of(weight):
        of_added = columns_descriptor(added, rows, added_stride, part.start, part.count)
        of_out = columns_descriptor(out, rows, out.stride(0), part.start, part.count)
        part.kernel.call(ranges, [of_x, part.descriptor, of_added, of_out], threads)
    return True


def fits(shape: Sequence[int], dtype: torch.dtype) -> bool:
    """Whether there is a kernel for weights [columns, depth]."""
    small = 0 < math.prod(shape) * dtype.itemsize <= LARGEST_WEIGHT
    return small and dtype in ELEMENTS and has_registers() and compiler.is_available()


def make_kernels(module: ModuleOp) -> None:
    """Makes those of all products of a module, which would else be made when they are needed."""
    for op in module.walk():
        if not isinstance(op, LinearOp):
            continue
        shape, dtype = row_shape(op.weight.type), dtype_of(op.weight.type)
        if fits(shape, dtype):
            for _, vectors in column_cuts(shape[0], dtype):
                kernel_for(dtype, vectors)


@cache
def has_registers() -> bool:
    """Whether there are 32 vector registers, as sums and all that goes into them need."""
    return "avx512f" in cpu()


@cache
def zeros(dtype: torch.dtype, count: int) -> torch.Tensor:
    return torch.zeros(count, dtype=dtype)


@dataclass(frozen=True)
class Part:
    """Columns `start` to `start + count` of a product, the panels of the weight that give them, what MLIR passes for
    those, and their kernel."""

    start: int
    count: int
    panels: torch.Tensor
    descriptor: Any
    kernel: ProductKernel


KNOWN = WeakTensorKeyDictionary()


def parts_of(weight: torch.Tensor) -> Sequence[Part]:
    """Those of all columns, kept as long as the weight is."""
    parts = KNOWN.get(weight)
    if parts is None:
        parts = KNOWN[weight] = cut(weight)
    return parts


def cut(weight: torch.Tensor) -> list[Part]:
    cuts, count = column_cuts(weight.shape[0], weight.dtype), weight.shape[0]
    wide = torch.nn.functional.pad(weight, (0, 0, 0, cuts[-1][0].stop - count))
    width = VECTOR_BYTES // weight.itemsize
    parts: list[Part] = []
    for at, vectors in cuts:
        cut_out = panels(wide[at], vectors * width)
        descriptor, _ = rows_descriptor(cut_out)
        kernel = kernel_for(weight.dtype, vectors)
        parts.append(Part(at.start, min(at.stop, count) - at.start, cut_out, descriptor, kernel))
    return parts


def column_cuts(count: int, dtype: torch.dtype) -> list[tuple[slice, int]]:
    """So many columns, up to the end of the last vector: those of full panels, then what is left, each with the vectors
    of a panel."""
    width = VECTOR_BYTES // dtype.itemsize
    full, left = divmod(-(-count // width), PANEL)
    middle, end = full * PANEL * width, (full * PANEL + left) * width
    return [cut for cut in ((slice(0, middle), PANEL), (slice(middle, end), left)) if cut[0].start < cut[0].stop]


def panels(weight: torch.Tensor, columns: int) -> torch.Tensor:
    """[p * k, columns] of [p * columns, k]."""
    depth = weight.shape[1]
    return weight.reshape(-1, columns, depth).transpose(1, 2).reshape(-1, columns).contiguous()


class ProductKernel(MachineCode):
    """For panels of so many vectors."""

    def __init__(self, dtype: torch.dtype, vectors: int):
        super().__init__(
            f"product of {dtype} with panels of {vectors} vectors",
            lambda: ModuleOp([product_function("kernel", ELEMENTS[dtype], vectors)]),
        )


@cache
def kernel_for(dtype: torch.dtype, vectors: int) -> ProductKernel:
    return ProductKernel(dtype, vectors)
