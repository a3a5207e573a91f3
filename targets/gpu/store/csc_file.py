"""The edges of a set by the node at one end, on disk; put in order out of core.

A counting pass gives the offsets. A second one scatters the edges into buckets, ranges of nodes whose edges fit into a
part of the budget: a bucket's place in a temporary file follows from the offsets, so writes are sequential in each.
Then every bucket is sorted by itself, stably: the edges of a node keep the order of the stream.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
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
    are the nodes at their other ends. Both are mapped from a folder."""

    folder: Path
    offsets: torch.Tensor
    neighbors: torch.Tensor

    @property
    def edges(self) -> int:
        return int(self.offsets[-1])


def open_csc(folder: Path) -> CscFile:
    """What `build_csc` has written."""
    offsets = torch.from_numpy(np.lib.format.open_memmap(folder / "offsets.npy", mode="c"))
    neighbors = torch.from_numpy(np.lib.format.open_memmap(folder / "neighbors.npy", mode="c"))
    return CscFile(folder, offsets, neighbors)


def build_csc(folder: Path, stream: EdgeStream, *, by_target: bool, padding: int, budget: int) -> CscFile:
    """Orders the edges of a stream by their targets, or by their sources, and writes them into a folder. `padding`
    zeros follow the last neighbor. Takes about `budget` bytes of memory, and 8 bytes an edge on disk while it lasts."""
    nodes = stream.target_count if by_target else stream.source_count
    folder.mkdir(parents=True, exist_ok=True)
    return _Build(folder, stream, by_target, nodes, budget).run(padding)


class _Build:
    def __init__(self, folder: Path, stream: EdgeStream, by_target: bool, nodes: int, budget: int):
        self.folder = folder
        self.stream = stream
        self.by_target = by_target
        self.nodes = nodes
        self.piece = max(1024, min(PIECE, budget // BYTES_PER_PIECE_EDGE))
        self.bucket = max(1024, min(BUCKET, budget // BYTES_PER_BUCKET_EDGE))

    def run(self, padding: int) -> CscFile:
        offsets = self.count()
        bounds = self.bucket_bounds(offsets)
        file = ArrayFile(self.folder / "neighbors.npy", int(offsets[-1]) + padding, (), torch.int32)
        file.create()
        file.open()
        scattered = self.folder / "scattered.tmp"
        try:
            self.scatter(scattered, offsets, bounds)
            self.sort_buckets(scattered, offsets, bounds, file)
            file.sync()
        finally:
            file.close()
            scattered.unlink(missing_ok=True)
        return open_csc(self.folder)

    def ends(self) -> Iterator[tuple[Ids, Ids]]:
        """The nodes that edges are ordered by, and those at the other end."""
        for sources, targets in self.stream.pieces(self.piece):
            yield (targets, sources) if self.by_target else (sources, targets)

    def count(self) -> NDArray[np.int64]:
        """Offsets, mapped."""
        offsets = mapped_zeros(self.folder / "offsets.npy", np.int64, (self.nodes + 1,))
        for keys, _ in self.ends():
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
        """Writes pairs of ends, bucket by bucket, in the order of the stream within each."""
        cursor = offsets[bounds[:-1]].copy()
        with path.open("wb") as stream:
            for keys, others in self.ends():
                of_bucket = (np.searchsorted(bounds, keys, side="right") - 1).astype(np.uint32)
                # numpy sorts 16-bit numbers by their digits
                small = of_bucket.astype(np.uint16) if len(bounds) < 2**16 else of_bucket
                order = np.argsort(small, kind="stable")
                pairs = np.stack([keys[order], others[order]], axis=1)
                counts = np.bincount(of_bucket, minlength=len(cursor))
                ends = counts.cumsum()
                for bucket in counts.nonzero()[0]:
                    part = pairs[ends[bucket] - counts[bucket] : ends[bucket]]
                    write_all(stream.fileno(), part, int(cursor[bucket]) * pairs.itemsize * 2)
                cursor += counts

    def sort_buckets(self, path: Path, offsets: NDArray[np.int64], bounds: NDArray[np.int64], file: ArrayFile) -> None:
        """Sorts each bucket by its nodes and writes the other ends."""
        with path.open("rb") as stream:
            for first, last in zip(bounds, bounds[1:], strict=False):
                begin, end = int(offsets[first]), int(offsets[last])
                if last - first == 1:
                    self.copy_neighbors(stream.fileno(), begin, end, file)
                    continue
                pairs = read_pairs(stream.fileno(), begin, end)
                # the place breaks ties, which makes the sort stable; numpy sorts plain int64 fastest
                keys = (pairs[:, 0].astype(np.int64) - first) << 32
                keys |= np.arange(end - begin, dtype=np.int64)
                keys.sort()
                keys &= 2**32 - 1
                file.write(begin, torch.from_numpy(pairs[:, 1][keys]))

    def copy_neighbors(self, descriptor: int, begin: int, end: int, file: ArrayFile) -> None:
        """The edges of one node are in order already."""
        for start in range(begin, end, self.bucket):
            pairs = read_pairs(descriptor, start, min(end, start + self.bucket))
            file.write(start, torch.from_numpy(np.ascontiguousarray(pairs[:, 1])))


def read_pairs(descriptor: int, begin: int, end: int) -> NDArray[np.int32]:
    pairs = np.empty((end - begin, 2), np.int32)
    if begin == end:
        return pairs
    view, place = memoryview(cast(Any, pairs)).cast("B"), begin * 8
    while view:
        count = os.preadv(descriptor, [view], place)
        if count == 0:
            raise OSError("the file with scattered edges is shorter than it was written")
        view, place = view[count:], place + count
    return pairs


def write_all(descriptor: int, array: NDArray[np.int32], place: int) -> None:
    view = memoryview(cast(Any, array)).cast("B")
    while view:
        written = os.pwrite(descriptor, view, place)
        view, place = view[written:], place + written
