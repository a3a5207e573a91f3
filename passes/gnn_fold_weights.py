"""gnn-fold-weights: what depends on weights alone is computed when the model is compiled."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from gnnc.dialects.gnn import AddOp, BatchNormOp, LinearOp, LoadWeightOp, MulOp, ReshapeOp, RowwiseOp
from gnnc.dialects.gnn.attributes import row_shape, tensor_type
from gnnc.dialects.gnn.rowwise import shape_of
from gnnc.passes.analysis.cost_model import ELEMENTWISE_PS_PER_BYTE, MATMUL_PS_PER_FLOP, row_bytes
from gnnc.passes.analysis.decision_log import Decision, record, source_of
from gnnc.passes.analysis.folded_weights import WeightFolder
from gnnc.passes.analysis.matching import aten_call, located
from gnnc.passes.analysis.model_functions import model_functions

THIN = 3
"""How much slower a product with few columns is, for each of them."""


@dataclass(frozen=True)
class GnnFoldWeights(ModulePass):
    """Moves work from features to weights, into the function @weights:

    - batch normalisation after a linear layer becomes part of its weight and bias, elsewhere one product and one sum;
    - a projection of a linear layer's result on a vector a head, as attention has it, becomes a thin linear layer of
      its own: `sum(reshape(x @ W.T) * a)` is `x @ (a W).T`, where that costs less.
    """

    name = "gnn-fold-weights"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        forward = model_functions(op).forward
        found = list(forward.body.block.ops)
        norms = [o for o in found if isinstance(o, BatchNormOp) and has_loaded_parameters(o)]
        projections = [p for o in found if (p := projection_of(o)) is not None]
        if not norms and not projections:
            return
        folder = WeightFolder(op)
        for norm in norms:
            record(op, decision_on_norm(norm))
            fold_batch_norm(norm, folder)
        for projection in projections:
            record(op, projection.decision)
            if projection.pays:
                fold_projection(projection, folder)


def is_loaded(value: SSAValue) -> bool:
    return isinstance(value.owner, LoadWeightOp)


# Batch normalisation: (x - mean) / sqrt(variance + eps) * scale + shift is x * factor + offset.


def has_loaded_parameters(op: BatchNormOp) -> bool:
    return len(row_shape(op.input.type)) == 1 and all(is_loaded(v) for v in (op.mean, op.variance, *op.affine))


def decision_on_norm(op: BatchNormOp) -> Decision:
    """Into a linear layer's weight it costs nothing; otherwise what is known of it makes one product and one sum."""
    apart = 2 * row_bytes(op.result.type) * ELEMENTWISE_PS_PER_BYTE
    predicted = {"product and sum": apart, "batch norm": 2 * apart}
    choice = "product and sum"
    if layer_before(op) is not None:
        choice, predicted = "into the linear layer", {"into the linear layer": 0, **predicted}
    subject = f"batch norm of {row_shape(op.result.type)[0]}"
    return Decision(GnnFoldWeights.name, subject, source_of(op), choice, predicted)


def layer_before(op: BatchNormOp) -> LinearOp | None:
    """The linear layer that a batch norm can become part of."""
    linear = op.input.owner
    if isinstance(linear, LinearOp) and len(set(linear.result.uses)) == 1 and can_take(linear):
        return linear
    return None


def fold_batch_norm(op: BatchNormOp, folder: WeightFolder) -> None:
    factor, offset = factor_and_offset(op, folder)
    linear = layer_before(op)
    if linear is not None:
        scale_linear(op, linear, factor, offset, folder)
        return
    type_ = tensor_type(op.result)
    load_factor = located(folder.exported(factor, "folded.factor"), op)
    load_offset = located(folder.exported(offset, "folded.offset"), op)
    product = located(MulOp(op.input, load_factor.result, type_), op)
    total = located(AddOp(product.result, load_offset.result, type_), op)
    replace(op, [load_factor, load_offset, product, total])


def factor_and_offset(op: BatchNormOp, folder: WeightFolder) -> tuple[SSAValue, SSAValue]:
    """scale / sqrt(variance + eps), and shift - mean times that."""
    mean, variance = folder.weight(op.mean), folder.weight(op.variance)
    size = shape_of(mean)
    eps = folder.number(op.eps.value.data, variance)
    deviation = folder.call("aten.sqrt.default", [folder.call("aten.add.Tensor", [variance, eps], size)], size)
    factor = folder.call("aten.reciprocal.default", [deviation], size)
    if op.affine:
        factor = folder.call("aten.mul.Tensor", [factor, folder.weight(op.affine[0])], size)
    offset = folder.call("aten.neg.default", [folder.call("aten.mul.Tensor", [mean, factor], size)], size)
    if op.affine:
        offset = folder.call("aten.add.Tensor", [offset, folder.weight(op.affine[1])], size)
    return factor, offset


def can_take(op: LinearOp) -> bool:
    return is_loaded(op.weight) and (op.bias is None or is_loaded(op.bias))


