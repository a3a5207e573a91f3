"""The tables of docs/fpga-results.md, from the results of benchmarks.dynasparse."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import exp, log
from typing import Any

Result = dict[str, Any]
Ratio = Callable[[Result], float]


def geometric(values: Sequence[float]) -> float:
    return exp(sum(log(value) for value in values) / len(values)) if values else float("nan")


def arithmetic(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else float("nan")


def cycles(result: Result, run: str) -> float:
    return result["runs"][run]["cycles"]


def computing(result: Result, run: str) -> float:
    return result["runs"][run]["compute_cycles"]


def tables(results: Sequence[Result]) -> str:
    """The whole page but for what other benchmarks add."""
    failed = [r for r in results if "failed" in r]
    good = [r for r in results if "failed" not in r]
    plain, pruned = [r for r in good if not r["pruned"]], [r for r in good if r["pruned"]]
    parts = [
        HEAD,
        f"{len(good)} cases; the largest error against the reference is {max(r['error'] for r in good):.1e} of the "
        "largest output.",
        "## What holds over all of them",
        "Pruned cases are mostly of small graphs and weigh in their favour, so the cases as trained stand apart.\n\n"
        f"All cases:\n\n{means_table(good)}\n\nWeights as trained alone:\n\n{means_table(plain)}",
        "## Every case, weights as trained",
        case_table(plain),
        "## Speed-up of the dynamic mapping over the static ones",
        speedup_table(plain),
        "## Pruned weights",
        pruned_table(good),
        "## Every case with pruned weights",
        case_table(pruned),
        "## What the formulas leave out",
        formula_table(plain),
        "## Preprocessing, transfer, and CPUs",
        machine_table(plain),
        "## Runtime overhead",
        overhead_table(plain),
    ]
    if failed:
        parts += ["## Failed", "\n".join(f"- {r['graph']} {r['model']}: {r['failed']}" for r in failed)]
    return "\n\n".join(parts) + "\n"


HEAD = """# The FPGA target in figures

**Uncalibrated: no RTL, no board.** Every cycle here comes from the model that [fpga.md](fpga.md) describes, with the
assumed figures of `targets/fpga/architectures/u250.toml`. Outputs of every run were compared with the reference before
anything counted. Generated, don't edit; a case that is in no table has not been run:

```
python -m benchmarks.dynasparse FOLDER --graph cora citeseer pubmed nell flickr --prune 0 50 70 90 95 -o results.jsonl
python -m benchmarks.dynasparse FOLDER --graph reddit --scale 0.05 --prune 0 50 70 90 95 -o results.jsonl
python -m benchmarks.fpga_exactness FOLDER > exactness.md
python -m benchmarks.fpga_reddit > reddit.md
python -m benchmarks.fpga_preprocessing > preprocessing.md
python -m benchmarks.fpga_times FOLDER > times.md
python -m benchmarks.dynasparse --tables results.jsonl > tables.md
cat tables.md exactness.md reddit.md preprocessing.md times.md > docs/fpga-results.md
```

Flickr and Reddit are synthetic, with the published counts and planted communities. In the tables of all cases Reddit
has a twentieth of its nodes and its mean degree, which makes its adjacency twenty times as dense; its full size stands
at the end. GraphSAGE has 64 hidden features on the small graphs, as its trained weights have; NELL, Flickr and Reddit
have 128 and random weights. Pruning sets the smallest numbers of each weight to zero; the models are not trained again.

These results were gathered in parts, on 30 November 2026, on two cores shared with others. All runs with lean loads,
`ours` among them, are of one state of the code, commit 0f6bc53 and later ones, which count the same cycles; but for
A(HW) on Reddit's full size, which ran before it. Literal and resident loads, which that commit doesn't touch, and the
CPU's times are in part of some hours before. NELL, Reddit and Flickr's GIN and SGC were searched again with it, but for
NELL's SGC with (AH)W; the others have the sizes and orders that were found before, which a new search found again in
all 32 cases of Cora and CiteSeer where it ran. For NELL's SGC with (AH)W, `ours` has the best of the sizes with N1 of
512, and of 256 with N2 of 32 and more, and the graph's own order: to try all takes too long there.

