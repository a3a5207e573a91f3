"""The search for partition sizes: over the real tiles, with loads and decisions charged."""

from __future__ import annotations

from gnnc.passes.analysis.partition import Limits, candidates
from gnnc.targets.fpga.architecture import Architecture
from gnnc.targets.fpga.plan import Plan
from gnnc.targets.fpga.simulator import Setting, simulate
from gnnc.targets.fpga.values import Numbers


def best_partition(
    numbers: Numbers, plan: Plan, architecture: Architecture, setting: Setting | None = None
) -> tuple[int, int]:
    """N1 and N2 with the fewest simulated cycles, by lean loads unless another setting is given."""
    setting = setting or Setting(loads="lean")
    limits = Limits(architecture.p_sys, architecture.cores, architecture.n_max, eta=1)
    cycles = {
        sizes: simulate(numbers, plan.repartitioned(*sizes), architecture, setting).cycles
        for sizes in candidates(limits)
    }
    return min(cycles, key=lambda sizes: (cycles[sizes], -sizes[0], -sizes[1]))
