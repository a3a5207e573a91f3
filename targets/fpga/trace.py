"""A run as a trace that Perfetto (ui.perfetto.dev) and chrome://tracing open: a track a core, one for the Analyzer."""

from __future__ import annotations

import json
from typing import Any

from gnnc.targets.fpga.simulator import UNCALIBRATED, KernelRun, Simulation


def as_trace(simulation: Simulation) -> str:
    """The trace event format, in microseconds."""
    per_cycle = 1 / float(simulation.architecture.clock_mhz)
    cores = simulation.architecture.cores
    events: list[dict[str, Any]] = [
        {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": f"gnnc, {UNCALIBRATED}"}},
        *({"name": "thread_name", "ph": "M", "pid": 1, "tid": c, "args": {"name": f"core {c}"}} for c in range(cores)),
        {"name": "thread_name", "ph": "M", "pid": 1, "tid": cores, "args": {"name": "Analyzer"}},
    ]
    for index, run in enumerate(simulation.kernels):
        name = f"{run.kernel.kind} {simulation.plan.operands[run.kernel.output].name}"
        events += [task_event(run, slot, name, per_cycle) for slot in run.timeline.slots]
        if run.decisions.count:
            begin = float(run.decisions.ready - run.decisions.cycles)
            events.append(complete(f"decisions of {name}", cores, begin, float(run.decisions.cycles), per_cycle))
        events.append({"name": f"barrier {index}", "ph": "i", "s": "g", "pid": 1, "tid": 0, "ts": run.end * per_cycle})
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": events})


def begin_of_tasks(run: KernelRun) -> float:
    """When the first task may run: after the barrier and what all cores wait for."""
    return run.end - run.timeline.makespan


def task_event(run: KernelRun, slot: Any, name: str, per_cycle: float) -> dict[str, Any]:
    first = begin_of_tasks(run)
    event = complete(f"{name} task {slot.task}", slot.core, first + slot.start, slot.end - slot.start, per_cycle)
    return {**event, "args": {"task": run.kernel.first_task + slot.task, "layer": run.kernel.layer}}


def complete(name: str, track: int, start: float, length: float, per_cycle: float) -> dict[str, Any]:
    return {"name": name, "ph": "X", "pid": 1, "tid": track, "ts": start * per_cycle, "dur": length * per_cycle}
