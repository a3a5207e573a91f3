"""The part of Triton that our kernels use, on torch tensors: a gigabyte less to install than Triton, and it looks
whether what is loaded and stored lies in its array."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from types import ModuleType, SimpleNamespace
from typing import Any
from unittest.mock import patch

import torch

from gnnc.targets.gpu import fused_executor
from gnnc.targets.gpu.triton_kernels import kernel

program: list[int] = [0, 0]


@dataclass(frozen=True)
class Pointer:
    """Places in the numbers of an array."""

    numbers: torch.Tensor
    places: torch.Tensor

    def __add__(self, by: int | torch.Tensor) -> Pointer:
        return Pointer(self.numbers, self.places + by)

    def checked(self, mask: torch.Tensor | None, shape: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
        """Places, and where they are meant. Raises IndexError if one of those is outside."""
        shape = torch.broadcast_shapes(self.places.shape, shape, () if mask is None else mask.shape)
        places = self.places.expand(shape)
        meant = torch.ones(shape, dtype=torch.bool) if mask is None else mask.expand(shape)
        outside = meant & ((places < 0) | (places >= self.numbers.shape[0]))
        if bool(outside.any()):
            raise IndexError(f"{int(places[outside][0])} is outside of {self.numbers.shape[0]} numbers")
        return places, meant


def load(pointer: Pointer, mask: torch.Tensor | None = None, other: float | None = None) -> torch.Tensor:
    places, meant = pointer.checked(mask, ())
    if pointer.numbers.shape[0] == 0:
        return torch.full(places.shape, other or 0, dtype=pointer.numbers.dtype)
    found = pointer.numbers[places.clamp(0, pointer.numbers.shape[0] - 1)]
    return found if other is None else torch.where(meant, found, torch.tensor(other, dtype=found.dtype))


def store(pointer: Pointer, value: torch.Tensor, mask: torch.Tensor | None = None) -> None:
    places, meant = pointer.checked(mask, value.shape)
    assert value.dtype == pointer.numbers.dtype and value.shape == places.shape
    pointer.numbers[places[meant]] = value[meant]


def extremum(reduce: Callable[..., torch.Tensor], skipped: float) -> Callable[..., torch.Tensor]:
    """The largest or smallest along an axis; NaN is skipped, as on a device."""

    def of(value: torch.Tensor, axis: int, keep_dims: bool) -> torch.Tensor:
        return reduce(value.nan_to_num(skipped, float("inf"), float("-inf")), axis, keep_dims)

    return of


def larger(function: Callable[..., torch.Tensor], without_nan: Callable[..., torch.Tensor]) -> Callable[..., Any]:
    def of(a: Any, b: Any, propagate_nan: object = None) -> torch.Tensor:
        a, b = torch.as_tensor(a), torch.as_tensor(b)
        return (without_nan if propagate_nan is None else function)(a, b)

    return of


def arange(start: int, end: int) -> torch.Tensor:
    assert (end - start) & (end - start - 1) == 0, "a power of two"
    return torch.arange(start, end)


def full(shape: Sequence[int], value: float, dtype: torch.dtype) -> torch.Tensor:
    return torch.full(shape, value, dtype=dtype)


def zeros(shape: Sequence[int], dtype: torch.dtype) -> torch.Tensor:
    return torch.zeros(shape, dtype=dtype)


def total(value: torch.Tensor, axis: int, keep_dims: bool) -> torch.Tensor:
    return value.sum(axis, keep_dims, dtype=value.dtype)


def program_id(axis: int) -> torch.Tensor:
    return torch.tensor(program[axis])


language: dict[str, Any] = {
    "float16": torch.float16,
    "bfloat16": torch.bfloat16,
    "float32": torch.float32,
    "float64": torch.float64,
    "int32": torch.int32,
    "int64": torch.int64,
    "PropagateNan": SimpleNamespace(ALL=True),
    "arange": arange,
    "broadcast_to": torch.broadcast_to,
    "exp": torch.exp,
    "full": full,
    "load": load,
    "max": extremum(torch.amax, float("-inf")),
    "maximum": larger(torch.maximum, torch.fmax),
    "min": extremum(torch.amin, float("inf")),
    "minimum": larger(torch.minimum, torch.fmin),
    "program_id": program_id,
    "sqrt": torch.sqrt,
    "store": store,
    "sum": total,
    "where": torch.where,
    "zeros": zeros,
}


@dataclass(frozen=True)
class Jit:
    """A kernel: `kernel[grid](arguments)` runs it once for every program."""

    function: Callable[..., None]

    def __getitem__(self, grid: tuple[int, int]) -> Callable[..., None]:
        def launch(*arguments: Any, **_: Any) -> None:
            given = [as_pointer(a) if isinstance(a, torch.Tensor) else torch.tensor(a) for a in arguments]
            for program[0], program[1] in product(range(grid[0]), range(grid[1])):
                self.function(*given)

        return launch


def as_pointer(array: torch.Tensor) -> Pointer:
    assert array.is_contiguous()
    return Pointer(array.reshape(-1), torch.tensor(0))


@contextmanager
def triton_stand_in() -> Generator[None]:
    """Kernels run in this, on every device."""
    with patch.object(kernel, "module_of", loaded), patch.object(fused_executor, "runs_on", bool):
        yield


@lru_cache(maxsize=64)
def loaded(text: str) -> SimpleNamespace:
    """The functions of a text, which imports Triton."""
    triton, tl = ModuleType("triton"), ModuleType("triton.language")
    triton.__dict__.update(jit=Jit, language=tl)
    tl.__dict__.update(language)
    namespace: dict[str, Any] = {}
    with patch.dict(sys.modules, {"triton": triton, "triton.language": tl}):
        exec(text, namespace)
    return SimpleNamespace(**namespace)
