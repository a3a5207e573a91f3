"""What the README shows works as it stands there."""

from __future__ import annotations

import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return [text for name, text in found if name == language]


def test_the_complete_program_runs() -> None:
    (program,) = [block for block in blocks("python") if "import torch" in block]
    result = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stdout == "(34, 4)\n"


def test_the_commands_from_files_to_files_work() -> None:
    commands = [
        line for block in blocks("") for line in block.splitlines() if re.match(r"gnnc (?!compile model)", line)
    ]
    assert [shlex.split(command)[1] for command in commands] == [
        "compile",
        "run",
        "verify",
        "verify",
        "inspect",
        "explain",
        "compile",
        "inspect",
        "simulate",
    ]
    for command in commands:
        arguments = [sys.executable, "-m", "gnnc.cli.main", *shlex.split(command)[1:]]
        result = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=False)
        assert (result.returncode, result.stderr) == (0, ""), command
    header, *rows = (ROOT / "build" / "scores.csv").read_text().splitlines()
    assert header == "id,score_0,score_1,score_2,score_3"
    assert len(rows) == 34 and rows[0].startswith("member-00,")


COMMANDS = [line for block in blocks("") for line in block.splitlines() if line.startswith("gnnc-opt ")]


@pytest.mark.parametrize("command", COMMANDS)
def test_the_opt_commands_run(command: str) -> None:
    arguments = [sys.executable, "-m", "gnnc.opt", *shlex.split(command)[1:]]
    result = subprocess.run(arguments, cwd=ROOT, capture_output=True, text=True, check=False)
    assert result.returncode == 0, result.stderr


def test_the_commands_are_found() -> None:
    assert len(COMMANDS) == 3


def test_what_is_named_exists() -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
