"""What a simulation found, as JSON and as a table."""

from __future__ import annotations

from typing import Any

from gnnc.targets.fpga.architecture import Architecture
from gnnc.targets.fpga.plan import Plan
from gnnc.targets.fpga.simulator import UNCALIBRATED, KernelRun, Simulation


def as_json(simulation: Simulation) -> dict[str, Any]:
    """All figures. Cycles are the accelerator's; `compute_cycles` is the exact sum over pairs of tiles as a float."""
    a, setting = simulation.architecture, simulation.setting
    return {
        "status": UNCALIBRATED,
        "architecture": a.name,
        "assumed": list(a.assumed),
        "mapping": setting.mapping,
        "loads": setting.loads,
        "schedule": setting.schedule,
        "nodes": simulation.plan.nodes,
        "n1": simulation.plan.n1,
        "n2": simulation.plan.n2,
        "cycles": simulation.cycles,
        "milliseconds": a.milliseconds(simulation.cycles),
        "compute_cycles": float(simulation.compute_cycles),
        "compute_cycles_padded": float(simulation.padded_cycles),
        "spmm_multiplications": {"expected": simulation.spmm.expected, "actual": simulation.spmm.actual},
        "bytes": simulation.bytes,
        "compulsory_bytes": simulation.compulsory_bytes,
        "bounds": simulation.bounds(),
        "floor": simulation.floor(),
        "decisions": sum(k.decisions.count for k in simulation.kernels),
        "analyzer_cycles": float(sum(k.decisions.cycles for k in simulation.kernels)),
        "analyzer_hidden_cycles": float(sum(k.decisions.cycles - exposed(k) for k in simulation.kernels)),
        "conversion_cycles": sum(k.conversion_cycles for k in simulation.kernels),
        "kernels": [kernel_json(k, simulation) for k in simulation.kernels],
    }


def exposed(run: KernelRun) -> Any:
    """The Analyzer's cycles that no kernel hid."""
    return min(run.decisions.cycles, run.decisions.exposed)


def shares_of(run: KernelRun, architecture: Architecture) -> dict[str, float]:
    """The cycles that each of the things which a kernel needs would take alone."""
    return {
        "compute": float(run.compute_cycles) / architecture.cores,
        "memory": run.traffic.total / float(architecture.bytes_per_cycle),
        "conversion": run.conversion_cycles / architecture.cores,
        "longest task": float(run.longest_task),
        "decisions": float(exposed(run)),
    }


def bound_by(run: KernelRun, architecture: Architecture) -> str:
    """What a kernel waits for most."""
    shares = shares_of(run, architecture)
    return max(shares, key=lambda name: shares[name])


def described_products(run: KernelRun, plan: Plan) -> list[str]:
    return [f"{plan.operands[lhs].name} @ {plan.operands[rhs].name}" for lhs, rhs in run.kernel.products]


def kernel_json(run: KernelRun, simulation: Simulation) -> dict[str, Any]:
    plan = simulation.plan
    return {
        "kind": run.kernel.kind,
        "layer": run.kernel.layer,
        "source": run.kernel.source,
        "products": described_products(run, plan),
        "output": plan.operands[run.kernel.output].name,
        "tasks": run.tasks,
        "pairs": int(run.sums.pairs.sum()),
        "primitives": {primitive.name.lower(): count for primitive, count in run.sums.chosen.items()},
        "densities": [[density(product.x), density(product.y)] for product in run.products],
        "output_density": density(run.output),
        "cycles": run.cycles,
        "bound_by": bound_by(run, simulation.architecture),
        "compute_cycles": float(run.compute_cycles),
        "longest_task": run.longest_task,
        "bytes": run.traffic.total,
        "shared_bytes": run.traffic.shared,
        "compulsory_bytes": run.compulsory_bytes,
        "order": run.traffic.order,
        "decisions": run.decisions.count,
        "conversion_cycles": run.conversion_cycles,
    }


def density(tiles: Any) -> float:
    return tiles.total / max(1, tiles.shape[0] * tiles.shape[1])


def as_text(simulation: Simulation) -> str:
    """A table of the kernels, the totals and the bounds."""
    a = simulation.architecture
    described = as_json(simulation)
    bounds = described["bounds"]
    lines = [
        f"{UNCALIBRATED} ({a.name}: {a.cores} cores of {a.p_sys} x {a.p_sys}, {float(a.clock_mhz):g} MHz, "
        f"{float(a.bandwidth_gb_per_s):g} GB/s; assumed figures: {len(a.assumed)})",
        f"N1 {described['n1']}, N2 {described['n2']}, mapping {described['mapping']}, loads {described['loads']}, "
        f"schedule {described['schedule']}",
        "",
        f"{'layer':>5} {'kernel':32} {'tasks':>8} {'pairs':>10} {'cycles':>11} {'compute':>13} {'MB':>9}  "
        f"{'bound by':12}  primitives",
    ]
    for kernel in described["kernels"]:
        name = f"{kernel['kind']} {kernel['output']} = {' + '.join(kernel['products'])}"
        chosen = ", ".join(f"{name} {count:,}" for name, count in kernel["primitives"].items())
        lines.append(
            f"{kernel['layer']:>5} {name[:32]:32} {kernel['tasks']:>8,} {kernel['pairs']:>10,} {kernel['cycles']:>11,} "
            f"{kernel['compute_cycles']:>13,.1f} {kernel['bytes'] / 1e6:>9.2f}  {kernel['bound_by']:12}  {chosen}"
        )
    spmm = simulation.spmm
    hidden, analyzer = described["analyzer_hidden_cycles"], described["analyzer_cycles"]
    lines += [
        "",
        f"makespan    {described['cycles']:,} cycles, {described['milliseconds']:.4f} ms",
        f"compute     {described['compute_cycles']:,.1f} cycles over all pairs of tiles; "
        f"{described['compute_cycles_padded']:,.1f} with widths padded to {a.p_sys}",
        *([f"SPMM        {spmm.actual:,} multiplications, {spmm.expected:,.0f} expected"] if spmm.expected else []),
        f"memory      {described['bytes']:,} bytes; "
        f"{described['compulsory_bytes']:,} if each operand and result moved once",
        f"decisions   {described['decisions']:,}, {analyzer:,.0f} cycles, {hidden:,.0f} of them hidden",
        f"bounds      compute {bounds['compute']:,}, memory {bounds['bytes']:,}, "
        f"longest tasks {bounds['longest_task']:,}",
    ]
    return "\n".join(lines)
