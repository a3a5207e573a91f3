"""The soft processor's Analyzer: which decisions it takes, and when they are ready (Dynasparse, Algorithm 7)."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

from gnnc.targets.fpga.architecture import Architecture
from gnnc.targets.fpga.pairs import Mapping, Product


@dataclass
class Decisions:
    """The decisions of a kernel, `count` in all for so many tasks, `at_once` before the first of them can run.

    `waits` says whether some need what the kernel before computes; `cycles` is what they take, `ready` when the last is
    made and `exposed` how much of the time no kernel ran beside.
    """

    count: int
    at_once: int
    tasks: int
    waits: bool
    cycles: Fraction = Fraction(0)
    ready: Fraction = Fraction(0)
    exposed: Fraction = Fraction(0)
    begun: Fraction = Fraction(0)

    def place(self, before: Decisions | None, before_start: int, start: int, architecture: Architecture) -> None:
        """Puts the decisions on the soft processor's clock. It works on a kernel while the one before runs, from that
        one's start; what depends on that one's results is ready as tasks end, the last decision after its end."""
        each = architecture.cycles_per_processor_decision
        self.cycles = self.count * each
        self.begun = max(before.ready if before else Fraction(0), Fraction(before_start))
        self.ready = self.begun + self.cycles
        if self.waits and self.count:
            self.ready = max(self.ready, start + each * self.last_step)
        self.exposed = max(Fraction(0), self.ready - max(start, self.begun))

    @property
    def last_step(self) -> Fraction:
        """The decisions of one task, or one decision where all tasks share them."""
        return Fraction(1) if self.at_once == self.count else Fraction(self.count, max(1, self.tasks))

    def releases(self, start: int) -> list[float] | None:
        """When each task's decisions are made, from the start of the kernel; None if before it."""
        if self.ready <= start:
            return None
        if self.at_once == self.count:
            return [float(self.ready - start)] * self.tasks
        # evenly, up to the last
        spread = self.cycles / max(1, self.tasks)
        first = self.ready - self.cycles
        return [float(max(Fraction(0), first + spread * (t + 1) - start)) for t in range(self.tasks)]


def decisions_of(
    products: list[Product], static: list[tuple[bool, bool]], mapping: Mapping, *, hoisted: bool, tasks: int
) -> Decisions:
    """The decisions of a kernel: one a pair of tiles, empty ones included, as the paper's algorithm takes them.

    `hoisted`: a right tile gives thresholds, the core compares; one decision for each right tile that is not known
    beforehand. Static mappings decide nothing.
    """
    waits = not all(known for pair in static for known in pair)
    if mapping in ("s1", "s2"):
        return Decisions(0, 0, tasks, waits=False)
    if not hoisted:
        count = tasks * sum(product.inner for product in products)
        return Decisions(count, 0, tasks, waits)
    changing = [p for p, (_, y_known) in zip(products, static, strict=True) if not y_known]
    count = sum(p.y.grid[0] * p.y.grid[1] for p in changing)
    return Decisions(count, count, tasks, bool(changing))
