"""What has been done, a line each. A line that a crash has torn is not there when the journal is opened again, and none
is kept in memory."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any


class Journal:
    """A list of records on disk that only grows."""

    def __init__(self, path: Path):
        """Opens a journal or begins one. What follows the first damaged line is cut off. Raises OSError."""
        self.path = path
        whole = sum(len(line) for line, _ in self.lines())
        self.descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
        os.ftruncate(self.descriptor, whole)
        os.lseek(self.descriptor, 0, os.SEEK_END)

    def records(self) -> Iterator[dict[str, Any]]:
        """All that are there, read one by one."""
        return (record for _, record in self.lines())

    def lines(self) -> Iterator[tuple[bytes, dict[str, Any]]]:
        """Lines with their records, up to the first damaged one."""
        if not self.path.exists():
            return
        with self.path.open("rb") as stream:
            for line in stream:
                record = parsed(line)
                if record is None:
                    return
                yield line, record

    def append(self, *records: dict[str, Any]) -> None:
        """Adds records; they are on disk when this returns."""
        lines = b"".join(line_of(record) for record in records)
        while lines:
            lines = lines[os.write(self.descriptor, lines) :]
        os.fdatasync(self.descriptor)

    def close(self) -> None:
        os.close(self.descriptor)


def line_of(record: dict[str, Any]) -> bytes:
    text = json.dumps(record, separators=(",", ":"), sort_keys=True).encode()
    return b"%08x %s\n" % (zlib.crc32(text), text)


def parsed(line: bytes) -> dict[str, Any] | None:
    """The record of a line; None if it is not whole."""
    check, _, text = line.partition(b" ")
    if not text.endswith(b"\n") or b"%08x" % zlib.crc32(text[:-1]) != check:
        return None
    return json.loads(text)
