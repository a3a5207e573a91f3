"""torch's types and Python's values as attributes of the IR."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import torch
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    FileLineColLoc,
    FloatAttr,
    IntAttr,
    IntegerAttr,
    IntegerType,
    LocationAttr,
    NoneAttr,
    Signedness,
    StringAttr,
    UnknownLoc,
    bf16,
    f16,
    f32,
    f64,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute

from gnnc.dialects.gnn import DomainAttr
from gnnc.dialects.gnn.attributes import AnyTensor, tensor_on
from gnnc.errors import UnsupportedModelError
from gnnc.frontend.traced_values import Shape, Size, SourceLine

ELEMENT_TYPES: dict[torch.dtype, Attribute] = {
    torch.float64: f64,
    torch.float32: f32,
    torch.float16: f16,
    torch.bfloat16: bf16,
    torch.int64: i64,
    torch.int32: i32,
    torch.int16: i16,
    torch.int8: i8,
    torch.uint8: IntegerType(8, Signedness.UNSIGNED),
    torch.bool: i1,
}


def element_type(dtype: torch.dtype) -> Attribute:
    """The element type for a torch dtype. Raises UnsupportedModelError for complex and quantised ones."""
    if dtype not in ELEMENT_TYPES:
        raise UnsupportedModelError(f"values of type {dtype} are not supported")
    return ELEMENT_TYPES[dtype]


def location(line: SourceLine | None) -> LocationAttr:
    if line is None:
        return UnknownLoc()
    return FileLineColLoc(StringAttr(line.file), IntAttr(line.line), IntAttr(0))


def tensor_type(shape: Shape, dtype: torch.dtype, domains: Mapping[Size, DomainAttr]) -> AnyTensor:
    """The IR's type of a tensor with at most one run-time size."""
    sizes = [size for size in shape if isinstance(size, Size)]
    if len(sizes) > 1:
        raise UnsupportedModelError("a value has two axes over nodes or edges")
    domain = domains[sizes[0]] if sizes else None
    return tensor_on(domain, [DYNAMIC_INDEX if isinstance(s, Size) else s for s in shape], element_type(dtype))


def argument_attribute(argument: Any, on_value: Callable[[Any], Attribute]) -> Attribute:
    """A Python argument of an ATen call as an attribute; `on_value` takes values and sizes."""
    if argument is None:
        return NoneAttr()
    if isinstance(argument, bool):
        return IntegerAttr(int(argument), i1)
    if isinstance(argument, int):
        return IntegerAttr(argument, i64)
    if isinstance(argument, float):
        return FloatAttr(argument, f64)
    if isinstance(argument, str):
        return StringAttr(argument)
    if isinstance(argument, torch.dtype):
        return element_type(argument)
    if isinstance(argument, tuple | list):
        return ArrayAttr([argument_attribute(item, on_value) for item in argument])
    return on_value(argument)
