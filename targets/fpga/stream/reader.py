"""Reading a task stream that nobody vouches for. Every fault is told with its offset; nothing larger than the file is
ever allocated, and nothing is believed before it has been compared with what the rest of the file says."""

from __future__ import annotations

import mmap
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from gnnc.targets.fpga.stream import layout
from gnnc.targets.fpga.stream.checks import check_directory, check_factors, check_kernels, check_operands
from gnnc.targets.fpga.stream.contents import Directory, Stream, tile_words
from gnnc.targets.fpga.stream.faults import StreamError, require
from gnnc.targets.fpga.stream.layout import ALIGNMENT, SECTION_RECORDS, Section


def read_stream(path: Path) -> Stream:
    """Reads and checks a stream. Raises StreamError with the offset and the reason."""
    try:
        with path.open("rb") as file:
            size = file.seek(0, 2)
            require(size >= layout.HEADER.bytes, 0, f"the file has {size} bytes, less than a header")
            data = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise StreamError(0, f"the file can't be read: {error.strerror}") from None
    return parse(data)


def parse(data: bytes | mmap.mmap) -> Stream:
    """Checks the bytes of a stream and gives them shape. Raises StreamError."""
    header = read_header(data)
    table = read_table(data, header)
    sections = known_sections(data, table)
    single = {kind: one_section(sections, kind) for kind in (*SECTION_RECORDS, Section.LINKS)}
    stream = Stream(
        header,
        records(data, single[Section.ARCHITECTURE], layout.ARCHITECTURE.dtype),
        records(data, single[Section.OPERANDS], layout.OPERAND.dtype),
        records(data, single[Section.KERNELS], layout.KERNEL.dtype),
        records(data, single[Section.SEGMENTS], layout.SEGMENT.dtype),
        records(data, single[Section.LINKS], np.dtype("<u4")),
        records(data, one_section(sections, Section.ORDER, needed=False), np.dtype("<u4")),
        sections=[(s.kind.name.lower(), s.owner, s.offset, s.bytes) for s in sections],
    )
    require(len(stream.architecture) == 1, single[Section.ARCHITECTURE].offset, "there must be one architecture")
    check_operands(stream, single[Section.OPERANDS].offset)
    for section in sections:
        read_matrix(data, stream, section)
    check_kernels(stream, {kind: section.offset for kind, section in single.items()})
    check_complete(stream, single[Section.OPERANDS].offset)
    return stream


@dataclass(frozen=True)
class Place:
    """Where a section is, and whose."""

    kind: Section
    owner: int
    offset: int
    bytes: int


def read_header(data: bytes | mmap.mmap) -> Any:
    require(len(data) >= layout.HEADER.bytes, 0, f"the file has {len(data)} bytes, less than a header")
    header = np.frombuffer(data[: layout.HEADER.bytes], layout.HEADER.dtype)[0]
    require(bytes(header["magic"]) == layout.MAGIC, 0, "the file does not begin with GNNCTASK")
    offsets = dict(zip((f.name for f in layout.HEADER.fields), layout.HEADER.offsets(), strict=True))
    require(header["major"] == layout.MAJOR, offsets["major"], f"version {header['major']} is not {layout.MAJOR}")
    at = offsets["header_crc"]
    crc = zlib.crc32(data[:at] + bytes(4) + data[at + 4 : layout.HEADER.bytes])
    require(crc == header["header_crc"], at, "the header's checksum is wrong")
    size = int(header["file_bytes"])
    require(size == len(data), offsets["file_bytes"], f"the file has {len(data)} bytes, the header says {size}")
    nodes, n1, n2 = int(header["nodes"]), int(header["n1"]), int(header["n2"])
    require(0 < nodes < 2**40, offsets["nodes"], f"{nodes} nodes are none or too many")
    for name, value in (("n1", n1), ("n2", n2)):
        require(4 <= value <= 32768, offsets[name], f"{name.upper()} is {value}, not from 4 to 32768")
    require(n1 % n2 == 0, offsets["n1"], f"N1 is {n1}, no multiple of N2, {n2}")
    return header


def read_table(data: bytes | mmap.mmap, header: Any) -> Any:
    count, start = int(header["sections"]), layout.HEADER.bytes
    end = start + count * layout.TABLE_ENTRY.bytes
    require(end <= len(data), 12, f"{count} sections don't fit the file")
    table = np.frombuffer(data[start:end], layout.TABLE_ENTRY.dtype)
    require(zlib.crc32(data[start:end]) == header["table_crc"], 40, "the section table's checksum is wrong")
    return table


