"""The tables of docs/task-stream.md are those of the layout."""

import importlib.util
from pathlib import Path

DOCS = Path(__file__).resolve().parents[2] / "docs"


def test_the_page_is_as_generated() -> None:
    spec = importlib.util.spec_from_file_location("generate_task_stream", DOCS / "generate_task_stream.py")
    assert spec is not None and spec.loader is not None
    generator = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(generator)
    message = "run python docs/generate_task_stream.py"
    assert generator.text() == (DOCS / "task-stream.md").read_text(encoding="utf-8"), message
