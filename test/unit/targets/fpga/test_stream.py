"""Task streams: what is written is read, what is damaged is refused, and C sees what Python sees."""

from __future__ import annotations

import random
import shutil
import struct
import subprocess
import zlib
from pathlib import Path

import numpy as np
import pytest
from fpga_programs import SMALL, numbers_of, program_with_factors, small_program, trained_program
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from gnnc.fpga_program import FpgaProgram
from gnnc.targets.fpga.firmware import FOLDER
from gnnc.targets.fpga.matrices import tile_counts
from gnnc.targets.fpga.stream import c_header, description, layout
from gnnc.targets.fpga.stream.contents import Stream, tile_sizes
from gnnc.targets.fpga.stream.faults import StreamError
from gnnc.targets.fpga.stream.image import block_rows
from gnnc.targets.fpga.stream.layout import UNKNOWN, Format, Section
from gnnc.targets.fpga.stream.reader import parse, read_stream
from gnnc.targets.fpga.stream.writer import write_stream


@pytest.fixture(params=SMALL)
def written(request: pytest.FixtureRequest, tmp_path: Path) -> tuple[FpgaProgram, Path]:
    program = small_program(request.param)
    file = tmp_path / "stream.bin"
    program.write_stream(file, program.graph_for(None))
    return program, file


def matrix_of(stream: Stream, place: int) -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
    """An operand's numbers, decoded tile by tile from the image."""
    operand, directory, words = stream.operands[place], stream.directories[place], stream.images[place]
    result = np.zeros((int(operand["rows"]), int(operand["columns"])), np.float32)
    height, width = int(operand["tile_rows"]), int(operand["tile_columns"])
    heights, widths = tile_sizes(operand, directory)
    block_row = np.repeat(np.arange(len(directory.starts) - 1), np.diff(directory.starts.astype(np.int64)))
    for tile, row, m, n in zip(directory.tiles, block_row, heights, widths, strict=True):
        top, left, at = row * height, int(tile["column"]) * width, int(tile["place"])
        if tile["format"] == Format.DENSE:
            numbers = words[at : at + m * n].view(np.float32).reshape(m, n)
            result[top : top + m, left : left + n] = numbers
            continue
        if tile["format"] == Format.PLACES:
            places = words[at : at + int(tile["nonzeros"])]
            rows, columns = top + (places & 0xFFFF), left + (places >> 16)
            factors = stream.factors[place]
            result[rows, columns] = factors[rows] * factors[len(result) + columns]
            continue
        pairs = words[at : at + 2 * int(tile["nonzeros"])].reshape(-1, 2)
        result[top + (pairs[:, 0] & 0xFFFF), left + (pairs[:, 0] >> 16)] = pairs[:, 1].copy().view(np.float32)
    return result


def test_round_trip(written: tuple[FpgaProgram, Path]) -> None:
    program, file = written
    stream = read_stream(file)
    numbers = program.numbers(program.graph_for(None))
    assert (stream.nodes, int(stream.header["n1"])) == (program.plan.nodes, program.plan.n1)
    for place, operand in enumerate(program.plan.operands):
        assert stream.operand_name(place) == operand.name
        if operand.role == "intermediate":
            assert int(stream.operands[place]["nonzeros"]) == UNKNOWN
            continue
        matrix = numbers.matrix(place)
        dense = matrix.toarray() if hasattr(matrix, "toarray") else matrix
        if stream.operands[place]["is_vector"]:
            assert np.array_equal(stream.images[place].view(np.float32), dense.ravel())
        else:
            assert np.array_equal(matrix_of(stream, place), dense)
    described = description.as_json(stream)
    assert [k["tasks"][0] for k in described["kernels"]] == [k.first_task for k in program.plan.kernels]
    assert description.as_text(stream).count("layer") == len(program.plan.kernels)


@settings(max_examples=60)
@given(st.integers(1, 70), st.integers(1, 70), st.sampled_from([4, 16, 64]), st.sampled_from([0.0, 0.1, 0.5, 1.0]))
def test_directory_counts_what_tiles_hold(rows: int, columns: int, side: int, density: float) -> None:
    generator = np.random.default_rng(rows * 71 + columns)
    matrix = np.where(generator.random((rows, columns)) < density, 1, 0).astype(np.float32)
    counts = tile_counts(csr_array(matrix), side, side, distinct=True)
    entries = np.concatenate([row.entries for row in block_rows(matrix, side, side)])
    assert entries["nonzeros"].tolist() == counts.nonzeros.tolist()
    assert entries["column"].tolist() == counts.columns.tolist()
    assert counts.distinct is not None
    assert entries["distinct"].tolist() == counts.distinct.tolist()
    assert all(len(row.words) % 16 == 0 for row in block_rows(matrix, side, side))


