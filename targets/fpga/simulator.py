"""The simulator: real numbers, and the cycles and bytes that they take. Uncalibrated: no RTL, no board.

Kernel after kernel: the values by one product each, the nonzeros of every tile, the primitive of every pair of tiles,
the bytes of every task, and when each task runs. What a kernel computes is what the next one multiplies.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

import numpy as np

from gnnc.passes.analysis.primitives import Primitive
from gnnc.targets.fpga.analyzer import Decisions, decisions_of
from gnnc.targets.fpga.architecture import Architecture
from gnnc.targets.fpga.loads import (
    TILE_COORDINATES,
    Loads,
    Side,
    Traffic,
    by_groups,
    coordinate_bytes,
    lean_fetches,
    row_major,
    whole_fetches,
)
from gnnc.targets.fpga.matrices import Integers, Matrix, TileCounts, tile_counts
from gnnc.targets.fpga.multiplications import Multiplications, spmm_multiplications
from gnnc.targets.fpga.pairs import Mapping, Product, TaskSums, sums, tile_bytes, unskipped_sums
from gnnc.targets.fpga.plan import KernelPlan, Plan
from gnnc.targets.fpga.residency import kept_on_chip
from gnnc.targets.fpga.schedule import Schedule, Tasks, Timeline, run
from gnnc.targets.fpga.separable import factors_of
from gnnc.targets.fpga.values import Numbers, compute

if TYPE_CHECKING:
    from numpy.typing import NDArray

UNCALIBRATED = "uncalibrated: no RTL, no board"


@dataclass(frozen=True)
class Setting:
    """What a run does: which primitive each pair gets, what tasks load, in which order tasks go to cores, and whether
    pairs with an empty tile are skipped, which a static mapping may leave."""

    mapping: Mapping = "dynamic"
    loads: Loads = "literal"
    schedule: Schedule = "dynamic"
    skip_empty: bool = True


@dataclass
class KernelRun:
    """What one kernel took. Cycles are the accelerator's; `start` and `end` count from the start of the run. `output`
    counts the nonzeros of the tasks' tiles, `fine_output` those of N2 x N2 tiles, which is what the cores profile."""

    kernel: KernelPlan
    products: list[Product]
    sums: TaskSums
    traffic: Traffic
    timeline: Timeline
    decisions: Decisions
    tasks: int
    compute_cycles: Fraction
    longest_task: int
    conversion_cycles: int
    output: TileCounts
    fine_output: TileCounts
    compulsory_bytes: int
    spmm: Multiplications
    start: int = 0
    end: int = 0

    @property
    def cycles(self) -> int:
        return self.end - self.start


@dataclass
class Simulation:
    """A whole run: `outputs` are the model's, `kernels` what each kernel took, in order."""

    plan: Plan
    architecture: Architecture
    setting: Setting
    kernels: list[KernelRun]
    outputs: list[NDArray[np.float32]] = field(default_factory=list["NDArray[np.float32]"])

    @property
    def cycles(self) -> int:
        """The makespan, with loads and decisions."""
        return self.kernels[-1].end if self.kernels else 0

    @property
    def compute_cycles(self) -> Fraction:
        """The exact sum over all pairs of tiles."""
        return sum((k.compute_cycles for k in self.kernels), Fraction(0))

    @property
    def padded_cycles(self) -> Fraction:
        """The same for outputs as wide as a multiple of the array."""
        return sum((k.sums.padded_cycles for k in self.kernels), Fraction(0))

    @property
    def spmm(self) -> Multiplications:
        """Of all pairs in the mode SPMM; none where they were not counted."""
        return sum((k.spmm for k in self.kernels), Multiplications())

    @property
    def bytes(self) -> int:
        return sum(k.traffic.total for k in self.kernels)

    @property
    def compulsory_bytes(self) -> int:
        """Each operand and each output of each kernel once, at 8 bytes a nonzero or dense."""
        return sum(k.compulsory_bytes for k in self.kernels)

    def bounds(self) -> dict[str, int]:
        """What the run can't be faster than: cycles of all cores' computing, of the memory's bytes, and of the longest
        task of each kernel."""
        return {
            "compute": ceil(self.compute_cycles / self.architecture.cores),
            "bytes": ceil(self.bytes / self.architecture.bytes_per_cycle),
            "longest_task": sum(k.longest_task for k in self.kernels),
        }

    def floor(self) -> int:
        """The larger of the compulsory bytes' cycles and the computing's."""
        return max(
            ceil(self.compulsory_bytes / self.architecture.bytes_per_cycle),
            ceil(self.compute_cycles / self.architecture.cores),
        )


