"""Rows are journaled when they are on disk, and not before."""

from functools import partial
from pathlib import Path

import pytest
import torch

from gnnc.targets.gpu.store.array_file import ArrayFile
from gnnc.targets.gpu.store.journal import Journal
from gnnc.targets.gpu.store.writer import Write, Writer


def test_everything_is_written_and_journaled_in_order(tmp_path: Path) -> None:
    journal, file = Journal(tmp_path / "journal"), ArrayFile(tmp_path / "a.npy", 50, (4,), torch.float32)
    file.open()
    writer = Writer(journal, 64)
    for row in range(50):
        values = torch.full((1, 4), float(row))
        writer.put(Write(partial(file.write, row, values), (file,), values.nbytes, {"from": row}))
    writer.flush()
    assert [record["from"] for record in Journal(tmp_path / "journal").records()] == list(range(50))
    assert file.mapped()[:, 0].tolist() == list(range(50))
    writer.close()


def test_what_goes_wrong_is_raised_and_not_journaled(tmp_path: Path) -> None:
    def fail() -> None:
        raise OSError(28, "No space left on device")

    journal = Journal(tmp_path / "journal")
    writer = Writer(journal, 64)
    writer.put(Write(fail, (), 16, {"from": 0}))
    with pytest.raises(OSError, match="No space left"):
        writer.flush()
    with pytest.raises(OSError, match="No space left"):
        writer.put(Write(fail, (), 16, {"from": 1}))
    writer.close()
    assert list(Journal(tmp_path / "journal").records()) == []
