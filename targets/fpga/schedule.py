"""When tasks run: cores that share one memory, and a soft processor that hands tasks out (Dynasparse, Algorithm 8)."""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from gnnc.targets.fpga.matrices import Integers

Schedule: TypeAlias = Literal["dynamic", "lpt", "static"]
SCHEDULES: tuple[Schedule, ...] = ("dynamic", "lpt", "static")


@dataclass(frozen=True)
class Tasks:
    """The tasks of a kernel. A task computes for `compute` cycles and moves `bytes`, both at once (double buffering:
    the next pair's tiles come while a pair is multiplied). `release` is when the decisions are made of the task that
    is issued first, second, ..., in cycles from the start of the kernel: the Analyzer works in the order of issue."""

    compute: Integers
    bytes: Integers
    release: Sequence[float] | None = None


@dataclass(frozen=True)
class Slot:
    """A task on a core, in cycles from the start of the kernel."""

    task: int
    core: int
    start: float
    end: float


@dataclass
class Timeline:
    """When each task ran, and how long the kernel took."""

    slots: list[Slot]
    makespan: float


@dataclass
class Cores:
    """Cores and the memory between them. All that load get one share of bandwidth, a port's rate at most.

    Since shares are equal, `served` (the bytes that a core which has been loading all the time would have got) orders
    the ends of loads: no rate of any core need ever be kept.
    """

    bandwidth: float
    port: float
    now: float = 0.0
    served: float = 0.0
    loading: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])
    computing: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])
    unfinished: dict[int, int] = field(default_factory=dict[int, int])
    busy: int = 0

    def rate(self) -> float:
        return min(self.port, self.bandwidth / len(self.loading)) if self.loading else 0.0

    def begin(self, core: int, compute: int, count: int) -> None:
        """A core starts on a task."""
        self.unfinished[core] = 2
        self.busy += 1
        heapq.heappush(self.loading, (self.served + count, core))
        heapq.heappush(self.computing, (self.now + compute, core))

    def next_event(self) -> float:
        """When a load or a computation ends next."""
        rate = self.rate()
        load_end = self.now + (self.loading[0][0] - self.served) / rate if self.loading else float("inf")
        return min(load_end, self.computing[0][0] if self.computing else float("inf"))

    def advance(self, time: float) -> list[int]:
        """Goes on to a time no later than the next event's; returns the cores that are idle from then on."""
        served = self.served + self.rate() * (time - self.now)
        self.now, self.served = time, served
        idle: list[int] = []
        while self.loading and self.loading[0][0] <= served * (1 + 1e-12) + 1e-9:
            idle += self.finish(heapq.heappop(self.loading)[1])
        while self.computing and self.computing[0][0] <= time:
            idle += self.finish(heapq.heappop(self.computing)[1])
        return idle

    def finish(self, core: int) -> list[int]:
        self.unfinished[core] -= 1
        if self.unfinished[core]:
            return []
        self.busy -= 1
        return [core]


def run(tasks: Tasks, cores: int, bandwidth: float, port: float, schedule: Schedule) -> Timeline:
    """Runs the tasks of one kernel. `bandwidth` is the memory's, `port` a core's, in bytes a cycle.

    `dynamic`: an idle core takes the next task. `lpt`: the same, longest tasks first. `static`: task t runs on core
    t mod cores.
    """
    order = issue_order(tasks, port, schedule)
    queues = queues_of(order, cores, schedule)
    release = dict(zip(order, tasks.release, strict=True)) if tasks.release is not None else {}
    memory = Cores(bandwidth, port)
    started: dict[int, tuple[int, float]] = {}
    slots: list[Slot] = []
    idle = list(range(cores))
    while True:
        idle, wake = hand_out(idle, queues, release, tasks, memory, started)
        if not memory.busy:
            if wake is None:
                break
            memory.now = max(memory.now, wake)
            continue
        time = memory.next_event() if wake is None else min(memory.next_event(), wake)
        for core in memory.advance(time):
            task, start = started.pop(core)
            slots.append(Slot(task, core, start, memory.now))
            idle.append(core)
    return Timeline(slots, max((slot.end for slot in slots), default=0.0))


def issue_order(tasks: Tasks, port: float, schedule: Schedule) -> list[int]:
    """The tasks in the order in which they are handed out."""
    order = list(range(len(tasks.compute)))
    if schedule == "lpt":
        length = [max(c, b / port) for c, b in zip(tasks.compute.tolist(), tasks.bytes.tolist(), strict=True)]
        order.sort(key=lambda task: -length[task])
    return order


def queues_of(order: list[int], cores: int, schedule: Schedule) -> list[list[int]]:
    """The tasks that each core may take, last first; one list that all cores share, or one a core."""
    last_first = order[::-1]
    if schedule == "static":
        return [[task for task in last_first if task % cores == core] for core in range(cores)]
    return [last_first] * cores


def hand_out(
    idle: list[int],
    queues: list[list[int]],
    release: dict[int, float],
    tasks: Tasks,
    memory: Cores,
    started: dict[int, tuple[int, float]],
) -> tuple[list[int], float | None]:
    """Gives idle cores the tasks that are decided; the cores that stay idle, and when a task will be decided."""
    waiting: list[int] = []
    wake: float | None = None
    for core in sorted(idle):
        queue = queues[core]
        decided = release.get(queue[-1], 0.0) if queue else 0.0
        if not queue or decided > memory.now:
            waiting.append(core)
            wake = (decided if wake is None else min(wake, decided)) if queue else wake
            continue
        task = queue.pop()
        started[core] = (task, memory.now)
        memory.begin(core, int(tasks.compute[task]), int(tasks.bytes[task]))
    return waiting, wake
