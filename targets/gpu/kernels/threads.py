"""Row ranges, shared among threads. Calls of kernels release the interpreter's lock, so plain threads run at once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache


@cache
def pool(workers: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(workers, thread_name_prefix="gnnc")


def even_ranges(rows: int, threads: int) -> Sequence[tuple[int, int]]:
    """Ranges of about as many rows, one a thread."""
    size = max(1, -(-rows // threads))
    return [(begin, min(rows, begin + size)) for begin in range(0, rows, size)]


def run_ranges(work: Callable[[int, int], object], ranges: Sequence[tuple[int, int]], threads: int) -> None:
    """Calls `work(begin, end)` for every range: this thread and `threads - 1` others take one after the other."""
    left = iter(ranges)

    def take() -> None:
        for begin, end in left:
            work(begin, end)

    helpers = min(threads, len(ranges)) - 1
    waiting = [pool(threads).submit(take) for _ in range(helpers)]
    take()
    for future in waiting:
        future.result()
