"""A device that no machine has, for finding out where host and device are mixed up.

Its tensors lie on the host and say that they are on `meta`. As on a real device, an operation on tensors of both fails,
but for copies; only numbers without axes may come from the host.
"""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import fields, replace
from typing import Any
from unittest.mock import patch

import torch
from torch.utils._python_dispatch import (
    TorchDispatchMode,
    _disable_current_modes,  # pyright: ignore[reportPrivateUsage]
)
from torch.utils._pytree import tree_leaves, tree_map

from gnnc import program
from gnnc.targets.gpu.device_csr import DeviceCsr, Hubs
from gnnc.targets.gpu.triton_kernels import kernel
from gnnc.targets.gpu.triton_kernels.kernel import run as run_kernels
from gnnc.targets.gpu.triton_kernels.source import Launch

DEVICE = "meta"
copied: list[tuple[int, ...]] = []
"""The shapes of what has been copied from the host to the device."""

COPIES = (torch.ops.aten._to_copy.default, torch.ops.aten.copy_.default)


class OnDevice(torch.Tensor):
    """A tensor on the device; `inner` holds its numbers."""

    inner: torch.Tensor  # pyright: ignore[reportIncompatibleMethodOverride]

    @staticmethod
    def of(inner: torch.Tensor) -> OnDevice:
        make: Any = torch.Tensor._make_wrapper_subclass
        tensor = make(OnDevice, inner.shape, strides=inner.stride(), dtype=inner.dtype, device=DEVICE)
        tensor.inner = inner
        return tensor

    @classmethod
    def __torch_dispatch__(
        cls, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        return computed(func, args, dict(kwargs or {}))


class _Mode(TorchDispatchMode):
    def __torch_dispatch__(
        self, func: Any, types: Sequence[type], args: Sequence[Any] = (), kwargs: Mapping[str, Any] | None = None
    ) -> Any:
        return computed(func, args, dict(kwargs or {}))


def computed(func: Any, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
    """What an operation gives, on the device if its operands are there or it is told so."""
    tensors = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
    there = [tensor for tensor in tensors if isinstance(tensor, OnDevice)]
    here = [tensor for tensor in tensors if not isinstance(tensor, OnDevice) and tensor.dim() > 0]
    if there and here and func not in COPIES:
        raise RuntimeError(f"{func} got tensors on two devices")
    device = kwargs.get("device")
    on_device = bool(there) if device is None else torch.device(device).type == DEVICE
    if device is not None:
        kwargs["device"] = "cpu"
    result = func(*tree_map(on_host, args), **tree_map(on_host, kwargs))
    if on_device and not there and func is torch.ops.aten._to_copy.default:
        copied.append(tuple(result.shape))
    known = {id(tensor.inner): tensor for tensor in there}

    def wrapped(leaf: Any) -> Any:
        if not isinstance(leaf, torch.Tensor) or not on_device:
            return leaf
        return known[id(leaf)] if id(leaf) in known else OnDevice.of(leaf)

    return args[0] if func is torch.ops.aten.copy_.default else tree_map(wrapped, result)


def on_host(leaf: Any) -> Any:
    """The numbers of a tensor on the device; anything else as it is."""
    return leaf.inner if isinstance(leaf, OnDevice) else leaf


@contextmanager
def pretended_device() -> Generator[str]:
    """The device's name, while there is such a device."""
    with _Mode(), patch.object(program, "usable_device", str), patch.object(kernel, "run", launched):
        yield DEVICE


def launched(module: Any, launch: Launch, csr: DeviceCsr, *arrays: Sequence[torch.Tensor]) -> None:
    """Runs kernels on the numbers themselves. Raises TypeError if some are not on the device."""
    hubs = None if csr.hubs is None else Hubs(*(numbers(getattr(csr.hubs, f.name)) for f in fields(Hubs)))
    inside = replace(csr, offsets=numbers(csr.offsets), neighbors=numbers(csr.neighbors), hubs=hubs)
    inputs, results = ([numbers(array) for array in some] for some in arrays)
    with _disable_current_modes():
        run_kernels(module, launch, inside, inputs, results)


def numbers(tensor: torch.Tensor) -> torch.Tensor:
    if not isinstance(tensor, OnDevice):
        raise TypeError("a kernel got a tensor on the host")
    return tensor.inner
