"""Runs within a budget of memory: the results of a run without one, or a refusal that says what would do."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import torch
from torch_geometric.nn import MedianAggregation, SAGEConv
from torch_geometric.nn.models import GAT, GCN, PNA, GraphSAGE

import gnnc
from gnnc.errors import RunError
from gnnc.targets.gpu.batch import Batch
from gnnc.targets.gpu.compiled_block import CompiledBlock
from gnnc.targets.gpu.executor import BatchedExecutor

ROOT = Path(__file__).resolve().parents[2]
WIDTH = 10

DEGREES = torch.tensor([3, 10, 10, 4])
MODELS: dict[str, Callable[[], torch.nn.Module]] = {
    "gcn": lambda: GCN(WIDTH, 16, 2, 7),
    "gat": lambda: GAT(WIDTH, 16, 2, 7, heads=2),
    "sage": lambda: GraphSAGE(WIDTH, 16, 2, 7, aggr=["mean", "max", "min"]),
    "pna": lambda: PNA(WIDTH, 16, 2, 7, aggregators=["mean", "std"], scalers=["identity"], deg=DEGREES),
}


@cache
def program_of(name: str) -> gnnc.Program:
    torch.manual_seed(0)
    return gnnc.compile(MODELS[name]().eval(), star(50))


def star(leaves: int) -> gnnc.Graph:
    """A node in the middle, its leaves pointing at it, and a path through them."""
    generator = torch.Generator().manual_seed(leaves)
    around = torch.arange(1, leaves + 1)
    edges = torch.cat([torch.stack([around, torch.zeros_like(around)]), torch.stack([around, around.roll(1)])], 1)
    return gnnc.Graph(x=torch.randn(leaves + 1, WIDTH, generator=generator), edge_index=edges)


def without_kernels(program: gnnc.Program) -> gnnc.Program:
    """The program as it runs where MLIR is missing: edge values lie in memory."""
    other = gnnc.Program(program.module, program.weights, program.inputs, program.outputs, graph=program.graph)
    other._cpu_executor = BatchedExecutor(other.module, other.weights)  # pyright: ignore[reportPrivateUsage]
    return other


@pytest.mark.parametrize("name", list(MODELS))
def test_a_budget_changes_no_result(name: str, nasty_graph: gnnc.Graph) -> None:
    program = without_kernels(program_of(name))
    expected = program.run(graph=nasty_graph)
    for memory in ("1GiB", 60_000):
        torch.testing.assert_close(program.run(graph=nasty_graph, memory=memory), expected)


@pytest.mark.parametrize("name", list(MODELS))
def test_hubs_run_in_chunks_of_edges(name: str) -> None:
    graph, program = star(3000), without_kernels(program_of(name))
    expected = program.run(graph=graph)
    torch.testing.assert_close(program.run(graph=graph, memory=700_000), expected, rtol=1e-4, atol=3e-5)
    hubs = [batch for block in program.report.blocks for batch in block.batches if batch.is_hub]
    assert hubs
    assert all(batch.nodes[0] == 0 and len(batch.nodes) == 1 for batch in hubs)


def test_a_hub_costs_a_kernel_nothing() -> None:
    """Where all that it reads for neighbors is stored, as in the second layer here."""
    graph, program = star(3000), program_of("gcn")
    expected = program.run(graph=graph)
    torch.testing.assert_close(program.run(graph=graph, memory=700_000), expected, rtol=1e-4, atol=3e-5)
    hubs = {block.layer: sum(batch.is_hub for batch in block.batches) for block in program.report.blocks}
    assert hubs == {1: 1, 2: 0}


def test_a_hub_that_is_needed_at_once_is_refused_by_name() -> None:
    torch.manual_seed(0)
    graph = star(3000)
    program = gnnc.compile(SAGEConv(WIDTH, 8, aggr=MedianAggregation()).eval(), graph)
    with pytest.raises(RunError, match=r"node 0 of 'nodes', which has 3000 edges in layer 1.*at once"):
        program.run(memory=600_000)


def test_what_is_too_little_is_refused_with_the_need() -> None:
    with pytest.raises(RunError, match="does not suffice: .* takes .*; give at least"):
        program_of("gcn").run(memory="1KiB")
    with pytest.raises(RunError, match="give bytes, or an amount"):
        program_of("gcn").run(memory="a lot")


def test_some_nodes_within_a_budget() -> None:
    graph, program = star(300), without_kernels(program_of("sage"))
    expected = program.run(graph=graph)[[5, 0, 5, 17]]
    torch.testing.assert_close(program.run(graph=graph, nodes=[5, 0, 5, 17], memory="100KiB"), expected)


# Running out of memory for real.


@dataclass
class Failing:
    """A block's function that fails for batches with more rows than there is room for."""

    run: Callable[..., Any]
    room: int
    error: Exception
    calls: int = 0

    def __call__(self, batch: Batch, *rest: Any) -> Any:
        self.calls += 1
        if batch.rows > self.room:
            raise self.error
        return self.run(batch, *rest)