def simulate(
    numbers: Numbers, plan: Plan, architecture: Architecture, setting: Setting, *, count_spmm: bool = False
) -> Simulation:
    """Runs a plan on the numbers of a graph. `count_spmm` counts what SPMM multiplies in truth, which takes a while."""
    simulator = Simulator(numbers, plan, architecture, setting, count_spmm=count_spmm)
    for kernel in plan.kernels:
        simulator.run_kernel(kernel)
    outputs = numbers.outputs(simulator.matrices)
    return Simulation(plan, architecture, setting, simulator.runs, outputs)


class Simulator:
    """The state of a run: matrices and tile counts by operand, and the clock."""

    def __init__(
        self,
        numbers: Numbers,
        plan: Plan,
        architecture: Architecture,
        setting: Setting,
        *,
        count_spmm: bool = False,
    ):
        self.count_spmm = count_spmm
        self.numbers = numbers
        self.plan = plan
        self.architecture = architecture
        self.setting = setting
        self.matrices: dict[int, Matrix] = {}
        self.fine: dict[int, TileCounts] = {}
        self.runs: list[KernelRun] = []
        self.on_chip = kept_on_chip(plan, architecture) if setting.loads == "lean" else frozenset[int]()

    def matrix(self, place: int) -> Matrix:
        """The numbers of an operand."""
        if place not in self.matrices:
            self.matrices[place] = self.numbers.matrix(place)
        return self.matrices[place]

    def counts(self, place: int, height: int, width: int) -> TileCounts:
        """The nonzeros of an operand's tiles. Node values are counted once in N2 x N2 subfibres."""
        operand = self.plan.operands[place]
        lean = self.setting.loads == "lean"
        if operand.role == "adjacency":
            key = ("adjacency", place, height, lean)
            return self.numbers.cached(key, lambda: tile_counts(self.matrix(place), height, width, distinct=lean))
        if operand.role != "intermediate":
            key = (operand.role, place, height, width, lean)
            return self.numbers.cached(key, lambda: tile_counts(self.matrix(place), height, width, distinct=lean))
        if place not in self.fine:
            self.fine[place] = tile_counts(self.matrix(place), self.plan.n2, self.plan.n2)
        return self.fine[place].merged(height, width)

    def products(self, kernel: KernelPlan) -> list[Product]:
        n1, n2 = self.plan.n1, self.plan.n2
        height, inner = kernel.height(n1, n2), kernel.inner(n1, n2)
        return [Product(self.counts(lhs, height, inner), self.counts(rhs, inner, n2)) for lhs, rhs in kernel.products]

    def run_kernel(self, kernel: KernelPlan) -> None:
        products = self.products(kernel)
        bytes_a_nonzero = coordinate_bytes(self.setting.loads)
        mapping, p = self.setting.mapping, self.architecture.p_sys
        if mapping in ("s1", "s2") and not self.setting.skip_empty:
            totals = unskipped_sums(products, mapping, kernel.kind, p, bytes_a_nonzero)
        else:
            totals = sums(products, mapping, kernel.kind, p, bytes_a_nonzero)
        for place in {p for pair in kernel.products for p in pair} | set(kernel.addends) | set(kernel.residuals):
            self.matrix(place)
        for place in (kernel.scale, kernel.bias):
            if place is not None:
                self.matrix(place)
        # what a kernel computes does not depend on the setting, so runs of one program share it
        key = ("output", kernel.output)
        self.matrices[kernel.output] = self.numbers.cached(key, lambda: compute(kernel, self.matrices))
        height = kernel.height(self.plan.n1, self.plan.n2)
        output = self.counts(kernel.output, height, self.plan.n2)
        traffic = self.traffic(kernel, products, totals, output)
        self.runs.append(self.timed(kernel, products, totals, traffic, output))

    def multiplications(self, kernel: KernelPlan, products: list[Product], totals: TaskSums) -> Multiplications:
        """What SPMM multiplies, if it is to be counted and there is any."""
        counted = Multiplications()
        if not self.count_spmm or Primitive.SPMM not in totals.chosen:
            return counted
        size = coordinate_bytes(self.setting.loads)
        for product, (lhs, rhs) in zip(products, kernel.products, strict=True):
            counted += spmm_multiplications(
                product,
                self.matrix(lhs),
                self.matrix(rhs),
                self.setting.mapping,
                kernel.kind,
                self.architecture.p_sys,
                size,
            )
        return counted

    # ---- bytes

    def traffic(self, kernel: KernelPlan, products: list[Product], totals: TaskSums, output: TileCounts) -> Traffic:
        static = [(self.is_static(lhs), self.is_static(rhs)) for lhs, rhs in kernel.products]
        added = [p for p in (*kernel.addends, *kernel.residuals) if p not in self.on_chip]
        height = kernel.height(self.plan.n1, self.plan.n2)
        size = coordinate_bytes(self.setting.loads)
        epilogue = np.zeros(totals.pairs.shape, np.int64)
        for place in added:
            epilogue = epilogue + grid_bytes(self.counts(place, height, self.plan.n2), size)
        kept = kernel.output in self.on_chip
        stores = np.zeros(totals.pairs.shape, np.int64) if kept else grid_bytes(output, size)
        if self.setting.loads != "lean":
            return whole_fetches(products, totals, epilogue, stores, self.architecture, self.setting.loads, static)
        sides = [(self.side(lhs), self.side(rhs)) for lhs, rhs in kernel.products]
        fusion = max(1, self.architecture.result_buffer_bytes // (height * self.plan.n2 * 4))
        return lean_fetches(products, sides, epilogue, stores, self.architecture, fusion, static)

    def is_static(self, place: int) -> bool:
        return self.plan.operands[place].role != "intermediate"

    def side(self, place: int) -> Side:
        if self.plan.operands[place].role != "adjacency":
            return Side(place in self.on_chip)
        factors = self.numbers.cached(("factors", place), lambda: factors_of(self.matrix(place)))
        if factors is None or factors.bytes > self.architecture.resident_buffer_bytes:
            return Side()
        return Side(places_only=True, factor_bytes=factors.bytes)

    # ---- time

    def timed(
        self, kernel: KernelPlan, products: list[Product], totals: TaskSums, traffic: Traffic, output: TileCounts
    ) -> KernelRun:
        """When the tasks of a kernel run, after the kernel before."""
        a = self.architecture
        lean = self.setting.loads == "lean"
        compute_cycles = task_cycles(totals, traffic, fused=lean)
        conversion = -(-converted_numbers(totals, traffic, fused=lean) // a.conversion_numbers_per_cycle)
        busy = np.maximum(compute_cycles, conversion)
        last = self.runs[-1] if self.runs else None
        barrier = last.end if last else 0
        start = barrier + self.exposed_cycles(traffic, last)
        static = [(self.is_static(lhs), self.is_static(rhs)) for lhs, rhs in kernel.products]
        decisions = decisions_of(products, static, self.setting.mapping, hoisted=lean, tasks=len(busy))
        decisions.place(last.decisions if last else None, last.start if last else 0, start, a)
        tasks = Tasks(busy, traffic.loads + traffic.stores, decisions.releases(start))
        bandwidth = float(a.bytes_per_cycle)
        timeline = run(tasks, a.cores, bandwidth, float(a.port_bytes_per_cycle), self.setting.schedule)
        return KernelRun(
            kernel,
            products,
            totals,
            traffic,
            timeline,
            decisions,
            len(busy),
            totals.compute_cycles,
            int(busy.max(initial=0)),
            int(conversion.sum()),
            output,
            self.fine[kernel.output],
            self.compulsory(kernel, output),
            self.multiplications(kernel, products, totals),
            start=barrier,
            end=start + ceil(timeline.makespan - 1e-6),
        )

    def exposed_cycles(self, traffic: Traffic, last: KernelRun | None) -> int:
        """How long cores wait for what they read together. What is known beforehand comes while the memory is idle
        under the kernel before."""
        rate = self.architecture.bytes_per_cycle
        idle = max(0, int(last.cycles * rate) - last.traffic.total) if last else 0
        hidden = min(idle, traffic.static)
        return ceil((traffic.shared - hidden) / rate)

    def compulsory(self, kernel: KernelPlan, output: TileCounts) -> int:
        n1, n2 = self.plan.n1, self.plan.n2
        places = {place for pair in kernel.products for place in pair} | set(kernel.addends) | set(kernel.residuals)
        total = int(tile_bytes(output, TILE_COORDINATES).sum())
        for place in places:
            adjacency = self.plan.operands[place].role == "adjacency"
            side = n1 if adjacency else n2
            total += int(tile_bytes(self.counts(place, side, side), TILE_COORDINATES).sum())
        return total


def task_cycles(totals: TaskSums, traffic: Traffic, *, fused: bool) -> Integers:
    """Whole cycles of each task, rounded up once."""
    if not fused:
        return row_major(totals.task_cycles())
    return -(-by_groups(totals.numerators, traffic.groups) // totals.denominator)


def converted_numbers(totals: TaskSums, traffic: Traffic, *, fused: bool) -> Integers:
    """How many numbers change format in each task: a fused task turns its left tiles once for all its columns, and the
    right side has its format from when it was read."""
    if not fused:
        return row_major(totals.converted_x + totals.converted_y)
    x = np.concatenate([totals.converted_x[:, a:b].max(axis=1) for a, b in traffic.groups])
    return x + by_groups(totals.converted_y, traffic.groups) if traffic.order == "gather" else x


def grid_bytes(tiles: TileCounts, bytes_a_nonzero: int) -> Integers:
    """The bytes of every tile, empty ones included, as a grid of tasks."""
    grid = np.zeros(tiles.grid, np.int64)
    grid[tiles.rows, tiles.columns] = tile_bytes(tiles, bytes_a_nonzero)
    return grid
