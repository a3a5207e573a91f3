"""What a block computes, in files: the counterpart of `BlockResults` for runs with a store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from threading import Lock
from typing import Any

import torch

from gnnc.dialects.gnn import ConvBlockOp
from gnnc.dialects.gnn.attributes import domain_axis, domain_of, row_shape
from gnnc.targets.gpu.arena import Arena, RowsOf
from gnnc.targets.gpu.batch import Batch, EdgeSlice
from gnnc.targets.gpu.block_results import BlockResults, outputs_of
from gnnc.targets.gpu.store.array_file import ArrayFile
from gnnc.targets.gpu.store.writer import Write, Writer
from gnnc.targets.torch_functions import dtype_of, shape_with


@dataclass
class StoredResults(BlockResults):
    """Rows go to files, through a writer that journals each batch under `key` when its rows are there; what all rows
    are reduced to stays in memory until the block is done."""

    op: ConvBlockOp
    files: Sequence[ArrayFile | None]
    writer: Writer
    key: dict[str, Any]
    values: list[torch.Tensor | None] = field(init=False)
    pending: dict[int, dict[int, torch.Tensor]] = field(default_factory=dict[int, dict[int, torch.Tensor]])
    waiting: Arena = field(default_factory=partial(Arena, own_pages=True))
    """Memory for rows on their way to disk: threads of their own take it and give it back."""
    lock: Lock = field(default_factory=Lock)

    def __post_init__(self) -> None:
        self.outputs = outputs_of(self.op)
        self.values = [None] * len(self.files)

    def places(self, outputs: Sequence[int], batch: Batch, arena: Arena) -> list[torch.Tensor | None]:
        """Memory of their own for a batch's rows, for they are on their way to disk when the arena is used again."""
        return [self.memory_for(self.op.outputs[place], batch) if self.files[place] else None for place in outputs]

    def memory_for(self, output: Any, batch: Batch) -> torch.Tensor | None:
        if domain_axis(output.type) != 0:
            return None
        with self.lock:
            return self.waiting.packed(RowsOf(row_shape(output.type), dtype_of(output.type)), batch.rows)

    def add(self, place: int, rows: Batch | EdgeSlice | None, value: torch.Tensor | None) -> None:
        if rows is None:
            super().add(place, rows, value)
            return
        assert value is not None
        assert isinstance(rows, Batch)
        on_host = value.cpu().movedim(domain_axis(self.op.outputs[place].type), 0)
        self.pending.setdefault(rows.first, {})[place] = on_host

    def finish(self, place: int, output: Any) -> torch.Tensor:
        """A result as the blocks that follow take it."""
        file = self.files[place]
        if file is None:
            return super().finish(place, output)
        return stored_value(file, output)

    def done(self, batch: Batch) -> None:
        """Hands the rows of a batch to the writer."""
        rows = self.pending.pop(batch.first, {})
        files = {place: file for place in rows if (file := self.files[place]) is not None}
        record = {**self.key, "from": batch.first, "to": batch.first + batch.rows}
        size = sum(value.nbytes for value in rows.values())
        self.writer.put(Write(partial(self.write, files, rows, batch), tuple(files.values()), size, record))

    def write(self, files: dict[int, ArrayFile], rows: dict[int, torch.Tensor], batch: Batch) -> None:
        """What the writer does with a batch."""
        write_rows(files, rows, batch)
        with self.lock:
            self.waiting.release(*rows.values())
            if self.waiting.free_bytes > self.writer.room:
                # rows of the next batch may be a few more, and would lie beside these
                self.waiting.forget()


def write_rows(files: dict[int, ArrayFile], rows: dict[int, torch.Tensor], batch: Batch) -> None:
    for place, file in files.items():
        if isinstance(batch.nodes, range):
            file.write(batch.nodes.start, rows[place])
        else:
            file.write_at(batch.nodes, rows[place])


def stored_value(file: ArrayFile, output: Any) -> torch.Tensor:
    """A block's result from its file, with its rows on the axis where they belong."""
    return file.mapped().movedim(0, domain_axis(output.type))


def file_shape(output: Any) -> tuple[int, ...]:
    """The shape of a row of a result as its file has it, rows first."""
    axis = domain_axis(output.type)
    shape = shape_with(output.type, 0)
    assert domain_of(output.type) is not None
    return (*shape[:axis], *shape[axis + 1 :])
