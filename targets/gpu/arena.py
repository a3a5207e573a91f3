"""Memory that batches use again and again: fresh pages cost more than most operations on them."""

from __future__ import annotations

import ctypes
import math
import mmap
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property

import torch

LINE = 64
HUGE = 2 * 2**20
MAPPED = 2**16
"""Smaller buffers are not worth pages of their own."""

M_MMAP_THRESHOLD = -3
LARGEST_KEPT = 2**25
"""The C library's own limit for what it keeps, which it comes to by itself."""


@dataclass(frozen=True)
class RowsOf:
    """What an array of rows is like: the shape of a row and its numbers."""

    shape: tuple[int, ...]
    dtype: torch.dtype

    @cached_property
    def strides(self) -> tuple[int, ...]:
        """From one number to the next along each axis."""
        inner = [math.prod(self.shape[axis + 1 :]) for axis in range(len(self.shape))]
        return (self.stride, *inner)

    @cached_property
    def stride(self) -> int:
        """From one row to the next, in numbers: rows longer than a cache line begin at one, shorter ones don't cross
        from one to the next."""
        size = math.prod(self.shape)
        per_line = LINE // self.dtype.itemsize
        if size >= per_line:
            return -(-size // per_line) * per_line
        return 1 << max(0, size - 1).bit_length()


class Arena:
    """Hands out arrays of rows on the host and takes their memory back. With `own_pages`, what it forgets goes back to
    the system at once; the C library would keep what lies between other things, which a budget has no room for."""

    def __init__(self, *, own_pages: bool = False) -> None:
        self.own_pages = own_pages
        self.free: list[torch.Tensor] = []
        self.used: dict[int, torch.Tensor] = {}

    def empty(self, kind: RowsOf, rows: int) -> torch.Tensor:
        """Rows with undefined numbers."""
        buffer = self.take(bytes_of(kind, rows))
        self.used[buffer.data_ptr()] = buffer
        return as_rows_of(buffer, kind, rows)

    def packed(self, kind: RowsOf, rows: int) -> torch.Tensor:
        """Rows with undefined numbers, side by side."""
        size = rows * math.prod(kind.shape) * kind.dtype.itemsize
        buffer = self.take(size + LINE)
        self.used[buffer.data_ptr()] = buffer
        return buffer[:size].view(kind.dtype).view(rows, *kind.shape)

    def take(self, size: int) -> torch.Tensor:
        """The smallest free buffer that is large enough and not much too large, or a new one."""
        fitting = [b for b in self.free if size <= b.shape[0] <= 4 * size + HUGE]
        if not fitting:
            return new_buffer(in_whole_lines(size), own_pages=self.own_pages)
        best = min(fitting, key=lambda b: b.shape[0])
        self.free = [b for b in self.free if b is not best]
        return best

    def release(self, *arrays: object) -> None:
        """Takes back what `empty` gave, or views of that from its first number on; anything else is left alone."""
        for array in arrays:
            buffer = self.used.pop(array.data_ptr(), None) if isinstance(array, torch.Tensor) else None
            if buffer is not None:
                self.give_back(buffer)

    def give_back(self, buffer: torch.Tensor) -> None:
        """Takes a buffer back."""
        self.free.append(buffer)

    def reclaim(self) -> None:
        """Takes back all that is out, because nothing of it is needed any more."""
        self.free += self.used.values()
        self.used.clear()

    @property
    def free_bytes(self) -> int:
        return sum(buffer.shape[0] for buffer in self.free)

    def forget(self) -> None:
        """Gives memory that nothing uses back to the system."""
        self.free = []

    def make_way(self) -> None:
        """Gives all memory back to the system, for something else needs as much now; nothing of it is in use."""
        self.forget()


def trim() -> None:
    """Gives what has been freed back to the system, which the C library would keep for a next time."""
    give_back = getattr(ctypes.CDLL(None), "malloc_trim", None)
    if give_back is not None:
        give_back(0)


@contextmanager
def large_blocks_apart(size: int) -> Generator[None]:
    """For a while, the C library gives blocks of `size` bytes or more pages of their own, which go back to the system
    when they are freed. It would keep those up to the size of the largest that it has seen freed."""
    set_option = getattr(ctypes.CDLL(None), "mallopt", None)
    if set_option is None:
        yield
        return
    set_option(M_MMAP_THRESHOLD, size)
    try:
        yield
    finally:
        set_option(M_MMAP_THRESHOLD, LARGEST_KEPT)


def bytes_of(kind: RowsOf, rows: int) -> int:
    """What rows take: a kernel may read a line to its end, and so a vector's width is after the last one."""
    return rows * kind.stride * kind.dtype.itemsize + LINE


def in_whole_lines(size: int) -> int:
    """So many bytes or a few more, so that numbers of any size fill them."""
    return -(-size // LINE) * LINE


def as_rows_of(buffer: torch.Tensor, kind: RowsOf, rows: int) -> torch.Tensor:
    return buffer.view(kind.dtype).as_strided((rows, *kind.shape), kind.strides)


def new_rows(kind: RowsOf, rows: int) -> torch.Tensor:
    """Rows with undefined numbers, in memory of their own."""
    return as_rows_of(new_buffer(in_whole_lines(bytes_of(kind, rows))), kind, rows)


def fresh(shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    """An array of its own, numbers side by side and undefined."""
    size = math.prod(shape) * dtype.itemsize
    return new_buffer(size).view(dtype).view(*shape) if size > HUGE else torch.empty(*shape, dtype=dtype)


def new_buffer(size: int, *, own_pages: bool = False) -> torch.Tensor:
    """Bytes that begin at a cache line; large ones lie on huge pages, which random rows are glad of."""
    unit = HUGE if size > HUGE else LINE
    own_pages = own_pages and size > MAPPED
    buffer = mapped(size + unit) if own_pages else torch.empty(size + unit, dtype=torch.uint8)
    start = -buffer.data_ptr() % unit
    buffer = buffer[start : start + size]
    if size > HUGE:
        advise_huge(buffer)
    return buffer


def mapped(size: int) -> torch.Tensor:
    """Pages of their own, which go back to the system when nothing uses them. Raises MemoryError."""
    if not hasattr(mmap, "MAP_PRIVATE"):
        return torch.empty(size, dtype=torch.uint8)
    try:
        return torch.frombuffer(mmap.mmap(-1, size, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS), dtype=torch.uint8)
    except OSError as error:
        raise MemoryError(f"no memory for {size} bytes") from error


def advise_huge(buffer: torch.Tensor) -> None:
    """Asks for huge pages, where the system has them."""
    advise(buffer[: buffer.shape[0] // HUGE * HUGE], "MADV_HUGEPAGE")


def give_pages_back(buffer: torch.Tensor) -> None:
    """What lies in mapped memory is lost, and takes none until it is written to again."""
    first, last = buffer.data_ptr(), buffer.data_ptr() + buffer.shape[0]
    start, stop = -(-first // mmap.PAGESIZE) * mmap.PAGESIZE, last // mmap.PAGESIZE * mmap.PAGESIZE
    if start < stop:
        advise(buffer[start - first : stop - first], "MADV_DONTNEED")


def advise(buffer: torch.Tensor, name: str) -> None:
    """Tells the system about whole pages, where it can be told."""
    advice = getattr(mmap, name, None)
    if advice is not None:
        ctypes.CDLL(None).madvise(ctypes.c_void_p(buffer.data_ptr()), ctypes.c_size_t(buffer.shape[0]), advice)
