"""The proof that an ATen operator is row-wise: every row of its results depends on the same row of its operands alone.

Two things prove it: torch's own tag `pointwise`, with operands whose domain axes line up; or a rule of the table below,
which looks at the axes an operator works on. Keeping the domain axis is no proof: attention over all nodes keeps it
too. What has no rule is refused by name.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import torch

from gnnc.frontend.traced_values import Shape, Size, TracedValue, sizes_in, values_in


class NotRowwise(Exception):
    """Why an operator is not row-wise, or not known to be; the message completes 'it … '."""


@dataclass(frozen=True)
class Call:
    """An ATen call as the rules see it. Keyword arguments and defaults stand at their place in the schema."""

    value: TracedValue
    domain: Size
    arguments: Mapping[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.arguments[name]

    def axis(self, value: TracedValue) -> int | None:
        """The axis of a value that runs over the domain, or None for a value without rows."""
        return value.domain_axis if value.sizes else None

    @property
    def on_domain(self) -> list[TracedValue]:
        """The operands that have rows."""
        return [value for value in self.value.operands() if value.sizes]


Rule = Callable[[Call], None]


def prove_rowwise(value: TracedValue) -> None:
    """Raises NotRowwise unless `value`'s operator is proved row-wise for these arguments."""
    rule = rule_of(value.op)
    if rule is None and is_random(value.op):
        raise NotRowwise("is random: an exact result does not exist (is dropout given training=False in eval mode?)")
    call = describe_call(value)
    if rule is None:
        raise NotRowwise("is not known to keep rows apart, and may mix the rows of different nodes")
    rule(call)
    if not value.outputs:
        raise NotRowwise("gives no tensor")
    for shape, _ in value.outputs:
        check_result(shape, call.domain)


def rule_of(name: str) -> Rule | None:
    """The rule for an operator: its entry in the table, or what torch's tag says."""
    entry = TABLE.get(name) or TABLE.get(name.rpartition(".")[0])
    if entry is None and torch.Tag.pointwise in operator_of(name).tags and not is_random(name):
        return aligned
    return entry


def is_random(name: str) -> bool:
    """Whether an operator draws random numbers, for some of its arguments at least."""
    return torch.Tag.nondeterministic_seeded in operator_of(name).tags


def check_result(shape: Shape, domain: Size) -> None:
    """A result must have one row for each row of the operands. An empty one (batch norm has two) has nothing to mix."""
    sizes = [size for size in shape if isinstance(size, Size)]
    if len(sizes) > 1:
        raise NotRowwise("makes a value with two axes over nodes or edges")
    if sizes != [domain] and 0 not in shape:
        raise NotRowwise("makes a value that does not have one row for each of the operands'")


def operator_of(name: str) -> Any:
    """torch's operator called `aten.linear.default`."""
    namespace, op, overload = name.split(".")
    return getattr(getattr(getattr(torch.ops, namespace), op), overload)


def describe_call(value: TracedValue) -> Call:
    operands = list(value.operands())
    for operand in operands:
        if len(operand.sizes) > 1:
            raise NotRowwise("takes a value with two axes over nodes or edges")
    domains = {operand.domain for operand in operands if operand.domain is not None}
    if len(domains) != 1:
        raise NotRowwise("mixes values on different nodes or edges" if domains else "takes no value on nodes or edges")
    return Call(value, domains.pop(), described(value))


def described(value: TracedValue) -> dict[str, Any]:
    """The arguments of an ATen call by their names in its schema, defaults included."""
    arguments: dict[str, Any] = {}
    for position, parameter in enumerate(operator_of(value.op)._schema.arguments):
        given = value.args[position] if position < len(value.args) else value.kwargs.get(parameter.name)
        arguments[parameter.name] = given if given is not None else plain_default(parameter)
    return arguments


def plain_default(parameter: Any) -> Any:
    return parameter.default_value if parameter.has_default_value() else None


def axes(dims: Any, rank: int) -> set[int]:
    """The axes that a `dim` argument names; all of them for None or an empty list."""
    if dims is None or dims == () or dims == []:
        return set(range(rank))
    return {d % rank for d in ([dims] if isinstance(dims, int) else dims)}


def keep_off(value: TracedValue, dims: Any, what: str) -> None:
    """The operator's work along `dims` must not run over the domain axis."""
    if value.domain_axis in axes(dims, len(value.shape)):
        raise NotRowwise(f"{what} over all nodes or edges")


