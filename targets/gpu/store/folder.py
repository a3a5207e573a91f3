"""The layout of a store, its lock, and what its disk must hold.

lock                    held while a run uses the store
graph-KEY/NAME/         the edges of a set by the node at one end; there when complete
run-KEY/journal         what has been done of a run
run-KEY/plan-K-F-...    the batches of function F of block K, with the budget, threads and batch size they are for
run-KEY/K-J.npy         result J of block K, until the last block that uses it is done
"""

from __future__ import annotations

import errno
import fcntl
import os
import shutil
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

from gnnc.targets.gpu.errors import ResourceError, size_text

REASONS = {
    errno.ENOSPC: "the disk is full",
    errno.EDQUOT: "the disk quota is used up",
    errno.EFBIG: "a file would be larger than is allowed",
    errno.EROFS: "the disk is read-only",
    errno.EACCES: "writing there is not allowed",
    errno.EPERM: "writing there is not allowed",
    errno.ENOENT: "it has vanished",
    errno.ENOTDIR: "it is no folder",
    errno.EEXIST: "it is no folder",
    errno.EIO: "the disk fails",
}


class StoreFolder:
    """A folder that one run uses at a time."""

    def __init__(self, path: Path):
        self.path = path

    @contextmanager
    def locked(self) -> Generator[None]:
        """Makes the folder where it is missing and keeps other runs out. Raises ResourceError if one is at work."""
        self.path.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(self.path / "lock", os.O_RDWR | os.O_CREAT, 0o644)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise ResourceError(
                    f"the store {self.path} is in use by another run: wait for it, or give another folder"
                ) from None
            yield
        finally:
            os.close(descriptor)

    def graph(self, key: str) -> Path:
        return self.path / f"graph-{key}"

    def run(self, key: str) -> Path:
        """The folder of a run. Those of other runs that are complete are removed, for their results have been taken."""
        for other in self.path.glob("run-*"):
            if other.name != f"run-{key}" and (other / "complete").exists():
                shutil.rmtree(other)
        path = self.path / f"run-{key}"
        path.mkdir(exist_ok=True)
        return path

    def check_room(self, need: int) -> None:
        """Raises ResourceError if the disk has no room for so many bytes more."""
        free = shutil.disk_usage(self.path).free
        if need > free:
            raise ResourceError(
                f"the disk of the store {self.path} does not suffice: {size_text(need)} are needed, {size_text(free)} "
                "are free; give a folder on another disk"
            )

    @contextmanager
    def faults(self) -> Generator[None]:
        """Says what is wrong with the disk in one sentence, and that the run can go on later. Raises ResourceError."""
        try:
            yield
        except OSError as error:
            if error.errno not in REASONS:
                raise
            raise ResourceError(
                f"the store {self.path} can't be written, {REASONS[error.errno]}: mend that and give the same command "
                "again, which goes on where this one stopped"
            ) from error


def sync_folder(path: Path) -> None:
    """Makes the names in a folder last."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
