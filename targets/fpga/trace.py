"""A run as a trace that Perfetto (ui.perfetto.dev) and chrome://tracing open: a track a core, one for the Analyzer."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from gnnc.targets.fpga.simulator import UNCALIBRATED, KernelRun, Simulation


@dataclass(frozen=True)
class Span:
    """Something that a track does, in cycles from the start of the run."""

    name: str
    begin: float
    end: float
    args: dict[str, int]


def as_trace(simulation: Simulation) -> str:
    """The trace event format, in microseconds. A span is a pair of events rather than one with a length: readers round
    times to nanoseconds, and Perfetto drops what seems to overlap then."""
    per_cycle = 1 / float(simulation.architecture.clock_mhz)
    cores = simulation.architecture.cores
    events: list[dict[str, Any]] = [
        {"name": "process_name", "ph": "M", "pid": 1, "args": {"name": f"gnnc, {UNCALIBRATED}"}},
        *({"name": "thread_name", "ph": "M", "pid": 1, "tid": c, "args": {"name": f"core {c}"}} for c in range(cores)),
        {"name": "thread_name", "ph": "M", "pid": 1, "tid": cores, "args": {"name": "Analyzer"}},
    ]
    for track, spans in spans_of(simulation).items():
        events += span_events(track, spans, per_cycle)
    for index, run in enumerate(simulation.kernels):
        events.append({"name": f"barrier {index}", "ph": "i", "s": "g", "pid": 1, "tid": 0, "ts": run.end * per_cycle})
    return json.dumps({"displayTimeUnit": "ns", "traceEvents": events})


def spans_of(simulation: Simulation) -> dict[int, list[Span]]:
    """What each track does, in order."""
    tracks: dict[int, list[Span]] = defaultdict(list)
    for run in simulation.kernels:
        name, first = f"{run.kernel.kind} {simulation.plan.operands[run.kernel.output].name}", begin_of_tasks(run)
        for slot in sorted(run.timeline.slots, key=lambda slot: slot.start):
            args = {"task": run.kernel.first_task + slot.task, "layer": run.kernel.layer}
            span = Span(f"{name} task {slot.task}", first + slot.start, first + slot.end, args)
            tracks[slot.core].append(span)
        if run.decisions.count:
            ready, layer = run.decisions.ready, {"layer": run.kernel.layer}
            span = Span(f"decisions of {name}", float(ready - run.decisions.cycles), float(ready), layer)
            tracks[simulation.architecture.cores].append(span)
    return tracks


def begin_of_tasks(run: KernelRun) -> float:
    """When the first task may run: after the barrier and what all cores wait for."""
    return run.end - run.timeline.makespan


def span_events(track: int, spans: list[Span], per_cycle: float) -> list[dict[str, Any]]:
    """The begin and the end of each span. Ends of kernels are whole cycles, of tasks not quite: none begins before the
    one before it has ended."""
    events: list[dict[str, Any]] = []
    now, place = 0.0, {"pid": 1, "tid": track}
    for span in spans:
        now = max(now, span.begin * per_cycle)
        events.append({"name": span.name, "ph": "B", **place, "ts": now, "args": span.args})
        now = max(now, span.end * per_cycle)
        events.append({"name": span.name, "ph": "E", **place, "ts": now})
    return events
