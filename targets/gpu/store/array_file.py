"""Rows of numbers in an .npy file, written in pieces in any order and mapped to be read."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch

NUMPY_STAND_INS = {torch.bfloat16: torch.int16}
"""Types that numpy lacks lie there as numbers of the same size."""


class ArrayFile:
    """An array of some rows on disk. Closed by `close`, or left for the next process to open again."""

    def __init__(self, path: Path, rows: int, row_shape: Sequence[int], dtype: torch.dtype):
        """Makes the file, or opens it where it is left from an interrupted run. Raises OSError."""
        self.path = path
        self.shape = (rows, *row_shape)
        self.dtype = dtype
        self.row_bytes = int(np.prod(row_shape, dtype=np.int64)) * dtype.itemsize
        stored = NUMPY_STAND_INS.get(dtype, dtype)
        self.numpy_dtype = torch.empty(0, dtype=stored).numpy().dtype
        self.descriptor = -1
        self.begin = 0

    @property
    def bytes(self) -> int:
        return self.shape[0] * self.row_bytes

    def create(self) -> None:
        """An array of zeros."""
        with self.path.open("wb") as stream:
            description = np.lib.format.dtype_to_descr(self.numpy_dtype)
            header = {"descr": description, "fortran_order": False, "shape": self.shape}
            np.lib.format.write_array_header_1_0(stream, header)
            stream.truncate(stream.tell() + self.bytes)

    def open(self) -> None:
        """For writing; makes the file if it is not there or of another size."""
        if not self.is_complete_size():
            self.create()
        self.begin = self.path.stat().st_size - self.bytes
        self.descriptor = os.open(self.path, os.O_RDWR)

    def is_complete_size(self) -> bool:
        """Whether the file holds this array, numbers aside."""
        try:
            found = np.lib.format.open_memmap(self.path, mode="r")
        except (OSError, ValueError):
            return False
        return found.shape == self.shape and found.dtype == self.numpy_dtype

    def write(self, start: int, rows: torch.Tensor) -> None:
        """Writes rows from `start` on."""
        view = memoryview(bytes_of(rows))
        place = self.begin + start * self.row_bytes
        while view:
            written = os.pwrite(self.descriptor, view, place)
            view, place = view[written:], place + written

    def read(self, start: int, count: int) -> torch.Tensor:
        """Some rows in memory of their own. Raises OSError if the file is too short."""
        rows = torch.empty((count, *self.shape[1:]), dtype=self.dtype)
        view, place = memoryview(bytes_of(rows)), self.begin + start * self.row_bytes
        while view:
            got = os.preadv(self.descriptor, [view], place)
            if got == 0:
                raise OSError(f"{self.path} is shorter than it was written")
            view, place = view[got:], place + got
        return rows

    def write_at(self, ids: torch.Tensor, rows: torch.Tensor) -> None:
        """Writes rows at ascending ids, those side by side together."""
        cuts = [0, *((ids.diff() != 1).nonzero().squeeze(1) + 1).tolist(), ids.shape[0]]
        for first, last in zip(cuts, cuts[1:], strict=False):
            self.write(int(ids[first]), rows[first:last])

    def sync(self) -> None:
        os.fdatasync(self.descriptor)

    def close(self) -> None:
        if self.descriptor >= 0:
            os.close(self.descriptor)
        self.descriptor = -1

    def mapped(self) -> torch.Tensor:
        """The rows as they lie on disk, copied only where they are written to."""
        array = np.lib.format.open_memmap(self.path, mode="c") if self.bytes else np.zeros(self.shape, self.numpy_dtype)
        return torch.from_numpy(array).view(self.dtype)


def mapped_zeros(path: Path, dtype: Any, shape: tuple[int, ...]) -> np.memmap[Any, Any]:
    """An array of zeros, mapped to be written. The disk gives the room for it at once: were it full later, writing to
    memory would end the process. Raises OSError."""
    array = np.lib.format.open_memmap(path, "w+", dtype, shape)
    if hasattr(os, "posix_fallocate"):
        with path.open("r+b") as stream:
            os.posix_fallocate(stream.fileno(), 0, path.stat().st_size)
    return array


def numbers_of(rows: torch.Tensor) -> np.ndarray[Any, Any]:
    """The same memory as numpy's array, of a type with as many bits where numpy lacks that one."""
    return rows.view(NUMPY_STAND_INS.get(rows.dtype, rows.dtype)).numpy()


def bytes_of(rows: torch.Tensor) -> memoryview:
    return memoryview(cast(Any, numbers_of(rows.contiguous()).reshape(-1))).cast("B")
