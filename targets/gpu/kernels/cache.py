"""Shared libraries on disk, each under the hash of what it was made from."""

from __future__ import annotations

import hashlib
import os
import tempfile
from collections.abc import Sequence
from functools import cache
from pathlib import Path


@cache
def folder(name: str = "kernels") -> Path | None:
    """Where kernels are kept, or something else: a folder in $GNNC_CACHE, or in gnnc/ in the user's cache folder.
    Created for the user alone; None where that can't be done."""
    given = os.environ.get("GNNC_CACHE")
    base = Path(given) if given else Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "gnnc"
    path = base / name
    try:
        path.mkdir(parents=True, exist_ok=True, mode=0o700)
    except OSError:
        return None
    return path if os.access(path, os.W_OK) else None


def key_of(*parts: str) -> str:
    """The name of what is made from some texts."""
    digest = hashlib.sha256()
    for part in parts:
        digest.update(f"{len(part)}:".encode())
        digest.update(part.encode())
    return digest.hexdigest()[:32]


def sources_hash(folders: Sequence[Path]) -> str:
    """A hash of the Python files that make kernels, so that a new version of them makes new kernels."""
    files = sorted(file for given in folders for file in given.glob("*.py"))
    return key_of(*(file.read_text(encoding="utf-8") for file in files))


def write(path: Path, contents: bytes) -> None:
    """Writes a file in one step: another process sees all of it or nothing."""
    handle, name = tempfile.mkstemp(dir=path.parent)
    with os.fdopen(handle, "wb") as stream:
        stream.write(contents)
    Path(name).replace(path)
