"""Row-wise rules over all that torch calls pointwise, and over random shapes: accepted implies local."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from rowwise_probe import (
    N,
    assert_local,
    call,
    operand,
)

from gnnc.frontend.rowwise_rules import NotRowwise, operator_of, prove_rowwise
from gnnc.frontend.traced_values import Shape, Size, TracedValue

# What torch tags as pointwise, all of it.


def returns_tensor(schema: Any) -> bool:
    return str(schema.returns[0].type) == "Tensor" if schema.returns else False


OPERATORS = {
    f"aten.{schema.name.removeprefix('aten::')}.{schema.overload_name or 'default'}"
    for schema in torch._C._jit_get_all_schemas()  # pyright: ignore[reportPrivateUsage] # there is no public list
    if schema.name.startswith("aten::") and not schema.is_mutable and returns_tensor(schema)
}
POINTWISE = sorted(name for name in OPERATORS if torch.Tag.pointwise in operator_of(name).tags)


def pointwise_call(name: str, dtype: torch.dtype, others: Shape) -> TracedValue:
    """The operator on one value with rows and others of a given shape."""
    arguments: list[Any] = []
    for parameter in operator_of(name)._schema.arguments:
        kind = str(parameter.type)
        if kind in ("Tensor", "Optional[Tensor]"):
            shape = others if any(isinstance(a, TracedValue) for a in arguments) else (N, 3)
            arguments.append(operand(shape, torch.bool if parameter.name in ("condition", "mask") else dtype))
        elif parameter.kwarg_only or parameter.has_default_value():
            break
        else:
            arguments.append(1 if kind in ("int", "number") else 0.5 if kind == "float" else True)
    more, keywords = MORE_ARGUMENTS.get(name, ((), {}))
    return call(name, *arguments, *more, **keywords)


MORE_ARGUMENTS: dict[str, tuple[tuple[Any, ...], dict[str, Any]]] = {
    "aten.clamp.default": ((0,), {}),
    "aten.clip.default": ((0,), {}),
    "aten.div.Scalar_mode": ((), {"rounding_mode": "floor"}),
    "aten.div.Tensor_mode": ((), {"rounding_mode": "floor"}),
    "aten.round.decimals": ((), {"decimals": 1}),
}


def test_all_pointwise_operators_are_known() -> None:
    assert len(POINTWISE) > 200


@pytest.mark.parametrize("name", POINTWISE)
def test_what_torch_calls_pointwise_is_local(name: str) -> None:
    local = 0
    for dtype in (torch.float32, torch.int64):
        for others in ((N, 3), (N, 1), (3,), (2, N, 3)):
            try:
                value = pointwise_call(name, dtype, others)
            except (RuntimeError, TypeError, NotImplementedError):
                continue
            if value.outputs[0][1].is_complex:
                continue
            prove_rowwise(value)
            assert_local(value)
            local += 1
    assert local


# Any shape: the rule's verdict against the probe.

searched = settings(max_examples=60, deadline=None, derandomize=True)


@st.composite
def shapes(draw: st.DrawFn, smallest: int = 1, largest: int = 4) -> Shape:
    """A shape with rows on any one axis."""
    rank = draw(st.integers(smallest, largest))
    sizes: list[int | Size] = draw(st.lists(st.integers(1, 3), min_size=rank, max_size=rank))
    sizes[draw(st.integers(0, rank - 1))] = N
    return tuple(sizes)


def check(make: Callable[[], TracedValue], *, expected: bool | None = None) -> None:
    """Accepted implies local. What torch refuses, or what has a number of results that depends on rows, is no call."""
    try:
        value = make()
    except (RuntimeError, IndexError, ValueError):
        return
    try:
        prove_rowwise(value)
    except NotRowwise:
        assert expected is not True
        return
    assert expected is not False
    assert_local(value)


def axes_of(shape: Shape) -> st.SearchStrategy[int]:
    return st.integers(-len(shape), len(shape) - 1)


ALONG_ONE = (
    "aten.softmax.int",
    "aten.cumsum.default",
    "aten.cumprod.default",
    "aten.prod.dim_int",
    "aten.max.dim",
    "aten.median.dim",
    "aten.any.dim",
    "aten.sort.default",
    "aten.argmax.default",
    "aten.unbind.int",
)
ALONG_MANY = (
    "aten.sum.dim_IntList",
    "aten.mean.dim",
    "aten.amax.default",
    "aten.logsumexp.default",
    "aten.flip.default",
    "aten.var.correction",
)


@searched
@given(st.data())
def test_work_along_one_axis(data: st.DataObject) -> None:
    shape = data.draw(shapes())
    dim = data.draw(axes_of(shape))
    name = data.draw(st.sampled_from(ALONG_ONE))
    check(lambda: call(name, operand(shape), dim), expected=shape[dim] is not N)


@searched
@given(st.data())
def test_work_along_many_axes(data: st.DataObject) -> None:
    shape = data.draw(shapes())
    dims = tuple(data.draw(st.lists(axes_of(shape), max_size=3)))
    name = data.draw(st.sampled_from(ALONG_MANY))
    touched = not dims or any(shape[dim] is N for dim in dims)
    check(lambda: call(name, operand(shape), dims), expected=None if touched else True)


@searched
@given(st.data())
def test_roll(data: st.DataObject) -> None:
    shape = data.draw(shapes())
    dims = tuple(data.draw(st.lists(axes_of(shape), max_size=2)))
    check(lambda: call("aten.roll.default", operand(shape), (1,) * max(1, len(dims)), dims))


@searched
@given(st.data())
def test_reshape(data: st.DataObject) -> None:
    """Numbers are dealt to the axes before and after the rows; sometimes to the wrong side."""
    shape = data.draw(shapes())
    numbers = [f for size in shape if isinstance(size, int) for f in ([size] if size > 1 else [])]
    numbers = data.draw(st.permutations([*numbers, 1]))
    place = data.draw(st.integers(0, len(numbers)))
    wanted = (*numbers[:place], N, *numbers[place:])
    if data.draw(st.booleans()):
        factor = data.draw(st.sampled_from([n for n in numbers if n]))
        wanted = (*(n for n in wanted if n is not N and n != factor), -1)
    check(lambda: call("aten.view.default", operand(shape), wanted))


@searched
@given(st.data())
def test_expand_and_repeat(data: st.DataObject) -> None:
    shape = data.draw(shapes(largest=3))
    front: list[int | Size] = data.draw(st.lists(st.sampled_from([1, 2, 6]), max_size=2))
    wanted = [*front, *(data.draw(st.sampled_from([size, 2, -1, N] if size == 1 else [size, -1])) for size in shape)]
    check(lambda: call("aten.expand.default", operand(shape), tuple(wanted)))
    repeats = tuple(data.draw(st.lists(st.integers(1, 2), min_size=len(shape), max_size=len(shape) + 1)))
    check(lambda: call("aten.repeat.default", operand(shape), repeats))


@searched
@given(st.data())
def test_permute_cat_stack_and_squeeze(data: st.DataObject) -> None:
    shape = data.draw(shapes())
    order = tuple(data.draw(st.permutations(range(len(shape)))))
    dim = data.draw(axes_of(shape))
    check(lambda: call("aten.permute.default", operand(shape), order), expected=True)
    check(lambda: call("aten.cat.default", (operand(shape), operand(shape)), dim), expected=shape[dim] is not N)
    check(lambda: call("aten.stack.default", (operand(shape), operand(shape)), dim), expected=True)
    check(lambda: call("aten.squeeze.dim", operand(shape), dim), expected=shape[dim] is not N)


@searched
@given(st.data())
def test_broadcasting(data: st.DataObject) -> None:
    lhs, rhs = data.draw(shapes(largest=3)), data.draw(shapes(largest=3))
    if data.draw(st.booleans()):
        rhs = tuple(1 if size is N else size for size in rhs)
    check(lambda: call("aten.add.Tensor", operand(lhs), operand(rhs)))


@searched
@given(st.data())
def test_products(data: st.DataObject) -> None:
    size = st.sampled_from([2, 3, N])
    shared, batch = data.draw(size), data.draw(st.lists(size, max_size=1))
    lhs = (*data.draw(st.sampled_from([(), (1,), batch])), *data.draw(st.lists(size, max_size=1)), shared)
    rhs = (*batch, shared, *data.draw(st.lists(size, min_size=len(batch), max_size=1)))
    assume(N in lhs or N in rhs)
    check(lambda: call("aten.matmul.default", operand(lhs), operand(rhs)))


@searched
@given(st.data())
def test_picking(data: st.DataObject) -> None:
    size = st.sampled_from([2, 3, N])
    table, picked = (tuple(data.draw(st.lists(size, min_size=1, max_size=2))) for _ in range(2))
    assume(N in table or N in picked)
    dim = data.draw(axes_of(table))
    index = operand(picked, torch.int64)
    check(lambda: call("aten.gather.default", operand(table), dim, index))
    check(lambda: call("aten.index.Tensor", operand(table), (None,) * (dim % len(table)) + (index,)))
    if len(picked) == 1:
        check(lambda: call("aten.index_select.default", operand(table), dim, index))


@searched
@given(st.data())
def test_einsum(data: st.DataObject) -> None:
    letters = {"a": 2, "b": 3, "n": N, "m": N}
    terms = data.draw(
        st.lists(st.lists(st.sampled_from("abnm"), min_size=1, max_size=3, unique=True), min_size=1, max_size=2)
    )
    used = sorted({letter for term in terms for letter in term})
    result = data.draw(st.lists(st.sampled_from(used), unique=True))
    equation = f"{','.join(''.join(term) for term in terms)}->{''.join(result)}"
    values = tuple(operand(tuple(letters[letter] for letter in term)) for term in terms)
    assume(any(value.sizes for value in values))
    check(lambda: call("aten.einsum.default", equation, values))
