"""Arrays as torch tensors."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from numpy.typing import NDArray


def as_tensor(array: NDArray[Any] | torch.Tensor, device: str = "cpu") -> torch.Tensor:
    """A tensor on the host that shares the array's memory where it can, or one on the device if the array is there; it
    is only read."""
    tensor = array.detach() if isinstance(array, torch.Tensor) else tensor_of(array)
    return tensor if tensor.device.type == torch.device(device).type else tensor.cpu()


def tensor_of(array: NDArray[Any]) -> torch.Tensor:
    if any(stride < 0 for stride in array.strides):
        array = array.copy()  # torch knows no array that runs backwards
    with warnings.catch_warnings():
        # memory-mapped files are read-only, and torch warns of what would happen if one wrote to them
        warnings.filterwarnings("ignore", "The given NumPy array is not writable", UserWarning)
        return torch.as_tensor(array)
