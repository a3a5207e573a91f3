"""A journal holds what was written whole, whatever a crash has left after it."""

from pathlib import Path

import pytest

from gnnc.targets.gpu.store.journal import Journal, line_of

RECORDS = [{"block": 0, "from": 0, "to": 7}, {"block": 0, "from": 7, "to": 9}, {"block": 1}]


def records_of(path: Path) -> list[dict[str, object]]:
    journal = Journal(path)
    journal.close()
    return list(journal.records())


def test_records_are_found_again(tmp_path: Path) -> None:
    journal = Journal(tmp_path / "journal")
    journal.append(*RECORDS[:2])
    journal.append(RECORDS[2])
    journal.close()
    assert records_of(tmp_path / "journal") == RECORDS


@pytest.mark.parametrize("cut", range(1, len(line_of(RECORDS[2])) + 1))
def test_a_torn_line_is_dropped_and_written_over(tmp_path: Path, cut: int) -> None:
    path = tmp_path / "journal"
    path.write_bytes(b"".join(line_of(record) for record in RECORDS)[:-cut])
    assert records_of(path) == RECORDS[:2]
    journal = Journal(path)
    journal.append({"block": 9})
    journal.close()
    assert records_of(path) == [*RECORDS[:2], {"block": 9}]


def test_nothing_after_a_damaged_line_counts(tmp_path: Path) -> None:
    path = tmp_path / "journal"
    lines = [line_of(record) for record in RECORDS]
    path.write_bytes(lines[0] + lines[1].replace(b"7", b"8", 1) + lines[2])
    assert records_of(path) == RECORDS[:1]
