"""Memory that is used again."""

import platform
import subprocess
import sys

import torch
from torch_geometric.nn import SGConv

import gnnc
from gnnc.fpga_compile import compile_for_fpga
from gnnc.targets.gpu.arena import HUGE, LINE, Arena, RowsOf
from gnnc.targets.gpu.executor import BatchedExecutor


def test_rows_begin_at_cache_lines_or_stay_within_one() -> None:
    assert [RowsOf((n,), torch.float32).stride for n in (1, 3, 7, 16, 47, 128)] == [1, 4, 8, 16, 48, 128]
    assert RowsOf((2, 47), torch.float64).stride == 96
    assert RowsOf((), torch.float32).stride == 1


def test_memory_comes_back() -> None:
    arena = Arena()
    first = arena.empty(RowsOf((47,), torch.float32), 100)
    assert first.shape == (100, 47) and first.data_ptr() % LINE == 0
    address = first.data_ptr()
    second = arena.empty(RowsOf((47,), torch.float32), 100)
    assert second.data_ptr() != address
    arena.release(first, torch.empty(3), None)
    assert arena.empty(RowsOf((2, 20), torch.float32), 100).data_ptr() == address


def test_large_buffers_lie_on_huge_pages() -> None:
    array = Arena().empty(RowsOf((128,), torch.float32), 10_000)
    assert array.data_ptr() % HUGE == 0
    array.fill_(1)
    assert int(array.sum()) == array.numel()


def test_no_batch_keeps_memory(random_graph: gnnc.Graph) -> None:
    """Sums that are a block's result have memory of their own; that of the messages behind them comes back all the
    same."""
    model = SGConv(random_graph.stored_x.shape[1], 3, K=2).eval()
    program = compile_for_fpga(model, random_graph, order="A_HW")
    graph = program.graph_for(None)
    executor = BatchedExecutor(program.reference_module, program.weights)
    features, edges = {"x": torch.as_tensor(graph.x)}, {"edge_index": torch.as_tensor(graph.edge_index)}
    structure = executor.structure({**features, **edges}, graph.node_counts)
    executor.run(features, structure, graph.node_counts, batch_size=7, threads=1)
    assert executor.workers.arenas[0].free
    assert not any(arena.used for arena in executor.workers.arenas)


APART = """
import torch
from gnnc.targets.gpu.arena import large_blocks_apart
from gnnc.targets.gpu.memory_meter import anonymous_bytes

def kept():
    # what is freed last lies below something that stays
    before = anonymous_bytes()
    blocks = [torch.ones(2**18) for _ in range(8)]
    held = torch.ones(2**10)
    del blocks
    return anonymous_bytes() - before

torch.ones(2**22)  # from now on, blocks of this size stay with the C library
print(kept())
with large_blocks_apart(2**16):
    print(kept())
"""


def test_large_blocks_leave_nothing() -> None:
    done = subprocess.run([sys.executable, "-c", APART], capture_output=True, text=True, check=True)
    usual, apart = map(int, done.stdout.split())
    assert apart < 2**20
    assert platform.libc_ver()[0] != "glibc" or usual > 2**22, "there is nothing to be mended"
