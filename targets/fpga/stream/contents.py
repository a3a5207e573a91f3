"""What a stream holds once it has been checked."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gnnc.targets.fpga.stream.layout import Format


@dataclass(frozen=True)
class Directory:
    """The nonempty tiles of an operand: `starts` has a place among `tiles` for each block row, and the end."""

    starts: Any
    tiles: Any


@dataclass
class Stream:
    """A stream, checked: its records as numpy's, directories, images and factors by operand."""

    header: Any
    architecture: Any
    operands: Any
    kernels: Any
    segments: Any
    links: Any
    order: Any
    directories: dict[int, Directory] = field(default_factory=dict[int, Directory])
    images: dict[int, Any] = field(default_factory=dict[int, Any])
    factors: dict[int, Any] = field(default_factory=dict[int, Any])
    sections: list[tuple[str, int, int, int]] = field(default_factory=list[tuple[str, int, int, int]])

    @property
    def nodes(self) -> int:
        return int(self.header["nodes"])

    def operand_name(self, place: int) -> str:
        record = self.operands[place]
        return bytes(record["name"])[: int(record["name_bytes"])].decode()


def tile_words(operand: Any, directory: Directory) -> Any:
    """How many 32-bit words each tile takes."""
    heights, widths = tile_sizes(operand, directory)
    tiles = directory.tiles
    words_a_nonzero = np.where(tiles["format"] == Format.PLACES, 1, 2)
    coordinates = words_a_nonzero * tiles["nonzeros"].astype(np.int64)
    return np.where(tiles["format"] == Format.DENSE, heights * widths, coordinates)


def tile_sizes(operand: Any, directory: Directory) -> tuple[Any, Any]:
    """Height and width of each tile."""
    height, width = int(operand["tile_rows"]), int(operand["tile_columns"])
    counts = np.diff(directory.starts.astype(np.int64))
    block_row = np.repeat(np.arange(len(counts)), counts)
    heights = np.minimum(height, int(operand["rows"]) - block_row * height)
    widths = np.minimum(width, int(operand["columns"]) - directory.tiles["column"].astype(np.int64) * width)
    return heights, widths
