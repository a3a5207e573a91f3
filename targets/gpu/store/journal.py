"""What has been done, a line each. A line that a crash has torn is not there when the journal is opened again."""

from __future__ import annotations

import json
import os
import zlib
from pathlib import Path
from typing import Any


class Journal:
    """A list of records on disk that only grows; `records` are those that were there when it was opened."""

    def __init__(self, path: Path):
        """Opens a journal or begins one. What follows the first damaged line is cut off. Raises OSError."""
        self.path = path
        self.records: list[dict[str, Any]] = []
        contents = path.read_bytes() if path.exists() else b""
        whole = 0
        for line in contents.splitlines(keepends=True):
            record = parsed(line)
            if record is None:
                break
            self.records.append(record)
            whole += len(line)
        self.descriptor = os.open(path, os.O_WRONLY | os.O_CREAT, 0o644)
        os.ftruncate(self.descriptor, whole)
        os.lseek(self.descriptor, 0, os.SEEK_END)

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
