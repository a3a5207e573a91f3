"""How near whole models come to what the machine can do, and how much memory they take.

    python -m benchmarks.roofline [--preset medium] [--model gcn sage gin gat] [--threads 2] [--repeats 5]

The floor of a block is the larger of two times: that of its products at the speed of a large matrix product, torch's or
the kernel's, whichever is faster, and that of its bytes at the speed of a large copy, all measured in the same process.
Bytes are what a block cannot do without: its inputs and outputs once, and for a Conv a row of every neighbor that it
reads, as if the cache held none of them. Rows that the cache holds take a block below that, so a fraction may exceed 1.

Memory is the most that a run takes, over the values between blocks that are alive at the worst block; features and
edges are the caller's. Times are the least, seconds by the clock.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import torch
from xdsl.dialects.builtin import TensorType
from xdsl.ir import SSAValue

import gnnc
from benchmarks.generated_graphs import PRESETS, generate
from benchmarks.inference_models import MODELS, Inference
from gnnc.dialects.gnn import ConvBlockOp, FusedConvOp
from gnnc.dialects.gnn.attributes import domain_of
from gnnc.passes.analysis.cost_model import matmul_flops_per_row, row_bytes
from gnnc.passes.loops.arguments import Role, kernel_inputs
from gnnc.targets.edge_sets import EdgeSet
from gnnc.targets.gpu.arena import trim
from gnnc.targets.gpu.executor import BatchedExecutor
from gnnc.targets.gpu.kernels.dense_product import dense_product
from gnnc.targets.gpu.memory_meter import MemoryMeter

BYTES_PER_EDGE = 4
"""The neighbor's number."""


@dataclass(frozen=True)
class Machine:
    """Floating-point operations and bytes a second."""

    flops: float
    bytes: float


def measured_machine() -> Machine:
    """Large products, and a copy of more than any cache holds: bytes count when read and when written."""
    rows, depth, columns, words = 8192, 512, 512, 2**26
    x, weight, out = torch.randn(rows, depth), torch.randn(columns, depth), torch.empty(rows, columns)
    source, target = torch.ones(words), torch.empty(words)
    product = least_seconds(lambda: torch.mm(x, weight.T, out=out), 5)
    if dense_product(x, weight, None, out):
        product = min(product, least_seconds(lambda: dense_product(x, weight, None, out), 5))
    copy = least_seconds(lambda: target.copy_(source), 5)
    return Machine(2 * rows * depth * columns / product, 2 * 4 * words / copy)


def least_seconds(run: Callable[[], Any], repeats: int) -> float:
    best = float("inf")
    for _ in range(repeats + 1):
        start = time.perf_counter()
        run()
        best = min(best, time.perf_counter() - start)
    return best


@dataclass(frozen=True)
class Work:
    """What a block has to do."""

    flops: int
    bytes: int

    def floor(self, machine: Machine) -> float:
        return max(self.flops / machine.flops, self.bytes / machine.bytes)


class Counted:
    """A program's blocks with the sizes of one graph: node counts by set, edge sets by argument of @forward."""

    def __init__(self, executor: BatchedExecutor, structure: tuple[Any, ...], counts: Mapping[str, int]):
        self.executor = executor
        self.rows: dict[str, int] = dict(counts)
        for argument, place, _ in executor.arguments_of_forward:
            value = None if place is None else structure[place]
            if isinstance(value, EdgeSet):
                self.rows[str(argument.type)] = value.edge_count
        self.blocks = [op for op in executor.operations if isinstance(op, ConvBlockOp)]

    def bytes_of(self, value: SSAValue) -> int:
        domain = domain_of(value.type)
        if not isinstance(value.type, TensorType) or domain is None or not domain.is_nodes:
            return 0
        return row_bytes(value.type) * self.rows[domain.set_name.data]

    def work(self, block: ConvBlockOp) -> Work:
        conv_bytes = sum(self.conv_bytes(op) for op in block.walk() if isinstance(op, FusedConvOp))
        values = {*block.operands, *block.outputs}
        return Work(sum(self.flops(block)), conv_bytes + sum(self.bytes_of(value) for value in values))

    def flops(self, block: ConvBlockOp) -> Iterator[int]:
        for op in block.walk():
            if matmul_flops_per_row(op):
                domain = domain_of(op.results[0].type)
                assert domain is not None
                yield matmul_flops_per_row(op) * self.rows[domain.set_name.data]

    def conv_bytes(self, op: FusedConvOp) -> int:
        """A row of every neighbor, its number, and what edges have themselves."""
        edges = self.rows[str(op.edges.type)]
        read = [i for i in kernel_inputs(op) if i.role in (Role.NEIGHBOR, Role.EDGE)]
        return edges * (BYTES_PER_EDGE + sum(row_bytes(op.inputs[i.place].type) for i in read))

    def live_bytes(self) -> int:
        """The values between blocks at the block where they take most."""
        last = self.executor.last_uses
        made = {output: place for place, op in enumerate(self.executor.operations) for output in op.results}
        return max(
            sum(self.bytes_of(value) for value, begin in made.items() if begin <= place <= last.get(value, -1))
            for place in range(len(self.executor.operations))
        )


def row(name: str, preset: str, threads: int, repeats: int, machine: Machine) -> str:
    shape = PRESETS[preset]
    inference = Inference(MODELS[name](shape.features, shape.classes), generate(shape))
    program = gnnc.compile(inference.model, inference.graph)
    program.run(threads=threads)
    seconds = least_seconds(lambda: program.run(threads=threads), repeats)
    executor = program.executor("cpu")
    executor.workers.forget()
    trim()
    with MemoryMeter("cpu") as meter:
        program.run(threads=threads)
    graph = program.graph_for(None)
    counted = Counted(executor, program.structure(graph, {}), graph.node_counts)
    works = [counted.work(block) for block in counted.blocks]
    floor = sum(work.floor(machine) for work in works)
    live, flops, moved = counted.live_bytes(), sum(w.flops for w in works), sum(w.bytes for w in works)
    peak = "–" if meter.peak is None else f"{meter.peak / live:.2f}x"
    return (
        f"| {name} | {flops / 1e9:.1f} | {moved / 1e9:.2f} | {floor:.3f} | {seconds:.3f} | {floor / seconds:.0%} "
        f"| {live / 2**20:.0f} | {peak} |"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description="Compares models with what the machine can do.")
    parser.add_argument("--preset", default="medium", choices=list(PRESETS))
    parser.add_argument("--model", nargs="+", default=["gcn", "sage", "gin", "gat"], choices=list(MODELS))
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=5)
    a = parser.parse_args()
    torch.set_num_threads(a.threads)
    machine = measured_machine()
    print(f"{machine.flops / 1e9:.0f} GFLOP/s, {machine.bytes / 1e9:.1f} GB/s, {a.threads} threads, {a.preset}\n")
    print("| model | GFLOP | GB | floor, s | run, s | of the floor | live, MiB | memory |")
    print("|---|---|---|---|---|---|---|---|")
    for name in a.model:
        print(row(name, a.preset, a.threads, a.repeats, machine), flush=True)


if __name__ == "__main__":
    main()