def test_explicit_order(tmp_path: Path) -> None:
    program = small_program("gcn")
    numbers = program.numbers(program.graph_for(None))
    known = {p: numbers.matrix(p) for p, o in enumerate(program.plan.operands) if o.role != "intermediate"}
    file = tmp_path / "stream.bin"
    write_stream(file, program.plan, program.architecture, known, {1: [3, 1, 0, 2]})
    stream = read_stream(file)
    assert stream.order.tolist() == [3, 1, 0, 2]
    assert [k["explicit_order"] for k in description.as_json(stream)["kernels"]] == [False, True, False, False]
    write_stream(file, program.plan, program.architecture, known, {1: [3, 1, 0, 3]})
    with pytest.raises(StreamError, match="has a task twice"):
        read_stream(file)


def resealed(data: bytearray) -> bytes:
    """A stream with the checksums that its bytes should have, as far as its table can be followed."""
    count = struct.unpack_from("<I", data, 12)[0]
    for index in range(min(count, 64)):
        at = 64 + 32 * index
        if at + 32 > len(data):
            break
        offset, size = struct.unpack_from("<QQ", data, at + 8)
        struct.pack_into("<I", data, at + 24, zlib.crc32(data[offset : offset + size]) if size < 1 << 24 else 0)
    struct.pack_into("<I", data, 40, zlib.crc32(data[64 : 64 + 32 * min(count, 1 << 16)]))
    struct.pack_into("<I", data, 44, 0)
    struct.pack_into("<I", data, 44, zlib.crc32(data[:64]))
    return bytes(data)


def mutated(original: bytes, generator: random.Random) -> bytearray:
    """A stream with a few bytes changed, cut off, doubled or taken out."""
    data = bytearray(original)
    for _ in range(generator.randint(1, 3)):
        place = generator.randrange(max(1, min(len(data), 4000)) if generator.random() < 0.7 else max(1, len(data)))
        match generator.randrange(6):
            case 0:
                data[place : place + 1] = bytes([generator.randrange(256)])
            case 1:
                data[place : place + 4] = generator.choice([b"\xff" * 4, bytes(4), b"\x01\0\0\0", b"\0\0\0\x80"])
            case 2:
                del data[place:]
            case 3:
                del data[place : place + generator.randint(1, 64)]
            case 4:
                data[place:place] = data[place : place + generator.randint(1, 64)]
            case _:
                data[place : place + 8] = generator.randbytes(8)
    return data


