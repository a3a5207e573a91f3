"""Which CPU this is: machine code is made for it, and measured figures hold for it."""

from __future__ import annotations

import platform
from functools import cache
from pathlib import Path


@cache
def cpu() -> str:
    """Model and features of the processor, in one line."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return f"{platform.machine()} {platform.processor()}"
    wanted = ("model name", "flags", "Features", "CPU part")
    found = dict(line.split(":", 1) for line in reversed(lines) if line.split("\t")[0].strip() in wanted)
    return " ".join([platform.machine(), *(value.strip() for value in found.values())])
