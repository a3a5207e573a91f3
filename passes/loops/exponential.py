"""exp of a vector, written in `arith`: `math.exp` would become one call of libm a number.

Cephes' expf: exp(x) = 2^n exp(r) with n = round(x / ln 2), r in two steps (Cody and Waite), a polynomial of degree 6
for exp(r), and 2^n made from its bits. Within 2 units in the last place where the result is a normal number; below it
is the smallest normal number, above it is infinite.
"""

from __future__ import annotations

from xdsl.dialects import arith
from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from gnnc.passes.loops.builder import LoopBuilder
from gnnc.passes.loops.lanes import NoKernelError

LOG2_E = 1.44269504088896341
LN2_HIGH, LN2_LOW = 0.693359375, -2.12194440e-4
POLYNOMIAL = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)
LOWEST, HIGHEST = -87.33654, 89.5
MAGIC = 12582912.0
MAGIC_BITS = 0x4B400000
"""1.5 * 2^23: what is added to it is rounded to an integer, which stands in its last bits."""


def exponential(b: LoopBuilder, x: SSAValue) -> SSAValue:
    """e ** x for a number or a vector of f32. NaN stays NaN."""
    if b.element != f32:
        raise NoKernelError("exp is written for f32 only")
    bounded = b.minimum(b.maximum(x, b.number(LOWEST)), b.number(HIGHEST))
    shifted = b.plus(b.times(bounded, b.number(LOG2_E)), b.number(MAGIC))
    n = b.minus(shifted, b.number(MAGIC))
    r = b.minus(bounded, b.times(n, b.number(LN2_HIGH)))
    r = b.minus(r, b.times(n, b.number(LN2_LOW)))
    p = b.number(POLYNOMIAL[0])
    for coefficient in POLYNOMIAL[1:]:
        p = b.plus(b.times(p, r), b.number(coefficient))
    p = b.plus(b.plus(b.times(p, b.times(r, r)), r), b.number(1.0))
    exponent = b.integer_minus(b.bits(shifted), MAGIC_BITS)
    # in two steps, so that 2^128 stays out of the way until the end
    half = b.shifted_right(exponent, 1)
    rest = b.add(arith.SubiOp(exponent, half))
    return b.times(b.times(p, power_of_two(b, half)), power_of_two(b, rest))


def power_of_two(b: LoopBuilder, n: SSAValue) -> SSAValue:
    """2^n for integers of normal powers, made from its bits."""
    biased = b.integer_minus(n, -127)
    return b.from_bits(b.shifted_left(biased, 23))
