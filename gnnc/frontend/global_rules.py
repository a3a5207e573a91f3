"""Operators that work over all nodes or edges: reductions whose parts can be combined, and what is made of those.

A reduction of all rows is computed batch by batch, each batch giving a part; `reduction_of` says how parts combine.
Everything else that looks at all rows (means, variances, norms, softmaxes over nodes, normalisation layers, pooling
into one row) is rewritten into such reductions and row-wise work, in two phases where it must be: a variance needs the
mean of all rows first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch

from gnnc.dialects.gnn import Reduction
from gnnc.frontend.expansion import Expansion
from gnnc.frontend.message_passing import match_pooling
from gnnc.frontend.rowwise_rules import axes, described
from gnnc.frontend.traced_values import Shape, Size, TracedModel, TracedValue

# Reductions along `dim`, and along everything.
REDUCTIONS = {
    "aten.sum.dim_IntList": Reduction.SUM,
    "aten.sum.default": Reduction.SUM,
    "aten.amax.default": Reduction.MAX,
    "aten.amin.default": Reduction.MIN,
    "aten.max.default": Reduction.MAX,
    "aten.min.default": Reduction.MIN,
    "aten.prod.dim_int": Reduction.MUL,
    "aten.prod.default": Reduction.MUL,
    "aten.any.dim": Reduction.MAX,
    "aten.any.default": Reduction.MAX,
    "aten.all.dim": Reduction.MIN,
    "aten.all.default": Reduction.MIN,
}

MATRIX_PRODUCTS = frozenset({"aten.matmul.default", "aten.mm.default", "aten.bmm.default", "aten.mv.default"})


def reduction_of(value: TracedValue) -> Reduction | None:
    """How the results for parts of the rows combine into the result for all, or None if they don't."""
    operands = list(value.operands())
    domains = {operand.domain for operand in operands if operand.sizes}
    if value.sizes or len(domains) != 1 or None in domains:
        return None
    if value.op in REDUCTIONS:
        return REDUCTIONS[value.op]
    if value.op in MATRIX_PRODUCTS and sums_over_rows(*operands):
        return Reduction.SUM
    return Reduction.SUM if value.op == "aten.einsum.default" and einsum_sums_over_rows(value) else None


def sums_over_rows(lhs: TracedValue, rhs: TracedValue) -> bool:
    """Whether a matrix product sums over the rows of both sides."""
    if not lhs.sizes or not rhs.sizes:
        return False
    return lhs.domain_axis == len(lhs.shape) - 1 and rhs.domain_axis == max(0, len(rhs.shape) - 2)


def einsum_sums_over_rows(value: TracedValue) -> bool:
    """Whether the rows of all operands have one index, which is summed over and which no other operand has."""
    inputs, arrow, result = value.args[0].replace(" ", "").partition("->")
    if not arrow or "." in inputs:
        return False
    terms = list(zip(value.args[1], inputs.split(","), strict=True))
    rows = {term[v.domain_axis] for v, term in terms if v.sizes}
    others = set("".join(term for v, term in terms if not v.sizes))
    return len(rows) == 1 and not rows & (set(result) | others)


def expand_global_operations(model: TracedModel) -> TracedModel:
    """The model with everything that works over all rows in terms of reductions of all rows and row-wise work."""
    values: list[TracedValue] = []
    for value in model.values:
        expansion = Reducing(value, values)
        rule = EXPANSIONS.get(value.op)
        if rule is not None:
            rule(expansion)
        elif match_pooling(value) is not None:
            pooling(expansion)
        values.append(value)
    return TracedModel(tuple(values), model.returned)