def scale_linear(op: BatchNormOp, linear: LinearOp, factor: SSAValue, offset: SSAValue, folder: WeightFolder) -> None:
    """The linear layer with its rows of weights scaled, and the offset in its bias."""
    out, columns = shape_of(linear.weight)
    column = folder.call("aten.view.default", [factor], [out, 1], [[out, 1]])
    weight = folder.call("aten.mul.Tensor", [folder.weight(linear.weight), column], [out, columns])
    if linear.bias is not None:
        scaled = folder.call("aten.mul.Tensor", [folder.weight(linear.bias), factor], [out])
        offset = folder.call("aten.add.Tensor", [scaled, offset], [out])
    load_weight = located(folder.exported(weight, "folded.weight"), linear)
    load_bias = located(folder.exported(offset, "folded.bias"), linear)
    new = located(LinearOp(linear.input, load_weight.result, load_bias.result, tensor_type(linear.result)), linear)
    replace(op, [load_weight, load_bias, new])
    Rewriter.erase_op(linear)


# Projections of a linear layer's result, as attention has them.


@dataclass(frozen=True)
class Projection:
    """sum over the last axis of reshape(linear(x)) * vectors; the linear layer gives `heads` parts of `size`."""

    op: RowwiseOp
    linear: LinearOp
    vectors: SSAValue
    heads: int
    size: int

    @property
    def prices(self) -> tuple[int, int]:
        """Picoseconds a row of a thin product of the layer's input, and of one loop over its result."""
        columns = shape_of(self.linear.weight)[1]
        thin = 2 * columns * self.heads * MATMUL_PS_PER_FLOP * THIN + 4 * columns * ELEMENTWISE_PS_PER_BYTE
        return thin, 4 * self.heads * (self.size + 1) * ELEMENTWISE_PS_PER_BYTE

    @property
    def pays(self) -> bool:
        thin, as_it_is = self.prices
        return thin < as_it_is

    @property
    def decision(self) -> Decision:
        thin, as_it_is = self.prices
        predicted = {"thin linear layer": thin, "product and sum": as_it_is}
        choice, subject = list(predicted)[0 if self.pays else 1], f"projection of {self.heads} heads of {self.size}"
        return Decision(GnnFoldWeights.name, subject, source_of(self.op), choice, predicted)


def projection_of(op: Operation) -> Projection | None:
    if not isinstance(op, RowwiseOp):
        return None
    arguments = aten_call(op.outputs[0], "aten.sum.dim_IntList")
    if arguments is None or arguments[1:] not in ([[-1]], [[2]]) or not isinstance(arguments[0], SSAValue):
        return None
    product = arguments[0].owner
    if not isinstance(product, MulOp):
        return None
    for place in (0, 1):
        value, vectors = product.operands[place], product.operands[1 - place]
        layout = value.owner
        linear = layout.input.owner if isinstance(layout, ReshapeOp) else layout
        heads = row_shape(value.type)
        fits = isinstance(linear, LinearOp) and can_take(linear) and is_loaded(vectors) and len(heads) == 2
        if fits and math.prod(shape_of(vectors)) == math.prod(heads) and row_shape(op.outputs[0].type) == heads[:1]:
            assert isinstance(linear, LinearOp)
            return Projection(op, linear, vectors, *heads)
    return None


def fold_projection(p: Projection, folder: WeightFolder) -> None:
    """A thin linear layer: its weight is the layer's, contracted with the vectors."""
    columns = shape_of(p.linear.weight)[1]
    vectors = folder.call("aten.view.default", [folder.weight(p.vectors)], [p.heads, p.size, 1], [[p.heads, p.size, 1]])
    weight = contracted(p, folder, folder.weight(p.linear.weight), vectors, columns)
    loads = [located(folder.exported(weight, "folded.projection"), p.op)]
    bias: SSAValue | None = None
    if p.linear.bias is not None:
        one = contracted(p, folder, folder.weight(p.linear.bias), vectors, 1)
        flat = folder.call("aten.view.default", [one], [p.heads], [[p.heads]])
        loads.append(located(folder.exported(flat, "folded.projection.bias"), p.op))
        bias = loads[-1].result
    thin = located(LinearOp(p.linear.input, loads[0].result, bias, tensor_type(p.op.outputs[0])), p.op)
    replace(p.op, [*loads, thin])


def contracted(p: Projection, folder: WeightFolder, weight: SSAValue, vectors: SSAValue, columns: int) -> SSAValue:
    shape = [p.heads, p.size, columns]
    parts = folder.call("aten.view.default", [weight], shape, [shape])
    return folder.call(
        "aten.sum.dim_IntList", [folder.call("aten.mul.Tensor", [parts, vectors], shape)], [p.heads, columns], [[1]]
    )


def replace(op: Operation, new: Sequence[Operation]) -> None:
    """Puts new operations in the place of one; the last of them gives its result."""
    Rewriter.insert_op(list(new), InsertPoint.before(op))
    result = new[-1].results[0]
    result.name_hint = op.results[0].name_hint
    Rewriter.replace_op(op, [], [result])