def no_sizes(call: Call, *names: str) -> None:
    """Sizes in these arguments would be those of the whole graph, a batch has others."""
    if any(True for name in names for _ in sizes_in(call[name])):
        raise NotRowwise("depends on the count of nodes or edges")


def without_rows(value: Any, what: str) -> None:
    if any(v.sizes for v in values_in(value)):
        raise NotRowwise(f"takes {what} that differs from row to row")


def aligned(call: Call) -> None:
    """Broadcasting must bring the domain axes of all operands together."""
    line_up(call.value.operands())


def line_up(values: Iterable[TracedValue]) -> None:
    """Values broadcast with each other must have their rows, if any, on the same axis, counted from the end."""
    values = list(values)
    positions = {len(v.shape) - v.domain_axis for v in values if v.sizes}
    if len(positions) > 1:
        raise NotRowwise("broadcasts the rows of one operand along another axis of the other")
    position = positions.pop()
    for value in values:
        if not value.sizes and len(value.shape) >= position and value.shape[-position] != 1:
            raise NotRowwise("combines rows with a value that has one entry for each of a fixed number of rows")


# Rules, by what they look at.


def along(dim_name: str, what: str) -> Rule:
    """Works along the axes of argument `dim_name` of its one operand."""

    def rule(call: Call) -> None:
        (value,) = call.value.operands()
        keep_off(value, call[dim_name], what)

    return rule


def along_first(dim_name: str, what: str) -> Rule:
    """Works along an axis of its first operand, `self`; torch makes sure that the other one fits in."""

    def rule(call: Call) -> None:
        if not call["self"].sizes:
            raise NotRowwise("joins values with and without rows")
        keep_off(call["self"], call[dim_name], what)

    return rule


def linear(call: Call) -> None:
    without_rows((call["weight"], call["bias"]), "a weight")
    keep_off(call["input"], -1, "sums")


def matmul(call: Call) -> None:
    lhs, rhs = list(call.arguments.values())[:2]
    if lhs.sizes and rhs.sizes:
        batch_matmul(lhs, rhs)
        return
    value, other = (lhs, rhs) if lhs.sizes else (rhs, lhs)
    summed = -1 if value is lhs else max(-2, -len(rhs.shape))
    keep_off(value, summed, "sums")
    position = len(value.shape) - value.domain_axis
    if position > 2 and len(other.shape) >= position and other.shape[-position] != 1:
        raise NotRowwise("multiplies each row by a matrix of its own")


def batch_matmul(lhs: TracedValue, rhs: TracedValue) -> None:
    """One small product a row: the domain axis is a batch axis of both sides."""
    positions = {len(lhs.shape) - lhs.domain_axis, len(rhs.shape) - rhs.domain_axis}
    if len(positions) > 1 or positions.pop() <= 2:
        raise NotRowwise("multiplies over all nodes or edges")


def einsum(call: Call) -> None:
    """The index of the rows must be the same in all operands, and in the result."""
    inputs, arrow, result = call["equation"].replace(" ", "").partition("->")
    if not arrow or "." in inputs:
        raise NotRowwise("has an equation with '...' or without '->': write all indices out")
    terms = dict(zip(call["tensors"], inputs.split(","), strict=True))
    rows = {term[value.domain_axis] for value, term in terms.items() if value.sizes}
    if len(rows) > 1:
        raise NotRowwise("multiplies over all pairs of nodes or edges")
    if not rows <= set(result):
        raise NotRowwise("sums over all nodes or edges")
    if any(rows & set(term) for value, term in terms.items() if not value.sizes):
        raise NotRowwise("combines rows with a value that has one entry for each of a fixed number of rows")


def layer_norm(call: Call) -> None:
    count = len(call["normalized_shape"])
    no_sizes(call, "normalized_shape")
    without_rows((call["weight"], call.arguments.get("bias")), "a scale")
    keep_off(call["input"], list(range(-count, 0)), "normalises")


def batch_norm(call: Call) -> None:
    if call.arguments.get("training"):
        raise NotRowwise("takes its statistics from all nodes or edges")
    without_rows((call["weight"], call["bias"], call["running_mean"], call["running_var"]), "statistics")
    keep_off(call["input"], 1, "has channels")


