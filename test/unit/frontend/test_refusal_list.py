"""Every reason that a rule gives is of a kind that the docs list, with what to do instead."""

from __future__ import annotations

import ast
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from gnnc.frontend import emit, global_rules, rowwise_rules
from gnnc.frontend.refusals import BEFORE_CAPTURE, REFUSALS, advised, refusal_of

ROOT = Path(__file__).parents[3]


def reasons(file: str) -> Iterator[str]:
    """The texts of `raise NotRowwise(...)` and `refuse(..., ...)` in a module; what is filled in becomes 'x'."""
    for node in ast.walk(ast.parse(Path(file).read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ("NotRowwise", "refuse"):
            yield from text_of(node.args[-1])


def text_of(node: ast.expr) -> Iterator[str]:
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        yield node.value
    elif isinstance(node, ast.IfExp):
        yield from (*text_of(node.body), *text_of(node.orelse))
    elif isinstance(node, ast.JoinedStr):
        filled = "".join(str(part.value) if isinstance(part, ast.Constant) else "x" for part in node.values)
        if filled != "it x":  # `it {reason}`, where the reason is a rule's
            yield filled


ALL = [reason for module in (rowwise_rules, emit, global_rules) for reason in reasons(str(module.__file__))]


@pytest.mark.parametrize("reason", sorted(set(ALL)))
def test_every_reason_is_listed(reason: str) -> None:
    assert refusal_of(reason) is not None


def test_there_are_reasons() -> None:
    assert len(ALL) > 40


def test_advice_is_one_sentence_with_the_reason() -> None:
    assert advised("it sorts over all nodes or edges").startswith("it sorts over all nodes or edges; compute it from")
    assert advised("it is random: put the layer in eval mode") == "it is random: put the layer in eval mode"
    assert advised("something else") == "something else"
    assert all(not refusal.instead.endswith(".") for refusal in (*REFUSALS, *BEFORE_CAPTURE))


def test_patterns_are_found_by_what_they_are_for() -> None:
    for refusal in REFUSALS:
        assert any(refusal_of(reason) is refusal for reason in [*ALL, *ELSEWHERE]), refusal.what


# Reasons that other modules give, or that rules make of what they are called with.
ELSEWHERE = ["sorts over all nodes or edges", "values of type complex64 are not supported"]


def test_what_is_said_before_capture_is_in_the_code() -> None:
    texts = [file.read_text(encoding="utf-8") for file in (ROOT / "gnnc" / "frontend").glob("*.py")]
    sources = "".join(text for text in texts if "BEFORE_CAPTURE" not in text)
    for refusal in BEFORE_CAPTURE:
        assert re.search(refusal.pattern, sources)


def script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(name, ROOT / "docs" / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_page_is_up_to_date() -> None:
    assert page("docs/refusals.md") == script("generate_refusals").text()


def test_the_readme_says_what_compiles() -> None:
    readme = page("README.md")
    assert readme == script("generate_readme").with_section(readme, page("docs/coverage.md"))
