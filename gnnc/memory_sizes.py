"""Amounts of memory, as people write them."""

from __future__ import annotations

import re

from gnnc.errors import RunError

UNITS = {"": 1, "k": 2**10, "m": 2**20, "g": 2**30, "t": 2**40}
PATTERN = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", re.IGNORECASE)


def memory_bytes(size: int | str) -> int:
    """Bytes of an amount such as 512MiB, 1.5 GiB or 64m, all in powers of 1024. Raises RunError."""
    if isinstance(size, int) and not isinstance(size, bool):
        found = size
    else:
        match = PATTERN.fullmatch(str(size))
        if match is None:
            raise RunError(f"memory is {size!r}: give bytes, or an amount such as 512MiB or 1.5GiB")
        found = int(float(match[1]) * UNITS[match[2].lower()])
    if found < 1:
        raise RunError(f"memory is {size}: give 1 byte or more")
    return found
