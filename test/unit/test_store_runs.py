"""Runs with a store: the bits of a run in memory, whatever interrupts them."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from backwards import Backwards
from mapped_graphs import mapped
from torch_geometric.nn import GCNConv, GraphNorm, MessagePassing, SAGEConv, SimpleConv
from torch_geometric.nn.models import GAT, GCN, GIN, GraphSAGE

import gnnc
from gnnc.errors import RunError
from gnnc.targets.gpu.kernels import compiler
from gnnc.targets.gpu.store.array_file import ArrayFile
from gnnc.targets.gpu.store.csc_file import build_csc
from gnnc.targets.gpu.store.journal import Journal
from gnnc.targets.gpu.stored_ways import Chooser

ROOT = Path(__file__).resolve().parents[2]
WIDTH = 10


class WithNorm(torch.nn.Module):
    """Statistics of all nodes between two layers."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.norm, self.second = SAGEConv(WIDTH, 16), GraphNorm(16), SAGEConv(16, 7, aggr="lstm")

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.second(self.norm(self.first(x, edge_index)).relu(), edge_index)


MODELS: dict[str, Callable[[], torch.nn.Module]] = {
    "gcn": lambda: GCN(WIDTH, 16, 2, 7),
    "gat": lambda: GAT(WIDTH, 16, 2, 7, heads=2),
    "gin": lambda: GIN(WIDTH, 16, 2, 7),
    "sage": lambda: GraphSAGE(WIDTH, 16, 2, 7, aggr=["mean", "max"]),
    "norm": WithNorm,
    "backwards": lambda: Backwards(WIDTH),
}


def graph_of(nodes: int, edges: int) -> gnnc.Graph:
    generator = torch.Generator().manual_seed(nodes)
    edge_index = torch.randint(0, nodes, (2, edges), generator=generator)
    return gnnc.Graph(x=torch.randn(nodes, WIDTH, generator=generator), edge_index=edge_index)


@cache
def program_of(name: str) -> gnnc.Program:
    torch.manual_seed(0)
    return gnnc.compile(MODELS[name]().eval(), graph_of(50, 200))


@pytest.mark.parametrize("name", list(MODELS))
def test_a_store_changes_no_bit(name: str, nasty_graph: gnnc.Graph, tmp_path: Path) -> None:
    program = program_of(name)
    expected = program.run(graph=nasty_graph)
    assert torch.equal(program.run(graph=nasty_graph, store=tmp_path / "a"), expected)
    result = program.run(graph=mapped(nasty_graph, tmp_path / "graph"), store=tmp_path / "b", memory="1MiB")
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize(("name", "precision"), [("gcn", "bf16"), ("gat", "bf16"), ("sage", "fp16")])
def test_a_store_changes_no_bit_of_16(name: str, precision: Any, nasty_graph: gnnc.Graph, tmp_path: Path) -> None:
    torch.manual_seed(0)
    program = gnnc.compile(MODELS[name]().eval(), graph_of(50, 200), precision=precision)
    expected = program.run(graph=nasty_graph)
    assert torch.equal(program.run(graph=nasty_graph, store=tmp_path / "a"), expected)
    result = program.run(graph=mapped(nasty_graph, tmp_path / "graph"), store=tmp_path / "b", memory="1MiB")
    np.testing.assert_array_equal(result, expected)


@pytest.mark.parametrize("gathered", [False, True])
@pytest.mark.parametrize("name", ["gcn", "gat", "sage"])
def test_16_bits_with_little_memory(name: str, gathered: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums take 32 bits while they wait for the next tile."""
    monkeypatch.setattr(Chooser, "tiled" if gathered else "gathering_is_cheaper", nothing)
    torch.manual_seed(0)
    graph = graph_of(3000, 30_000)
    program = gnnc.compile(MODELS[name]().eval(), graph, precision="bf16")
    expected = program.run(graph=graph)
    result = program.run(graph=mapped(graph, tmp_path / "graph"), store=tmp_path / "store", memory="250KiB")
    # a sum in another order may be rounded to the next number when it is stored
    assert np.abs(result - expected.numpy()).max() <= 2**-6 * float(expected.abs().max())
    assert {block.way for block in program.report.blocks} >= {"gathered" if gathered else "tiles"}


@pytest.mark.parametrize("precision", ["fp32", "bf16"])
@pytest.mark.parametrize("name", ["sage", "gin"])
def test_frozen_features(name: str, precision: Any, nasty_graph: gnnc.Graph, tmp_path: Path) -> None:
    torch.manual_seed(0)
    program = gnnc.compile(MODELS[name]().eval(), nasty_graph, freeze_features=True, precision=precision)
    assert program.frozen is not None
    expected = program.run()
    assert torch.equal(program.run(store=tmp_path / "a"), expected)
    result = program.run(graph=mapped(nasty_graph, tmp_path / "graph"), store=tmp_path / "b", memory="1MiB")
    np.testing.assert_array_equal(result, expected)
    with pytest.raises(RunError, match="for all neighbours"):
        program.run(store=tmp_path / "a", fanout=[2, 2])


@pytest.mark.parametrize("name", [name for name in MODELS if name != "norm"])
def test_little_memory_makes_batches_gather(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where there is no way by tiles; those are in test_tiled_runs."""
    monkeypatch.setattr(Chooser, "tiled", nothing)
    graph, program = graph_of(3000, 30_000), program_of(name)
    expected = program.run(graph=graph)
    result = program.run(graph=mapped(graph, tmp_path / "graph"), store=tmp_path / "store", memory="250KiB")
    np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)
    assert {block.way for block in program.report.blocks} >= {"gathered"}
    for block in program.report.blocks:
        if block.way != "gathered":
            continue
        *full, last = block.batches
        assert len(full) >= 10
        assert all(0.9 * block.budget < batch.bytes <= block.budget for batch in full)
        assert last.bytes <= block.budget


