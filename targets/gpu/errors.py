"""What a run can lack."""

from __future__ import annotations

import errno


class ResourceError(Exception):
    """Memory or disk does not suffice for what was asked; the message says how much would."""


NO_MEMORY = ("can't allocate memory", "can't start new thread", "failed to map segment")


def size_text(size: int) -> str:
    """A size in the largest unit that it fills, such as "1.5 GiB"."""
    for unit, name in ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}".replace(".0 ", " ")
    return f"{size} bytes"


def is_out_of_memory(error: BaseException) -> bool:
    """Whether Python, torch, the loader of libraries or the system found no memory."""
    if isinstance(error, MemoryError):
        return True
    if isinstance(error, OSError):
        return error.errno == errno.ENOMEM
    if type(error).__name__ == "OutOfMemoryError":  # torch has this type on CUDA only
        return True
    return isinstance(error, RuntimeError | ImportError) and any(text in str(error) for text in NO_MEMORY)
