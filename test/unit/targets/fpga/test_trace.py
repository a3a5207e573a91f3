"""Traces keep to the trace event format, as Perfetto reads it."""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import replace
from fractions import Fraction
from math import isfinite
from typing import Any

import pytest
from fpga_programs import small_program, trained_program

from gnnc.fpga_program import FpgaProgram
from gnnc.targets.fpga.loads import LOADS
from gnnc.targets.fpga.schedule import SCHEDULES, Slot, Timeline
from gnnc.targets.fpga.simulator import Setting, Simulation, simulate
from gnnc.targets.fpga.trace import as_trace

WANTED = {"M": {"args"}, "B": {"tid", "ts", "args"}, "E": {"tid", "ts"}, "i": {"tid", "ts", "s"}}


def simulated(program: FpgaProgram, setting: Setting, megahertz: int) -> Simulation:
    architecture = replace(program.architecture, clock_mhz=Fraction(megahertz))
    return simulate(program.numbers(program.graph_for(None)), program.plan, architecture, setting)


def read(text: str) -> dict[int, list[tuple[str, int, int]]]:
    """The slices of each track as Perfetto makes them: by nanoseconds, cut off, in the order of the file where equal;
    tracks have names, and slices are pairs that don't overlap."""
    trace = json.loads(text)
    assert set(trace) == {"displayTimeUnit", "traceEvents"}
    events: list[dict[str, Any]] = trace["traceEvents"]
    for event in events:
        assert {"name", "ph", "pid"} <= event.keys() and WANTED[event["ph"]] <= event.keys()
        assert event["ph"] == "M" or (isfinite(event["ts"]) and event["ts"] >= 0)
    named = {event["tid"] for event in events if event["name"] == "thread_name"}
    assert {event["tid"] for event in events if event["ph"] != "M"} <= named
    tracks: dict[int, list[tuple[str, int, int]]] = defaultdict(list)
    opened: dict[int, tuple[str, int]] = {}
    for event in sorted((e for e in events if e["ph"] in "BE"), key=lambda e: int(e["ts"] * 1000)):
        track, time = event["tid"], int(event["ts"] * 1000)
        if event["ph"] == "B":
            assert track not in opened
            opened[track] = (event["name"], time)
        else:
            name, begin = opened.pop(track)
            assert name == event["name"]
            tracks[track].append((name, begin, time))
    assert not opened
    return tracks


@pytest.mark.parametrize("megahertz", [250, 300])
@pytest.mark.parametrize("loads", LOADS)
@pytest.mark.parametrize("schedule", SCHEDULES)
def test_every_task_is_a_slice_of_its_core(loads: Any, schedule: Any, megahertz: int) -> None:
    run = simulated(small_program("gcn"), Setting(loads=loads, schedule=schedule), megahertz)
    tracks = read(as_trace(run))
    cores = run.architecture.cores
    for core in range(cores):
        tasks = [slot for kernel in run.kernels for slot in kernel.timeline.slots if slot.core == core]
        assert len(tracks.get(core, [])) == len(tasks)
        cycles = sum(slot.end - slot.start for slot in tasks)
        nanoseconds = sum(end - begin for _, begin, end in tracks.get(core, []))
        assert abs(nanoseconds - cycles * 1000 / megahertz) <= len(tasks) + 1
    assert len(tracks.get(cores, [])) == sum(kernel.decisions.count > 0 for kernel in run.kernels)
    ends = [e["ts"] for e in json.loads(as_trace(run))["traceEvents"] if e["ph"] == "i"]
    assert ends == pytest.approx([kernel.end / megahertz for kernel in run.kernels])


def test_a_trained_model() -> None:
    tracks = read(as_trace(simulated(trained_program("cora", "gcn", "AH_W"), Setting(loads="lean"), 250)))
    assert len(tracks) == 8


def test_no_slice_begins_before_the_one_before_it_ends() -> None:
    """A kernel's end is rounded to whole cycles, up to a millionth: its tasks seem to end, or begin, that much off."""
    run = simulated(small_program("gcn"), Setting(), 250)
    first, second = run.kernels[0], run.kernels[1]
    length = float(second.start - first.start)
    first.timeline = Timeline([Slot(0, 0, 0.0, length)], length)
    second.timeline = Timeline([Slot(0, 0, 0.0, 9.1 + second.cycles)], 9.1 + second.cycles)
    slices = read(as_trace(run))[0]
    assert slices[1][1] == slices[0][2]