def concat(call: Call) -> None:
    values = call["tensors"]
    if any(not v.sizes for v in values):
        raise NotRowwise("joins values with and without rows")
    if len({v.domain_axis for v in values}) > 1:
        raise NotRowwise("joins values whose rows lie on different axes")
    keep_off(values[0], call["dim"], "joins")


def stack(call: Call) -> None:
    values = call["tensors"]
    if any(not v.sizes for v in values) or len({v.domain_axis for v in values}) > 1:
        raise NotRowwise("stacks values whose rows lie on different axes")


def reshape(call: Call) -> None:
    if not keeps_rows(call["self"], call.value):
        raise NotRowwise("folds rows into another axis or takes them apart")


def keeps_rows(before: TracedValue, after: TracedValue) -> bool:
    """Whether a reshaped value has the same rows: the count of numbers before the domain axis and after it stays."""
    return after.domain == before.domain is not None and around(before.shape) == around(after.shape)


def around(shape: Shape) -> tuple[int, int]:
    axis = next(a for a, size in enumerate(shape) if isinstance(size, Size))
    numbers = [s for s in shape if isinstance(s, int)]
    return math.prod(numbers[:axis]), math.prod(numbers[axis:])


def expand(call: Call) -> None:
    if call.value.domain != call["self"].domain:
        raise NotRowwise("repeats a row for other nodes or edges")


def repeat(call: Call) -> None:
    value, repeats = call["self"], call["repeats"]
    no_sizes(call, "repeats")
    if repeats[len(repeats) - len(value.shape) + value.domain_axis] != 1:
        raise NotRowwise("repeats rows")


def moves_axes(call: Call) -> None:
    """Axes change places, rows stay whole."""


def squeeze(call: Call) -> None:
    """Axes of size 1 are dropped, which must not depend on how many rows a batch has."""
    keep_off(call["self"], call["dim"], "drops the axis")


def squeeze_all(call: Call) -> None:
    raise NotRowwise("drops the axis over nodes or edges too where there is only one: give squeeze a dim")


def index_select(call: Call) -> None:
    value = call["self"]
    if value.sizes:
        without_rows(call["index"], "an index")
        keep_off(value, call["dim"], "picks")


def index(call: Call) -> None:
    """Rows picked from within, or each row's entries of a table that has no rows itself."""
    value = call["self"]
    used = [axis for axis, picked in enumerate(call["indices"]) if picked is not None]
    if not value.sizes:
        line_up(values_in(call["indices"]))
        return
    without_rows(call["indices"], "an index")
    keep_off(value, used, "picks")
    if len(used) > 1:
        raise NotRowwise("picks along several axes at once")


def index_put(call: Call) -> None:
    """Rows chosen by a mask are overwritten with numbers that are the same for all of them."""
    value, (mask, *others) = call["self"], call["indices"]
    if others or mask is None or mask.dtype != torch.bool or mask.sizes != value.sizes:
        raise NotRowwise("writes to places that indices name: only a mask over nodes or edges is supported")
    if mask.domain_axis != value.domain_axis or call["values"].sizes:
        raise NotRowwise("writes values that differ from row to row: use torch.where")
    if len(call["values"].shape) > len(value.shape) - len(mask.shape):
        raise NotRowwise("writes a fixed number of values")


def gather(call: Call) -> None:
    """The entry of an index names a place along `dim` and has its own place along the other axes."""
    value, picked = call["self"], call["index"]
    dim = call["dim"] % len(value.shape)
    if value.sizes:
        keep_off(value, dim, "picks")
    if not picked.sizes or picked.domain_axis != (value.domain_axis if value.sizes else dim):
        raise NotRowwise("takes an index that does not go with the rows")


def cosine_similarity(call: Call) -> None:
    keep_both_off(call["x1"], call["x2"], call["dim"], "sums")


def cross(call: Call) -> None:
    if call["dim"] is None:
        raise NotRowwise("looks for an axis of size 3, which may be that of the nodes or edges: give dim")
    keep_both_off(call["self"], call["other"], call["dim"], "takes the product")


