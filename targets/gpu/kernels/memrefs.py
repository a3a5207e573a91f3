"""Tensors as MLIR passes memrefs: addresses, offset, sizes and strides."""

from __future__ import annotations

import ctypes
import math
from typing import Any

import torch

LIST, ROWS = ctypes.c_int64 * 5, ctypes.c_int64 * 7


def list_descriptor(array: torch.Tensor) -> tuple[Any, torch.Tensor]:
    """What MLIR passes for memref<?>, and the tensor that must live as long."""
    address = array.data_ptr()
    return LIST(address, address, 0, array.shape[0], 1), array


def rows_descriptor(array: torch.Tensor) -> tuple[Any, torch.Tensor]:
    """What MLIR passes for memref<?x?, strided<[?, 1]>> of a tensor whose first axis is the rows, and the tensor that
    must live as long: a copy where a row doesn't lie in one piece."""
    if array.dim() != 2 or array.stride(1) != 1:
        array = as_matrix(array)
    address, (rows, size) = array.data_ptr(), array.shape
    return ROWS(address, address, 0, rows, size, array.stride(0), 1), array


def as_matrix(array: torch.Tensor) -> torch.Tensor:
    """The rows of a tensor, each in one piece."""
    if array.dim() == 0:
        return array.reshape(1, 1)
    matrix = array.reshape(array.shape[0], math.prod(array.shape[1:]))
    return matrix if matrix.stride(1) == 1 or matrix.shape[1] == 1 else matrix.contiguous()


def columns_descriptor(array: torch.Tensor, rows: int, row_stride: int, start: int, count: int) -> Any:
    """What MLIR passes for `count` columns from `start` on of so many rows, whose numbers lie side by side. A stride of
    0 is one row again and again. The tensor must live as long."""
    address = array.data_ptr() + start * array.itemsize
    return ROWS(address, address, 0, rows, count, row_stride, 1)
