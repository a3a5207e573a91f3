"""Tensors as MLIR passes memrefs: addresses, offset, sizes and strides."""

from __future__ import annotations

import ctypes
from typing import Any

import torch

LIST, ROWS = ctypes.c_int64 * 5, ctypes.c_int64 * 7


def list_descriptor(array: torch.Tensor) -> tuple[Any, torch.Tensor]:
    """What MLIR passes for memref<?>, and the tensor that must live as long."""
    address = array.data_ptr()
    return LIST(address, address, 0, array.shape[0], 1), array


def rows_descriptor(array: torch.Tensor) -> tuple[Any, torch.Tensor]:
    """What MLIR passes for memref<?x?, strided<[?, 1]>> of a tensor whose first axis is the rows; a copy of the tensor
    where a row doesn't lie in one piece."""
    if array.dim() == 0:
        array = array.reshape(1)
    (rows, *shape), (stride, *strides) = array.shape, array.stride()
    size = 1
    for length, step in zip(reversed(shape), reversed(strides), strict=True):
        if length != 1 and step != size:
            return rows_descriptor(array.contiguous())
        size *= length
    address = array.data_ptr()
    return ROWS(address, address, 0, rows, size, stride, 1), array


def columns_descriptor(array: torch.Tensor, rows: int, row_stride: int, start: int, count: int) -> Any:
    """What MLIR passes for `count` columns from `start` on of so many rows, whose numbers lie side by side. A stride of
    0 is one row again and again. The tensor must live as long."""
    address = array.data_ptr() + start * array.itemsize
    return ROWS(address, address, 0, rows, count, row_stride, 1)
