"""Passes are found by name: in the table, in their file, and in gnnc-opt."""

import contextlib
import inspect
import io
from pathlib import Path

import pytest
from xdsl.passes import ModulePass

from gnnc.opt import main
from gnnc.passes import get_all_passes

PASSES = {name: load() for name, load in get_all_passes().items()}
FOLDER = Path(inspect.getfile(get_all_passes)).parent


@pytest.mark.parametrize("name", PASSES)
def test_is_named_as_in_the_table(name: str) -> None:
    assert PASSES[name].name == name


@pytest.mark.parametrize("name", PASSES)
def test_file_is_named_after_the_pass(name: str) -> None:
    assert Path(inspect.getfile(PASSES[name])) == FOLDER / f"{name.replace('-', '_')}.py"


@pytest.mark.parametrize("name", PASSES)
def test_is_alone_in_its_file(name: str) -> None:
    module = inspect.getmodule(PASSES[name])
    classes = [value for value in vars(module).values() if inspect.isclass(value) and issubclass(value, ModulePass)]
    assert [value for value in classes if value is not ModulePass] == [PASSES[name]]


@pytest.mark.parametrize("name", PASSES)
def test_has_documentation(name: str) -> None:
    # passes are dataclasses, which get their signature for a docstring where they have none
    documentation = PASSES[name].__doc__ or ""
    assert documentation and not documentation.startswith(f"{PASSES[name].__name__}(")


def test_every_file_of_a_pass_is_in_the_table() -> None:
    files = {path.stem.replace("_", "-") for path in FOLDER.glob("*.py") if "(ModulePass)" in path.read_text()}
    assert files == set(PASSES)


def test_gnnc_opt_lists_them() -> None:
    text = io.StringIO()
    with contextlib.redirect_stdout(text), pytest.raises(SystemExit):
        main(["--help"])
    listed = "".join(text.getvalue().split())  # argparse breaks lines within names
    assert all(name in listed for name in PASSES)
