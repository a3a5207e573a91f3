"""The firmware and its twin in Python decide the same, on every stream; and the simulator counts the same decisions."""

from __future__ import annotations

import shutil
import subprocess
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from fpga_programs import SMALL, small_program, trained_program

from gnnc.fpga_program import FpgaProgram
from gnnc.passes.analysis.primitives import Primitive, threshold
from gnnc.targets.fpga.firmware import FOLDER
from gnnc.targets.fpga.runtime import Runtime
from gnnc.targets.fpga.simulator import Setting, simulate
from gnnc.targets.fpga.stream.reader import read_stream
from gnnc.targets.fpga.stream.writer import write_stream

FLAGS = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-O1"]
COMPILER = shutil.which("cc")
needs_compiler = pytest.mark.skipif(COMPILER is None, reason="there is no C compiler")

# Prints every task in the order of the scheduler, with `cores` of which the longest busy one finishes first, and the
# primitives of its pairs. The profile is: operand, rows, columns, then counts, for each computed operand.
HARNESS = r"""
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include "runtime.h"

static void *read_all(const char *path, uint64_t *bytes) {
    FILE *file = fopen(path, "rb");
    fseek(file, 0, SEEK_END);
    *bytes = (uint64_t)ftell(file);
    rewind(file);
    void *data = malloc(*bytes);
    if (fread(data, 1, *bytes, file) != *bytes) exit(9);
    fclose(file);
    return data;
}

struct context { const uint32_t *profile; uint64_t words; };

static uint32_t profiled(void *context, uint32_t operand, uint64_t row, uint64_t column) {
    struct context *c = context;
    for (uint64_t at = 0; at < c->words; at += 3 + (uint64_t)c->profile[at + 1] * c->profile[at + 2])
        if (c->profile[at] == operand) return c->profile[at + 3 + row * c->profile[at + 2] + column];
    exit(8);
}

static void print_pair(void *context, uint32_t segment, uint64_t inner, enum gnnc_primitive primitive) {
    (void)context;
    printf(" %u:%" PRIu64 ":%d", segment, inner, (int)primitive);
}

int main(int argc, char **argv) {
    if (argc < 3) return 7;
    uint64_t bytes, profile_bytes;
    void *data = read_all(argv[1], &bytes);
    struct context context = {read_all(argv[2], &profile_bytes), 0};
    context.words = profile_bytes / 4;
    struct gnnc_stream stream;
    enum gnnc_status status = gnnc_open(&stream, data, bytes);
    if (status != GNNC_OK) return (int)status;
    struct gnnc_scheduler scheduler;
    gnnc_start(&scheduler, &stream);
    uint32_t kernel;
    uint64_t row, column, busy = 0;
    while (!gnnc_finished(&scheduler)) {
        while (busy < stream.architecture->cores && gnnc_next(&scheduler, &kernel, &row, &column)) {
            busy++;
            printf("%u %" PRIu64 " %" PRIu64, kernel, row, column);
            gnnc_analyze(&stream, kernel, row, column, profiled, print_pair, &context);
            printf("\n");
        }
        busy--;
        gnnc_done(&scheduler);
    }
    return 0;
}
"""


