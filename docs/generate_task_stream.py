"""Writes the tables of docs/task-stream.md from the layout that the writer, the reader and the C header use.

python docs/generate_task_stream.py
"""

from __future__ import annotations

import re
from pathlib import Path

from gnnc.targets.fpga.stream import layout
from gnnc.targets.fpga.stream.layout import Record

PAGE = Path(__file__).resolve().parent / "task-stream.md"
TABLE = re.compile(r"(<!-- table (\w+) -->\n).*?(<!-- end -->)", re.DOTALL)
TYPES = {"u1": "u8", "u2": "u16", "u4": "u32", "u8": "u64", "f4": "f32"}


def record_table(record: Record) -> str:
    lines = ["| offset | type | field | |", "|---|---|---|---|"]
    for field, offset in zip(record.fields, record.offsets(), strict=True):
        kind = TYPES[field.type] + (f"[{field.count}]" if field.count > 1 else "")
        lines.append(f"| {offset} | {kind} | `{field.name}` | {field.meaning} |")
    used = record.offsets()[-1] + int(record.fields[-1].type[1]) * record.fields[-1].count
    if used < record.bytes:
        lines.append(f"| {used} | u8[{record.bytes - used}] | | zero |")
    return "\n".join(lines)


def enum_table(name: str) -> str:
    members = next(enum for enum in layout.ENUMS if enum.__name__ == name)
    lines = ["| value | name |", "|---|---|"]
    return "\n".join([*lines, *(f"| {member.value} | `{member.name}` |" for member in members)])


def text() -> str:
    """The page with its tables filled in."""
    records = {record.name: record for record in layout.RECORDS}

    def filled(match: re.Match[str]) -> str:
        name = match[2]
        table = record_table(records[name]) if name in records else enum_table(name)
        return f"{match[1]}{table}\n{match[3]}"

    return TABLE.sub(filled, PAGE.read_text(encoding="utf-8"))


if __name__ == "__main__":
    PAGE.write_text(text(), encoding="utf-8")
