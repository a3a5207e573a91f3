"""Measured prices: kept for a machine, read where they are whole, and what programs decide by."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from click.testing import CliRunner
from torch_geometric.nn import GCNConv

import gnnc
from gnnc.cli.calibrate import command
from gnnc.dialects.gnn import LinearOp
from gnnc.passes.analysis.product_prices import DEFAULT_PRICES, ProductPrices
from gnnc.targets.gpu import calibration
from gnnc.targets.gpu.kernels import cache

PRICES = ProductPrices((10, 1000), (4,), (1.0, 2.0), (0.25, 0.75))


@pytest.fixture(autouse=True)
def cache_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GNNC_CACHE", str(tmp_path))
    cache.folder.cache_clear()
    return tmp_path


def test_prices_are_those_of_the_product_most_like() -> None:
    assert PRICES.crossover(12, 4) == PRICES.crossover(99, 4) == 0.25
    assert PRICES.crossover(101, 1) == PRICES.crossover(10**6, 10**6) == 0.75
    assert PRICES.dense_price(1000, 4) == 16000
    assert PRICES.sparse_price(1000, 4, 0.75) == PRICES.dense_price(1000, 4)
    with pytest.raises(ValueError, match="2 columns and 1 widths need 2 prices"):
        ProductPrices((1, 2), (3,), (1.0,), (0.5, 0.5))


def test_what_is_measured_is_kept() -> None:
    prices = calibration.measure(1, columns=(64, 512), widths=(16,))
    assert all(0 < crossover < 1 for crossover in prices.crossovers) and all(price > 0 for price in prices.dense)
    assert calibration.known_prices(1) is None
    assert calibration.keep(prices, 1) is not None
    assert calibration.known_prices(1) == prices
    assert calibration.known_prices(2) is None


@pytest.mark.parametrize("text", ["{", "[]", "{}"])
def test_a_damaged_file_is_no_prices(text: str) -> None:
    path = calibration.keep(PRICES, 1)
    assert path is not None and calibration.known_prices(1) == PRICES
    path.write_text(text)
    assert calibration.known_prices(1) is None


@pytest.mark.parametrize("change", [{"widths": [0]}, {"crossovers": [0.5]}, {"crossovers": [0.5, 2]}, {"dense": "x"}])
def test_impossible_prices_are_none(change: dict[str, Any]) -> None:
    path = calibration.keep(PRICES, 1)
    assert path is not None
    path.write_text(json.dumps({**json.loads(path.read_text()), **change}))
    assert calibration.known_prices(1) is None


def test_a_busy_machine_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    def equal(*works: Any) -> list[float]:
        return [1.0] * len(works)

    monkeypatch.setattr(calibration, "seconds", equal)
    with pytest.raises(calibration.BusyMachineError):
        calibration.measure(1, columns=(64,), widths=(16,))


def test_command_and_what_programs_decide_by(monkeypatch: pytest.MonkeyPatch) -> None:
    def measured(threads: int) -> ProductPrices:
        return PRICES

    monkeypatch.setattr(calibration, "measure", measured)
    graph = gnnc.Graph(x=np.eye(5, 2, dtype=np.float32), edge_index=np.zeros((2, 1), np.int64))

    def crossover() -> float:
        module = gnnc.compile(GCNConv(2, 4).eval(), graph).module
        (found,) = [op.primitive for op in module.walk() if isinstance(op, LinearOp) and op.primitive]
        return found.crossover.value.data

    assert crossover() == DEFAULT_PRICES.crossover(2, 4)
    threads = torch.get_num_threads()
    result = CliRunner().invoke(command, ["--threads", str(threads)])
    assert result.exit_code == 0 and "0.25" in result.output and "0.75" in result.output
    assert crossover() == 0.25
