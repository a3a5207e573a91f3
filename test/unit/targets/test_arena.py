"""Memory that is used again."""

import torch

from gnnc.targets.gpu.arena import HUGE, LINE, Arena, RowsOf


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
