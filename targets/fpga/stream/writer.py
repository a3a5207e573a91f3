"""Writing a task stream, section after section; of an image no more than a block row is in memory."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Mapping
from io import BufferedWriter
from pathlib import Path
from typing import Any

import numpy as np

from gnnc.targets.fpga.architecture import Architecture
from gnnc.targets.fpga.matrices import Matrix, nonzero_count
from gnnc.targets.fpga.plan import KernelPlan, Operand, Plan
from gnnc.targets.fpga.separable import Factors, factors_of
from gnnc.targets.fpga.stream import layout
from gnnc.targets.fpga.stream.image import block_rows
from gnnc.targets.fpga.stream.layout import ALIGNMENT, NONE, UNKNOWN, Activation, KernelKind, Role, Section

SECTIONS_FOR_ALL = 5


def write_stream(
    path: Path,
    plan: Plan,
    architecture: Architecture,
    matrices: Mapping[int, Matrix],
    order: Mapping[int, Iterable[int]] | None = None,
) -> None:
    """Writes the stream of a plan. `matrices` are the operands that are known before a run, by their place.

    `order` gives the tasks of a kernel in the order to issue them, from 0 on; without it they go in their own.
    """
    with path.open("wb") as file:
        StreamWriter(file, plan, architecture, matrices, order or {}).write()


class StreamWriter:
    """The state of a stream that is being written."""

    def __init__(
        self,
        file: BufferedWriter,
        plan: Plan,
        architecture: Architecture,
        matrices: Mapping[int, Matrix],
        order: Mapping[int, Iterable[int]],
    ):
        self.file = file
        self.plan = plan
        self.architecture = architecture
        self.matrices = matrices
        self.nonzeros = {place: nonzero_count(matrices[place]) for place in matrices}
        self.factors = {place: f for place in matrices if (f := self.factors_of(place)) is not None}
        self.order = {kernel: list(tasks) for kernel, tasks in order.items()}
        self.table: list[tuple[int, int, int, int, int]] = []
        self.crc = 0
        self.begin = 0

    def write(self) -> None:
        known = [place for place in range(len(self.plan.operands)) if place in self.matrices]
        images = sum(1 if self.is_vector(place) else 2 for place in known)
        count = SECTIONS_FOR_ALL + images + len(self.factors) + (1 if self.order else 0)
        self.file.write(bytes(layout.HEADER.bytes + count * layout.TABLE_ENTRY.bytes))
        self.section(Section.ARCHITECTURE, 0, [self.architecture_record()])
        self.section(Section.OPERANDS, 0, [self.operand_records()])
        self.section(Section.KERNELS, 0, [self.kernel_records()])
        self.section(Section.SEGMENTS, 0, [self.segment_records()])
        self.section(Section.LINKS, 0, [np.asarray(self.links(), "<u4")])
        if self.order:
            self.section(Section.ORDER, 0, [np.asarray(self.order_list(), "<u4")])
        for place in known:
            self.operand_sections(place)
        assert len(self.table) == count
        self.finish()

    # ---- sections

    def section(self, kind: Section, owner: int, parts: Iterable[Any]) -> None:
        """One section, from the next multiple of 64 bytes on."""
        self.file.write(bytes(-self.file.tell() % ALIGNMENT))
        begin, crc, count = self.file.tell(), 0, 0
        for part in parts:
            data = np.ascontiguousarray(part).reshape(-1).view(np.uint8).data
            crc = zlib.crc32(data, crc)
            count += len(data)
            self.file.write(data)
        self.table.append((kind, owner, begin, count, crc))

    def operand_sections(self, place: int) -> None:
        """Factors, image and directory of an operand; the directory is known when the image is written."""
        matrix = self.matrices[place]
        if self.is_vector(place):
            self.section(Section.IMAGE, place, [np.asarray(matrix, "<f4")])
            return
        height, width = self.tile(self.plan.operands[place])
        factors = self.factors.get(place)
        if factors is not None:
            self.section(Section.FACTORS, place, [factors.rows.astype("<f4"), factors.columns.astype("<f4")])
        entries: list[Any] = []
        words = 0

        def image() -> Iterable[Any]:
            nonlocal words
            for row in block_rows(matrix, height, width, places_only=factors is not None):
                row.entries["place"] += words
                words += len(row.words)
                entries.append(row.entries)
                yield row.words

        self.section(Section.IMAGE, place, image())
        if words >= 2**32:
            raise OverflowError(
                f"the image of {self.plan.operands[place].name} is over 16 GiB: it doesn't fit a stream"
            )
        starts = np.cumsum([0, *(len(e) for e in entries)], dtype="<u8")
        self.section(Section.DIRECTORY, place, [starts, *entries])

    def finish(self) -> None:
        """The header and the section table, in their place at the front."""
        size = self.file.tell()
        table = np.zeros(len(self.table), layout.TABLE_ENTRY.dtype)
        for index, row in enumerate(self.table):
            for name, value in zip(("kind", "owner", "offset", "bytes", "crc"), row, strict=True):
                table[name][index] = value
        header = np.zeros(1, layout.HEADER.dtype)
        header["magic"] = np.frombuffer(layout.MAGIC, np.uint8)
        header["major"], header["minor"], header["sections"] = layout.MAJOR, layout.MINOR, len(table)
        header["file_bytes"], header["nodes"] = size, self.plan.nodes
        header["n1"], header["n2"] = self.plan.n1, self.plan.n2
        header["table_crc"] = zlib.crc32(table.tobytes())
        header["header_crc"] = zlib.crc32(header.tobytes())
        self.file.seek(0)
        self.file.write(header.tobytes() + table.tobytes())

    # ---- records

    def is_vector(self, place: int) -> bool:
        vectors = {v for kernel in self.plan.kernels for v in (kernel.scale, kernel.bias)}
        return place in vectors

    def factors_of(self, place: int) -> Factors | None:
        """The factors of an adjacency whose values they make."""
        return factors_of(self.matrices[place]) if self.plan.operands[place].role == "adjacency" else None

    def tile(self, operand: Operand) -> tuple[int, int]:
        side = self.plan.n1 if operand.role == "adjacency" else self.plan.n2
        return side, side

    def architecture_record(self) -> Any:
        a = self.architecture
        record = np.zeros(1, layout.ARCHITECTURE.dtype)
        for name in ("p_sys", "cores", "n_max", "cycles_per_decision", "port_bytes_per_cycle", "burst_bytes"):
            record[name] = getattr(a, name)
        record["clock_khz"] = round(a.clock_mhz * 1000)
        record["processor_clock_khz"] = round(a.processor_clock_mhz * 1000)
        record["bandwidth_mb_per_s"] = round(a.bandwidth_gb_per_s * 1000)
        record["conversion_numbers_per_cycle"] = a.conversion_numbers_per_cycle
        record["name"] = name_field(a.name)[0]
        return record

    def operand_records(self) -> Any:
        records = np.zeros(len(self.plan.operands), layout.OPERAND.dtype)
        for place, operand in enumerate(self.plan.operands):
            record = records[place : place + 1]
            rows, columns = operand.shape(self.plan.nodes)
            name, length = name_field(operand.name)
            record["role"], record["is_vector"] = Role[operand.role.upper()], self.is_vector(place)
            record["source"], record["rows"], record["columns"] = operand.source, rows, columns
            record["nonzeros"] = self.nonzeros.get(place, UNKNOWN)
            record["tile_rows"], record["tile_columns"] = self.tile(operand)
            record["name"], record["name_bytes"] = name, length
        return records

    def kernel_records(self) -> Any:
        records = np.zeros(len(self.plan.kernels), layout.KERNEL.dtype)
        segment = link = ordered = 0
        for index, kernel in enumerate(self.plan.kernels):
            record = records[index : index + 1]
            kind, parameter = kernel.activation or ("none", 0.0)
            height = kernel.height(self.plan.n1, self.plan.n2)
            grid = (-(-self.plan.nodes // height), -(-kernel.width // self.plan.n2))
            values = {
                "kind": KernelKind[kernel.kind.upper()],
                "activation": Activation[kind.upper()],
                "layer": kernel.layer,
                "parameter": parameter,
                "output": kernel.output,
                "scale": NONE if kernel.scale is None else kernel.scale,
                "bias": NONE if kernel.bias is None else kernel.bias,
                "first_segment": segment,
                "segments": len(kernel.products),
                "first_addend": link,
                "addends": len(kernel.addends),
                "first_residual": link + len(kernel.addends),
                "residuals": len(kernel.residuals),
                "grid_rows": grid[0],
                "grid_columns": grid[1],
                "fusion": kernel.fusion,
                "first_task": kernel.first_task,
                "first_order": ordered if index in self.order else UNKNOWN,
                "tile_rows": height,
                "tile_columns": self.plan.n2,
                "in_features": self.in_features(kernel),
                "edges": self.edges(kernel),
            }
            for name, value in values.items():
                record[name] = value
            segment += len(kernel.products)
            link += len(kernel.addends) + len(kernel.residuals)
            ordered += len(self.order.get(index, ()))
        return records

    def in_features(self, kernel: KernelPlan) -> int:
        sides = [pair[1] if kernel.kind == "aggregate" else pair[0] for pair in kernel.products]
        return sum(self.plan.operands[place].columns or 0 for place in sides)

    def edges(self, kernel: KernelPlan) -> int:
        if kernel.kind == "update":
            return 0
        return sum(self.nonzeros[lhs] for lhs, _ in kernel.products)

    def segment_records(self) -> Any:
        records = np.zeros(sum(len(k.products) for k in self.plan.kernels), layout.SEGMENT.dtype)
        pairs = [(kernel, pair) for kernel in self.plan.kernels for pair in kernel.products]
        for record, (kernel, (lhs, rhs)) in zip(np.split(records, len(records)), pairs, strict=True):
            extent = self.plan.operands[lhs].shape(self.plan.nodes)[1]
            size = kernel.inner(self.plan.n1, self.plan.n2)
            record["lhs"], record["rhs"], record["inner"] = lhs, rhs, -(-extent // size)
            record["inner_size"], record["inner_extent"] = size, extent
        return records

    def links(self) -> list[int]:
        return [place for kernel in self.plan.kernels for place in (*kernel.addends, *kernel.residuals)]

    def order_list(self) -> list[int]:
        return [task for index in range(len(self.plan.kernels)) for task in self.order.get(index, ())]


def name_field(name: str) -> tuple[Any, int]:
    """A name as 24 bytes, cut between characters if it is longer, and its length."""
    data = name.encode()[:24].decode(errors="ignore").encode()
    return np.frombuffer(data.ljust(24, b"\0"), np.uint8), len(data)
