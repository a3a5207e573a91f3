"""What was chosen for a program and why, as entries of the log of decisions. Prices are simulated, with lean loads."""

from __future__ import annotations

from collections.abc import Mapping

from gnnc.passes.analysis.decision_log import Decision
from gnnc.targets.fpga.reordering import Reordering
from gnnc.targets.fpga.report import described_products
from gnnc.targets.fpga.simulator import Simulation

CYCLES, BYTES = "cycles", "bytes"


def on_order(layers: int, choice: str, cycles: Mapping[str, int]) -> Decision:
    """Whether layers aggregate before they multiply with their weight."""
    return Decision(
        "convert-gnn-to-kernel", f"order of products in {layers} layers", "", choice, predicted=cycles, unit=CYCLES
    )


def on_sizes(
    kernels: int, methods: Mapping[str, tuple[int, int]], choice: str, cycles: Mapping[tuple[int, int], int]
) -> Decision:
    """The sizes of tiles. `methods` are the sizes that each method gives, `cycles` those of all sizes that were
    simulated to the end, none where nothing was compared."""
    names = {sizes: named_sizes(sizes, methods) for sizes in {*cycles, *methods.values()}}
    predicted = {names[sizes]: count for sizes, count in cycles.items()}
    chosen = names[methods[choice]]
    return Decision("kernel-partition", f"N1, N2 of {kernels} kernels", "", chosen, predicted=predicted, unit=CYCLES)


def named_sizes(sizes: tuple[int, int], methods: Mapping[str, tuple[int, int]]) -> str:
    """Sizes, and the methods that give them."""
    givers = ", ".join(method for method, given in methods.items() if given == sizes)
    return f"{sizes[0]}, {sizes[1]}" + (f" ({givers})" if givers else "")


def on_loads(simulation: Simulation) -> list[Decision]:
    """How the tasks of each kernel get their operands, in a run with lean loads: `gather` fetches the rows of the right
    side that the left side names, `resident` and `fibres` read all or some of its columns once for all cores, and with
    `rows` it is on chip already."""
    return [
        Decision(
            "lean loads",
            f"loads of {simulation.plan.operands[run.kernel.output].name} = "
            + " + ".join(described_products(run, simulation.plan)),
            run.kernel.source or "",
            run.traffic.way,
            predicted={way: round(price) for way, price in run.traffic.ways.items()},
            unit=BYTES,
        )
        for run in simulation.kernels
        if run.traffic.ways
    ]


def on_node_order(cycles: Mapping[Reordering, int], choice: Reordering) -> Decision:
    """In which order the nodes or features are; `cycles` are those of the runs that were not given up."""
    return Decision("simulate", "order of nodes or features", "", choice, predicted={**cycles}, unit=CYCLES)
