"""The partition sizes N1 and N2 (Dynasparse, Algorithm 9). Pure functions of sizes.

The adjacency matrix is cut into N1 x N1 tiles, node values into N1 x N2 fibres of N2 x N2 subfibres, weights into
N2 x N2 tiles. An Aggregate has a task for each N1 x N2 tile of its output, an Update for each N2 x N2 tile.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isqrt
from typing import Literal

Kind = Literal["aggregate", "update"]


@dataclass(frozen=True)
class KernelShape:
    """A kernel's output: so many rows and columns."""

    kind: Kind
    rows: int
    columns: int


@dataclass(frozen=True)
class Limits:
    """What the accelerator asks of partition sizes: powers of two, from p_sys to n_max, `eta` tasks a core."""

    p_sys: int
    cores: int
    n_max: int
    eta: int

    @property
    def tasks(self) -> int:
        """How many tasks a kernel should have at least, so that cores stay busy."""
        return self.eta * self.cores

    def sizes(self) -> list[int]:
        """The legal sizes, ascending."""
        sizes: list[int] = []
        size = self.p_sys
        while size <= self.n_max:
            sizes.append(size)
            size *= 2
        return sizes

    def largest(self, bound: int) -> int:
        """The largest legal size that is no more than `bound`; p_sys where none is."""
        return max((size for size in self.sizes() if size <= bound), default=self.p_sys)


def tasks_of(shape: KernelShape, n1: int, n2: int) -> int:
    """The tasks of a kernel, edge tiles included."""
    height = n1 if shape.kind == "aggregate" else n2
    return -(-shape.rows // height) * -(-shape.columns // n2)


def algorithm_9(shapes: Sequence[KernelShape], limits: Limits) -> tuple[int, int]:
    """N1 and N2 as the paper's formulas give them: Q / (N1 N2) and Q / N2^2 tasks, without ceilings."""
    work = {kind: [s.rows * s.columns for s in shapes if s.kind == kind] for kind in ("update", "aggregate")}
    n2 = min((limits.largest(isqrt(q // limits.tasks)) for q in work["update"]), default=limits.p_sys)
    n1 = min((limits.largest(q // (n2 * limits.tasks)) for q in work["aggregate"]), default=n2)
    return max(n1, n2), n2


def algorithm_9_exact(shapes: Sequence[KernelShape], limits: Limits) -> tuple[int, int]:
    """The same with tasks counted as they are: an output narrower than N2 still is a column of tiles."""

    def enough(kind: Kind, n1: int, n2: int) -> bool:
        return all(tasks_of(s, n1, n2) >= limits.tasks for s in shapes if s.kind == kind)

    sizes = limits.sizes()
    has_update = any(s.kind == "update" for s in shapes)
    n2 = max((n for n in sizes if has_update and enough("update", n, n)), default=limits.p_sys)
    n1 = max((n for n in sizes if n >= n2 and enough("aggregate", n, n2)), default=n2)
    return n1, n2


def candidates(limits: Limits) -> list[tuple[int, int]]:
    """Every legal pair of N1 and N2."""
    return [(n1, n2) for n1 in limits.sizes() for n2 in limits.sizes() if n1 >= n2]
