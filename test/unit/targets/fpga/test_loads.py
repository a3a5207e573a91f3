"""What lean loads read: fibres as wide as stay on chip, left sides that stay for them, rows that are named."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array

from gnnc.targets.fpga.architecture import load_architecture
from gnnc.targets.fpga.loads import KernelLoads, Side, fibre_width, lean_fetches, lean_traffic
from gnnc.targets.fpga.matrices import tile_counts
from gnnc.targets.fpga.pairs import Product, sums

U250 = load_architecture()
NODES, WIDTH = 256, 128
GENERATOR = np.random.default_rng(0)
A = csr_array((GENERATOR.random((NODES, NODES)) < 0.05).astype(np.float32))
H = GENERATOR.random((NODES, WIDTH)).astype(np.float32) + 1
COLUMN_BYTES = 4 * NODES  # of a column of H


def kernel(room: int, width: int = WIDTH, height: int = 64, hidden: float = 0) -> KernelLoads:
    """A x H in tiles of 64 x 64 and 64 x width, all of it known, with so much room on chip and so many bytes hidden."""
    product = Product(tile_counts(A, height, 64, distinct=True), tile_counts(H, 64, width))
    tasks = np.zeros((product.x.grid[0], product.y.grid[1]), np.int64)
    return KernelLoads([product], [(Side(), Side())], [(True, True)], tasks, tasks, room, hidden)


def test_a_fibre_that_fits_is_read_once() -> None:
    traffic = lean_traffic(kernel(4 * NODES * WIDTH), U250, 1, keep=True)
    assert traffic.order == "resident"
    assert traffic.shared == traffic.static == 4 * H.size
    assert int(traffic.loads.sum()) == 8 * A.nnz
    assert not traffic.converts


def test_fibres_are_halved_until_one_stays_on_chip() -> None:
    assert fibre_width(kernel(COLUMN_BYTES * WIDTH), U250, 1) == WIDTH
    assert fibre_width(kernel(COLUMN_BYTES * 32), U250, 1) == 32
    assert fibre_width(kernel(COLUMN_BYTES * 31), U250, 1) == 16
    # not below the array, and not where the rows that are named are fewer bytes
    assert fibre_width(kernel(COLUMN_BYTES * 15), U250, 1) == WIDTH
    nothing = Product(tile_counts(csr_array(A.shape), 64, 64), tile_counts(H, 64, WIDTH))
    empty = replace(kernel(COLUMN_BYTES * 32), products=[nothing])
    assert fibre_width(empty, U250, 1) == WIDTH


def test_a_left_side_stays_for_several_fibres_where_there_is_room() -> None:
    fibre = COLUMN_BYTES * 16
    again = lean_traffic(kernel(fibre, 16), U250, 1, keep=True)
    assert int(again.loads.sum()) == 8 * A.nnz * 8
    kept = lean_traffic(kernel(fibre + 8 * A.nnz, 16), U250, 1, keep=True)
    assert int(kept.loads.sum()) == 0
    assert kept.shared == 4 * H.size + 8 * A.nnz
    # the first fibre alone can come before the kernel begins
    assert kept.static == fibre + 8 * A.nnz
    assert kept.free == 0


def test_each_core_has_tasks() -> None:
    """One row of tiles alone: a task for all columns would leave six of seven cores idle."""
    one_row = kernel(4 * NODES * WIDTH + 8 * A.nnz, 16, NODES)
    assert len(lean_fetches(one_row, U250, 8).loads) == 8
    assert len(lean_fetches(one_row, replace(U250, cores=1), 8).loads) == 1


def test_where_computing_takes_longer_cores_need_not_wait_for_a_fibre() -> None:
    for known, shared in ((False, 0), (True, 4 * H.size)):
        slow = replace(kernel(4 * NODES * WIDTH, hidden=1e9), static=[(True, known)])
        assert lean_fetches(slow, U250, 1).shared == shared
        assert lean_fetches(replace(slow, hidden=0), U250, 1).shared == 4 * H.size


def test_only_rows_that_are_fetched_change_format() -> None:
    thin = np.where(GENERATOR.random(H.shape) < 0.3, H, np.float32(0))
    y = tile_counts(thin, 64, WIDTH)
    named = tile_counts(A, 64, 64, distinct=True)
    whole = replace(named, distinct=None)
    some, every = (sums([Product(x, y)], "s2", "aggregate", 16, 8) for x in (named, whole))
    assert named.distinct is not None
    shares = y.nonzeros[named.columns] * named.distinct / 64
    assert int(some.converted_y.sum()) == int(np.ceil(shares).sum()) < int(every.converted_y.sum())
    assert some.compute_cycles == every.compute_cycles
