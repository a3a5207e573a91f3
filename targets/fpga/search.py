"""The search for partition sizes: over the real tiles, with loads and decisions charged."""

from __future__ import annotations

from fractions import Fraction

from gnnc.passes.analysis.partition import Limits, candidates
from gnnc.targets.fpga.architecture import Architecture
from gnnc.targets.fpga.plan import Plan
from gnnc.targets.fpga.simulator import PreparedKernel, Setting, Simulator
from gnnc.targets.fpga.values import Numbers


def searched_partitions(
    numbers: Numbers, plan: Plan, architecture: Architecture, setting: Setting | None = None
) -> dict[tuple[int, int], int]:
    """The simulated cycles of legal N1 and N2, by lean loads unless another setting is given. Runs that can't be the
    fastest are given up: each that is here took fewer cycles than the one before."""
    setting = setting or Setting(loads="lean")
    limits = Limits(architecture.p_sys, architecture.cores, architecture.n_max, eta=1)
    found: dict[tuple[int, int], int] = {}
    # large tiles first: they are few, so the runs that the others need not finish are the long ones
    for sizes in sorted(candidates(limits), reverse=True):
        fewest = min(found.values(), default=None)
        cycles = cycles_within(numbers, plan.repartitioned(*sizes), architecture, setting, fewest)
        if cycles is not None:
            found[sizes] = cycles
        numbers.forget("sums")  # of no use to other sizes: gigabytes for wide features in small tiles
    return found


def best_partition(
    numbers: Numbers, plan: Plan, architecture: Architecture, setting: Setting | None = None
) -> tuple[int, int]:
    """N1 and N2 with the fewest simulated cycles."""
    found = searched_partitions(numbers, plan, architecture, setting)
    return min(found, key=lambda sizes: found[sizes])


def cycles_within(
    numbers: Numbers, plan: Plan, architecture: Architecture, setting: Setting, limit: int | None
) -> int | None:
    """The cycles of a run; None as soon as they are seen to reach a limit, if it can be before tasks are put on
    cores."""
    simulator = Simulator(numbers, plan, architecture, setting)
    prepared: list[PreparedKernel] = []
    least = Fraction(0)
    for kernel in plan.kernels:
        prepared.append(simulator.prepared(kernel))
        least += prepared[-1].least_cycles(architecture)
        if limit is not None and least >= limit:
            return None
    for kernel in prepared:
        simulator.time(kernel)
        # what is left can't be faster than its bound
        least -= kernel.least_cycles(architecture)
        if limit is not None and simulator.runs[-1].end + least >= limit:
            return None
    return simulator.runs[-1].end
