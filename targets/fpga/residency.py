"""Which intermediate values never leave the chip."""

from __future__ import annotations

from dataclasses import dataclass

from gnnc.targets.fpga.architecture import NUMBER_BYTES, Architecture
from gnnc.targets.fpga.plan import KernelPlan, Plan


@dataclass(frozen=True)
class Residency:
    """The operands that stay on chip, and the bytes of the shared buffer that they fill while each kernel runs."""

    operands: frozenset[int]
    bytes: tuple[int, ...]


def kept_on_chip(plan: Plan, architecture: Architecture) -> Residency:
    """The operands that stay in half of the shared buffer, from their kernel to the last that takes them.

    Greedy, in the order of the kernels; sizes are dense, for densities are not known before. A result that no kernel
    takes leaves the chip in any case; one that is also returned is small enough to be read out at the end.
    """
    room = architecture.shared_buffer_bytes // 2
    last_use = {place: index for index, kernel in enumerate(plan.kernels) for place in taken(kernel)}
    live: dict[int, int] = {}
    kept: set[int] = set()
    filled: list[int] = []
    for index, kernel in enumerate(plan.kernels):
        live = {place: size for place, size in live.items() if last_use[place] >= index}
        size = plan.nodes * kernel.width * NUMBER_BYTES
        if kernel.output in last_use and sum(live.values()) + size <= room:
            live[kernel.output] = size
            kept.add(kernel.output)
        filled.append(sum(live.values()))
    return Residency(frozenset(kept), tuple(filled))


def taken(kernel: KernelPlan) -> set[int]:
    """The operands of a kernel that other kernels may have computed."""
    return {place for pair in kernel.products for place in pair} | set(kernel.addends) | set(kernel.residuals)
