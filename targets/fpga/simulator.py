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
from gnnc.targets.fpga.architecture import NUMBER_BYTES, Architecture
from gnnc.targets.fpga.loads import (
    TILE_COORDINATES,
    KernelLoads,
    Loads,
    Side,
    Traffic,
    by_groups,
    coordinate_bytes,
    fibre_width,
    lean_fetches,
    row_major,
    whole_fetches,
)
from gnnc.targets.fpga.matrices import Integers, Matrix, TileCounts, tile_counts
from gnnc.targets.fpga.multiplications import Multiplications, spmm_multiplications
from gnnc.targets.fpga.pairs import Mapping, Product, TaskSums, sums, tile_bytes, unskipped_sums
from gnnc.targets.fpga.plan import KernelPlan, Plan
from gnnc.targets.fpga.residency import Residency, kept_on_chip
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


@dataclass(frozen=True)
class PreparedKernel:
    """A kernel before its tasks are put on cores: `busy` are the cycles of each task, `conversion` those of its format
    conversions."""

    kernel: KernelPlan
    loads: KernelLoads
    totals: TaskSums
    traffic: Traffic
    busy: Integers
    conversion: Integers

    def least_cycles(self, architecture: Architecture) -> Fraction:
        """What the kernel can't be faster than."""
        computing = Fraction(int(self.busy.sum()), architecture.cores)
        return max(computing, int(self.traffic.task_bytes.sum()) / architecture.bytes_per_cycle)


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
        self.runs: list[KernelRun] = []
        nothing = Residency(frozenset(), (0,) * len(plan.kernels))
        self.residency = kept_on_chip(plan, architecture) if setting.loads == "lean" else nothing

    def matrix(self, place: int) -> Matrix:
        """The numbers of an operand."""
        if place not in self.matrices:
            self.matrices[place] = self.numbers.matrix(place)
        return self.matrices[place]

    def counts(self, place: int, height: int, width: int) -> TileCounts:
        """The nonzeros of an operand's tiles. Node values are counted once in N2 x N2 subfibres, and in narrower ones
        where fibres are."""
        operand = self.plan.operands[place]
        lean = self.setting.loads == "lean"
        if operand.role == "adjacency":
            key = ("adjacency", place, height, lean)
            return self.numbers.cached(key, lambda: tile_counts(self.matrix(place), height, width, distinct=lean))
        if operand.role != "intermediate":
            key = (operand.role, place, height, width, lean)
            return self.numbers.cached(key, lambda: tile_counts(self.matrix(place), height, width, distinct=lean))
        fine_width = min(width, self.plan.n2)
        key = ("fine", place, self.plan.n2, fine_width)
        fine = self.numbers.cached(key, lambda: tile_counts(self.matrix(place), self.plan.n2, fine_width))
        return fine.merged(height, width)

    def products(self, kernel: KernelPlan, width: int) -> list[Product]:
        """The products of a kernel, right sides in tiles of so many columns."""
        height, inner = kernel.height(self.plan.n1, self.plan.n2), kernel.inner(self.plan.n1, self.plan.n2)
        return [
            Product(self.counts(lhs, height, inner), self.counts(rhs, inner, width)) for lhs, rhs in kernel.products
        ]

    def run_kernel(self, kernel: KernelPlan) -> None:
        self.time(self.prepared(kernel))

    def prepared(self, kernel: KernelPlan) -> PreparedKernel:
        """What a kernel computes, multiplies, loads and stores: all but when."""
        for place in {p for pair in kernel.products for p in pair} | set(kernel.addends) | set(kernel.residuals):
            self.matrix(place)
        for place in (kernel.scale, kernel.bias):
            if place is not None:
                self.matrix(place)
        # what a kernel computes does not depend on the setting, so runs of one program share it
        key = ("output", kernel.output)
        self.matrices[kernel.output] = self.numbers.cached(key, lambda: compute(kernel, self.matrices))
        totals = self.sums(kernel, self.products(kernel, self.plan.n2))
        hidden = float(totals.compute_cycles / self.architecture.cores * self.architecture.bytes_per_cycle)
        loads = self.loads(kernel, self.plan.n2, hidden)
        if self.setting.loads != "lean":
            traffic = whole_fetches(loads, totals, self.architecture, self.setting.loads)
            return self.with_tasks(kernel, loads, totals, traffic)
        width = fibre_width(loads, self.architecture, self.fusion(kernel, self.plan.n2))
        if width != self.plan.n2:
            loads = self.loads(kernel, width, hidden)
            totals = self.sums(kernel, loads.products)
        traffic = lean_fetches(loads, self.architecture, self.fusion(kernel, width))
        return self.with_tasks(kernel, loads, totals, traffic)

    def with_tasks(self, kernel: KernelPlan, loads: KernelLoads, totals: TaskSums, traffic: Traffic) -> PreparedKernel:
        lean = self.setting.loads == "lean"
        compute_cycles = task_cycles(totals, traffic, fused=lean)
        rate = self.architecture.conversion_numbers_per_cycle
        conversion = -(-converted_numbers(totals, traffic, fused=lean) // rate)
        return PreparedKernel(kernel, loads, totals, traffic, np.maximum(compute_cycles, conversion), conversion)

    def sums(self, kernel: KernelPlan, products: list[Product]) -> TaskSums:
        """What the pairs add up to; runs that map the same tiles in the same way share it."""
        setting, p = self.setting, self.architecture.p_sys
        size = coordinate_bytes(setting.loads)
        width = products[0].y.tile[1]
        is_static = setting.mapping in ("s1", "s2") and not setting.skip_empty
        key = ("sums", kernel.output, self.plan.n1, self.plan.n2, width, setting.mapping, is_static, size, p)

        def add_up() -> TaskSums:
            if setting.mapping in ("s1", "s2") and not setting.skip_empty:
                return unskipped_sums(products, setting.mapping, kernel.kind, p, size)
            return sums(products, setting.mapping, kernel.kind, p, size)

        return self.numbers.cached(key, add_up)

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

    def loads(self, kernel: KernelPlan, width: int, hidden: float) -> KernelLoads:
        """What the tasks of a kernel read and write, in column tiles of a width; computing hides so many bytes."""
        kept = self.residency.operands
        added = [p for p in (*kernel.addends, *kernel.residuals) if p not in kept]
        height, size = kernel.height(self.plan.n1, self.plan.n2), coordinate_bytes(self.setting.loads)
        stores = grid_bytes(self.counts(kernel.output, height, width), size)
        epilogue = np.zeros_like(stores)
        for place in added:
            epilogue = epilogue + grid_bytes(self.counts(place, height, width), size)
        return KernelLoads(
            self.products(kernel, width),
            [(self.side(lhs), self.side(rhs)) for lhs, rhs in kernel.products],
            [(self.is_static(lhs), self.is_static(rhs)) for lhs, rhs in kernel.products],
            epilogue,
            np.zeros_like(stores) if kernel.output in kept else stores,
            self.architecture.shared_buffer_bytes - self.residency.bytes[self.plan.kernels.index(kernel)],
            hidden,
        )

    def fusion(self, kernel: KernelPlan, width: int) -> int:
        """How many column tiles of the output fit the result buffer."""
        height = kernel.height(self.plan.n1, self.plan.n2)
        return max(1, self.architecture.result_buffer_bytes // (height * width * NUMBER_BYTES))

    def is_static(self, place: int) -> bool:
        return self.plan.operands[place].role != "intermediate"

    def side(self, place: int) -> Side:
        if self.setting.loads != "lean" or self.plan.operands[place].role != "adjacency":
            return Side(place in self.residency.operands)
        factors = self.numbers.cached(("factors", place), lambda: factors_of(self.matrix(place)))
        if factors is None or factors.bytes > self.architecture.resident_buffer_bytes:
            return Side()
        return Side(places_only=True, factor_bytes=factors.bytes)

    # ---- time

    def time(self, prepared: PreparedKernel) -> None:
        """When the tasks of a kernel run, after the kernel before."""
        a, kernel, traffic, busy = self.architecture, prepared.kernel, prepared.traffic, prepared.busy
        products = prepared.loads.products
        last = self.runs[-1] if self.runs else None
        barrier = last.end if last else 0
        start = barrier + self.exposed_cycles(traffic, last)
        hoisted = self.setting.loads == "lean"
        decisions = decisions_of(
            products, prepared.loads.static, self.setting.mapping, hoisted=hoisted, tasks=len(busy)
        )
        decisions.place(last.decisions if last else None, last.start if last else 0, start, a)
        tasks = Tasks(busy, traffic.task_bytes, decisions.releases(start))
        bandwidth = float(a.bytes_per_cycle)
        timeline = run(tasks, a.cores, bandwidth, float(a.port_bytes_per_cycle), self.setting.schedule)
        self.runs.append(
            KernelRun(
                kernel,
                products,
                prepared.totals,
                traffic,
                timeline,
                decisions,
                len(busy),
                prepared.totals.compute_cycles,
                int(busy.max(initial=0)),
                int(prepared.conversion.sum()),
                self.counts(kernel.output, kernel.height(self.plan.n1, self.plan.n2), self.plan.n2),
                self.counts(kernel.output, self.plan.n2, self.plan.n2),
                self.compulsory(kernel),
                self.multiplications(kernel, products, prepared.totals),
                start=barrier,
                end=start + ceil(timeline.makespan - 1e-6),
            )
        )

    def exposed_cycles(self, traffic: Traffic, last: KernelRun | None) -> int:
        """How long cores wait for what they read together. What is known beforehand comes while the memory is idle
        under the kernel before, as far as that one leaves room."""
        rate = self.architecture.bytes_per_cycle
        idle = max(0, int(last.cycles * rate) - last.traffic.total) if last else 0
        free = last.traffic.free if last else None
        hidden = min(idle, traffic.static, traffic.static if free is None else free)
        return ceil((traffic.shared - hidden) / rate)

    def compulsory(self, kernel: KernelPlan) -> int:
        n1, n2 = self.plan.n1, self.plan.n2
        output = self.counts(kernel.output, kernel.height(n1, n2), n2)
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
    return x + by_groups(totals.converted_y, traffic.groups) if traffic.converts else x


def grid_bytes(tiles: TileCounts, bytes_a_nonzero: int) -> Integers:
    """The bytes of every tile, empty ones included, as a grid of tasks."""
    grid = np.zeros(tiles.grid, np.int64)
    grid[tiles.rows, tiles.columns] = tile_bytes(tiles, bytes_a_nonzero)
    return grid
