"""The runtime as the soft processor runs it, on a stream: Analyzer and Scheduler (Dynasparse, section VI).

The same, decision by decision, as firmware/runtime.c; what is said there is not said again.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from gnnc.passes.analysis.primitives import Primitive, threshold
from gnnc.targets.fpga.stream.contents import Stream
from gnnc.targets.fpga.stream.layout import UNKNOWN


@dataclass(frozen=True)
class Task:
    """Tile (row, column) of a kernel's output."""

    kernel: int
    row: int
    column: int


@dataclass(frozen=True)
class Decision:
    """The primitive of one pair of tiles of a task."""

    task: Task
    segment: int
    inner: int
    primitive: Primitive


class Runtime:
    """A stream and what the cores profiled: `profile` has, for each operand that a kernel computed, the nonzeros of its
    N2 x N2 tiles as an array."""

    def __init__(self, stream: Stream, profile: Mapping[int, Any]):
        self.stream = stream
        self.profile = profile

    def tasks(self, kernel: int) -> Iterator[Task]:
        """The tasks of a kernel in the order in which idle cores take them."""
        record = self.stream.kernels[kernel]
        columns = int(record["grid_columns"])
        count = int(record["grid_rows"]) * columns
        first = int(record["first_order"])
        for place in range(count):
            task = place if first == UNKNOWN else int(self.stream.order[first + place])
            yield Task(kernel, task // columns, task % columns)

    def analyze(self, task: Task) -> Iterator[Decision]:
        """The primitive of every pair of a task."""
        kernel = self.stream.kernels[task.kernel]
        height, width = int(kernel["tile_rows"]), int(kernel["tile_columns"])
        output = self.stream.operands[int(kernel["output"])]
        m = extent(self.stream.nodes, height, task.row)
        d = extent(int(output["columns"]), width, task.column)
        p = int(self.stream.architecture[0]["p_sys"])
        first = int(kernel["first_segment"])
        for place in range(first, first + int(kernel["segments"])):
            segment = self.stream.segments[place]
            size, length = int(segment["inner_size"]), int(segment["inner_extent"])
            for t in range(int(segment["inner"])):
                x = self.nonzeros(int(segment["lhs"]), task.row, t, height, size)
                y = self.nonzeros(int(segment["rhs"]), t, task.column, size, width)
                primitive = threshold(m, extent(length, size, t), d, y, p).decide(x)
                yield Decision(task, place, t, primitive)

    def nonzeros(self, operand: int, row: int, column: int, height: int, width: int) -> int:
        """The nonzeros of a tile, which the directory has or several of its tiles make up."""
        record = self.stream.operands[operand]
        rows, columns = height // int(record["tile_rows"]), width // int(record["tile_columns"])
        if operand in self.profile:
            tiles = self.profile[operand][row * rows : (row + 1) * rows, column * columns : (column + 1) * columns]
            return int(tiles.sum())
        directory = self.stream.directories[operand]
        total = 0
        for block_row in range(row * rows, min((row + 1) * rows, len(directory.starts) - 1)):
            first, last = int(directory.starts[block_row]), int(directory.starts[block_row + 1])
            tiles = directory.tiles[first:last]
            low, high = np.searchsorted(tiles["column"], [column * columns, (column + 1) * columns])
            total += int(tiles["nonzeros"][low:high].sum())
        return total


def extent(length: int, size: int, place: int) -> int:
    """How much of a length that is cut every `size` lies in piece `place`."""
    return min(size, length - place * size)
