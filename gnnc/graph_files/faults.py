"""One way for everything that can be wrong with a file to become a GraphError that names it."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from gnnc.errors import GraphError


@contextmanager
def parsing(file: Path, kind: str) -> Generator[None]:
    """Turn whatever a library raises while it reads `file` into a GraphError; `kind` says what the file should be.

    Only for calls into libraries: on damaged bytes they raise nearly anything. Around code of ours it would hide bugs.
    """
    try:
        yield
    except GraphError:
        raise
    except (PermissionError, FileNotFoundError, IsADirectoryError) as error:
        raise GraphError(f"{file} cannot be opened ({error.strerror}); check the path and who may read it.") from None
    except Exception as error:
        reason = first_line(error)
        raise GraphError(f"{file} is damaged or no {kind} ({reason}); copy or write it again.") from None


def first_line(error: BaseException) -> str:
    """The first line of what an error says, or its type where it says nothing."""
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else type(error).__name__