`literal` is the paper's algorithms as they read, with partition sizes by its Algorithm 9; `resident` keeps operands of
up to 1 MiB on chip; `lean` is with the same sizes; `ours` is lean loads with the partition sizes of a search and, but
for Reddit, in the fastest order of the nodes or features, both found for the weights as trained. Loads and the
Analyzer's time are charged everywhere unless a table says otherwise. The floor is the larger of compulsory bytes over
bandwidth and compute over cores, both of the run itself. A ratio below 1 against it means that intermediate values
stayed on chip, or that an adjacency needed no numbers, which the floor counts as moved."""


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join([*lines, *("| " + " | ".join(str(cell) for cell in row) + " |" for row in rows)])


def name(result: Result) -> str:
    scale = f" x{result['scale']:g}" if result["scale"] != 1 else ""
    return f"{result['graph']}{scale}"


def case_table(results: Sequence[Result]) -> str:
    rows = [
        (
            name(r),
            r["model"],
            r["order"],
            f"{r['pruned']}%",
            f"{r['n1']}, {r['n2']}",
            *(f"{cycles(r, run):,}" for run in ("literal dynamic", "resident dynamic", "lean dynamic", "ours")),
            f"{r['runs']['ours']['n1']}, {r['runs']['ours']['n2']}, {r['reorder']}",
            f"{cycles(r, 'literal dynamic') / cycles(r, 'ours'):.1f}",
            f"{cycles(r, 'resident dynamic') / cycles(r, 'ours'):.1f}",
            f"{cycles(r, 'ours') / r['runs']['ours']['floor']:.2f}",
        )
        for r in results
    ]
    head = ["graph", "model", "order", "pruned", "N1, N2", "literal", "resident", "lean", "ours", "ours with"]
    return table([*head, "literal / ours", "resident / ours", "ours / floor"], rows)


MEANS: dict[str, Ratio] = {
    "literal / ours": lambda r: cycles(r, "literal dynamic") / cycles(r, "ours"),
    "resident / ours": lambda r: cycles(r, "resident dynamic") / cycles(r, "ours"),
    "ours / floor": lambda r: cycles(r, "ours") / r["runs"]["ours"]["floor"],
    "literal / lean, the same sizes": lambda r: cycles(r, "literal dynamic") / cycles(r, "lean dynamic"),
    "resident / lean, the same sizes": lambda r: cycles(r, "resident dynamic") / cycles(r, "lean dynamic"),
    "lean / floor, the same sizes": lambda r: cycles(r, "lean dynamic") / r["runs"]["lean dynamic"]["floor"],
    "literal / ours, S2 (no decisions to take)": lambda r: cycles(r, "literal s2") / cycles(r, "ours"),
    "resident / ours, S2 (no decisions to take)": lambda r: cycles(r, "resident s2") / cycles(r, "ours"),
}


def means_table(results: Sequence[Result]) -> str:
    rows: list[Sequence[object]] = []
    for label, ratio in MEANS.items():
        values = [ratio(r) for r in results]
        rows.append(
            (
                label,
                len(values),
                f"{geometric(values):.2f}",
                f"{arithmetic(values):.2f}",
                f"{min(values):.2f}",
                f"{max(values):.2f}",
            )
        )
    return table(["ratio of cycles", "cases", "geometric mean", "arithmetic mean", "least", "most"], rows)


SPEEDUPS: dict[str, tuple[Ratio, Ratio]] = {
    "compute alone": (
        lambda r: computing(r, "literal s1") / computing(r, "literal dynamic"),
        lambda r: computing(r, "literal s2") / computing(r, "literal dynamic"),
    ),
    "compute alone, static mappings skip no empty pair": (
        lambda r: computing(r, "literal s1 unskipped") / computing(r, "literal dynamic"),
        lambda r: computing(r, "literal s2 unskipped") / computing(r, "literal dynamic"),
    ),
    "makespan, literal loads": (
        lambda r: cycles(r, "literal s1") / cycles(r, "literal dynamic"),
        lambda r: cycles(r, "literal s2") / cycles(r, "literal dynamic"),
    ),
    "makespan, literal loads, static mappings skip no empty pair": (
        lambda r: cycles(r, "literal s1 unskipped") / cycles(r, "literal dynamic"),
        lambda r: cycles(r, "literal s2 unskipped") / cycles(r, "literal dynamic"),
    ),
    "makespan, resident loads": (
        lambda r: cycles(r, "resident s1") / cycles(r, "resident dynamic"),
        lambda r: cycles(r, "resident s2") / cycles(r, "resident dynamic"),
    ),
    "makespan, lean loads": (
        lambda r: cycles(r, "lean s1") / cycles(r, "lean dynamic"),
        lambda r: cycles(r, "lean s2") / cycles(r, "lean dynamic"),
    ),
}


def speedup_table(results: Sequence[Result]) -> str:
    rows: list[Sequence[object]] = []
    for label, ratios in SPEEDUPS.items():
        for order in ("AH_W", "A_HW"):
            chosen = [r for r in results if r["order"] == order]
            cells: list[str] = []
            for ratio in ratios:
                values = [ratio(r) for r in chosen]
                cells.append(f"{geometric(values):.2f} / {arithmetic(values):.2f}")
            rows.append((label, order, *cells))
    head = table(["what", "order", "SO-S1, geometric / arithmetic mean", "SO-S2"], rows)
    each = table(
        ["graph", "model", "order", "S1", "S2", "Dynamic", "SO-S1", "SO-S2"],
        [
            (
                name(r),
                r["model"],
                r["order"],
                *(f"{computing(r, f'literal {m}'):,.1f}" for m in ("s1", "s2", "dynamic")),
                f"{computing(r, 'literal s1') / computing(r, 'literal dynamic'):.2f}",
                f"{computing(r, 'literal s2') / computing(r, 'literal dynamic'):.2f}",
            )
            for r in results
        ],
    )
    return f"{head}\n\nCompute cycles alone, empty pairs skipped by all:\n\n{each}"


def pruned_table(results: Sequence[Result]) -> str:
    """Means for each share of weights at zero, over the models and graphs that were run with all shares."""
    levels = sorted({r["pruned"] for r in results})

    def case(r: Result) -> tuple[str, str, str]:
        return name(r), r["model"], r["order"]

    common = set.intersection(*({case(r) for r in results if r["pruned"] == level} for level in levels))
    rows: list[Sequence[object]] = []
    for order in ("AH_W", "A_HW"):
        for level in levels:
            chosen = [r for r in results if r["pruned"] == level and r["order"] == order and case(r) in common]
            cells = [f"{geometric(v):.2f} / {arithmetic(v):.2f}" for v in ratios_of(chosen, PRUNED_RATIOS)]
            rows.append(
                (f"{level}%", order, len(chosen), *cells, f"{geometric([cycles(r, 'ours') for r in chosen]):,.0f}")
            )
    head = ["at zero", "order", "cases", *(f"{what} {side}" for what in PRUNED_RATIOS for side in ("SO-S1", "SO-S2"))]
    text = (
        "Geometric / arithmetic means over the models and graphs that were run with all shares of weights at zero.\n\n"
    )
    return text + table([*head, "makespan, ours"], rows)


PRUNED_RATIOS = ("compute alone", "compute alone, static mappings skip no empty pair", "makespan, lean loads")


def ratios_of(results: Sequence[Result], labels: Sequence[str]) -> list[list[float]]:
    return [[ratio(r) for r in results] for label in labels for ratio in SPEEDUPS[label]]


def formula_table(results: Sequence[Result]) -> str:
    rows: list[Sequence[object]] = []
    for r in results:
        spmm = r["spmm"]
        measured = f"{spmm['actual'] / spmm['expected']:.3f}" if spmm["expected"] else "no SPMM"
        padded = r["padded"] / computing(r, "literal dynamic")
        rows.append((name(r), r["model"], r["order"], measured, f"{padded:.2f}"))
    text = (
        "Of the dynamic mapping: what SPMM multiplies in truth over what `a_X a_Y mnd` expects, and compute cycles\n"
        "with the widths of outputs padded to the array over those of the formulas, which take all of it for busy.\n\n"
    )
    return text + table(["graph", "model", "order", "SPMM, measured / expected", "padded / formula"], rows)


def machine_table(results: Sequence[Result]) -> str:
    rows: list[Sequence[object]] = []
    for r in results:
        if "preprocessing" not in r:
            continue
        p, seconds = r["preprocessing"], r.get("seconds") or {}
        cpu = [f"{1000 * seconds[key]:,.1f}" if key in seconds else "-" for key in ("pyg", "gnnc")]
        rows.append(
            (
                name(r),
                r["model"],
                r["order"],
                f"{p['seconds']:.2f}",
                f"{p['bytes'] / 1e6:,.1f}",
                f"{p['transfer_milliseconds']:.2f}",
                f"{r['runs']['ours']['milliseconds']:.3f}",
                *cpu,
                f"{r['simulation_seconds']:.2f}",
            )
        )
    head = ["graph", "model", "order", "stream, s", "stream, MB", "PCIe, ms", "ours, ms", "PyG on this CPU, ms"]
    text = (
        "CPU times are of a shared two-core machine: orders of magnitude. NELL's features don't fit it when dense,\n"
        "nor do PyG's messages on Reddit but for GCN. `simulation` is a run with literal loads, from the graph on.\n\n"
    )
    return text + table([*head, "gnnc's executor, ms", "simulation, s"], rows)


def overhead_table(results: Sequence[Result]) -> str:
    rows = [
        (
            name(r),
            r["model"],
            r["order"],
            *(
                f"{r['runs'][run]['decisions']:,}; {r['runs'][run]['analyzer_cycles']:,.0f}; "
                f"{100 * r['runs'][run]['exposed_cycles'] / max(1, r['runs'][run]['cycles']):.0f}%"
                for run in ("literal dynamic", "ours")
            ),
        )
        for r in results
    ]
    text = "Decisions; cycles that they take; the share of the makespan in which cores waited for them.\n\n"
    return text + table(["graph", "model", "order", "literal", "ours"], rows)
