"""Every conv of torch-geometric: is what gnnc computes what the conv computes?

    python -m benchmarks.pyg_convs [--write docs/coverage.md]

Compiles each conv of `torch_geometric.nn.conv` with its usual arguments and with its important options, and runs it at
batch sizes 1, 3 and all nodes on graphs where message passing goes wrong easily. Prints for each: exact, refused with
the operator and the reason, or why it is not tried. A result that differs ends the run with an error.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch.utils._pytree import tree_leaves, tree_structure

import gnnc
from benchmarks.pyg_conv_cases import CASES, GRAPHS, NO_CASE, Case, attributes_of, typed_graph

TOLERANCE = 1e-4
BATCH_SIZES = (1, 3, None)

TYPED = "several types of nodes and edges"

EXACT, REFUSED, NOT_TRIED = "exact", "refused", "not tried"


# Running one.


@dataclass(frozen=True)
class Row:
    """What is known of one case, as a row of the page."""

    conv: str
    options: str
    result: str
    reason: str = ""

    def text(self) -> str:
        return f"| {self.conv} | {self.options} | {self.result} | {self.reason} |"


class WrongResult(Exception):
    """A compiled conv computed something else than the conv itself."""


def check(case: Case) -> Row:
    """Compiles a case and compares it with the conv on every graph. Raises WrongResult where it differs."""
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = randomized(case.make()).eval()
        graphs = [TYPED] if case.has_types else list(GRAPHS)
        expected = {name: eager(model, case, name) for name in graphs}
        first, *_ = graphs
        assert expected[first] is not None, f"{case.name} does not run by itself"
        try:
            program = gnnc.compile(model, graph_for(case, first))
        except (gnnc.UnsupportedModelError, gnnc.CaptureError) as error:
            return Row(case.conv, case.options, REFUSED, reason_of(error))
        for name, values in expected.items():
            compare(program, case, name, values)
    return Row(case.conv, case.options, EXACT)


def randomized(model: torch.nn.Module) -> torch.nn.Module:
    """The module with no weight as initialised: a bias of zeros or a scale of one would hide what is left out."""
    with torch.no_grad():
        for tensor in model.parameters():
            tensor.add_(torch.randn_like(tensor), alpha=0.1)
    return model


def inputs_of(case: Case, graph: str) -> dict[str, Any]:
    attributes = attributes_of(graph)
    return {name: attributes[name] for name in ("x", "edge_index", *case.inputs)}


def graph_for(case: Case, name: str) -> gnnc.Graph | gnnc.HeteroGraph:
    return typed_graph() if case.has_types else gnnc.Graph(**inputs_of(case, name))


def arguments_for(case: Case, name: str) -> dict[str, Any]:
    """What the conv itself takes; in no case may it change what others see."""
    if not case.has_types:
        return inputs_of(case, name)
    graph = typed_graph()
    return {
        "x_dict": {type_: graph[type_]["x"] for type_ in graph.node_types},
        "edge_index_dict": {type_: graph[type_]["edge_index"] for type_ in graph.edge_types},
    }


def eager(model: torch.nn.Module, case: Case, name: str) -> Any:
    """What the conv computes by itself; None where it raises, and there is nothing to match."""
    try:
        with torch.no_grad():
            return model(**arguments_for(case, name))
    except (RuntimeError, IndexError, AssertionError):
        return None


def compare(program: gnnc.Program, case: Case, name: str, expected: Any) -> None:
    if expected is None:
        return
    for batch_size in BATCH_SIZES:
        result = program.run(graph=graph_for(case, name), batch_size=batch_size)
        # a node type that nothing points to may come out as None
        pairs = zip(tree_leaves(result), tree_leaves(expected), strict=True)
        right = all(ours is theirs or is_right(ours, theirs) for ours, theirs in pairs)
        if not right or tree_structure(result) != tree_structure(expected):
            raise WrongResult(f"{case.name} on a graph with {name}, batch size {batch_size or 'all'}")


def is_right(result: torch.Tensor | None, expected: torch.Tensor | None) -> bool:
    """Within the tolerance, relative to the largest number; infinite and undefined numbers at the same places."""
    if result is None or expected is None or result.shape != expected.shape or result.dtype != expected.dtype:
        return False
    finite = expected.isfinite()
    if not torch.allclose(result[~finite], expected[~finite], equal_nan=True):
        return False
    scale = float(expected[finite].abs().max()) if finite.any() else 0.0
    return bool(((result - expected)[finite].abs() <= TOLERANCE * max(scale, 1e-30)).all())


# The kinds of torch.export's errors, whose own words name the symbols and sizes of one trace.
NOT_TRACED = {
    "GuardOnDataDependentSymNode": "it looks at the values of a tensor",
    "UserError": "it works for a fixed number of nodes or edges only",
}


def reason_of(error: gnnc.UnsupportedModelError | gnnc.CaptureError) -> str:
    """The operator and the reason, without the line of the source: it changes with torch-geometric's versions."""
    if isinstance(error, gnnc.UnsupportedModelError):
        return f"{error.op}: {error.reason}" if error.op else error.reason
    kind = error.reason.partition(":")[0]
    return f"torch.export can't trace it: {NOT_TRACED[kind]}" if kind in NOT_TRACED else str(error)


