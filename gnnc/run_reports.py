"""Files that say what a run took."""

from __future__ import annotations

import json
from pathlib import Path

from gnnc.errors import RunError
from gnnc.output_files import write_text
from gnnc.targets.gpu.run_html import as_html
from gnnc.targets.gpu.run_report import RunReport


def check_report(path: Path, *, budgeted: bool) -> None:
    """Raises RunError if no report could be written there, or there is none."""
    if path.suffix not in (".json", ".html"):
        raise RunError(f"a report goes into a .json or .html file, not {path}")
    if not budgeted:
        raise RunError("--report tells of runs within a budget: give --memory or --store, too")


def write_report(path: Path, report: RunReport) -> None:
    """Writes a report as what the name says. Raises RunError where that can't be done."""
    write_text(path, as_html(report) if path.suffix == ".html" else json.dumps(report.as_json()) + "\n")
