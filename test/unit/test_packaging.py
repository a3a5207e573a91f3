import shutil
import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

import pytest

import gnnc

ROOT = Path(__file__).parents[2]
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
# each top-level folder of sources with the package it installs as
FOLDERS = {"gnnc": "gnnc", "dialects": "gnnc.dialects", "passes": "gnnc.passes", "targets": "gnnc.targets"}


def source_files() -> dict[str, str]:
    """Every module of the checkout: its path from the root, and its path in an installed gnnc."""
    files = [file.relative_to(ROOT) for folder in FOLDERS for file in (ROOT / folder).rglob("*.py")]
    return {str(file): "/".join((FOLDERS[file.parts[0]].replace(".", "/"), *file.parts[1:])) for file in files}


def run_python(code: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", code], cwd=folder, capture_output=True, text=True, check=False)


def test_every_package_is_listed() -> None:
    installed = source_files().values()
    packages = {str(Path(file).parent).replace("/", ".") for file in installed}
    without_init = {name for name in packages if name.replace(".", "/") + "/__init__.py" not in installed}
    assert not without_init
    assert PYPROJECT["tool"]["setuptools"]["packages"] == sorted(packages)


def test_wheel_holds_every_module(tmp_path: Path) -> None:
    # in a copy: in the checkout setuptools would leave a build folder, whose stale files get into the next wheel
    sources, wheels = tmp_path / "sources", tmp_path / "wheels"
    for folder in FOLDERS:
        shutil.copytree(ROOT / folder, sources / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, sources)
    options = ["--no-deps", "--no-index", "--no-build-isolation", "--wheel-dir", str(wheels)]
    build = [sys.executable, "-m", "pip", "wheel", *options, str(sources)]
    done = subprocess.run(build, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr

    (wheel,) = wheels.iterdir()
    assert wheel.name == f"gnnc-{gnnc.__version__}-py3-none-any.whl"
    with zipfile.ZipFile(wheel) as archive:
        held = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert held == {*source_files().values(), *data_files(), "gnnc/py.typed"}


def data_files() -> set[str]:
    """What the FPGA target ships beside its modules: architecture files and the firmware."""
    found = [file for end in ("toml", "c", "h") for file in (ROOT / "targets").rglob(f"*.{end}")]
    return {f"gnnc/{file.relative_to(ROOT).as_posix()}" for file in found}


@pytest.mark.parametrize("folder", ["dialects", "passes", "targets"])
def test_bare_names_do_not_import(folder: str) -> None:
    done = run_python(f"import {folder}", ROOT)
    assert done.returncode != 0
    assert f"ImportError: this package is gnnc.{folder}, not {folder}: write `import gnnc.{folder}`" in done.stderr


def test_imports_from_the_root_and_from_elsewhere(tmp_path: Path) -> None:
    code = "import gnnc, gnnc.dialects, gnnc.passes, gnnc.targets; print(gnnc.dialects.__file__)"
    for folder in (ROOT, tmp_path):
        done = run_python(code, folder)
        assert done.returncode == 0, done.stderr
        assert Path(done.stdout.strip()) == ROOT / "dialects" / "__init__.py"


def test_import_is_light(tmp_path: Path) -> None:
    heavy = "{'torch', 'scipy', 'networkx', 'torch_mlir', 'torch_geometric'}"
    code = f"import gnnc, gnnc.graph, gnnc.errors, sys; print(sorted({heavy} & set(sys.modules)))"
    done = run_python(code, tmp_path)
    assert done.stdout.strip() == "[]", done.stderr


def test_every_public_name_is_there() -> None:
    for name in gnnc.__all__:
        assert getattr(gnnc, name) is not None
    assert dir(gnnc) == sorted(gnnc.__all__)
    with pytest.raises(AttributeError, match="module 'gnnc' has no attribute 'nothing'"):
        _ = gnnc.nothing


def test_the_checkout_stands_alone() -> None:
    # built by joining, so that this file does not hold them itself
    outside = ["../" + "shared", "/" + "work/"]
    found: list[str] = []
    for file in tracked_files():
        text = (ROOT / file).read_bytes().decode(errors="ignore")
        found += [f"{file}: {name}" for name in outside if name in text]
    assert not found


def tracked_files() -> list[str]:
    """The files that git has or would take; nothing where this is no git checkout."""
    git = ["git", "-C", str(ROOT), "ls-files", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(git, capture_output=True, text=True, check=False).stdout.splitlines()
    return [file for file in listed if (ROOT / file).is_file()]
