"""Rows of files in another order."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch

from gnnc.targets.gpu.store.row_order import (
    open_places,
    write_places,
    write_renamed_edges,
    write_reordered,
)


@pytest.mark.parametrize("rows", [0, 1, 7, 100])
@pytest.mark.parametrize("budget", [1, 500, 10**9])
@pytest.mark.parametrize("shape", [(), (3,), (2, 2)])
def test_rows_in_order(tmp_path: Path, rows: int, budget: int, shape: tuple[int, ...]) -> None:
    order = np.random.default_rng(rows).permutation(rows)
    kept, places = write_places(tmp_path, order)
    values = torch.randn(rows, *shape)
    write_reordered(tmp_path / "a.npy", values, kept, places, budget)
    np.testing.assert_array_equal(np.load(tmp_path / "a.npy"), values.numpy()[order])
    again, _ = open_places(tmp_path)
    assert np.array_equal(again, order)
    back = torch.from_numpy(np.load(tmp_path / "a.npy"))
    write_reordered(tmp_path / "b.npy", back, places, kept, budget)
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), values.numpy())


def test_a_file_that_is_left_over_is_written_again(tmp_path: Path) -> None:
    kept, places = write_places(tmp_path, np.array([2, 0, 1]))
    (tmp_path / "a.npy.partial").write_bytes(b"torn")
    write_reordered(tmp_path / "a.npy", torch.tensor([1.0, 2.0, 3.0]), kept, places, 4)
    assert np.load(tmp_path / "a.npy").tolist() == [3.0, 1.0, 2.0]


def test_edges_get_the_new_names(tmp_path: Path) -> None:
    _, places = write_places(tmp_path, np.array([2, 0, 1]))
    write_renamed_edges(tmp_path / "e.npy", np.array([[0, 1, 2], [2, 2, 0]]), places, 2)
    assert np.load(tmp_path / "e.npy").tolist() == [[1, 2, 0], [0, 0, 1]]
