"""Every conv of torch-geometric is exact or refused as docs/coverage.md says."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
import torch_geometric.nn.conv as pyg

import gnnc
from benchmarks.pyg_conv_cases import CASES, GRAPHS, NO_CASE, Case
from benchmarks.pyg_convs import (
    Row,
    WrongResult,
    check,
    compare,
    eager,
    graph_for,
    is_right,
    page,
    rows_not_tried,
    rows_of,
)

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "coverage.md").read_text(encoding="utf-8")
ROWS = {(row.conv, row.options): row for row in rows_of(PAGE)}
STALE = "run python -m benchmarks.pyg_convs --write docs/coverage.md"


@pytest.mark.parametrize("case", CASES, ids=[case.name for case in CASES])
def test_a_conv_is_exact_or_refused_as_the_page_says(case: Case) -> None:
    assert check(case) == ROWS.get((case.conv, case.options)), STALE


def test_the_page_is_as_generated() -> None:
    rows = rows_of(PAGE)
    assert [(row.conv, row.options) for row in rows[: len(CASES)]] == [(c.conv, c.options) for c in CASES], STALE
    assert rows[len(CASES) :] == rows_not_tried(), STALE
    assert page(rows) == PAGE, STALE


def test_every_conv_has_a_case_or_a_reason() -> None:
    tried = {case.conv for case in CASES}
    assert tried | set(NO_CASE) == set(pyg.__all__)
    assert not tried & set(NO_CASE)
    assert len(ROWS) == len(CASES) + len(NO_CASE)


def test_a_refused_row_has_a_reason() -> None:
    assert all(bool(row.reason) == (row.result != "exact") for row in ROWS.values())


def test_a_conv_counts_by_its_first_row() -> None:
    rows = [Row("A", "", "exact"), Row("A", "b=1", "refused", "why"), Row("C", "", "not tried", "why")]
    assert "**1 of 2** convs. Exact in all: **1 of 2** cases" in page(rows)


def test_a_wrong_result_is_an_error() -> None:
    case = next(case for case in CASES if case.conv == "SimpleConv")
    graph, *_ = GRAPHS
    model = case.make().eval()
    program, expected = gnnc.compile(model, graph_for(case, graph)), eager(model, case, graph)
    assert expected is not None
    compare(program, case, graph, expected)
    expected[-1, -1] += 0.01
    with pytest.raises(WrongResult, match="SimpleConv on a graph with hub.*, batch size 1"):
        compare(program, case, graph, expected)


@pytest.mark.parametrize(
    ("result", "right"),
    [
        ([1.0, 1000.0], True),
        ([1.05, 1000.0], True),
        ([1.2, 1000.0], False),
        ([1.0, float("nan")], False),
        ([1.0], False),
    ],
)
def test_errors_are_relative_to_the_largest_number(result: list[float], right: bool) -> None:
    assert is_right(torch.tensor(result), torch.tensor([1.0, 1000.0])) == right


def test_undefined_numbers_must_be_at_the_same_places() -> None:
    expected = torch.tensor([float("nan"), float("inf"), 1.0])
    assert is_right(expected.clone(), expected)
    assert not is_right(torch.tensor([float("inf"), float("nan"), 1.0]), expected)
    assert not is_right(torch.tensor([0.0, float("inf"), 1.0]), expected)
