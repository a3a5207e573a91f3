"""The compute totals of the numeric study, and what must hold of every run."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from fpga_programs import SMALL, numbers_of, small_model, small_program, trained_program

import gnnc
from gnnc.passes.analysis.linear_forms import Order
from gnnc.targets.fpga.loads import LOADS, Loads
from gnnc.targets.fpga.pairs import MAPPINGS, Mapping
from gnnc.targets.fpga.reordering import REORDERINGS, Reordering, permuted
from gnnc.targets.fpga.schedule import SCHEDULES, Schedule
from gnnc.targets.fpga.simulator import Setting, Simulation, simulate

GOLDEN: list[tuple[Order, tuple[int, int], Mapping, float]] = [
    ("AH_W", (64, 16), "s1", 393_181),
    ("AH_W", (64, 16), "s2", 174_469),
    ("AH_W", (64, 16), "dynamic", 40_570.6),
    ("A_HW", (32, 16), "s1", 222_560),
    ("A_HW", (32, 16), "s2", 10_206.7),
    ("A_HW", (32, 16), "dynamic", 9_720.1),
]


def run(order: Order, setting: Setting) -> Simulation:
    program = trained_program("cora", "gcn", order)
    return simulate(numbers_of("cora", "gcn", order), program.plan, program.architecture, setting)


@pytest.mark.parametrize(("order", "sizes", "mapping", "cycles"), GOLDEN)
def test_compute_totals(order: Order, sizes: tuple[int, int], mapping: Mapping, cycles: float) -> None:
    simulation = run(order, Setting(mapping))
    assert (simulation.plan.n1, simulation.plan.n2) == sizes
    assert float(simulation.compute_cycles) == pytest.approx(cycles, rel=1e-5)


# The study's speed-ups in compute cycles on Cora, S1 and S2 over Dynamic, to the digits that it prints.
RATIOS: list[tuple[str, Order, str, str]] = [
    ("sage", "AH_W", "15.6", "1.91"),
    ("sage", "A_HW", "27.4", "1.12"),
    ("gin", "AH_W", "9.1", "4.10"),
    ("gin", "A_HW", "17.4", "1.18"),
    ("sgc", "AH_W", "3.7", "3.06"),
    ("sgc", "A_HW", "23.5", "1.00"),
]


@pytest.mark.parametrize(("kind", "order", "over_s1", "over_s2"), RATIOS)
def test_speed_ups_of_the_study(kind: str, order: Order, over_s1: str, over_s2: str) -> None:
    program, numbers = trained_program("cora", kind, order), numbers_of("cora", kind, order)
    s1, s2, dynamic = (
        float(simulate(numbers, program.plan, program.architecture, Setting(mapping)).compute_cycles)
        for mapping in ("s1", "s2", "dynamic")
    )
    assert (f"{s1 / dynamic:.1f}", f"{s2 / dynamic:.2f}") == (over_s1, over_s2)


@pytest.mark.parametrize("schedule", SCHEDULES)
@pytest.mark.parametrize("loads", LOADS)
@pytest.mark.parametrize("mapping", MAPPINGS)
@pytest.mark.parametrize("order", ["AH_W", "A_HW"])
def test_outputs_and_bounds(order: Order, mapping: Mapping, loads: Loads, schedule: Schedule) -> None:
    program = trained_program("cora", "gcn", order)
    simulation = run(order, Setting(mapping, loads, schedule))
    graph, model = program.graph_for(None), program.model
    assert model is not None
    with torch.no_grad():
        expected = model(torch.as_tensor(graph.x), torch.as_tensor(graph.edge_index)).numpy()
    assert np.abs(simulation.outputs[0] - expected).max() <= 1e-4 * np.abs(expected).max()
    assert all(simulation.cycles >= bound for bound in simulation.bounds().values())


@pytest.mark.parametrize("kind", SMALL)
def test_every_setting_computes_what_the_model_does(kind: str) -> None:
    """What benchmarks/fpga_exactness.py does with real graphs."""
    program = small_program(kind)
    graph, model = program.graph_for(None), small_model(kind)
    with torch.no_grad():
        expected = model(torch.as_tensor(graph.x), torch.as_tensor(graph.edge_index)).numpy()
    for mapping, loads, schedule in itertools.product(MAPPINGS, LOADS, SCHEDULES):
        numbers, setting = program.numbers(graph), Setting(mapping, loads, schedule)
        simulation = simulate(numbers, program.plan, program.architecture, setting)
        assert np.abs(simulation.outputs[0] - expected).max() <= 1e-4 * np.abs(expected).max()
        assert all(simulation.cycles >= bound for bound in simulation.bounds().values())


@pytest.mark.parametrize("order", ["AH_W", "A_HW"])
def test_dynamic_is_no_slower_than_static(order: Order) -> None:
    dynamic, *static = (run(order, Setting(mapping)) for mapping in ("dynamic", "s1", "s2"))
    for kernel, other in ((k, o) for s in static for k, o in zip(dynamic.kernels, s.kernels, strict=True)):
        assert kernel.sums.denominator == other.sums.denominator
        assert (kernel.sums.numerators <= other.sums.numerators).all()


@pytest.mark.parametrize("reorder", REORDERINGS)
def test_reordering_changes_no_number(reorder: Reordering) -> None:
    program = trained_program("cora", "gcn", "A_HW")
    checked = program.simulate(reorder=reorder)
    assert checked.verification.passed
    assert checked.reorder == reorder


@pytest.mark.parametrize("reorder", REORDERINGS)
def test_nasty_graphs_are_reordered(reorder: Reordering, nasty_graphs: dict[str, gnnc.Graph]) -> None:
    for graph in nasty_graphs.values():
        sources, targets = np.asarray(graph.edge_index)
        order = permuted(reorder, sources, targets, graph.num_nodes)
        assert order is None or sorted(order.tolist()) == list(range(graph.num_nodes))


def test_automatic_reordering_is_no_slower() -> None:
    program = trained_program("cora", "gcn", "A_HW")
    setting = Setting(loads="lean")
    own = program.simulate(setting=setting)
    assert program.simulate(setting=setting, reorder="auto").simulation.cycles <= own.simulation.cycles
