"""One piece of memory for all arrays of a batch, and for those of the next batch again."""

from __future__ import annotations

import torch

from gnnc.targets.gpu.arena import LINE, Arena, give_pages_back, in_whole_lines, new_buffer


class Region(Arena):
    """Hands out the lowest place that is large enough. Batches of a budget are of different sizes: buffers of one would
    be too small for the next and lie beside its own, and pages that the system gives anew are filled with zeros first,
    which takes as long as to use them. What has no place here is memory of its own."""

    def __init__(self, size: int):
        super().__init__(own_pages=True)
        self.memory = new_buffer(in_whole_lines(size), own_pages=True)
        self.size = self.memory.shape[0]
        self.holes = [(0, self.size)]
        """Free places in order, none beside another one."""

    def shrink(self, size: int) -> None:
        """From now on as if it were smaller, or as large as it was made again; nothing of it is in use."""
        give_pages_back(self.memory[size:])
        self.size = min(size // LINE * LINE, self.memory.shape[0])
        self.reclaim()

    def take(self, size: int) -> torch.Tensor:
        size = in_whole_lines(size)
        for number, (start, stop) in enumerate(self.holes):
            if start + size <= stop:
                self.holes[number : number + 1] = [(start + size, stop)] if start + size < stop else []
                return self.memory[start : start + size]
        return new_buffer(size, own_pages=True)

    def give_back(self, buffer: torch.Tensor) -> None:
        start = buffer.data_ptr() - self.memory.data_ptr()
        if not 0 <= start < self.size:
            return  # memory of its own
        stop = start + buffer.shape[0]
        before = [hole for hole in self.holes if hole[1] < start]
        beside = [hole for hole in self.holes if start <= hole[1] and hole[0] <= stop]
        behind = [hole for hole in self.holes if hole[0] > stop]
        joined = min([start, *(hole[0] for hole in beside)]), max([stop, *(hole[1] for hole in beside)])
        self.holes = [*before, joined, *behind]

    def reclaim(self) -> None:
        self.used.clear()
        self.holes = [(0, self.size)]

    def forget(self) -> None:
        """Its memory stays for the next batch."""

    def make_way(self) -> None:
        give_pages_back(self.memory)