def nothing(*_: object) -> None:
    return None


def test_sums_lie_where_no_later_batch_writes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without kernels they are computed in memory of the batches, while those before them wait to be written."""
    write = ArrayFile.write

    def late(self: ArrayFile, start: int, rows: torch.Tensor) -> None:
        time.sleep(0.001)
        write(self, start, rows)

    monkeypatch.setattr(compiler, "is_available", lambda: False)
    monkeypatch.setattr(ArrayFile, "write", late)
    graph = graph_of(3000, 30_000)
    program = gnnc.compile(SimpleConv().eval(), graph)
    with pytest.warns(UserWarning, match="torch-mlir is not installed"):
        result = program.run(store=tmp_path, memory="250KiB")
    assert len(program.report.blocks[0].batches) > 10
    torch.testing.assert_close(result, SimpleConv()(graph.x, graph.edge_index))


def test_some_nodes(tmp_path: Path) -> None:
    graph, program = graph_of(300, 900), program_of("gat")
    expected = program.run(graph=graph)[[9, 3, 9, 200]]
    for memory in ("100MiB", "200KiB"):
        result = program.run(graph=graph, store=tmp_path, nodes=[9, 3, 9, 200], memory=memory)
        torch.testing.assert_close(result, expected)


def test_edge_weights_are_put_in_order_in_memory(tmp_path: Path) -> None:
    class Weighted(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.conv = GCNConv(WIDTH, 7)

        def forward(self, x: torch.Tensor, edge_index: torch.Tensor, edge_weight: torch.Tensor) -> torch.Tensor:
            return self.conv(x, edge_index, edge_weight)

    graph = graph_of(300, 900)
    weighted = gnnc.Graph(x=graph.x, edge_index=graph.edge_index, edge_weight=torch.rand(900))
    program = gnnc.compile(Weighted().eval(), weighted)
    assert torch.equal(program.run(store=tmp_path), program.run())
    with pytest.raises(RunError, match="does not suffice: values on edges"):
        program.run(store=tmp_path, memory="10KiB")


def test_values_on_edges_are_refused(tmp_path: Path) -> None:
    class OnEdges(MessagePassing):
        def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
            return x[edge_index[0]] * x[edge_index[1]]

    program = gnnc.compile(OnEdges().eval(), graph_of(30, 60))
    with pytest.raises(RunError, match="run it without a store"):
        program.run(store=tmp_path)


# Interruptions.


class Stop(BaseException):
    """Ends a run as a signal would, as far as the store can see."""


def stop_after(monkeypatch: pytest.MonkeyPatch, owner: Any, method: str, calls: int) -> None:
    """Lets a method fail from the given call on; the last call that works has done its work."""
    left, original = [calls], getattr(owner, method)

    def limited(*arguments: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise Stop
        return original(*arguments)

    monkeypatch.setattr(owner, method, limited)


@pytest.mark.parametrize(("owner", "method"), [(Journal, "append"), (ArrayFile, "write"), (ArrayFile, "sync")])
@pytest.mark.parametrize("name", ["gcn", "norm"])
def test_a_run_goes_on_where_it_stopped(name: str, owner: Any, method: str, tmp_path: Path) -> None:
    program, graph = program_of(name), mapped(graph_of(1500, 9000), tmp_path / "graph")

    def run(store: str) -> Any:
        return np.array(program.run(graph=graph, store=tmp_path / store, memory="500KiB", batch_size=100))

    expected = run("undisturbed")
    stops = 0
    for calls in (0, 1, 2, 3, 5, 8):
        with pytest.MonkeyPatch.context() as patch:
            stop_after(patch, owner, method, calls)
            try:
                run("disturbed")
            except Stop:
                stops += 1
    assert stops >= 3
    assert run("disturbed").tobytes() == expected.tobytes()


def test_finished_batches_are_not_computed_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, graph = program_of("gcn"), mapped(graph_of(1500, 9000), tmp_path / "graph")
    program.run(graph=graph, store=tmp_path / "whole", batch_size=100)
    whole = sum(len(block.batches) for block in program.report.blocks)
    with monkeypatch.context() as patch:
        stop_after(patch, Journal, "append", 3)
        with pytest.raises(Stop):
            program.run(graph=graph, store=tmp_path / "store", memory="500KiB", batch_size=100)
    appended: list[dict[str, Any]] = []
    append = Journal.append

    def noted(self: Journal, *records: dict[str, Any]) -> None:
        appended.extend(records)
        append(self, *records)

    monkeypatch.setattr(Journal, "append", noted)
    program.run(graph=graph, store=tmp_path / "store", memory="500KiB", batch_size=100)
    assert 0 < sum("from" in record for record in appended) < whole
    appended.clear()
    program.run(graph=graph, store=tmp_path / "store", memory="500KiB", batch_size=100)
    assert appended == []


def test_another_budget_goes_on_with_what_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, graph = program_of("gat"), mapped(graph_of(1500, 9000), tmp_path / "graph")
    with monkeypatch.context() as patch:
        stop_after(patch, Journal, "append", 4)
        with pytest.raises(Stop):
            program.run(graph=graph, store=tmp_path / "store", memory="500KiB", batch_size=100)
    result = program.run(graph=graph, store=tmp_path / "store", memory="700KiB")
    np.testing.assert_allclose(result, program.run(graph=graph), rtol=1e-4, atol=1e-5)


SCRIPT = """
import sys, gnnc, numpy as np
result = gnnc.load(sys.argv[1]).run(graph=gnnc.Graph.load(sys.argv[2]), store=sys.argv[3], memory="2MiB", threads=1)
np.save(sys.argv[4], result)
"""


def test_kill_9_loses_nothing(tmp_path: Path) -> None:
    """At a few moments of a run; `python -m benchmarks.soak` takes hundreds."""
    program, graph = program_of("gcn"), mapped(graph_of(20_000, 200_000), tmp_path / "graph")
    program.save(tmp_path / "program")
    expected = np.array(program.run(graph=graph, store=tmp_path / "undisturbed", memory="2MiB", threads=1))
    out, journal = tmp_path / "out.npy", f"{tmp_path}/store/run-*/journal"
    command = [sys.executable, "-c", SCRIPT, *(str(tmp_path / n) for n in ("program", "graph", "store", "out.npy"))]
    for lines in (1, 4):
        process = subprocess.Popen(command, cwd=ROOT)
        wait_for_lines(process, journal, lines)
        process.send_signal(signal.SIGKILL)
        process.wait()
    subprocess.run(command, cwd=ROOT, check=True)
    assert np.load(out).tobytes() == expected.tobytes()


def wait_for_lines(process: subprocess.Popen[bytes], pattern: str, count: int) -> None:
    """Until a journal has so many lines, or the process has ended."""
    from glob import glob

    while process.poll() is None:
        if any(Path(path).read_bytes().count(b"\n") >= count for path in glob(pattern)):
            return
        time.sleep(0.001)


def test_two_runs_refuse_each_other(tmp_path: Path) -> None:
    from gnnc.targets.gpu.store.folder import StoreFolder

    with StoreFolder(tmp_path).locked(), pytest.raises(RunError, match="in use by another run"):
        program_of("gcn").run(store=tmp_path)
    program_of("gcn").run(store=tmp_path)


@pytest.mark.parametrize(("number", "reason"), [(28, "the disk is full"), (2, "vanished"), (30, "read-only")])
def test_a_disk_that_fails_is_named_and_the_run_can_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, number: int, reason: str
) -> None:
    program, graph = program_of("gcn"), graph_of(1500, 9000)
    write, left = os.pwrite, [9]

    def failing(*arguments: Any) -> int:
        left[0] -= 1
        if left[0] < 0:
            raise OSError(number, os.strerror(number))
        return write(*arguments)

    with monkeypatch.context() as patch:
        patch.setattr(os, "pwrite", failing)
        with pytest.raises(RunError, match=f"can't be written, .*{reason}.*goes on where"):
            program.run(graph=graph, store=tmp_path, memory="500KiB", batch_size=100)
    torch.testing.assert_close(
        program.run(graph=graph, store=tmp_path, memory="500KiB", batch_size=100), program.run(graph=graph)
    )


LIMITED = """
import resource, sys, signal, gnnc
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, 100_000))
try:
    gnnc.load(sys.argv[1]).run(graph=gnnc.Graph.load(sys.argv[2]), store=sys.argv[3])
