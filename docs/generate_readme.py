"""Writes the part of the README that says what compiles, from docs/coverage.md and gnnc/frontend/refusals.py."""

from __future__ import annotations

import re
from pathlib import Path

from gnnc.frontend.refusals import BEFORE_CAPTURE, REFUSALS

ROOT = Path(__file__).resolve().parents[1]
BEGIN, END = "<!-- begin: python docs/generate_readme.py -->", "<!-- end -->"


def section(coverage: str) -> str:
    """What stands between the two marks; `coverage` is the text of docs/coverage.md."""
    totals = re.search(r"Exact with usual arguments: \*\*(.+?)\*\* convs\. Exact in all: \*\*(.+?)\*\* cases", coverage)
    assert totals is not None
    refused = [f"- {refusal.what}" for refusal in (*REFUSALS, *BEFORE_CAPTURE)]
    return "\n".join(
        [
            f"Of torch-geometric's convs **{totals[1]}** are exact with their usual arguments, and {totals[2]} of the",
            "cases with options that are tried: [docs/coverage.md](docs/coverage.md) lists them all. Refused, with the",
            "operator, the line of your model and what to do instead ([docs/refusals.md](docs/refusals.md)):",
            "",
            *refused,
        ]
    )


def with_section(readme: str, coverage: str) -> str:
    """The README with the section as it should be."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n{section(coverage)}\n{END}{after}"


if __name__ == "__main__":
    file = ROOT / "README.md"
    text = with_section(file.read_text(encoding="utf-8"), (ROOT / "docs" / "coverage.md").read_text(encoding="utf-8"))
    file.write_text(text, encoding="utf-8")