class Reducing(Expansion):
    """An expansion that works over all rows."""

    def sum(self, x: TracedValue, dims: Sequence[int]) -> TracedValue:
        """The sum along some axes, which keep size 1."""
        return self.call("aten.sum.dim_IntList", x, tuple(dims), True, shape=reduced(x.shape, dims))

    def count(self, x: TracedValue, dims: Sequence[int]) -> tuple[Size, int]:
        """How many numbers are reduced along some axes: a count of rows, and a number of numbers a row."""
        sizes = [x.shape[dim] for dim in dims]
        rows = next(size for size in sizes if isinstance(size, Size))
        return rows, math.prod(size for size in sizes if isinstance(size, int))

    def mean(self, x: TracedValue, dims: Sequence[int]) -> TracedValue:
        rows, width = self.count(x, dims)
        mean = self.call("aten.div.Tensor", self.sum(x, dims), rows)
        return mean if width == 1 else self.call("aten.div.Tensor", mean, width)

    def variance(self, x: TracedValue, dims: Sequence[int], correction: float) -> TracedValue:
        """sum((x - mean)^2) / (count - correction)."""
        offset = self.call("aten.sub.Tensor", x, self.mean(x, dims))
        total = self.sum(self.call("aten.mul.Tensor", offset, offset), dims)
        rows, width = self.count(x, dims)
        if correction == 0:
            return self.call("aten.div.Tensor", self.call("aten.div.Tensor", total, rows), width)
        # in double precision, where every count is a number of its own
        numbers = self.call("aten.scalar_tensor.default", rows, shape=(), dtype=torch.float64)
        numbers = self.call("aten.sub.Tensor", self.call("aten.mul.Tensor", numbers, width), correction)
        # torch divides by 0 where there are too few numbers
        free = self.call("aten.clamp.default", numbers, 0)
        return self.call("aten.div.Tensor", total, free)


def reduced(shape: Shape, dims: Sequence[int]) -> Shape:
    return tuple(1 if axis in dims else size for axis, size in enumerate(shape))


def all_rows_along(x: Any, dims: Any) -> list[int] | None:
    """The axes that `dims` names, if the one over nodes or edges is among them."""
    if not isinstance(x, TracedValue) or x.domain is None:
        return None
    named = axes(dims, len(x.shape))
    return sorted(named) if x.domain_axis in named else None


Rule = Callable[[Reducing], None]


def along(make: Callable[[Reducing, TracedValue, list[int], Any], None]) -> Rule:
    """A rule for operators that reduce their first argument along `dim`, or along everything."""

    def rule(expansion: Reducing) -> None:
        arguments = described(expansion.value)
        x = arguments["self"]
        dims = all_rows_along(x, arguments.get("dim"))
        if dims is not None:
            make(expansion, x, dims, arguments)

    return rule


def mean(e: Reducing, x: TracedValue, dims: list[int], arguments: Any) -> None:
    e.become_reshaped(e.mean(in_type(e, x), dims))


def in_type(e: Reducing, x: TracedValue) -> TracedValue:
    """`x` in the type of the result, which a reduction may be told to take."""
    return x if x.dtype == e.value.dtype else e.call("aten._to_copy.default", x, dtype=e.value.dtype)


def variance(e: Reducing, x: TracedValue, dims: list[int], arguments: Any) -> None:
    e.become_reshaped(e.variance(x, dims, correction_of(arguments)))


def deviation(e: Reducing, x: TracedValue, dims: list[int], arguments: Any) -> None:
    e.become_reshaped(e.call("aten.sqrt.default", e.variance(x, dims, correction_of(arguments))))


def correction_of(arguments: Any) -> float:
    if "unbiased" in arguments:
        return 1.0 if arguments["unbiased"] else 0.0
    return 1.0 if arguments["correction"] is None else float(arguments["correction"])


def norm(e: Reducing, x: TracedValue, dims: list[int], arguments: Any) -> None:
    """(sum |x|^p)^(1/p); the maximum for p = inf."""
    p = next((arguments[name] for name in ("ord", "p") if arguments.get(name) is not None), 2.0)
    if not isinstance(p, int | float) or p == 0 or p == -math.inf:
        return
    size = e.call("aten.abs.default", x)
    if p == math.inf:
        e.become_reshaped(e.call("aten.amax.default", size, tuple(dims), True, shape=reduced(x.shape, dims)))
        return
    total = e.sum(e.call("aten.pow.Tensor_Scalar", size, float(p)), dims)
    e.become_reshaped(e.call("aten.pow.Tensor_Scalar", total, 1.0 / p))


