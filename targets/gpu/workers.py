"""Who runs the batches of a block: threads, each with memory of its own."""

from __future__ import annotations

from collections.abc import Callable, Collection, Generator, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import TypeAlias

import torch

from gnnc.targets.gpu.arena import Arena
from gnnc.targets.gpu.batch import Batch
from gnnc.targets.gpu.region import Region

Work: TypeAlias = Callable[[Batch, Arena, int], None]


SMALL_ROOM = 8 * 2**20
"""Bytes of a batch up to which torch's operations are too short to share: its threads wait for each other actively, for
long where others are at work."""


@cache
def pool(workers: int) -> ThreadPoolExecutor:
    """Threads that wait for work; kernels and torch's operations let others run meanwhile."""
    return ThreadPoolExecutor(workers, thread_name_prefix="gnnc")


class Workers:
    """Memory for what blocks hand on, and for each thread memory for what stays in a batch."""

    def __init__(self, *, own_pages: bool = False) -> None:
        self.own_pages = own_pages
        self.arena = Arena(own_pages=own_pages)
        self.arenas = [Arena(own_pages=own_pages)]
        self.region: Region | None = None

    def forget(self) -> None:
        """Gives memory that nothing uses back to the system."""
        self.region = None
        for arena in (self.arena, *self.arenas):
            arena.forget()

    def memory_for(self, room: int | None) -> Arena:
        """Memory for batches that follow each other; `room` are the most bytes that one takes, if that is known."""
        if room is None:
            return self.arenas[0]
        if self.region is None or self.region.memory.shape[0] < room:
            self.region = None
            try:
                self.region = Region(room)
            except MemoryError:
                # smaller batches may still find some
                return self.arenas[0]
        self.region.shrink(room)
        return self.region

    def run(
        self,
        work: Work,
        batches: Collection[Batch],
        threads: int,
        *,
        share: bool,
        done: Callable[[], None],
        room: int | None = None,
    ) -> None:
        """Calls `work(batch, arena, threads)` for every batch. Batches that may be shared go to several threads, one
        operation at a time in each; otherwise one batch follows the other, and operations use all threads; batches of a
        budget share memory of `room` bytes then. Calls `done` after each."""
        helpers = min(threads, len(batches)) - 1 if share else 0
        if helpers <= 0:
            arena = self.memory_for(room)
            with torch_threads(1 if room is not None and room <= SMALL_ROOM else threads):
                for batch in batches:
                    work(batch, arena, threads)
                    done()
            return
        left = InTurns(batches)
        self.arenas += [Arena(own_pages=self.own_pages) for _ in range(helpers + 1 - len(self.arenas))]
        with torch_threads(1):
            waiting = [pool(threads).submit(take, work, left, arena, done) for arena in self.arenas[1 : helpers + 1]]
            try:
                take(work, left, self.arenas[0], done)
            finally:
                for future in waiting:
                    future.exception()
            for future in waiting:
                future.result()


class InTurns(Iterator[Batch]):
    """Batches that threads share: one asks at a time, as a generator needs it."""

    def __init__(self, batches: Iterable[Batch]):
        self.batches = iter(batches)
        self.lock = Lock()

    def __next__(self) -> Batch:
        with self.lock:
            return next(self.batches)


def take(work: Work, left: Iterator[Batch], arena: Arena, done: Callable[[], None]) -> None:
    """Works on one batch after the other, as long as there are any."""
    torch.set_num_threads(1)
    with torch.no_grad():
        for batch in left:
            work(batch, arena, 1)
            done()


@contextmanager
def torch_threads(count: int) -> Generator[None]:
    """torch uses so many threads for a while. Part of that setting belongs to the process, part to each thread."""
    before = torch.get_num_threads()
    if count == before:
        yield
        return
    torch.set_num_threads(count)
    try:
        yield
    finally:
        torch.set_num_threads(before)


LEAST_PER_THREAD = 2**15
"""torch gives a thread so many numbers, or one thread more does not begin."""


@contextmanager
def torch_threads_started(count: int) -> Generator[None]:
    """torch uses so many threads for a while, all of them there from the first moment on: one that finds no memory when
    it is to begin ends the process."""
    with torch_threads(count):
        if count > 1:
            torch.empty(count * LEAST_PER_THREAD, dtype=torch.uint8).zero_()
        yield