def known_sections(data: bytes | mmap.mmap, table: Any) -> list[Place]:
    """The sections in order, with their checksums; together, with zeros between them, they are the whole file."""
    sections: list[Place] = []
    free = layout.HEADER.bytes + len(table) * layout.TABLE_ENTRY.bytes
    for index, entry in enumerate(table):
        at = layout.HEADER.bytes + index * layout.TABLE_ENTRY.bytes
        offset, size = int(entry["offset"]), int(entry["bytes"])
        require(offset % ALIGNMENT == 0, at, f"section {index} begins at {offset}, no multiple of {ALIGNMENT}")
        require(free <= offset < free + ALIGNMENT, at, f"section {index} begins at {offset}, not after the one before")
        require(offset + size <= len(data), at, f"section {index} ends at {offset + size}, after the file")
        require(not any(data[free:offset]), free, f"there are bytes between sections before section {index}")
        require(crc_of(data, offset, size) == entry["crc"], offset, f"the checksum of section {index} is wrong")
        free = offset + size
        if entry["kind"] in list(Section):
            sections.append(Place(Section(int(entry["kind"])), int(entry["owner"]), offset, size))
    require(free == len(data), free, f"there are {len(data) - free} bytes after the last section")
    return sections


def crc_of(data: bytes | mmap.mmap, offset: int, size: int) -> int:
    crc, step = 0, 1 << 22
    for start in range(offset, offset + size, step):
        crc = zlib.crc32(data[start : min(start + step, offset + size)], crc)
    return crc


def one_section(sections: list[Place], kind: Section, *, needed: bool = True) -> Place:
    """The only section of a kind; an empty one if it isn't needed."""
    found = [section for section in sections if section.kind is kind]
    require(len(found) == 1 or not (needed or found), 12, f"there are {len(found)} sections {kind.name}, not one")
    return found[0] if found else Place(kind, 0, 0, 0)


def records(data: bytes | mmap.mmap, section: Place, dtype: np.dtype[Any]) -> Any:
    whole = section.bytes % dtype.itemsize == 0
    require(whole, section.offset, f"{section.kind.name} is not of records of {dtype.itemsize} bytes")
    return (
        np.frombuffer(data, dtype, section.bytes // dtype.itemsize, section.offset) if section.bytes else empty(dtype)
    )


def empty(dtype: np.dtype[Any]) -> Any:
    return np.zeros(0, dtype)


def read_matrix(data: bytes | mmap.mmap, stream: Stream, section: Place) -> None:
    """The directory, image or factors of an operand."""
    kept = {
        Section.DIRECTORY: stream.directories,
        Section.IMAGE: stream.images,
        Section.FACTORS: stream.factors,
    }.get(section.kind)
    if kept is None:
        return
    owner, at = section.owner, section.offset
    require(owner < len(stream.operands), at, f"{section.kind.name} is of operand {owner}, which does not exist")
    require(owner not in kept, at, f"operand {owner} has two sections {section.kind.name}")
    operand = stream.operands[owner]
    if section.kind is not Section.DIRECTORY:
        require(section.bytes % 4 == 0, at, f"{section.kind.name} is of 32-bit words")
        kept[owner] = records(data, section, np.dtype("<u4" if section.kind is Section.IMAGE else "<f4"))
        return
    block_rows = -(-int(operand["rows"]) // int(operand["tile_rows"]))
    head = 8 * (block_rows + 1)
    require(section.bytes >= head, at, f"the directory has no place for {block_rows} block rows")
    whole = (section.bytes - head) % layout.DIRECTORY_BYTES == 0
    require(whole, at, "the directory ends within an entry")
    starts = np.frombuffer(data, "<u8", block_rows + 1, at)
    count = (section.bytes - head) // layout.DIRECTORY_BYTES
    tiles = np.frombuffer(data, layout.TILE.dtype, count, at + head) if count else empty(layout.TILE.dtype)
    stream.directories[owner] = Directory(starts, tiles)
    check_directory(stream, owner, at)


def check_complete(stream: Stream, at: int) -> None:
    """An operand that is known has an image, and a directory unless it is a vector."""
    for place, operand in enumerate(stream.operands):
        known = int(operand["nonzeros"]) != layout.UNKNOWN
        image, directory = place in stream.images, place in stream.directories
        require(
            image == known,
            at,
            f"operand {place} is {'known' if known else 'not known'} and has {'an' if image else 'no'} image",
        )
        if place in stream.factors:
            check_factors(stream, place, at)
        wanted = known and not operand["is_vector"]
        require(directory == wanted, at, f"operand {place} has {'a' if directory else 'no'} directory")
        if wanted:
            check_image(stream, place, at)
        elif known:
            require(len(stream.images[place]) == int(operand["columns"]), at, f"operand {place} is no vector")


def check_image(stream: Stream, place: int, at: int) -> None:
    """Every tile lies within the image."""
    operand, directory = stream.operands[place], stream.directories[place]
    has_factors = place in stream.factors
    bare = directory.tiles["format"] == layout.Format.PLACES
    require(bool((bare == has_factors).all()), at, f"operand {place} has tiles without numbers, or with two")
    words, tiles = len(stream.images[place]), directory.tiles
    sizes = tile_words(operand, directory)
    ends = tiles["place"].astype(np.int64) + sizes
    require(bool((ends <= words).all()), at, f"a tile of operand {place} lies outside of its image")
    total = int(tiles["nonzeros"].sum(dtype=np.int64))
    require(total == int(operand["nonzeros"]), at, f"the tiles of operand {place} have {total} nonzeros in all")