def keep_both_off(lhs: TracedValue, rhs: TracedValue, dim: int, what: str) -> None:
    """Two operands are broadcast with each other first, and `dim` counts the axes that they have then."""
    line_up((lhs, rhs))
    rank = max(len(lhs.shape), len(rhs.shape))
    if any(v.sizes and v.domain_axis - len(v.shape) + rank in axes(dim, rank) for v in (lhs, rhs)):
        raise NotRowwise(f"{what} over all nodes or edges")


def recurrent(call: Call) -> None:
    """An LSTM or a GRU over a short sequence a row: the domain axis is the batch axis, of the states too."""
    sequence = call["input"]
    batch_axis = 0 if call["batch_first"] else 1
    if not sequence.sizes or len(sequence.shape) != 3 or sequence.domain_axis != batch_axis:
        raise NotRowwise("runs from one node or edge to the next")
    if any(not state.sizes or state.domain_axis != 1 for state in values_in((call["hx"],))):
        raise NotRowwise("takes a state that does not go with the rows")
    without_rows(call["params"], "a weight")
    if call["train"] and call["dropout"] != 0:
        raise NotRowwise("is random: put the layer in eval mode")


def recurrent_cell(call: Call) -> None:
    """One step of a GRU, an LSTM or an RNN: the domain axis is the batch axis of the input and of the states."""
    if any(v.domain_axis != 0 for v in call.on_domain):
        raise NotRowwise("sums over all nodes or edges")
    states = list(values_in((call["hx"],)))
    if any(not v.sizes or len(v.shape) != 2 for v in (call["input"], *states)):
        raise NotRowwise("takes a state that does not go with the rows")
    without_rows((call["w_ih"], call["w_hh"], call["b_ih"], call["b_hh"]), "a weight")


def rrelu(call: Call) -> None:
    if call["training"]:
        raise NotRowwise("is random: give training=False in eval mode")


def embedding(call: Call) -> None:
    without_rows(call["weight"], "a table")