def test_ten_thousand_mutations(tmp_path: Path) -> None:
    """Nothing but StreamError, whether or not checksums are right; a stream whose own bytes changed is refused."""
    originals: list[bytes] = []
    for program in (small_program("sage"), program_with_factors()):
        file = tmp_path / "stream.bin"
        program.write_stream(file, program.graph_for(None))
        originals.append(file.read_bytes())
    generator, refused = random.Random(0), 0
    for number in range(10_000):
        original = originals[number // 2 % 2]
        data = mutated(original, generator)
        sealed = number % 2 == 1 and len(data) >= 64
        changed = bytes(data) != original
        try:
            parse(resealed(data) if sealed else bytes(data))
        except StreamError as error:
            assert 0 <= error.offset <= max(len(original), len(data)) + 4096
            assert error.reason
            refused += 1
        else:
            assert sealed or not changed
    assert refused > 7_000


@pytest.mark.parametrize("place", [0, 8, 12, 16, 40, 44, 64, 200, -1])
def test_a_changed_byte_is_noticed(place: int, written: tuple[FpgaProgram, Path]) -> None:
    data = bytearray(written[1].read_bytes())
    data[place] ^= 0x40
    with pytest.raises(StreamError, match=r"^byte \d+: "):
        parse(bytes(data))


def test_a_newer_minor_version_and_unknown_sections_are_read(written: tuple[FpgaProgram, Path]) -> None:
    data = bytearray(written[1].read_bytes())
    struct.pack_into("<H", data, 10, 7)
    assert parse(resealed(data)).nodes == 50
    struct.pack_into("<H", data, 8, 2)
    with pytest.raises(StreamError, match="byte 8: version 2 is not 1"):
        parse(resealed(data))


def test_streams_have_no_more_than_the_study_says(tmp_path: Path) -> None:
    """Cora's stream is about 0.6 MB in the study, which leaves out what the directory of distinct columns takes."""
    program = trained_program("cora", "gcn", "A_HW")
    assert numbers_of("cora", "gcn", "A_HW").plan is program.plan
    file = tmp_path / "stream.bin"
    program.write_stream(file, program.graph_for(None))
    assert 500_000 < file.stat().st_size < 1_000_000


def test_header_is_generated() -> None:
    assert (FOLDER / "task_stream.h").read_text() == c_header.text()


def test_records_are_aligned_as_c_aligns_them() -> None:
    for record in layout.RECORDS:
        for field, offset in zip(record.fields, record.offsets(), strict=True):
            assert offset % int(field.type[1]) == 0, f"{record.name}.{field.name}"


WALK = r"""
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "task_stream.h"

int main(int argc, char **argv) {
    FILE *file = fopen(argv[argc - 1], "rb");
    fseek(file, 0, SEEK_END);
    long size = ftell(file);
    rewind(file);
    char *data = malloc((size_t)size);
    if (fread(data, 1, (size_t)size, file) != (size_t)size) return 1;
    const struct gnnc_header *header = (const void *)data;
    if (memcmp(header->magic, GNNC_MAGIC, 8)) return 2;
    const struct gnnc_table_entry *table = (const void *)(data + sizeof *header);
    printf("%llu", (unsigned long long)header->nodes);
    for (uint32_t i = 0; i < header->sections; i++) {
        if (table[i].kind == GNNC_SECTION_KERNELS) {
            const struct gnnc_kernel *kernel = (const void *)(data + table[i].offset);
            for (uint64_t k = 0; k < table[i].bytes / sizeof *kernel; k++)
                printf(" %u:%ux%u", kernel[k].kind, kernel[k].grid_rows, kernel[k].grid_columns);
        }
    }
    printf("\n");
    return 0;
}
"""


@pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")
def test_c_walks_a_stream(written: tuple[FpgaProgram, Path], tmp_path: Path) -> None:
    source, binary = tmp_path / "walk.c", tmp_path / "walk"
    source.write_text(WALK)
    flags = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror"]
    subprocess.run(["cc", *flags, f"-I{FOLDER}", str(source), "-o", str(binary)], check=True)
    output = subprocess.run([binary, written[1]], check=True, capture_output=True, text=True).stdout.split()
    stream = read_stream(written[1])
    kernels = [f"{k['kind']}:{k['grid_rows']}x{k['grid_columns']}" for k in stream.kernels]
    assert output == [str(stream.nodes), *kernels]


def test_every_section_is_in_the_stream(written: tuple[FpgaProgram, Path]) -> None:
    kinds = {kind for kind, *_ in read_stream(written[1]).sections}
    assert kinds == {section.name.lower() for section in Section} - {"order", "factors"}


def test_an_adjacency_without_numbers(tmp_path: Path) -> None:
    program, file = program_with_factors(), tmp_path / "stream.bin"
    program.write_stream(file, program.graph_for(None))
    stream, numbers = read_stream(file), program.numbers(program.graph_for(None))
    (place,) = stream.factors
    assert set(stream.directories[place].tiles["format"]) == {Format.PLACES}
    assert np.array_equal(matrix_of(stream, place), numbers.matrix(place).toarray())
    assert stream.images[place].nbytes < 4 * numbers.matrix(place).nnz + 64 * len(stream.directories[place].starts)
    assert "numbers from factors" in description.as_text(stream)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ((14, 1), "has tiles without numbers, or with two"),
        ((0, 200), "has a tile beyond its block columns"),
    ],
)
def test_a_wrong_tile_without_numbers(change: tuple[int, int], reason: str, tmp_path: Path) -> None:
    program, file = program_with_factors(), tmp_path / "stream.bin"
    program.write_stream(file, program.graph_for(None))
    (place,), data = read_stream(file).factors, bytearray(file.read_bytes())
    (start,) = [o for kind, owner, o, _ in read_stream(file).sections if (kind, owner) == ("directory", place)]
    block_rows = -(-50 // int(read_stream(file).operands[place]["tile_rows"]))
    data[start + 8 * (block_rows + 1) + change[0]] = change[1]
    with pytest.raises(StreamError, match=reason):
        parse(resealed(data))


def test_factors_of_another_length(tmp_path: Path) -> None:
    program, file = program_with_factors(), tmp_path / "stream.bin"
    program.write_stream(file, program.graph_for(None))
    data = bytearray(file.read_bytes())
    index = [kind for kind, *_ in read_stream(file).sections].index("factors")
    # the bytes that are left over become padding, which is of zeros
    at = 64 + 32 * index
    offset, size = struct.unpack_from("<QQ", data, at + 8)
    data[offset + size - 4 : offset + size] = bytes(4)
    struct.pack_into("<Q", data, at + 16, size - 4)
    with pytest.raises(StreamError, match="has 99 factors, not 100"):
        parse(resealed(data))
