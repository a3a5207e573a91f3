"""Models from files: a callable that makes the module, and the weights that it was trained to."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import itertools
import os
import re
import sys
import traceback
import warnings
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager, nullcontext
from os import PathLike
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, Any

from gnnc.errors import ModelError

if TYPE_CHECKING:
    import torch
    from torch import Tensor

# under these a checkpoint keeps the weights, beside the optimizer's state and such
WRAPPERS = ("state_dict", "model_state_dict", "model")
# what DataParallel and torch.compile put before the names of weights
PREFIXES = ("module.", "_orig_mod.")
WINDOWS_DRIVE = re.compile(r"[A-Za-z]:[\\/][^:]*")

_numbers = itertools.count(1)
# modules that lay beside the model file that was loaded last: another folder may have others of the same names
_siblings: set[str] = set()


def load_model(spec: str, weights: str | PathLike[str] | None = None) -> torch.nn.Module:
    """Make the model that `spec` names, in evaluation mode, and load `weights` into it if they are given.

    `spec` is `file.py:callable` or `package.module:callable`. The callable is called without arguments and returns a
    torch.nn.Module; a class of modules will do, and so will a module itself. While it loads, imports find what lies
    beside the file, or in the current folder for a package. `weights` is a file as load_weights reads it.

    Raises ModelError if there is no such callable, it fails or returns something else, or the weights do not fit.
    """
    place, name = _parts(spec)
    path = Path(place)
    is_file = path.suffix == ".py"
    # os.path, since in a folder that may not be entered Path.is_file raises
    if is_file and not os.path.isfile(path):
        raise ModelError(f"{place} is not a file; check the path of the model.")
    folder = path.resolve().parent if is_file else Path.cwd()
    with _importable(folder), _own_siblings(folder) if is_file else nullcontext():
        module = _load_file(path, folder) if is_file else _import(place, folder)
        model = _made(_found(module, place, name), spec, folder)
    if weights is not None:
        apply_weights(model, load_weights(weights), weights)
    return model.eval()


def load_weights(path: str | PathLike[str]) -> dict[str, Tensor]:
    """Read named weights from a `.safetensors` file, or a `.pt`, `.pth` or `.bin` file by torch.save.

    torch reads with `weights_only`, so nothing in the file runs. The weights may lie bare or under `state_dict`,
    `model_state_dict` or `model`; what else is in the file, such as the optimizer's state, is not looked at.

    Raises ModelError if the file is missing, damaged, holds code, or has no weights.
    """
    file = Path(path)
    if not os.path.isfile(file):
        raise ModelError(f"{file} is not a file; check the path of the weights.")
    suffix = file.suffix.lower()
    if suffix == ".safetensors":
        return _read_safetensors(file)
    if suffix in (".pt", ".pth", ".bin"):
        return _unwrapped(_read_torch(file), file)
    raise ModelError(f"{file} is no file of weights that gnnc reads; pass .safetensors, .pt, .pth or .bin.")


def apply_weights(model: torch.nn.Module, state: Mapping[str, Tensor], path: str | PathLike[str]) -> None:
    """Load the weights into the model; `path` names them in messages.

    A prefix `module.` (of DataParallel) or `_orig_mod.` (of torch.compile) before all of their names is removed, unless
    the model's names have it too.

    Raises ModelError, and leaves the model as it is, if weights are missing, left over, or have another shape.
    """
    from torch.nn.parameter import is_lazy

    expected = model.state_dict()
    given = _without_prefixes(dict(state), expected)
    name = type(model).__name__
    faults = [
        (f"lacks weights that {name} has", [key for key in expected if key not in given]),
        (f"has weights that {name} does not have", [key for key in given if key not in expected]),
        (
            f"has weights of other shapes than {name}",
            [
                f"{key} {list(given[key].shape)} for {list(value.shape)}"
                for key, value in expected.items()
                # a lazy parameter takes the shape of what is loaded
                if key in given and not is_lazy(value) and given[key].shape != value.shape
            ],
        ),
    ]
    said = [f"{fault}: {_some(names)}" for fault, names in faults if names]
    if said:
        raise ModelError(f"{path} {'; and it '.join(said)}; pass the weights that were saved from this model.")
    try:
        model.load_state_dict(given)
    except RuntimeError as error:
        raise ModelError(f"{path} does not fit {name}: {_first_line(error)}.") from error


def _parts(spec: str) -> tuple[str, str]:
    place, colon, name = spec.rpartition(":")
    if not (colon and place and name) or WINDOWS_DRIVE.fullmatch(spec):
        raise ModelError(f"{spec!r} does not say what makes the model; write file.py:callable or module:callable.")
    return place, name


@contextmanager
def _importable(folder: Path) -> Generator[None]:
    """Let imports find what lies in `folder`."""
    sys.path.insert(0, str(folder))
    importlib.invalidate_caches()
    try:
        yield
    finally:
        # the model may have taken it out itself
        if str(folder) in sys.path:
            sys.path.remove(str(folder))


@contextmanager
def _own_siblings(folder: Path) -> Generator[None]:
    """Forget the modules that lay beside the model file before, and remember those that this one imports."""
    while _siblings:
        sys.modules.pop(_siblings.pop(), None)
    before = set(sys.modules)
    packages = {name.partition(".")[0] for name in before}
    try:
        yield
    finally:
        new = {name for name in set(sys.modules) - before if name.partition(".")[0] not in packages}
        _siblings.update(name for name in new if _lies_in(folder, name))


def _lies_in(folder: Path, name: str) -> bool:
    """Whether a module is `folder/NAME.py` or of the package `folder/NAME`; an environment below is neither."""
    file = Path(getattr(sys.modules[name], "__file__", None) or "/")
    package = folder / name.partition(".")[0]
    return file == package.with_suffix(".py") or package in file.parents


def _load_file(path: Path, folder: Path) -> ModuleType:
    # a name of its own, since several models may be called model.py
    name = f"gnnc_model_{next(_numbers)}_{path.stem}"
    found = importlib.util.spec_from_file_location(name, folder / path.name)
    assert found is not None and found.loader is not None, "a .py file always has a loader"
    module = importlib.util.module_from_spec(found)
    # before it runs, because dataclasses and PyG look their module up
    sys.modules[name] = module
    try:
        with _own_errors(str(path), folder):
            found.loader.exec_module(module)
    except BaseException:
        del sys.modules[name]
        raise
    return module


def _import(name: str, folder: Path) -> ModuleType:
    with _own_errors(f"The module {name}", folder):
        try:
            return importlib.import_module(name)
        except ModuleNotFoundError as error:
            # a module that this one imports may be missing just as well
            if not error.name or not f"{name}.".startswith(f"{error.name}."):
                raise
            missing = error.name
    raise ModelError(f"There is no module {missing!r} here or installed; write file.py:callable or module:callable.")


def _found(module: ModuleType, place: str, name: str) -> Any:
    """Return what the module has under `name`, or raise ModelError with what it could have been."""
    if hasattr(module, name):
        return getattr(module, name)
    own = [key for key, value in vars(module).items() if getattr(value, "__module__", None) == module.__name__]
    candidates = [key for key in own if callable(getattr(module, key)) and not key.startswith("_")]
    advice = f"it has {_some(candidates)}" if candidates else "write a function that returns the model"
    raise ModelError(f"{place} has no {name!r}; {advice}.")


def _made(maker: Any, spec: str, folder: Path) -> torch.nn.Module:
    """Call what makes the model; raise ModelError if that fails or gives something else."""
    from torch.nn import Module

    if isinstance(maker, Module):
        return maker
    if not callable(maker):
        raise ModelError(f"{spec} is of type {type(maker).__name__}; name a function that returns a torch.nn.Module.")
    needed = _needed_arguments(maker)
    if needed:
        raise ModelError(
            f"{spec} takes {_some(needed)}, but is called without arguments; add a function that passes them, and name "
            "that."
        )
    with _own_errors(spec, folder):
        model = maker()
    if not isinstance(model, Module):
        raise ModelError(f"{spec} returned {type(model).__name__}; it must return a torch.nn.Module.")
    return model


def _needed_arguments(maker: Callable[..., Any]) -> list[str]:
    try:
        parameters = inspect.signature(maker).parameters.values()
    except (ValueError, TypeError):
        # some that are written in C do not say; the call will
        return []
    optional = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return [p.name for p in parameters if p.default is p.empty and p.kind not in optional]


@contextmanager
def _own_errors(subject: str, folder: Path) -> Generator[None]:
    """Turn what the user's code raises into a ModelError that says where."""
    try:
        yield
    except (Exception, SystemExit) as error:
        place = f"{error.filename}:{error.lineno}" if isinstance(error, SyntaxError) else _place(error, folder)
        raise ModelError(f"{subject} raised {type(error).__name__} at {place}: {_first_line(error)}.") from error


