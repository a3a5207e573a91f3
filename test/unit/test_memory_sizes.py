"""Amounts of memory, as people write them."""

import pytest

from gnnc.errors import RunError
from gnnc.memory_sizes import memory_bytes


@pytest.mark.parametrize(
    ("text", "expected"),
    [("512MiB", 2**29), ("1.5 GiB", 3 * 2**29), ("64m", 2**26), ("2g", 2**31), ("100", 100), (7, 7), ("1 TB", 2**40)],
)
def test_sizes(text: str | int, expected: int) -> None:
    assert memory_bytes(text) == expected


@pytest.mark.parametrize("text", ["", "much", "12 apples", "-1", "0", 0, -5, True])
def test_what_is_no_size_is_refused(text: str | int) -> None:
    with pytest.raises(RunError, match="memory is"):
        memory_bytes(text)
