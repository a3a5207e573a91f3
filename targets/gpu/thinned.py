"""Series of any length in a fixed amount of memory."""

from __future__ import annotations

from array import array
from collections.abc import Iterator
from itertools import chain
from threading import Lock


class Thinned:
    """Rows of numbers as they come, until there are too many: then, all over the series, the one whose last number is
    the largest of as many as fall together. Threads may add to it."""

    def __init__(self, columns: int, most: int):
        """Fewer than `most` rows are kept, which is an even number."""
        self.columns = columns
        self.most = most
        self.numbers = array("d")
        self.count = 0
        self.together = 1
        self.lock = Lock()

    def append(self, *row: float) -> None:
        with self.lock:
            if self.count % self.together == 0:
                self.numbers.extend(row)
            else:
                last = tuple(self.numbers[-self.columns :])
                self.numbers[-self.columns :] = array("d", larger(last, row))
            self.count += 1
            if len(self) == self.most:
                rows = list(self)
                self.numbers = array("d", chain.from_iterable(map(larger, rows[::2], rows[1::2])))
                self.together *= 2

    def __len__(self) -> int:
        return len(self.numbers) // self.columns

    def __iter__(self) -> Iterator[tuple[float, ...]]:
        for place in range(0, len(self.numbers), self.columns):
            yield tuple(self.numbers[place : place + self.columns])


def larger(row: tuple[float, ...], other: tuple[float, ...]) -> tuple[float, ...]:
    """The row whose last number is the larger one."""
    return max(row, other, key=lambda numbers: numbers[-1])
