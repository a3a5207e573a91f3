"""Every byte of a task stream, once: numpy's types, the C header and tables of docs/task-stream.md come from here."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

import numpy as np

MAGIC = b"GNNCTASK"
MAJOR, MINOR = 1, 0
ALIGNMENT = 64
NONE = 0xFFFFFFFF
UNKNOWN = 0xFFFFFFFFFFFFFFFF
DIRECTORY_BYTES = 16


class Section(IntEnum):
    """The kinds of sections."""

    ARCHITECTURE = 1
    OPERANDS = 2
    KERNELS = 3
    SEGMENTS = 4
    LINKS = 5
    DIRECTORY = 6
    IMAGE = 7
    ORDER = 8
    FACTORS = 9


class Role(IntEnum):
    """What an operand is."""

    ADJACENCY = 0
    FEATURES = 1
    WEIGHT = 2
    INTERMEDIATE = 3


class KernelKind(IntEnum):
    """Which of the two kernels."""

    AGGREGATE = 0
    UPDATE = 1


class Format(IntEnum):
    """How a tile lies in the image."""

    DENSE = 0
    COORDINATES = 1
    PLACES = 2


class Activation(IntEnum):
    """What the epilogue applies."""

    NONE = 0
    RELU = 1
    LEAKY_RELU = 2
    ELU = 3
    SIGMOID = 4
    TANH = 5


@dataclass(frozen=True)
class Field:
    """A field of a record: `type` is a numpy type code without byte order, `count` more than 1 for an array."""

    name: str
    type: str
    meaning: str
    count: int = 1


@dataclass(frozen=True)
class Record:
    """A record of a section, of `bytes` bytes; what its fields leave is zero."""

    name: str
    bytes: int
    fields: tuple[Field, ...]

    @property
    def dtype(self) -> np.dtype[np.void]:
        """Little-endian, without padding of its own."""
        return np.dtype(
            {
                "names": [field.name for field in self.fields],
                "formats": [
                    f"{field.count}<{field.type}" if field.count > 1 else f"<{field.type}" for field in self.fields
                ],
                "offsets": self.offsets(),
                "itemsize": self.bytes,
            }
        )

    def offsets(self) -> list[int]:
        """Where each field begins."""
        offsets: list[int] = []
        place = 0
        for field in self.fields:
            offsets.append(place)
            place += np.dtype(f"<{field.type}").itemsize * field.count
        return offsets


HEADER = Record(
    "header",
    64,
    (
        Field("magic", "u1", '"GNNCTASK"', 8),
        Field("major", "u2", "1; a reader refuses others"),
        Field("minor", "u2", "0; a reader takes larger ones and passes over kinds of sections that it does not know"),
        Field("sections", "u4", "entries of the section table"),
        Field("file_bytes", "u8", "size of the whole file"),
        Field("nodes", "u8", "nodes of the graph, |V|"),
        Field("n1", "u4", "N1, side of an adjacency tile"),
        Field("n2", "u4", "N2, side of a weight tile and of a subfibre"),
        Field("table_crc", "u4", "CRC-32 of the section table"),
        Field("header_crc", "u4", "CRC-32 of this header, this field taken as 0"),
    ),
)
TABLE_ENTRY = Record(
    "table_entry",
    32,
    (
        Field("kind", "u4", "see the kinds of sections"),
        Field("owner", "u4", "the operand of a directory, image or factors; 0 otherwise"),
        Field("offset", "u8", "from the start of the file, a multiple of 64"),
        Field("bytes", "u8", "without padding"),
        Field("crc", "u4", "CRC-32 of those bytes"),
    ),
)
ARCHITECTURE = Record(
    "architecture",
    64,
    (
        Field("p_sys", "u4", "side of a core's array"),
        Field("cores", "u4", "computation cores"),
        Field("n_max", "u4", "largest N1"),
        Field("cycles_per_decision", "u4", "of the soft processor"),
        Field("clock_khz", "u4", "of the cores"),
        Field("processor_clock_khz", "u4", "of the soft processor"),
        Field("bandwidth_mb_per_s", "u4", "of the memory"),
        Field("port_bytes_per_cycle", "u4", "of a core"),
        Field("burst_bytes", "u4", "smallest access"),
        Field("conversion_numbers_per_cycle", "u4", "of a core"),
        Field("name", "u1", "UTF-8, padded with zeros", 24),
    ),
)
OPERAND = Record(
    "operand",
    64,
    (
        Field("role", "u1", "see the roles"),
        Field("is_vector", "u1", "1 for bias and scale, which have no tiles and a dense image"),
        Field("name_bytes", "u2", "length of the name"),
        Field("source", "u4", "kernel of an intermediate; place among the results of @structure or @weights"),
        Field("rows", "u8", ""),
        Field("columns", "u8", ""),
        Field("nonzeros", "u8", "2^64 - 1 until run time"),
        Field("tile_rows", "u4", "height of a tile of the directory: N1 for adjacencies, N2 for others"),
        Field("tile_columns", "u4", "width of a tile of the directory"),
        Field("name", "u1", "UTF-8, padded with zeros", 24),
    ),
)
KERNEL = Record(
    "kernel",
    128,
    (
        Field("kind", "u1", "see the kinds of kernels"),
        Field("activation", "u1", "see the activations"),
        Field("layer", "u2", "layer of the Conv"),
        Field("parameter", "f4", "slope or alpha of the activation"),
        Field("output", "u4", "operand"),
        Field("scale", "u4", "operand, or 2^32 - 1"),
        Field("bias", "u4", "operand, or 2^32 - 1"),
        Field("first_segment", "u4", "of SEGMENTS"),
        Field("segments", "u4", "products, in the order of the inner list"),
        Field("first_addend", "u4", "of LINKS: operands added before the activation"),
        Field("addends", "u4", ""),
        Field("first_residual", "u4", "of LINKS: operands added after the activation"),
        Field("residuals", "u4", ""),
        Field("grid_rows", "u4", "tiles of the output, down"),
        Field("grid_columns", "u4", "tiles of the output, across"),
        Field("fusion", "u4", "column tiles that one task may make"),
        Field("first_task", "u8", "task first_task + i * grid_columns + j computes tile (i, j)"),
        Field("first_order", "u8", "of ORDER, or 2^64 - 1: tasks go in their own order"),
        Field("tile_rows", "u4", "height of an output tile"),
        Field("tile_columns", "u4", "width of an output tile, N2"),
        Field("in_features", "u8", "columns of all left sides, a node's for an aggregate"),
        Field("edges", "u8", "nonzeros of the adjacencies, |E|; 0 for an update"),
    ),
)
SEGMENT = Record(
    "segment",
    32,
    (
        Field("lhs", "u4", "operand X"),
        Field("rhs", "u4", "operand Y"),
        Field("inner", "u4", "pairs of tiles a task"),
        Field("inner_size", "u4", "width of X's tiles and height of Y's: N1 for an aggregate, N2 for an update"),
        Field("inner_extent", "u8", "columns of X"),
    ),
)
TILE = Record(
    "tile",
    DIRECTORY_BYTES,
    (
        Field("column", "u4", "block column, ascending within a block row"),
        Field("nonzeros", "u4", "1 at least: empty tiles have no entry"),
        Field("place", "u4", "offset in the operand's image, divided by 4"),
        Field("distinct", "u2", "columns with a nonzero"),
        Field("format", "u1", "see the formats"),
    ),
)
RECORDS = (HEADER, TABLE_ENTRY, ARCHITECTURE, OPERAND, KERNEL, SEGMENT, TILE)
ENUMS = (Section, Role, KernelKind, Format, Activation)
SECTION_RECORDS = {
    Section.ARCHITECTURE: ARCHITECTURE,
    Section.OPERANDS: OPERAND,
    Section.KERNELS: KERNEL,
    Section.SEGMENTS: SEGMENT,
}
