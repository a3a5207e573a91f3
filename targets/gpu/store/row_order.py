"""Rows of a file in another order, out of core: read from front to back, never at random.

Rows are scattered into buckets, ranges of their new places that fit into a part of the budget, and each bucket is put
in order by itself, as edges are in `csc_file`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import torch
from numpy.typing import NDArray

from gnnc.targets.gpu.store.array_file import ArrayFile, mapped_zeros
from gnnc.targets.gpu.store.folder import sync_folder

Ids: TypeAlias = NDArray[np.int32] | NDArray[np.int64]

SHARE = 8
"""A bucket takes this part of the budget, one in so many: allocators keep copies of it, and nodes take some, too."""


def write_reordered(path: Path, rows: torch.Tensor, order: Ids, places: Ids, budget: int) -> None:
    """Writes `rows[order]`, where `rows` [N, ...] may be mapped; `places` say where each row goes. The file is there
    when it is complete."""
    building = path.with_name(f"{path.name}.partial")
    building.unlink(missing_ok=True)
    file = ArrayFile(building, rows.shape[0], rows.shape[1:], rows.dtype)
    file.open()
    try:
        reorder_into(file, rows, order, places, max(1, budget // SHARE // max(1, file.row_bytes)))
        file.sync()
    finally:
        file.close()
    os.replace(building, path)
    sync_folder(path.parent)


def reorder_into(file: ArrayFile, rows: torch.Tensor, order: Ids, places: Ids, bucket: int) -> None:
    """Writes `rows[order]`, `bucket` rows at a time."""
    count = len(order)
    # where the next row of each bucket goes: they lie there in the order in which they come
    cursor = np.arange(0, count, bucket)
    for start in range(0, count, bucket):
        of_bucket = places[start : start + bucket] // bucket
        by_bucket = np.argsort(of_bucket, kind="stable")
        part = rows[start : start + bucket].index_select(0, torch.from_numpy(by_bucket))
        counts = np.bincount(of_bucket, minlength=len(cursor))
        ends = counts.cumsum()
        for number in counts.nonzero()[0]:
            file.write(int(cursor[number]), part[ends[number] - counts[number] : ends[number]])
        cursor += counts
    for start in range(0, count, bucket):
        came = np.argsort(np.argsort(order[start : start + bucket]))
        file.write(start, file.read(start, len(came)).index_select(0, torch.from_numpy(came)))


def write_places(folder: Path, order: NDArray[np.int64]) -> tuple[Ids, Ids]:
    """Keeps an order, and where each row goes in it, as int32; both are mapped."""
    kept = mapped_zeros(folder / "order.npy", np.int32, order.shape)
    kept[:] = order
    places = mapped_zeros(folder / "places.npy", np.int32, order.shape)
    places[order] = np.arange(len(order), dtype=np.int32)
    kept.flush()
    places.flush()
    return open_places(folder)


def open_places(folder: Path) -> tuple[Ids, Ids]:
    """What `write_places` has written."""
    return np.load(folder / "order.npy", mmap_mode="r"), np.load(folder / "places.npy", mmap_mode="r")


def write_renamed_edges(path: Path, edge_index: NDArray[np.integer[Any]], places: Ids, piece: int) -> None:
    """Writes edges between the new places of their nodes, int64 [2, E], in the order that they have."""
    renamed = mapped_zeros(path, np.int64, edge_index.shape)
    for start in range(0, edge_index.shape[1], piece):
        renamed[:, start : start + piece] = places[edge_index[:, start : start + piece]]
    renamed.flush()
