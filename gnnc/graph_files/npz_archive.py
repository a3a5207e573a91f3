"""The arrays of an `.npz` file, read one by one and never unpickled."""

from __future__ import annotations

import zipfile
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gnnc.errors import GraphError
from gnnc.graph_files.contents import Entries, LeftOut
from gnnc.graph_files.faults import parsing

if TYPE_CHECKING:
    from collections.abc import Collection

    from numpy.lib.npyio import NpzFile
    from numpy.typing import NDArray


@contextmanager
def open_archive(file: Path) -> Generator[Archive]:
    """Open an `.npz` file; raise GraphError if it is none, or truncated."""
    with parsing(file, ".npz file"):
        is_zip = zipfile.is_zipfile(file)
        with file.open("rb") as stream:
            starts_like_npz = stream.read(4) == b"PK\x03\x04"
    if not is_zip:
        fault = "is truncated; copy or download it again" if starts_like_npz else "is no .npz file; use numpy.savez"
        raise GraphError(f"{file} {fault}.")
    # opened here, because numpy would not close what it cannot read
    with file.open("rb") as stream:
        with parsing(file, ".npz file"):
            arrays = np.load(stream, allow_pickle=False)
        with arrays:
            yield Archive(file, arrays)


class Archive:
    """The arrays of an open `.npz` file; `names` are theirs."""

    def __init__(self, file: Path, arrays: NpzFile) -> None:
        self.file = file
        self.names: tuple[str, ...] = tuple(arrays.files)
        self._arrays = arrays

    def __getitem__(self, name: str) -> NDArray[Any]:
        """Read an array. Raises GraphError if it is missing, damaged, or holds Python objects."""
        if name not in self.names:
            raise GraphError(f"{self.file} has no array {name!r}, only {', '.join(self.names) or 'nothing'}; add it.")
        with parsing(self.file, f".npz file at array {name!r}"):
            try:
                array: Any = self._arrays[name]
            except ValueError as error:
                # numpy's advice; it has no other way of telling objects from damage
                if "allow_pickle" not in str(error):
                    raise
                raise GraphError(
                    f"{self.file} holds Python objects as array {name!r}, which gnnc never unpickles; save numbers."
                ) from None
        if not isinstance(array, np.ndarray):
            raise GraphError(f"{self.file} has something under {name!r} that is no array; write it with numpy.savez.")
        return array

    def whole_numbers(self, name: str) -> NDArray[Any]:
        """Read an array of integers, taking floats without fractions for integers, or raise GraphError."""
        array = self[name]
        return whole_numbers(array, f"{self.file}: {name}")

    def shape(self, name: str) -> tuple[int, ...]:
        """Read an array that holds the shape of another one."""
        return tuple(int(size) for size in self.whole_numbers(name).ravel())

    def rest(self, taken: Collection[str]) -> Entries:
        """Read every array that is not in `taken`; those that hold Python objects are left out."""
        return {name: self._optional(name) for name in self.names if name not in taken}

    def _optional(self, name: str) -> NDArray[Any] | LeftOut:
        try:
            return self[name]
        except GraphError as error:
            if "never unpickles" in str(error):
                return LeftOut(str(error))
            raise


def whole_numbers(array: NDArray[Any], what: str) -> NDArray[Any]:
    """Return integers as they are and floats without fractions as int64; raise GraphError for anything else."""
    if array.dtype.kind in "iu":
        return array
    if array.dtype.kind != "f":
        raise GraphError(f"{what} has dtype {array.dtype}; save the node ids as integers, such as int64.")
    # not a number fails both comparisons
    faults = ~((np.abs(array) < 2**53) & (np.trunc(array) == array))
    if faults.any():
        first = tuple(int(i) for i in np.argwhere(faults)[0])
        raise GraphError(f"{what} is {array[first]} at {list(first)}; node ids are whole numbers.")
    return array.astype(np.int64)
