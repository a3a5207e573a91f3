"""When tasks run: cores that share one memory, and a soft processor that hands tasks out (Dynasparse, Algorithm 8)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from heapq import heappop, heappush
from math import inf
from typing import Literal, NamedTuple, TypeAlias

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


class Slot(NamedTuple):
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
    the ends of loads: no rate of any core need ever be kept. `loading` and `computing` are heaps of ends, `halves` says
    how many of the two each core has not finished.
    """

    bandwidth: float
    port: float
    halves: list[int]
    now: float = 0.0
    served: float = 0.0
    loading: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])
    computing: list[tuple[float, int]] = field(default_factory=list[tuple[float, int]])

    def begin(self, core: int, compute: int, count: int) -> None:
        """A core starts on a task."""
        self.halves[core] = 2
        heappush(self.loading, (self.served + count, core))
        heappush(self.computing, (self.now + compute, core))

    def proceed(self, wake: float) -> list[int]:
        """Goes on until cores are done with their tasks, which it returns, but no further than `wake`. Half of a
        simulation's time is spent here, event by event: when a load or a computation ends next."""
        loading, computing, halves, port, bandwidth = (
            self.loading,
            self.computing,
            self.halves,
            self.port,
            self.bandwidth,
        )
        now, served = self.now, self.served
        idle: list[int] = []
        while not idle and now < wake:
            rate, time = 0.0, wake
            if loading:
                rate = bandwidth / len(loading)
                if rate > port:
                    rate = port
                load_end = now + (loading[0][0] - served) / rate
                if load_end < time:
                    time = load_end
            if computing and computing[0][0] < time:
                time = computing[0][0]
            served += rate * (time - now)
            now = time
            reached = served * (1 + 1e-12) + 1e-9
            while loading and loading[0][0] <= reached:
                core = heappop(loading)[1]
                halves[core] -= 1
                if not halves[core]:
                    idle.append(core)
            while computing and computing[0][0] <= time:
                core = heappop(computing)[1]
                halves[core] -= 1
                if not halves[core]:
                    idle.append(core)
        self.now, self.served = now, served
        return idle


def run(tasks: Tasks, cores: int, bandwidth: float, port: float, schedule: Schedule) -> Timeline:
    """Runs the tasks of one kernel. `bandwidth` is the memory's, `port` a core's, in bytes a cycle.

    `dynamic`: an idle core takes the next task. `lpt`: the same, longest tasks first. `static`: task t runs on core
    t mod cores.
    """
    order = issue_order(tasks, port, schedule)
    queues = queues_of(order, cores, schedule)
    release = dict(zip(order, tasks.release, strict=True)) if tasks.release is not None else {}
    lengths = list(zip(tasks.compute.tolist(), tasks.bytes.tolist(), strict=True))
    memory = Cores(bandwidth, port, [0] * cores)
    started = [(0, 0.0)] * cores
    slots: list[Slot] = []
    idle = list(range(cores))
    while True:
        idle, wake = hand_out(idle, queues, release, lengths, memory, started)
        if len(idle) < cores:
            ended = memory.proceed(wake)
        elif wake < inf:
            memory.now, ended = max(memory.now, wake), []
        else:
            break
        for core in ended:
            task, start = started[core]
            slots.append(Slot(task, core, start, memory.now))
        idle += ended
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
    lengths: list[tuple[int, int]],
    memory: Cores,
    started: list[tuple[int, float]],
) -> tuple[list[int], float]:
    """Gives idle cores the tasks that are decided; the cores that stay idle, and when a task will be decided."""
    waiting: list[int] = []
    wake = inf
    for core in sorted(idle):
        queue = queues[core]
        if not queue:
            waiting.append(core)
            continue
        decided = release.get(queue[-1], 0.0) if release else 0.0
        if decided > memory.now:
            waiting.append(core)
            wake = min(wake, decided)
            continue
        task = queue.pop()
        started[core] = (task, memory.now)
        memory.begin(core, *lengths[task])
    return waiting, wake