except gnnc.errors.RunError as error:
    print(error)
"""


def test_a_limit_on_files_is_an_error_in_one_sentence(tmp_path: Path) -> None:
    program_of("gcn").save(tmp_path / "program")
    mapped(graph_of(20_000, 200_000), tmp_path / "graph")
    command = [sys.executable, "-c", LIMITED, *(str(tmp_path / name) for name in ("program", "graph", "store"))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert "a file would be larger than is allowed" in done.stdout


def test_arrays_that_are_mapped_to_be_written_have_room_beforehand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """On a full disk, writing to them would end the process."""

    def full(*_: int) -> None:
        raise OSError(28, os.strerror(28))

    with monkeypatch.context() as patch:
        patch.setattr(os, "posix_fallocate", full)
        with pytest.raises(RunError, match="the disk is full"):
            program_of("gcn").run(graph=graph_of(50, 200), store=tmp_path)
    program_of("gcn").run(graph=graph_of(50, 200), store=tmp_path)


SHORT_OF_MEMORY = """
import resource, sys, gnnc, numpy as np
program = gnnc.load(sys.argv[1])
tiny = gnnc.Graph(x=np.zeros((9, 10), np.float32), edge_index=np.zeros((2, 9), np.int64))
for graph in (tiny, gnnc.Graph.load(sys.argv[2])):
    try:
        program.run(graph=graph, store=sys.argv[3], memory="64MiB", threads=1)
    except gnnc.errors.RunError as error:
        print(error)
    # kernels and libraries are there now
    taken = next(line for line in open("/proc/self/status") if line.startswith("VmSize:")).split()[1]
    resource.setrlimit(resource.RLIMIT_AS, (int(taken) * 1024, -1))
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="only Linux says what a process has")
def test_a_lack_of_memory_is_an_error_in_one_sentence_and_the_run_can_go_on(tmp_path: Path) -> None:
    program, graph = program_of("gcn"), mapped(graph_of(400_000, 400_000), tmp_path / "graph")
    program.save(tmp_path / "program")
    command = [sys.executable, "-c", SHORT_OF_MEMORY, *(str(tmp_path / name) for name in ("program", "graph", "store"))]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.startswith("memory ran out")
    assert done.stdout.count("\n") == 1
    result = program.run(graph=graph, store=tmp_path / "store", memory="64MiB")
    torch.testing.assert_close(result, program.run(graph=graph))


