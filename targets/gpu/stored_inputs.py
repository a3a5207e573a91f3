"""Features as a program takes them, where they are given with other numbers: a file of a run."""

from __future__ import annotations

from collections.abc import Mapping
from math import prod
from pathlib import Path

import torch

from gnnc.targets.gpu.store.array_file import ArrayFile
from gnnc.targets.gpu.store.folder import StoreFolder, sync_folder

SHARE = 16
"""Rows that are converted together take this part of the budget, one in so many."""


def stored_inputs(
    inputs: Mapping[str, torch.Tensor], dtypes: Mapping[str, torch.dtype], folder: StoreFolder, path: Path, budget: int
) -> dict[str, torch.Tensor]:
    """The inputs whose numbers are of another type than the program takes, as files in the folder of a run. Raises
    ResourceError if the disk has no room for them."""
    return {
        name: as_stored(inputs[name], dtype, folder, path / f"{name}.npy", budget)
        for name, dtype in dtypes.items()
        if inputs[name].dtype != dtype
    }


def as_stored(rows: torch.Tensor, dtype: torch.dtype, folder: StoreFolder, path: Path, budget: int) -> torch.Tensor:
    """Rows in another type, from an earlier attempt at the same run or written now."""
    done = ArrayFile(path, rows.shape[0], rows.shape[1:], dtype)
    if not done.is_complete_size():
        folder.check_room(done.bytes)
        file = ArrayFile(path.with_suffix(".partial"), rows.shape[0], rows.shape[1:], dtype)
        file.open()
        together = max(1, budget // SHARE // max(1, prod(rows.shape[1:]) * rows.element_size()))
        for start in range(0, rows.shape[0], together):
            file.write(start, rows[start : start + together].to(dtype))
        file.sync()
        file.close()
        file.path.rename(path)
        sync_folder(path.parent)
    return done.mapped()