def maximum_along(e: Reducing, x: TracedValue, dims: list[int]) -> TracedValue:
    return e.call("aten.amax.default", x, tuple(dims), True, shape=reduced(x.shape, dims))


def extremum_of_item(e: Reducing) -> None:
    """The first result of max and min along `dim`; the second says where, which no reduction of parts can."""
    call, place = e.value.args
    if call.op not in ("aten.max.dim", "aten.min.dim") or place != 0:
        return
    x = call.args[0]
    dims = all_rows_along(x, call.args[1])
    if dims is not None:
        operator = "aten.amax.default" if call.op == "aten.max.dim" else "aten.amin.default"
        e.become(operator, x, tuple(dims), len(call.args) > 2 and bool(call.args[2]))


def softmax(e: Reducing, x: TracedValue, dims: list[int], arguments: Any) -> None:
    x = in_type(e, x)
    powers = e.call("aten.exp.default", e.call("aten.sub.Tensor", x, maximum_along(e, x, dims)))
    e.become("aten.div.Tensor", powers, e.sum(powers, dims))


def log_softmax(e: Reducing, x: TracedValue, dims: list[int], arguments: Any) -> None:
    x = in_type(e, x)
    shifted = e.call("aten.sub.Tensor", x, maximum_along(e, x, dims))
    total = e.sum(e.call("aten.exp.default", shifted), dims)
    e.become("aten.sub.Tensor", shifted, e.call("aten.log.default", total))


def log_sum_exp(e: Reducing, x: TracedValue, dims: list[int], arguments: Any) -> None:
    x = in_type(e, x)
    # infinite rows must not be subtracted from themselves
    finite = torch.finfo(x.dtype)
    largest = e.call("aten.clamp.default", maximum_along(e, x, dims), finite.min, finite.max)
    total = e.sum(e.call("aten.exp.default", e.call("aten.sub.Tensor", x, largest)), dims)
    e.become_reshaped(e.call("aten.add.Tensor", e.call("aten.log.default", total), largest))


def layer_norm(e: Reducing) -> None:
    """Over whole rows and all of them, as one for all nodes."""
    arguments = described(e.value)
    x, count = arguments["input"], len(arguments["normalized_shape"])
    dims = all_rows_along(x, list(range(-count, 0)))
    if dims is not None and arguments["weight"] is None and arguments["bias"] is None:
        e.become("aten.mul.Tensor", *standardised(e, x, dims, arguments["eps"]))


def standardised(e: Reducing, x: TracedValue, dims: list[int], eps: float) -> tuple[TracedValue, TracedValue]:
    """x - mean, and 1 / sqrt(variance + eps)."""
    return standardised_by(e, x, e.mean(x, dims), e.variance(x, dims, 0), eps)


def standardised_by(
    e: Reducing, x: TracedValue, mean: TracedValue, variance: TracedValue, eps: float
) -> tuple[TracedValue, TracedValue]:
    offset = e.call("aten.sub.Tensor", x, mean)
    return offset, e.call("aten.rsqrt.default", e.call("aten.add.Tensor", variance, float(eps)))


def batch_norm(e: Reducing) -> None:
    """Over all nodes, where a layer keeps no running statistics."""
    arguments = described(e.value)
    x = arguments["input"]
    if x.domain is None or x.domain_axis != 0 or not arguments["training"]:
        return
    offset, factor = standardised(e, x, [axis for axis in range(len(x.shape)) if axis != 1], arguments["eps"])
    become_affine(e, e.call("aten.mul.Tensor", offset, factor), arguments)


