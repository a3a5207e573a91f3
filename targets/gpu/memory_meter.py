"""The most memory that a run takes, as the process or the device sees it."""

from __future__ import annotations

import threading
import time
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType

import torch

from gnnc.targets.gpu.arena import trim
from gnnc.targets.gpu.background import background
from gnnc.targets.gpu.thinned import Thinned

INTERVAL = 0.005
"""Seconds from one look to the next."""

TRIM_INTERVAL = 0.05

LONGEST = 1024
"""Moments of a timeline."""


class MemoryMeter:
    """Measures while it is open: anonymous memory of the process over what it had at the start on a CPU, allocated
    memory on a CUDA device. `peak` are bytes; None where the system doesn't say. `timeline` is of a
    CPU's memory alone."""

    def __init__(self, device: str, limit: int | None = None):
        """Above `limit` bytes, what has been freed goes back to the system; the C library would keep it for later."""
        self.device = device
        self.limit = limit
        self.trimmed = 0.0
        self.base = anonymous_bytes()
        self.highest = self.base
        self.timeline = Thinned(2, LONGEST)
        """Seconds of `time.perf_counter`, and bytes over those at the start."""
        self.ended = threading.Event()
        self.watching: Future[None] | None = None

    @property
    def peak(self) -> int | None:
        if self.device != "cpu":
            return torch.cuda.max_memory_allocated(self.device)
        return None if self.base is None or self.highest is None else self.highest - self.base

    def __enter__(self) -> MemoryMeter:
        if self.device != "cpu":
            torch.cuda.reset_peak_memory_stats(self.device)
        elif self.base is not None:
            self.watching = background().submit(self.watch)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.ended.set()
        if self.watching is not None:
            self.watching.result()
        self.look()

    def watch(self) -> None:
        while not self.ended.wait(INTERVAL):
            self.look()

    def look(self) -> None:
        now = anonymous_bytes()
        if now is not None and self.highest is not None:
            self.highest = max(self.highest, now)
            self.timeline.append(time.perf_counter(), now - (self.base or 0))
            self.give_back(now)

    def give_back(self, now: int) -> None:
        """Trims if there is more than the limit, and not all the time."""
        moment = time.perf_counter()
        if self.limit is None or now - (self.base or 0) <= self.limit or moment - self.trimmed < TRIM_INTERVAL:
            return
        trim()
        self.trimmed = moment


def anonymous_bytes() -> int | None:
    """Memory of the process that no file stands behind, in RAM; None where that can't be looked up, or there is no
    memory for it."""
    try:
        lines = Path("/proc/self/status").read_text(encoding="ascii").splitlines()
    except (OSError, MemoryError):
        return None
    found = next((line for line in lines if line.startswith("RssAnon:")), None)
    return None if found is None else int(found.split()[1]) * 1024