# The page.

INTRODUCTION = """\
# What compiles of torch-geometric

Generated by `python -m benchmarks.pyg_convs --write docs/coverage.md`; `test/unit/test_pyg_convs.py` checks every row.

Every conv that `torch_geometric.nn.conv` exports, with its usual arguments and with options. *Exact* means: compiled
once, run at batch sizes 1, 3 and all nodes on a graph with a hub, self-loops, duplicate edges and isolated nodes and on
one without edges (where the conv itself takes that), or on a graph with several types, one of them without incoming and
one without any edges, and equal to the conv itself within 1e-4 of the largest number.
*Refused* means that `gnnc.compile` raises, for the reason given. `MessagePassing` stands for convs that users write.
"""
HEAD = "| conv | options | result | why |\n|---|---|---|---|"


def page(rows: Sequence[Row]) -> str:
    return "\n".join([INTRODUCTION, totals(rows), "", HEAD, *(row.text() for row in rows)]) + "\n"


def totals(rows: Sequence[Row]) -> str:
    """How many convs are exact with usual arguments, which is each one's first row, and how many rows are in all."""
    first = {row.conv: row for row in reversed(rows)}
    exact = sum(row.result == EXACT for row in first.values())
    tried = [row for row in rows if row.result != NOT_TRIED]
    every = sum(row.result == EXACT for row in tried)
    return (
        f"Exact with usual arguments: **{exact} of {len(first)}** convs. "
        f"Exact in all: **{every} of {len(tried)}** cases that are tried."
    )


def rows_of(text: str) -> list[Row]:
    """The rows of a page. No cell has a bar in it."""
    lines = text.partition(HEAD)[2].strip().splitlines()
    return [Row(*(cell.strip() for cell in line[1:-1].split("|"))) for line in lines]


def rows_not_tried() -> list[Row]:
    return [Row(conv, "", NOT_TRIED, reason) for conv, reason in NO_CASE.items()]


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares compiled convs of torch-geometric with eager ones.")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the results as a page")
    parser.add_argument("--only", nargs="+", metavar="CONV", help="these convs only")
    arguments = parser.parse_args()
    rows: list[Row] = []
    for case in CASES:
        if arguments.only and case.conv not in arguments.only:
            continue
        rows.append(check(case))
        print(f"{case.name:70} {rows[-1].result} {rows[-1].reason}".rstrip(), flush=True)
    rows.extend(rows_not_tried())
    print(totals(rows))
    if arguments.write:
        arguments.write.write_text(page(rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
