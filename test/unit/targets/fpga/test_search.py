"""What goes beyond the paper: searched sizes, residency, values that need no number of their own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from fpga_programs import numbers_of, small_program, trained_program
from scipy.sparse import csr_array

from gnnc.fpga_compile import compile_for_fpga
from gnnc.passes.analysis.partition import KernelShape, Limits, algorithm_9, algorithm_9_exact, candidates, tasks_of
from gnnc.targets.fpga import separable
from gnnc.targets.fpga.loads import LOADS, Loads
from gnnc.targets.fpga.residency import kept_on_chip
from gnnc.targets.fpga.search import best_partition, cycles_within
from gnnc.targets.fpga.separable import factors_of
from gnnc.targets.fpga.simulator import Setting, Simulator, simulate


def test_searched_sizes_are_no_slower_than_algorithm_9() -> None:
    program = trained_program("cora", "gcn", "A_HW")
    numbers, setting = numbers_of("cora", "gcn", "A_HW"), Setting(loads="lean")
    searched = program.plan.repartitioned(*best_partition(numbers, program.plan, program.architecture))
    ours = simulate(numbers, searched, program.architecture, setting).cycles
    assert ours <= simulate(numbers, program.plan, program.architecture, setting).cycles


@pytest.mark.parametrize("loads", LOADS)
def test_the_search_finds_the_fastest_of_all_sizes(loads: Loads) -> None:
    """Runs that are given up early are no faster than what is found."""
    program, setting = small_program("gcn"), Setting(loads=loads)
    numbers = program.numbers(program.graph_for(None))
    limits = Limits(program.architecture.p_sys, program.architecture.cores, program.architecture.n_max, eta=1)
    cycles = {
        sizes: simulate(numbers, program.plan.repartitioned(*sizes), program.architecture, setting).cycles
        for sizes in candidates(limits)
    }
    found = best_partition(numbers, program.plan, program.architecture, setting)
    assert cycles[found] == min(cycles.values())
    for sizes, exact in cycles.items():
        plan = program.plan.repartitioned(*sizes)
        assert cycles_within(numbers, plan, program.architecture, setting, exact) is None
        assert cycles_within(numbers, plan, program.architecture, setting, exact + 1) == exact


def test_auto_never_loses_to_the_papers_setting() -> None:
    program = small_program("gcn")
    model, graph = program.model, program.graph_for(None)
    assert model is not None
    ours = compile_for_fpga(model, graph, partition="search")
    paper = [compile_for_fpga(model, graph, order=order).simulate() for order in ("AH_W", "A_HW")]
    best = ours.simulate(setting=Setting(loads="lean"), reorder="auto").simulation.cycles
    assert best <= min(run.simulation.cycles for run in paper)


def test_lean_loads_take_fewer_bytes() -> None:
    program = trained_program("cora", "gcn", "AH_W")
    numbers = numbers_of("cora", "gcn", "AH_W")
    runs = [
        simulate(numbers, program.plan, program.architecture, Setting(loads=loads))
        for loads in ("literal", "resident", "lean")
    ]
    assert runs[0].bytes > 10 * runs[1].bytes > 10 * runs[2].bytes
    assert runs[0].cycles >= 10 * runs[2].cycles
    assert runs[1].cycles >= 4 * runs[2].cycles
    assert runs[0].compute_cycles == runs[1].compute_cycles == runs[2].compute_cycles


def test_intermediates_stay_on_chip_while_there_is_room() -> None:
    program = small_program("gcn")
    plan, architecture = program.plan, program.architecture
    inner = frozenset(kernel.output for kernel in plan.kernels[:-1])
    kept = kept_on_chip(plan, architecture)
    assert kept.operands == inner
    # a kernel runs beside what it takes and makes: 50 nodes, of 6 numbers and then of 3
    assert kept.bytes == (1200, 2400, 1800, 600)
    assert kept_on_chip(plan, replace(architecture, shared_buffer_bytes=64)).operands == frozenset()


def test_factors_make_every_value_to_the_bit() -> None:
    generator = np.random.default_rng(0)
    pattern = (generator.random((20, 20)) < 0.3) | np.eye(20, dtype=bool)
    degree = pattern.sum(1).astype(np.float32)
    norm = (degree**-0.5).astype(np.float32)
    sums, means = csr_array(pattern.astype(np.float32)), csr_array((pattern / degree[:, None]).astype(np.float32))
    symmetric = csr_array(pattern * (norm[:, None] * norm[None]))
    for matrix, vectors in ((sums, 0), (means, 1), (symmetric, 1), (csr_array((20, 20), dtype=np.float32), 0)):
        factors = factors_of(matrix)
        assert factors is not None
        made = np.where(matrix.toarray() != 0, factors.rows[:, None] * factors.columns[None], 0)
        assert np.array_equal(made, matrix.toarray())
        assert factors.bytes == vectors * 80
    nudged = symmetric.copy()
    nudged.data[5] = np.nextafter(nudged.data[5], np.float32(2))
    assert factors_of(nudged) is None
    assert factors_of(csr_array(pattern * generator.random((20, 20))).astype(np.float32)) is None
    assert factors_of(csr_array(symmetric[:, :19])) is None


def test_factors_are_found_across_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(separable, "CHUNK", 3)
    test_factors_make_every_value_to_the_bit()


def test_factors_count_as_bytes() -> None:
    program = trained_program("cora", "gcn", "A_HW")
    numbers, places = numbers_of("cora", "gcn", "A_HW"), [kernel.products[0][0] for kernel in program.plan.kernels]
    simulator = Simulator(numbers, program.plan, program.architecture, Setting(loads="lean"))
    side = simulator.side(places[1])
    assert (side.bytes_a_nonzero, side.factor_bytes) == (4, 4 * program.plan.nodes)
    small = replace(program.architecture, resident_buffer_bytes=1000)
    assert Simulator(numbers, program.plan, small, Setting(loads="lean")).side(places[1]).bytes_a_nonzero == 8


CORA_AH_W = [
    KernelShape("aggregate", 2708, 1433),
    KernelShape("update", 2708, 16),
    KernelShape("aggregate", 2708, 16),
    KernelShape("update", 2708, 7),
]


def test_algorithm_9() -> None:
    limits = Limits(p_sys=16, cores=7, n_max=512, eta=4)
    assert algorithm_9(CORA_AH_W, limits) == (64, 16)
    n1, n2 = algorithm_9_exact(CORA_AH_W, limits)
    assert all(tasks_of(shape, n1, n2) >= limits.tasks for shape in CORA_AH_W)
    assert algorithm_9(CORA_AH_W, Limits(16, 7, 32, 4)) == (32, 16)
    assert algorithm_9([KernelShape("update", 10, 3)], limits) == (16, 16)