@pytest.mark.parametrize("threads", [1, 3])
def test_all_of_a_run_uses_the_threads_that_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    """Another thread that begins where memory is short would end the process."""
    before, seen = torch.get_num_threads(), list[int]()

    def build(*args: Any, **options: Any) -> None:
        seen.append(torch.get_num_threads())
        build_csc(*args, **options)

    monkeypatch.setattr("gnnc.targets.gpu.out_of_core.build_csc", build)
    program_of("gcn").run(graph=graph_of(50, 200), store=tmp_path, threads=threads)
    assert set(seen) == {threads}
    assert torch.get_num_threads() == before


def test_places_that_are_no_folder(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RunError, match="it is no folder"):
        program_of("gcn").run(store=tmp_path / "file")


def test_a_disk_without_room_is_refused_before_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def usage(path: Path) -> Any:
        return type("Usage", (), {"free": 10})

    monkeypatch.setattr("gnnc.targets.gpu.store.folder.shutil.disk_usage", usage)
    with pytest.raises(RunError, match=r"does not suffice: .* are needed, 10 bytes are free"):
        program_of("gcn").run(store=tmp_path)


def test_too_little_memory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(RunError, match="memory of .* does not suffice: a batch of one node in layer .* at least"):
        program_of("gcn").run(store=tmp_path, memory=300)


def test_a_store_is_for_runs_on_the_cpu(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    with pytest.raises(RunError, match="leave out device, or store"):
        program_of("gcn").run(store=tmp_path, device="cuda")


def test_other_features_and_graphs_are_other_runs(tmp_path: Path) -> None:
    program, graph = program_of("gcn"), graph_of(50, 200)
    x = torch.randn(50, WIDTH)
    for _ in range(2):
        torch.testing.assert_close(program.run(graph=graph, store=tmp_path), program.run(graph=graph))
        torch.testing.assert_close(program.run(x, graph=graph, store=tmp_path), program.run(x, graph=graph))
