"""What a run is given, checked before anything is computed."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import torch

from gnnc.errors import RunError
from gnnc.frontend.inputs import MODEL, NODES, ModelInput
from gnnc.tensors import as_tensor


def check_counts(batch_size: int | None, threads: int | None) -> None:
    if batch_size is not None and batch_size < 1:
        raise RunError(f"batch_size is {batch_size}: give the number of nodes a batch, 1 or more")
    if threads is not None and threads < 1:
        raise RunError(f"threads is {threads}: give the number of threads, 1 or more")


def checked_input(expected: ModelInput, value: Any, counts: Mapping[str, int], device: str = "cpu") -> torch.Tensor:
    """One input as a tensor on the host, or on the device if it is there. Raises RunError naming it if its shape or
    type differs."""
    if not isinstance(value, np.ndarray | torch.Tensor):
        raise RunError(f"{expected.key} is a {type(value).__name__}: give a numpy array or a torch tensor")
    tensor = as_tensor(value, device)
    shape = (*tensor.shape[: expected.axis], *tensor.shape[expected.axis + 1 :])
    if tensor.dim() != len(expected.row_shape) + 1 or shape != expected.row_shape:
        sizes = [str(size) for size in expected.row_shape]
        sizes.insert(expected.axis, "?")
        raise RunError(
            f"{expected.key} has shape {list(tensor.shape)}, the program was compiled for [{', '.join(sizes)}]"
        )
    if expected.is_feature and tensor.shape[expected.axis] != counts[expected.set_name]:
        if expected.is_weight:
            rows = tensor.shape[expected.axis]
            raise RunError(
                f"the model has a row of {expected.key.removeprefix(MODEL)} a node, {rows} in all: the graph must have "
                f"as many nodes of '{expected.set_name}', and has {counts[expected.set_name]}"
            )
        has = "the graph has" if expected.set_name == NODES else f"the graph has of {expected.set_name}"
        raise RunError(
            f"{expected.key} has {tensor.shape[expected.axis]} rows, {has} {counts[expected.set_name]} nodes"
        )
    if tensor.dtype != expected.dtype:
        raise RunError(
            f"{expected.key} has type {tensor.dtype}, the program was compiled for {expected.dtype}: convert it"
        )
    check_limit(expected, tensor)
    return tensor


def check_limit(expected: ModelInput, tensor: torch.Tensor) -> None:
    """Raises RunError if a number is beyond the table that the model looks it up in."""
    if expected.limit is None or tensor.numel() == 0 or int(tensor.max()) < expected.limit:
        return
    place = int(tensor.argmax())
    raise RunError(
        f"{expected.key} is {int(tensor.reshape(-1)[place])} at {place}: the model looks it up in a table of "
        f"{expected.limit} rows"
    )


def usable_device(device: str) -> str:
    """The device, if torch can use it. Raises RunError otherwise."""
    kind = device.split(":", 1)[0]
    if kind not in ("cpu", "cuda"):
        raise RunError(f"device '{device}' is unknown: use 'cpu' or 'cuda'")
    if kind == "cuda" and not torch.cuda.is_available():
        raise RunError("device 'cuda' is not available on this machine: use 'cpu'")
    return device