def with_room_for(monkeypatch: pytest.MonkeyPatch, program: gnnc.Program, room: int, error: Exception) -> list[Failing]:
    made: list[Failing] = []
    executor = program.executor("cpu")
    compiled = executor.compile

    def limited(*arguments: Any, **options: Any) -> list[CompiledBlock]:
        blocks: list[CompiledBlock] = []
        for block in compiled(*arguments, **options):
            made.append(Failing(block.run, room, error))
            blocks.append(replace(block, run=made[-1]))
        return blocks

    monkeypatch.setattr(executor, "compile", limited)
    return made


OUT_OF_MEMORY = (
    RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you tried to allocate 8 bytes"),
    torch.OutOfMemoryError("CUDA out of memory"),
    MemoryError(),
)


@pytest.mark.parametrize("error", OUT_OF_MEMORY, ids=lambda error: type(error).__name__)
def test_batches_are_halved_where_memory_runs_out(monkeypatch: pytest.MonkeyPatch, error: Exception) -> None:
    program = without_kernels(program_of("gat"))
    expected = program.run()
    made = with_room_for(monkeypatch, program, 9, error)
    torch.testing.assert_close(program.run(), expected)
    torch.testing.assert_close(program.run(memory="1GiB"), expected)
    assert program.report.retries > 0
    # 51 nodes need 8 batches of 7, and three failures on the way there, a block and run
    assert all(failing.calls <= 2 * (8 + 3) for failing in made)


def test_a_single_node_without_room_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    program = without_kernels(program_of("gcn"))
    with_room_for(monkeypatch, program, 0, MemoryError())
    with pytest.raises(RunError, match="memory ran out in layer 1 for node 0 of 'nodes' alone"):
        program.run()


def test_other_errors_are_the_models(monkeypatch: pytest.MonkeyPatch) -> None:
    program = without_kernels(program_of("gcn"))
    made = with_room_for(monkeypatch, program, 0, RuntimeError("the model's own"))
    with pytest.raises(RuntimeError, match="the model's own"):
        program.run()
    assert sum(failing.calls for failing in made) == 1


MEASURED = """
import gnnc, torch
from gnnc.targets.gpu.executor import BatchedExecutor
from torch_geometric.nn.models import {model}
torch.manual_seed(0)
nodes = 10_000
graph = gnnc.Graph(x=torch.randn(nodes, 64), edge_index=torch.randint(0, nodes, (2, 300_000)))
program = gnnc.compile({model}(64, 64, 2, 32).eval(), graph)
warm = gnnc.Graph(x=torch.randn(99, 64), edge_index=torch.randint(0, 99, (2, 5000)))
if {without_kernels}:
    program._cpu_executor = BatchedExecutor(program.module, program.weights)
program.run(graph=warm)
program.run(memory="100MiB")
print(program.report.peak / 2**20)
"""


@pytest.mark.parametrize("model", ["GAT", "GCN"])
def test_the_peak_is_most_of_the_budget_and_no_more(model: str) -> None:
    """As the process has it, in a process of its own."""
    text = MEASURED.format(model=model, without_kernels=True)
    done = subprocess.run([sys.executable, "-c", text], cwd=ROOT, capture_output=True, text=True, check=True)
    assert 75 < float(done.stdout) < 100


def test_batches_are_planned_once_for_a_graph_and_a_budget(monkeypatch: pytest.MonkeyPatch) -> None:
    graph, program = star(500), without_kernels(program_of("sage"))
    expected = program.run(graph=graph)
    program.run(graph=graph, memory="1MiB")
    program.run(graph=graph, memory="1MiB")
    blocks = program.report.blocks
    with monkeypatch.context() as patch:
        patch.setattr("gnnc.targets.gpu.executor.Budget.plan", None)
        torch.testing.assert_close(program.run(graph=graph, memory="1MiB"), expected)
    assert [block.batches for block in program.report.blocks] == [block.batches for block in blocks]
    program.run(graph=graph, memory="2MiB")
    assert program.report.memory == 2 * 2**20
    torch.testing.assert_close(program.run(graph=star(400), memory="2MiB"), program.run(graph=star(400)))
    torch.testing.assert_close(program.run(graph=graph, nodes=[3], memory="2MiB"), expected[[3]])
