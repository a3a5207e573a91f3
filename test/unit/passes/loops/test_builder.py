"""What the builder of loops emits once, and where."""

from __future__ import annotations

import math

from xdsl.dialects.arith import ConstantOp
from xdsl.dialects.builtin import f32
from xdsl.dialects.vector import BroadcastOp
from xdsl.ir import Block, SSAValue

from gnnc.passes.loops.builder import LoopBuilder, index


def builder() -> LoopBuilder:
    return LoopBuilder(Block(arg_types=[index, index, f32]), f32, 16)


def number_of(value: SSAValue) -> float:
    assert isinstance(value.owner, ConstantOp)
    return float(str(value.owner.value).split()[0])


def broadcasts(b: LoopBuilder) -> list[BroadcastOp]:
    return [op for op in b.top.walk() if isinstance(op, BroadcastOp)]


def test_a_constant_is_made_once() -> None:
    b = builder()
    assert b.number(2.0) is b.number(2.0)
    assert b.index(2) is b.index(2)
    assert b.index(2) is not b.number(2.0)


def test_zeros_of_both_signs_are_two_constants() -> None:
    b = builder()
    zero, negative = b.number(0.0), b.number(-0.0)
    assert math.copysign(1, number_of(zero)) == 1
    assert math.copysign(1, number_of(negative)) == -1
    assert b.splat(0.0) is not b.splat(-0.0)


def test_a_number_in_all_lanes_is_a_constant() -> None:
    b = builder()
    assert b.widened(b.number(3.0)) is b.splat(3.0)
    assert not broadcasts(b)


def test_a_scalar_is_put_into_lanes_once_in_a_block_and_those_inside_of_it() -> None:
    b = builder()
    scalar = b.top.args[2]
    outer = b.widened(scalar)
    b.loop(b.top.args[0], b.top.args[1], b.index(1), [], lambda _, __: [] if b.widened(scalar) is outer else [scalar])
    assert len(broadcasts(b)) == 1


def test_what_was_put_into_lanes_inside_of_a_loop_is_not_there_after_it() -> None:
    b = builder()
    scalar, inside = b.top.args[2], list[SSAValue]()
    b.loop(b.top.args[0], b.top.args[1], b.index(1), [], lambda _, __: inside.append(b.widened(scalar)) or [])
    after = b.widened(scalar)
    assert after is not inside[0]
    assert after.owner.parent is b.top


def test_lanes_of_another_width_are_another_vector() -> None:
    b = builder()
    wide = b.widened(b.top.args[2])
    with b.narrowed_to(4):
        assert b.widened(b.top.args[2]) is not wide
