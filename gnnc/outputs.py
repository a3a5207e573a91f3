"""What a model returns: tensors inside tuples, lists and dicts, as a plain value that JSON can hold."""

from __future__ import annotations

from collections import defaultdict, namedtuple
from collections.abc import Iterator, Sequence
from typing import Any, TypeAlias

from torch.utils._pytree import TreeSpec

from gnnc.errors import UnsupportedModelError

# "tensor", None, ["tuple", …], ["list", …] or ["dict", [key, …], …]
OutputStructure: TypeAlias = Any

TENSOR = "tensor"


def output_structure(spec: TreeSpec, is_tensor: Sequence[bool]) -> OutputStructure:
    """torch's description of what a model returns as an OutputStructure; named tuples become tuples.

    `is_tensor` says which leaves are tensors; the others are None. Raises UnsupportedModelError for containers of other
    kinds, which only the model's own code could rebuild.
    """
    return _structure(spec, iter(is_tensor))


def _structure(spec: TreeSpec, is_tensor: Iterator[bool]) -> OutputStructure:
    if spec.is_leaf():
        return TENSOR if next(is_tensor) else None
    parts = [_structure(child, is_tensor) for child in spec.children()]
    if spec.type is namedtuple:
        return ["tuple", *parts]
    if issubclass(spec.type, dict):
        keys = spec.context[1] if issubclass(spec.type, defaultdict) else spec.context
        return ["dict", list(keys), *parts]
    if issubclass(spec.type, tuple | list):
        return ["list" if issubclass(spec.type, list) else "tuple", *parts]
    raise UnsupportedModelError(f"the model returns a {spec.type.__name__}: return tensors, tuples, lists or dicts")


def rebuild(structure: OutputStructure, tensors: Sequence[Any]) -> Any:
    """What the model returns, from its tensors in order."""
    return _rebuild(structure, iter(tensors))


def _rebuild(structure: OutputStructure, tensors: Iterator[Any]) -> Any:
    if structure is None:
        return None
    if structure == TENSOR:
        return next(tensors)
    kind, *parts = structure
    if kind == "dict":
        keys, *values = parts
        return {_key(key): _rebuild(value, tensors) for key, value in zip(keys, values, strict=True)}
    values = [_rebuild(part, tensors) for part in parts]
    return values if kind == "list" else tuple(values)


def flatten(structure: OutputStructure, value: Any) -> list[Any]:
    """The arrays inside what the model returns, in order; the reverse of `rebuild`."""
    if structure is None:
        return []
    if structure == TENSOR:
        return [value]
    kind, *parts = structure
    if kind == "dict":
        keys, *parts = parts
        value = [value[_key(key)] for key in keys]
    return [leaf for part, item in zip(parts, value, strict=True) for leaf in flatten(part, item)]


def _key(key: Any) -> Any:
    """A key of a dict; JSON knows no tuples, such as edge types."""
    return tuple(key) if isinstance(key, list) else key


def _text(key: Any) -> str:
    """A key in a name: `author__writes__paper` for an edge type."""
    return "__".join(key) if isinstance(key, list | tuple) else str(key)


def output_names(structure: OutputStructure, prefix: str = "") -> list[str]:
    """A name for each tensor, for reports: `output`, `output.0`, `output.logits`."""
    name = prefix or "output"
    if structure is None:
        return []
    if structure == TENSOR:
        return [name]
    kind, *parts = structure
    keys, values = (parts[0], parts[1:]) if kind == "dict" else (range(len(parts)), parts)
    return [n for key, value in zip(keys, values, strict=True) for n in output_names(value, f"{name}.{_text(key)}")]
