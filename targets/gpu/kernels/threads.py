"""Row ranges, shared among threads. Calls of kernels release the interpreter's lock, so plain threads run at once."""

from __future__ import annotations

from bisect import bisect_left
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


def ranges_without(rows: Sequence[int], ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges cut at some rows, ascending, which are in none of them any more."""
    left: list[tuple[int, int]] = []
    for begin, end in ranges:
        inside = rows[bisect_left(rows, begin) : bisect_left(rows, end)]
        left += zip([begin, *(row + 1 for row in inside)], [*inside, end], strict=True)
    return [(begin, end) for begin, end in left if begin < end]


def run_ranges(work: Callable[[int, int], object], ranges: Sequence[tuple[int, int]], threads: int) -> None:
    """Calls `work(begin, end)` for every range: this thread and `threads - 1` others take one after the other."""
    if len(ranges) == 1:
        work(*ranges[0])
        return
    left = iter(ranges)

    def take() -> None:
        for begin, end in left:
            work(begin, end)

    helpers = min(threads, len(ranges)) - 1
    waiting = [pool(threads).submit(take) for _ in range(helpers)]
    take()
    for future in waiting:
        future.result()
