"""What a run can lack."""

from __future__ import annotations


class ResourceError(Exception):
    """Memory or disk does not suffice for what was asked; the message says how much would."""


def size_text(size: int) -> str:
    """A size in the largest unit that it fills, such as "1.5 GiB"."""
    for unit, name in ((2**40, "TiB"), (2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}".replace(".0 ", " ")
    return f"{size} bytes"