def _place(error: BaseException, folder: Path) -> str:
    """Return file and line of the innermost call that lies in `folder`, or of the innermost one."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [
        frame for frame in frames if folder in Path(frame.filename).parents and "site-packages" not in frame.filename
    ]
    frame = (own or frames)[-1]
    return f"{frame.filename}:{frame.lineno}"


def _read_safetensors(file: Path) -> dict[str, Tensor]:
    from safetensors.torch import load_file

    try:
        # the library would call a file that may not be read missing
        file.open("rb").close()
        return load_file(file)
    except Exception as error:
        # on damaged bytes the library raises nearly anything
        raise _damaged(file, f"no .safetensors file ({_first_line(error)})", error) from None


def _read_torch(file: Path) -> Any:
    import torch

    try:
        with warnings.catch_warnings():
            # of files that are none of torch.save's
            warnings.simplefilter("error")
            return torch.load(file, map_location="cpu", weights_only=True)
    except Exception as error:
        # torch asks for it with or without weights, and has no other way of naming it
        code = re.search(r"GLOBAL (\S+)", str(error))
        if code:
            raise ModelError(
                f"{file} holds {code[1]} and not only tensors: torch refuses to unpickle it, since that may run code; "
                "save model.state_dict() alone."
            ) from None
        raise _damaged(file, "not written by torch.save", error) from None


def _damaged(file: Path, what: str, error: Exception) -> ModelError:
    if isinstance(error, OSError) and error.strerror:
        return ModelError(f"{file} cannot be opened ({error.strerror}); check who may read it.")
    return ModelError(f"{file} is damaged or {what}; copy or save it again.")


def _unwrapped(content: object, file: Path) -> dict[str, Tensor]:
    """Find the weights in what torch.save wrote; raise ModelError if there are none."""
    if not isinstance(content, dict):
        raise ModelError(f"{file} holds {type(content).__name__}, no weights by name; save model.state_dict().")
    found: dict[Any, Any] = content
    inner = next((found[key] for key in WRAPPERS if isinstance(found.get(key), dict)), found)
    weights = _tensors(inner)
    if not weights and found:
        raise ModelError(
            f"{file} has no weights under {_some(WRAPPERS)}, only {_some(map(str, found))}; save model.state_dict()."
        )
    return weights


def _tensors(content: dict[Any, Any]) -> dict[str, Tensor]:
    from torch import Tensor

    return {name: value for name, value in content.items() if isinstance(name, str) and isinstance(value, Tensor)}


def _without_prefixes(state: dict[str, Tensor], expected: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Remove what wrappers of the model put before all names."""
    prefix = next((p for p in PREFIXES if state and all(key.startswith(p) for key in state)), None)
    if prefix is None or any(key.startswith(prefix) for key in expected):
        return state
    # one wrapper may lie in the other
    return _without_prefixes({key.removeprefix(prefix): value for key, value in state.items()}, expected)


def _some(names: Iterable[str]) -> str:
    """List the first three names, and how many more there are."""
    names = list(names)
    more = len(names) - 3
    return ", ".join(names[:3]) + (f" and {more} more" if more > 0 else "")


def _first_line(error: BaseException) -> str:
    lines = str(error).strip().splitlines()
    return lines[0].rstrip(".") if lines else "it does not say why"
