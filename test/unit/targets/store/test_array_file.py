"""Rows of numbers in files."""

from pathlib import Path

import numpy as np
import pytest
import torch

from gnnc.targets.gpu.store.array_file import ArrayFile

DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.bool]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(), (3,), (2, 3)])
def test_rows_are_written_in_any_order(tmp_path: Path, dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    expected = torch.randint(0, 2, (10, *shape)).to(dtype)
    file = ArrayFile(tmp_path / "a.npy", 10, shape, dtype)
    file.open()
    file.write(6, expected[6:])
    file.write(2, expected[2:6])
    file.write_at(torch.tensor([0, 1]), expected[:2])
    file.sync()
    file.close()
    assert torch.equal(file.mapped(), expected)
    if dtype is not torch.bfloat16:
        assert np.array_equal(np.load(file.path), expected.numpy())


def test_ids_far_apart(tmp_path: Path) -> None:
    file = ArrayFile(tmp_path / "a.npy", 9, (2,), torch.float32)
    file.open()
    file.write_at(torch.tensor([1, 2, 5, 8]), torch.arange(8.0).reshape(4, 2))
    file.close()
    assert file.mapped()[[1, 2, 5, 8]].flatten().tolist() == list(range(8))
    assert file.mapped()[[0, 3, 4, 6, 7]].count_nonzero() == 0


def test_what_was_written_is_there_when_it_is_opened_again(tmp_path: Path) -> None:
    for value in (1.0, 2.0):
        file = ArrayFile(tmp_path / "a.npy", 2, (1,), torch.float32)
        file.open()
        file.write(int(value) - 1, torch.tensor([[value]]))
        file.close()
    assert file.mapped().flatten().tolist() == [1.0, 2.0]


def test_a_file_of_another_shape_is_made_anew(tmp_path: Path) -> None:
    (tmp_path / "a.npy").write_bytes(b"nonsense")
    file = ArrayFile(tmp_path / "a.npy", 0, (4,), torch.float32)
    file.open()
    file.close()
    assert file.mapped().shape == (0, 4)
