"""filecheck passes over directives that it doesn't know. These tests read what it would not."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from gnnc.universe import GNNC_UNIVERSE

ROOT = Path(__file__).parents[2]
FILECHECK = ROOT / "test" / "filecheck"
DIALECTS = {name: factory() for name, factory in GNNC_UNIVERSE.all_dialects.items()}
OPERATIONS = [(name, operation.name) for name, dialect in DIALECTS.items() for operation in dialect.operations]

# what is meant as a directive: an upper-case word with a colon, CHECK without one, check or run in any case with one
MEANT = re.compile(r"//\s*([A-Z]{2,}\S*?:|CHECK\S*|(?i:check|run)[-\w]*\s*:)")
KNOWN_SUFFIX = r"(-NEXT|-SAME|-NOT|-DAG|-LABEL|-EMPTY|-COUNT-[1-9]\d*)?:"
FILECHECK_RUN = re.compile(r"^// RUN:.*filecheck %s(.*)$", re.MULTILINE)
CHECK = re.compile(r"//\s*CHECK[-A-Z0-9]*:\s*(.*)")


def paths(folder: Path, pattern: str = "*.mlir") -> list[Path]:
    return sorted(folder.rglob(pattern))


def prefixes(text: str) -> set[str]:
    """What directives begin with in a test: CHECK, unless its RUN lines say otherwise."""
    options = FILECHECK_RUN.findall(text)
    given = [re.search(r"--check-prefix[= ](\S+)", option) for option in options]
    return {match[1] if match else "CHECK" for match in given} or {"CHECK"}


def unknown_directives(text: str) -> list[str]:
    known = re.compile(rf"RUN:|({'|'.join(map(re.escape, prefixes(text)))}){KNOWN_SUFFIX}")
    return [meant for meant in MEANT.findall(text) if not known.fullmatch(meant)]


def exception_messages(folder: Path) -> Iterator[str]:
    """The message of every VerifyException that the sources raise, as a regular expression."""
    for path in sorted(folder.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "VerifyException":
                yield message_pattern(node.args[0])


def message_pattern(message: ast.expr) -> str:
    """A regular expression for a string or an f-string."""
    parts = message.values if isinstance(message, ast.JoinedStr) else [message]
    return "".join(re.escape(str(part.value)) if isinstance(part, ast.Constant) else ".+" for part in parts)


@pytest.mark.parametrize(
    "text",
    [
        "// CHECK-NXT: a",
        "// CHEKC: a",
        "//CHECK_NEXT: a",
        "// CHECK a",
        "// Check: a",
        "// CHECK-COUNT: a",
        "// RUNS: a",
        "// MODEL: a",
        "// RUN: gnnc-opt %s | filecheck %s --check-prefix MODEL\n// MODEL-NXT: a",
        "// RUN: gnnc-opt %s | filecheck %s --check-prefix MODEL\n// MODLE: a",
        "// RUN: gnnc-opt %s | filecheck %s --check-prefix MODEL\n// CHECK: a",
    ],
)
def test_misspelt_directive_is_seen(text: str) -> None:
    assert unknown_directives(f"%x = gnn.count on<nodes 'n'>\n{text}\n")


@pytest.mark.parametrize(
    "text",
    [
        "// RUN: a",
        "// CHECK: a",
        "// CHECK-COUNT-2: a",
        "// DGI, section on CHECK: a",
        "// RUN: gnnc-opt %s | filecheck %s --check-prefix=MODEL\n// RUN: gnnc-opt %s | filecheck %s\n"
        "// MODEL-NEXT: a\n// CHECK: b",
    ],
)
def test_known_directive_is_no_error(text: str) -> None:
    assert not unknown_directives(text)


@pytest.mark.parametrize("path", paths(FILECHECK), ids=lambda path: str(path.relative_to(FILECHECK)))
def test_directives(path: Path) -> None:
    text = path.read_text()
    assert not unknown_directives(text)
    assert "// RUN:" in text
    assert "filecheck %s" in text
    assert all(re.search(rf"//\s*{re.escape(prefix)}{KNOWN_SUFFIX}", text) for prefix in prefixes(text))


@pytest.mark.parametrize("path", paths(FILECHECK, "*_invalid.mlir"), ids=lambda path: str(path.relative_to(FILECHECK)))
def test_every_invalid_case_has_a_check(path: Path) -> None:
    assert all(CHECK.search(case) for case in path.read_text().split("// -----"))


@pytest.mark.parametrize(("dialect", "name"), OPERATIONS)
def test_operation_is_in_a_filecheck_test(dialect: str, name: str) -> None:
    use = re.compile(rf"(?<![\w.]){re.escape(name)}(?![\w.])")
    tests = [path for path in paths(FILECHECK / "dialects" / dialect) if not path.stem.endswith("_invalid")]
    assert any(use.search(CHECK.sub("", path.read_text())) for path in tests)


@pytest.mark.parametrize(
    ("dialect", "message"), [(name, m) for name in DIALECTS for m in exception_messages(ROOT / "dialects" / name)]
)
def test_message_is_in_a_filecheck_test(dialect: str, message: str) -> None:
    tests = paths(FILECHECK / "dialects" / dialect, "*_invalid.mlir")
    checks = [check for path in tests for check in CHECK.findall(path.read_text())]
    assert any(re.fullmatch(message, check) for check in checks)