def instance_norm(e: Reducing) -> None:
    """Each channel over all nodes: what (1, channels, nodes) is normalised along its last axis."""
    arguments = described(e.value)
    x = arguments["input"]
    if x.domain is None or x.domain_axis < 2:
        return
    if arguments["use_input_stats"]:
        offset, factor = standardised(e, x, list(range(2, len(x.shape))), arguments["eps"])
    else:
        mean, variance = (channels(e, arguments[name], len(x.shape)) for name in ("running_mean", "running_var"))
        offset, factor = standardised_by(e, x, mean, variance, arguments["eps"])
    become_affine(e, e.call("aten.mul.Tensor", offset, factor), arguments)


def become_affine(e: Reducing, result: TracedValue, arguments: Any) -> None:
    """The value is `result`, scaled and shifted by channel."""
    rank = len(result.shape)
    if arguments["weight"] is not None:
        result = e.call("aten.mul.Tensor", result, channels(e, arguments["weight"], rank))
    if arguments["bias"] is not None:
        result = e.call("aten.add.Tensor", result, channels(e, arguments["bias"], rank))
    e.become("aten.clone.default", result)


def channels(e: Reducing, v: TracedValue, rank: int) -> TracedValue:
    shape = (1, *v.shape, *[1] * (rank - 2))
    return e.call("aten.view.default", v, shape, shape=shape)


def spread_over_rows(e: Reducing) -> None:
    """A value of the whole graph that is repeated for every row is added to rows of zeros."""
    x = e.value.args[0]
    if x.sizes or e.value.domain is None or x.op in ("weight", "fill"):
        return
    shape, dtype = e.value.outputs[0]
    lined_up = e.reshaped(x, (1,) * (len(shape) - len(x.shape)) + x.shape)
    if any(a not in (1, b) for a, b in zip(lined_up.shape, shape, strict=True)):
        return
    zeros = TracedValue(
        "fill", f"{e.value.name}_zeros", (0, ((shape, dtype),)), {}, ((shape, dtype),), e.value.location
    )
    e.before.append(zeros)
    e.become("aten.add.Tensor", zeros, lined_up)


def pooling(e: Reducing) -> None:
    """A scatter of all rows into one is a reduction of all rows, to which the row that it starts from is added."""
    scatter = match_pooling(e.value)
    assert scatter is not None
    messages, dims = scatter.messages, [scatter.messages.domain_axis]
    shape = reduced(messages.shape, dims)
    if scatter.reduction is Reduction.SUM:
        e.become("aten.add.Tensor", scatter.init, e.sum(messages, dims))
    elif scatter.reduction in (Reduction.MAX, Reduction.MIN):
        name = scatter.reduction.value
        found = e.call(f"aten.a{name}.default", messages, tuple(dims), True, shape=shape)
        if scatter.with_init:
            e.become(f"aten.{name}imum.default", scatter.init, found)
        else:
            e.become_reshaped(found)


EXPANSIONS: dict[str, Rule] = {
    "aten.mean.dim": along(mean),
    "aten.mean.default": along(mean),
    "aten.var.dim": along(variance),
    "aten.var.default": along(variance),
    "aten.var.correction": along(variance),
    "aten.std.dim": along(deviation),
    "aten.std.default": along(deviation),
    "aten.std.correction": along(deviation),
    "aten.linalg_vector_norm.default": along(norm),
    "aten.linalg_norm.default": along(norm),
    "aten.norm.Scalar": along(norm),
    "aten.norm.ScalarOpt_dim": along(norm),
    "aten.softmax.int": along(softmax),
    "aten._softmax.default": along(softmax),
    "aten.log_softmax.int": along(log_softmax),
    "aten._log_softmax.default": along(log_softmax),
    "aten.logsumexp.default": along(log_sum_exp),
    "aten.layer_norm.default": layer_norm,
    "aten.batch_norm.default": batch_norm,
    "aten.instance_norm.default": instance_norm,
    "item": extremum_of_item,
    "aten.expand.default": spread_over_rows,
    "aten.repeat.default": spread_over_rows,
}