@pytest.fixture(scope="session")
def firmware(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("firmware")
    source, binary = folder / "harness.c", folder / "harness"
    source.write_text(HARNESS)
    command = ["cc", *FLAGS, f"-I{FOLDER}", str(source), str(FOLDER / "runtime.c"), "-o", str(binary)]
    subprocess.run(command, check=True)
    return binary


def stream_and_profile(program: FpgaProgram, folder: Path) -> tuple[Path, Path, Runtime, dict[Primitive, int]]:
    """A program's stream, what the cores would profile as a file and as a Runtime, and what the simulator chose."""
    stream_file, profile_file = folder / "stream.bin", folder / "profile.bin"
    program.write_stream(stream_file, program.graph_for(None))
    simulation = simulate(program.numbers(program.graph_for(None)), program.plan, program.architecture, Setting())
    profile: dict[int, np.ndarray[tuple[int, int], np.dtype[np.uint32]]] = {}
    words: list[np.ndarray[tuple[int], np.dtype[np.uint32]]] = []
    chosen: Counter[Primitive] = Counter()
    for run in simulation.kernels:
        tiles = run.fine_output
        grid = np.zeros(tiles.grid, np.uint32)
        grid[tiles.rows, tiles.columns] = tiles.nonzeros
        profile[run.kernel.output] = grid
        words += [np.array([run.kernel.output, *tiles.grid], np.uint32), grid.ravel()]
        chosen.update(run.sums.chosen)
    np.concatenate(words).tofile(profile_file)
    return stream_file, profile_file, Runtime(read_stream(stream_file), profile), dict(chosen)


def decisions(runtime: Runtime) -> tuple[list[str], Counter[Primitive]]:
    """The lines that the harness prints, and how often each primitive was chosen."""
    lines: list[str] = []
    chosen: Counter[Primitive] = Counter()
    for kernel in range(len(runtime.stream.kernels)):
        for task in runtime.tasks(kernel):
            made = list(runtime.analyze(task))
            chosen.update(decision.primitive for decision in made)
            pairs = "".join(f" {d.segment}:{d.inner}:{int(d.primitive)}" for d in made)
            lines.append(f"{task.kernel} {task.row} {task.column}{pairs}")
    return lines, chosen


@needs_compiler
@pytest.mark.parametrize("kind", [*SMALL, "cora"])
def test_firmware_decides_as_python_does(kind: str, firmware: Path, tmp_path: Path) -> None:
    program = trained_program("cora", "gcn", "A_HW") if kind == "cora" else small_program(kind)
    stream, profile, runtime, simulated = stream_and_profile(program, tmp_path)
    result = subprocess.run([firmware, stream, profile], capture_output=True, text=True, check=True)
    expected, chosen = decisions(runtime)
    assert result.stdout.splitlines() == expected
    del chosen[Primitive.SKIP]
    assert dict(chosen) == simulated


@needs_compiler
def test_firmware_follows_an_explicit_order(firmware: Path, tmp_path: Path) -> None:
    program = small_program("gcn")
    stream, profile, runtime, _ = stream_and_profile(program, tmp_path)
    numbers = program.numbers(program.graph_for(None))
    known = {p: numbers.matrix(p) for p, o in enumerate(program.plan.operands) if o.role != "intermediate"}
    write_stream(stream, program.plan, program.architecture, known, {0: [2, 3, 1, 0]})
    ordered = Runtime(read_stream(stream), runtime.profile)
    output = subprocess.run([firmware, stream, profile], capture_output=True, text=True, check=True).stdout
    assert output.splitlines() == decisions(ordered)[0]
    assert [line.split()[1] for line in output.splitlines()[:4]] == ["2", "3", "1", "0"]


@needs_compiler
def test_firmware_refuses_what_it_can_not_read(firmware: Path, tmp_path: Path) -> None:
    stream, profile, _, _ = stream_and_profile(small_program("gcn"), tmp_path)
    data = stream.read_bytes()
    for damaged, status in ((data[:32], 1), (b"X" + data[1:], 1), (data[:8] + b"\2" + data[9:], 2), (data[:-64], 3)):
        stream.write_bytes(damaged)
        assert subprocess.run([firmware, stream, profile], check=False).returncode == status


@needs_compiler
def test_firmware_needs_no_library(tmp_path: Path) -> None:
    """Freestanding: the object file asks for no symbol that a library would have."""
    target = tmp_path / "runtime.o"
    flags = [*FLAGS, "-ffreestanding", "-fno-builtin"]
    subprocess.run(["cc", *flags, "-c", str(FOLDER / "runtime.c"), "-o", str(target)], check=True)
    symbols = subprocess.run(["nm", "-u", str(target)], capture_output=True, text=True, check=True).stdout
    assert symbols.split() == [] or symbols.split() == ["U", "memset"]


def test_threshold_of_an_empty_tile_skips() -> None:
    assert threshold(16, 16, 16, 0, 16).decide(5) is Primitive.SKIP