def pad(call: Call) -> None:
    value, widths = call["self"], call["pad"]
    no_sizes(call, "pad")
    last_axes = [-1 - position // 2 for position, width in enumerate(widths) if width != 0]
    if last_axes:
        keep_off(value, last_axes, "pads")


def prelu(call: Call) -> None:
    without_rows(call["weight"], "a slope")
    if call["weight"].shape != (1,) and call["self"].domain_axis == 1:
        raise NotRowwise("has one slope for each of a fixed number of rows")


def group_norm(call: Call) -> None:
    without_rows((call["weight"], call["bias"]), "a scale")
    if call["input"].domain_axis != 0:
        raise NotRowwise("normalises over all nodes or edges")


def attention(call: Call) -> None:
    """Softmax attention within each row: the domain axis is a batch axis of all operands."""
    if any(len(v.shape) - v.domain_axis <= 2 for v in call.on_domain):
        raise NotRowwise("attends from every node to every other one, which needs all pairs of nodes at once")
    aligned(call)
    if call["dropout_p"] != 0.0:
        raise NotRowwise("is random: give dropout_p=0.0 in eval mode")


def one_hot(call: Call) -> None:
    no_sizes(call, "num_classes")
    if call["num_classes"] < 0:
        raise NotRowwise("looks for the largest class over all nodes or edges: give num_classes")


def addmm(call: Call) -> None:
    """Rows times a matrix, added to rows or to what is the same for all of them."""
    without_rows(call["mat2"], "a matrix")
    if not call["mat1"].sizes:
        raise NotRowwise("adds rows to a product that has none")
    keep_off(call["mat1"], 1, "sums")
    line_up((call["self"], call["mat1"]))


# One table. A name without overload stands for all overloads of the operator.
TABLE: dict[str, Rule] = {
    "aten.linear": linear,
    "aten.matmul": matmul,
    "aten.mm": matmul,
    "aten.bmm": matmul,
    "aten.mv": matmul,
    "aten.addmm": addmm,
    "aten.einsum": einsum,
    "aten.lstm.input": recurrent,
    "aten.gru.input": recurrent,
    "aten.gru_cell": recurrent_cell,
    "aten.lstm_cell": recurrent_cell,
    "aten.rnn_tanh_cell": recurrent_cell,
    "aten.rnn_relu_cell": recurrent_cell,
    "aten.layer_norm": layer_norm,
    "aten.rms_norm": layer_norm,
    "aten._native_batch_norm_legit_no_training": batch_norm,
    "aten.batch_norm": batch_norm,
    "aten.group_norm": group_norm,
    "aten.cat": concat,
    "aten.stack": stack,
    "aten.view": reshape,
    "aten._unsafe_view": reshape,
    "aten.unsqueeze": moves_axes,
    "aten.squeeze.default": squeeze_all,
    "aten.squeeze.dim": squeeze,
    "aten.squeeze.dims": squeeze,
    "aten.transpose.int": moves_axes,
    "aten.permute": moves_axes,
    "aten.t": moves_axes,
    "aten.expand": expand,
    "aten.repeat": repeat,
    "aten.sum.dim_IntList": along("dim", "sums"),
    "aten.mean.dim": along("dim", "averages"),
    "aten.amax": along("dim", "takes the maximum"),
    "aten.amin": along("dim", "takes the minimum"),
    "aten.max.dim": along("dim", "takes the maximum"),
    "aten.min.dim": along("dim", "takes the minimum"),
    "aten.argmax": along("dim", "looks for the maximum"),
    "aten.argmin": along("dim", "looks for the minimum"),
    "aten.prod.dim_int": along("dim", "multiplies"),
    "aten.any.dim": along("dim", "looks"),
    "aten.all.dim": along("dim", "looks"),
    "aten.median.dim": along("dim", "looks for the median"),
    "aten.var.dim": along("dim", "takes the variance"),
    "aten.std.dim": along("dim", "takes the deviation"),
    "aten.var.correction": along("dim", "takes the variance"),
    "aten.std.correction": along("dim", "takes the deviation"),
    "aten.logsumexp": along("dim", "sums"),
    "aten.linalg_vector_norm": along("dim", "takes the norm"),
    "aten.linalg_norm": along("dim", "takes the norm"),
    "aten.softmax.int": along("dim", "normalises"),
    "aten.log_softmax.int": along("dim", "normalises"),
    "aten._softmax": along("dim", "normalises"),
    "aten._log_softmax": along("dim", "normalises"),
    "aten.cumsum": along("dim", "accumulates"),
    "aten.cumprod": along("dim", "accumulates"),
    "aten.logcumsumexp": along("dim", "accumulates"),
    "aten.sort": along("dim", "sorts"),
    "aten.argsort": along("dim", "sorts"),
    "aten.topk": along("dim", "looks for the largest"),
    "aten.select.int": along("dim", "picks one"),
    "aten.slice.Tensor": along("dim", "cuts"),
    "aten.split.Tensor": along("dim", "splits"),
    "aten.split_with_sizes": along("dim", "splits"),
    "aten.unbind.int": along("dim", "splits"),
    "aten.flip": along("dims", "reverses"),
    "aten.roll": along("dims", "shifts"),
    "aten.gather": gather,
    "aten.repeat_interleave.self_int": along("dim", "repeats"),
    "aten.glu": along("dim", "halves"),
    "aten.scaled_dot_product_attention": attention,
    "aten.index_select": index_select,
    "aten.index.Tensor": index,
    "aten.index_put": index_put,
    "aten.select_scatter": along_first("dim", "writes"),
    "aten.slice_scatter": along_first("dim", "writes"),
    "aten.embedding": embedding,
    "aten.pad": pad,
    "aten.prelu": prelu,
    "aten.one_hot": one_hot,
    "aten.cosine_similarity": cosine_similarity,
    "aten.cross": cross,
    "aten.linalg_cross": cross,
    "aten.rrelu": rrelu,
    # Pointwise, but torch has not tagged them so.
    "aten.fill": aligned,
    "aten.copy": aligned,
    "aten.masked_fill": aligned,
    "aten._to_copy": aligned,
    "aten.type_as": aligned,
    "aten.where.ScalarOther": aligned,
    "aten.where.ScalarSelf": aligned,
    "aten.where.Scalar": aligned,
    "aten.__and__": aligned,
    "aten.__or__": aligned,
    "aten.floor_divide": aligned,
    "aten.subtract": aligned,
    "aten.multiply": aligned,
    "aten.divide": aligned,
    "aten.absolute": aligned,
    "aten.negative": aligned,
    "aten.greater": aligned,
    "aten.greater_equal": aligned,
    "aten.less": aligned,
    "aten.less_equal": aligned,
    "aten.not_equal": aligned,
    "aten.log_sigmoid": aligned,
    "aten.hardswish": aligned,
}
