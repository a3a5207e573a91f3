"""Threads for what goes on beside a run: the meter of its memory, the writer of a store, reading ahead."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from functools import cache

MOST = 256


@cache
def background() -> ThreadPoolExecutor:
    """Its threads stay and are used again. A thread that is started where memory has run out may never tell that it
    could not begin, and Python waits for it to, so few are started."""
    return ThreadPoolExecutor(MOST, thread_name_prefix="gnnc background")
