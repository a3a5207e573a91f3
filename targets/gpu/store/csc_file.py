"""The edges of a set by the node at one end, on disk; put in order out of core.

A counting pass gives the offsets. A second one scatters the edges into buckets, ranges of nodes whose edges fit into a
part of the budget: a bucket's place in a temporary file follows from the offsets, so writes are sequential in each.
Then every bucket is sorted by itself, stably: the edges of a node keep the order of the stream. Where samples will be
drawn of them, the origins of edges take the same way.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch
from numpy.typing import NDArray

from gnnc.targets.gpu.store.array_file import ArrayFile, mapped_zeros
from gnnc.targets.gpu.store.edge_stream import EdgeStream, Ids

PIECE = 2**21
"""Edges that are read together, if the budget lets them be."""

BUCKET = 2**22
BYTES_PER_PIECE_EDGE = 128
"""Twice what scattering takes, for the copies that allocators keep; likewise for sorting."""

BYTES_PER_BUCKET_EDGE = 96
LARGEST_ID = 2**31 - 2**16
"""Ids are int32, and kernels compute with a few more."""


@dataclass(frozen=True)
class CscFile:
    """Edges `offsets[v]` to `offsets[v + 1]` (int64 [nodes + 1]) meet node v; `neighbors` (int32 [edges + padding])
    are the nodes at their other ends, `origins` (int64 [edges]) where they come from, if that has been noted. All are
    mapped from a folder."""

    folder: Path
    offsets: torch.Tensor
    neighbors: torch.Tensor
    origins: torch.Tensor | None = None

    @property
    def edges(self) -> int:
        return int(self.offsets[-1])


def open_csc(folder: Path) -> CscFile:
    """What `build_csc` has written."""
    names = [name for name in ("offsets", "neighbors", "origins") if (folder / f"{name}.npy").exists()]
    arrays = [torch.from_numpy(np.lib.format.open_memmap(folder / f"{name}.npy", mode="c")) for name in names]
    return CscFile(folder, *arrays)


def build_csc(
    folder: Path, stream: EdgeStream, *, by_target: bool, padding: int, budget: int, with_origins: bool = False
) -> CscFile:
    """Orders the edges of a stream by their targets, or by their sources, and writes them into a folder, with their
    origins or without. `padding` zeros follow the last neighbor. Takes about `budget` bytes of memory, and 8 or 16
    bytes an edge on disk while it lasts."""
    nodes = stream.target_count if by_target else stream.source_count
    folder.mkdir(parents=True, exist_ok=True)
    return _Build(folder, stream, by_target, nodes, budget, with_origins).run(padding)


class _Build:
    def __init__(self, folder: Path, stream: EdgeStream, by_target: bool, nodes: int, budget: int, with_origins: bool):
        self.folder = folder
        self.stream = stream
        self.by_target = by_target
        self.nodes = nodes
        self.columns = 4 if with_origins else 2
        """Both ends, and the origin as two numbers of 32 bits."""
        self.piece = max(1024, min(PIECE, budget // BYTES_PER_PIECE_EDGE))
        self.bucket = max(1024, min(BUCKET, budget // BYTES_PER_BUCKET_EDGE))

    def run(self, padding: int) -> CscFile:
        offsets = self.count()
        bounds = self.bucket_bounds(offsets)
        edges = int(offsets[-1])
        files = [ArrayFile(self.folder / "neighbors.npy", edges + padding, (), torch.int32)]
        if self.columns > 2:
            files.append(ArrayFile(self.folder / "origins.npy", edges, (), torch.int64))
        scattered = self.folder / "scattered.tmp"
        try:
            for file in files:
                file.create()
                file.open()
            self.scatter(scattered, offsets, bounds)
            self.sort_buckets(scattered, offsets, bounds, files)
            for file in files:
                file.sync()
        finally:
            for file in files:
                file.close()
            scattered.unlink(missing_ok=True)
        return open_csc(self.folder)

    def ends(self) -> Iterator[tuple[Ids, Ids, NDArray[np.int64]]]:
        """The nodes that edges are ordered by, those at the other end, and origins."""
        for sources, targets, origins in self.stream.pieces(self.piece):
            yield (targets, sources, origins) if self.by_target else (sources, targets, origins)

    def count(self) -> NDArray[np.int64]:
        """Offsets, mapped."""
        offsets = mapped_zeros(self.folder / "offsets.npy", np.int64, (self.nodes + 1,))
        for keys, _, _ in self.ends():
            np.add.at(offsets, keys + 1, 1)
        np.cumsum(offsets, out=offsets)
        offsets.flush()
        return offsets

    def bucket_bounds(self, offsets: NDArray[np.int64]) -> NDArray[np.int64]:
        """The first node of every bucket, and the count of nodes. A node with more edges than a bucket is one alone."""
        bounds = [0]
        while bounds[-1] < self.nodes:
            end = int(np.searchsorted(offsets, offsets[bounds[-1]] + self.bucket, side="right")) - 1
            bounds.append(min(self.nodes, max(bounds[-1] + 1, end)))
        return np.array(bounds, np.int64)

    def scatter(self, path: Path, offsets: NDArray[np.int64], bounds: NDArray[np.int64]) -> None:
        """Writes the ends of edges, bucket by bucket, in the order of the stream within each."""
        cursor = offsets[bounds[:-1]].copy()
        with path.open("wb") as stream:
            for keys, others, origins in self.ends():
                of_bucket = (np.searchsorted(bounds, keys, side="right") - 1).astype(np.uint32)
                # numpy sorts 16-bit numbers by their digits
                small = of_bucket.astype(np.uint16) if len(bounds) < 2**16 else of_bucket
                order = np.argsort(small, kind="stable")
                rows = np.empty((len(keys), self.columns), np.int32)
                rows[:, 0], rows[:, 1] = keys[order], others[order]
                if self.columns > 2:
                    rows[:, 2:] = origins[order].view(np.int32).reshape(-1, 2)
                counts = np.bincount(of_bucket, minlength=len(cursor))
                ends = counts.cumsum()
                for bucket in counts.nonzero()[0]:
                    part = rows[ends[bucket] - counts[bucket] : ends[bucket]]
                    write_all(stream.fileno(), part, int(cursor[bucket]) * rows.strides[0])
                cursor += counts

    def sort_buckets(
        self, path: Path, offsets: NDArray[np.int64], bounds: NDArray[np.int64], files: Sequence[ArrayFile]
    ) -> None:
        """Sorts each bucket by its nodes and writes the other ends."""
        with path.open("rb") as stream:
            for first, last in zip(bounds, bounds[1:], strict=False):
                begin, end = int(offsets[first]), int(offsets[last])
                if last - first == 1:
                    self.copy_edges(stream.fileno(), begin, end, files)
                    continue
                rows = read_rows(stream.fileno(), begin, end, self.columns)
                # the place breaks ties, which makes the sort stable; numpy sorts plain int64 fastest
                keys = (rows[:, 0].astype(np.int64) - first) << 32
                keys |= np.arange(end - begin, dtype=np.int64)
                keys.sort()
                keys &= 2**32 - 1
                write_edges(files, begin, rows, keys)

    def copy_edges(self, descriptor: int, begin: int, end: int, files: Sequence[ArrayFile]) -> None:
        """The edges of one node are in order already."""
        for start in range(begin, end, self.bucket):
            rows = read_rows(descriptor, start, min(end, start + self.bucket), self.columns)
            write_edges(files, start, rows, slice(None))


def write_edges(
    files: Sequence[ArrayFile], start: int, rows: NDArray[np.int32], order: NDArray[np.int64] | slice
) -> None:
    """Writes what has been scattered of some edges, in an order."""
    files[0].write(start, torch.from_numpy(np.ascontiguousarray(rows[:, 1][order])))
    for file in files[1:]:
        origins = np.ascontiguousarray(rows[:, 2:][order])
        file.write(start, torch.from_numpy(origins.view(np.int64).reshape(-1)))


def read_rows(descriptor: int, begin: int, end: int, columns: int) -> NDArray[np.int32]:
    rows = np.empty((end - begin, columns), np.int32)
    if begin == end:
        return rows
    view, place = memoryview(cast(Any, rows)).cast("B"), begin * rows.strides[0]
    while view:
        count = os.preadv(descriptor, [view], place)
        if count == 0:
            raise OSError("the file with scattered edges is shorter than it was written")
        view, place = view[count:], place + count
    return rows


def write_all(descriptor: int, array: NDArray[np.int32], place: int) -> None:
    view = memoryview(cast(Any, array)).cast("B")
    while view:
        written = os.pwrite(descriptor, view, place)
        view, place = view[written:], place + written
