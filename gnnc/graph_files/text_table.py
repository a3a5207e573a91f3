"""Tables in text: separators, headers and rows with their line numbers."""

from __future__ import annotations

import csv
import gzip
import io
import math
import zlib
from collections.abc import Generator, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO, TextIO, cast

from gnnc.errors import GraphError

MISSING = ("", "nan")


@dataclass(frozen=True)
class TextTable:
    """A text file with one row a line and the same number of fields in each.

    `separator` is None for any run of blanks, `skipped` the number of comment lines before the first row. Rows are
    counted from 0, and the header, if there is one, is the first of them; lines are counted from 1.
    """

    file: Path
    separator: str | None
    skipped: int

    def rows(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line number and the fields of each row, the header included, without lines that are empty.

        Raises GraphError if the file is unreadable or a row is not as long as the first.
        """
        width = 0
        for line, fields in self._lines():
            if not any(fields) and len(fields) < 2:
                continue
            width = width or len(fields)
            if len(fields) != width:
                raise GraphError(
                    f"{self.file}, line {line} has {counted(len(fields))}, but the lines before have {width}; "
                    "give every row the same columns."
                )
            yield line, fields

    def line_of(self, row: int) -> int:
        """Return the line of a row: the file is read again, because only errors ask for it."""
        line, _ = next(islice(self.rows(), row, None))
        return line

    def _lines(self) -> Iterator[tuple[int, list[str]]]:
        with opened(self.file) as text:
            for _ in range(self.skipped):
                next(text)
            if self.separator is None:
                for line, content in enumerate(text, self.skipped + 1):
                    yield line, content.split()
                return
            reader = csv.reader(text, delimiter=self.separator, skipinitialspace=True, strict=True)
            try:
                for fields in reader:
                    yield reader.line_num + self.skipped, [field.strip() for field in fields]
            except csv.Error as error:
                line = reader.line_num + self.skipped
                raise GraphError(f"{self.file}, line {line} cannot be read ({error}); check its quotes.") from None


def open_table(file: Path) -> TextTable:
    """Look at the first lines of a text file: which are comments, and what separates the fields.

    Lines before the first row that begin with `#` or `%` and a blank are comments. The separator is the one of tab,
    comma and semicolon that the first row has most of, or blanks if it has none.

    Raises GraphError if the file is unreadable or has no rows.
    """
    with opened(file) as text:
        for skipped, line in enumerate(text):
            if is_comment(line):
                continue
            if not line.strip():
                continue
            separator = max("\t,;", key=line.count)
            return TextTable(file, separator if separator in line else None, skipped)
    raise GraphError(f"{file} is empty; write one row per line.")


def is_comment(line: str) -> bool:
    return line[:1] in ("#", "%") and line[1:2].isspace()


def is_number(text: str) -> bool:
    """Whether a field is a number; an underscore, which Python allows between digits, makes it a name."""
    try:
        float(text)
    except ValueError:
        return False
    return "_" not in text


def is_missing(text: str) -> bool:
    """Whether a field that should be an id is none: empty, or the NaN that pandas writes."""
    return text.lower() in MISSING


def whole_number(text: str) -> int | None:
    """Read an integer, also one that was written as 3.0; None if it is something else or does not fit 64 bits."""
    try:
        number = int(text)
    except ValueError:
        number = _whole_float(text)
    if number is None or not -(2**63) <= number < 2**63:
        return None
    return number


def _whole_float(text: str) -> int | None:
    try:
        number = float(text)
    except ValueError:
        return None
    # above 2**53 a float may stand for another integer than the one that was meant
    return int(number) if math.isfinite(number) and number.is_integer() and abs(number) < 2**53 else None


def counted(columns: int) -> str:
    return f"{columns} column" if columns == 1 else f"{columns} columns"


@contextmanager
def opened(file: Path) -> Generator[TextIO]:
    """Open a text file, also one in gzip; raise GraphError for what goes wrong while it is read."""
    try:
        with _stream(file) as stream, io.TextIOWrapper(stream, encoding="utf-8-sig", newline="") as text:
            yield text
    except UnicodeDecodeError:
        raise GraphError(f"{file}, line {_undecodable_line(file)} is not UTF-8 text; save the file as UTF-8.") from None
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise GraphError(f"{file} is damaged or no gzip file ({error}); copy or download it again.") from None
    except OSError as error:
        reason = error.strerror or str(error)
        raise GraphError(f"{file} cannot be opened ({reason}); check the path and who may read it.") from None


def _stream(file: Path) -> BinaryIO:
    is_packed = file.suffix.lower() == ".gz"
    # both are binary streams, but gzip's class does not say so
    return cast("BinaryIO", gzip.open(file, "rb") if is_packed else file.open("rb"))


def _undecodable_line(file: Path) -> int:
    """Find the first line that is no UTF-8: the decoder works ahead of the lines and cannot tell."""
    with _stream(file) as stream:
        return next(line for line, content in enumerate(stream, 1) if not _is_utf8(content))


def _is_utf8(content: bytes) -> bool:
    try:
        content.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True
