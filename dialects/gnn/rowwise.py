"""Row-wise operations with a name of their own: every row of the result depends on the same row of the operands."""

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DYNAMIC_INDEX, ArrayAttr, FloatAttr, IntegerAttr, TensorType, f64, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    VarConstraint,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait, Pure
from xdsl.utils.exceptions import VerifyException

from gnnc.dialects.gnn.attributes import AnyTensor, DensityAttr, PrimitiveAttr, domain_axis, domain_of
from gnnc.dialects.gnn.base import GnnOperation, require_domain, shared_domain, verify_densities
from gnnc.dialects.gnn.double import Double


def shape_of(value: SSAValue) -> tuple[int, ...]:
    """The shape of a tensor, DYNAMIC_INDEX on its domain axis."""
    assert isinstance(value.type, TensorType)
    return value.type.get_shape()


def readable(shape: Sequence[int]) -> str:
    """A shape as the IR writes it: `?x16`."""
    return "x".join("?" if size == DYNAMIC_INDEX else str(size) for size in shape) or "a single number"


def broadcast_shape(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape that NumPy's broadcasting gives. The domain axis, DYNAMIC_INDEX, meets itself or 1.

    Raises VerifyException where shapes don't fit.
    """
    rank = max(len(shape) for shape in shapes)  # 0 for scalars: nothing to align
    result: list[int] = []
    for position in range(rank):
        sizes = {shape[position - rank + len(shape)] for shape in shapes if position >= rank - len(shape)} - {1}
        if len(sizes) > 1:
            raise VerifyException(f"shapes {' and '.join(readable(s) for s in shapes)} don't broadcast")
        result.append(sizes.pop() if sizes else 1)
    return tuple(result)


class ElementwiseBinary(GnnOperation):
    """Two values combined number by number; shapes broadcast as in NumPy, the domain axis meets itself or 1."""

    lhs = operand_def(TensorType.constr())
    rhs = operand_def(TensorType.constr())
    result = result_def(TensorType.constr())

    assembly_format = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)"

    def __init__(self, lhs: SSAValue, rhs: SSAValue, type: AnyTensor):
        super().__init__(operands=[lhs, rhs], result_types=[type])

    def verify_semantics(self) -> None:
        shared_domain(self)
        expected = broadcast_shape([shape_of(self.lhs), shape_of(self.rhs)])
        if expected != shape_of(self.result):
            raise VerifyException(
                f"the operands broadcast to {readable(expected)}, not to {readable(shape_of(self.result))}"
            )


class AddCanonicalization(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from gnnc.dialects.gnn.canonicalization import PlusZero

        return (PlusZero(),)


@irdl_op_definition
class AddOp(ElementwiseBinary):
    """`lhs + rhs`."""

    name = "gnn.add"
    traits = traits_def(Pure(), AddCanonicalization())


@irdl_op_definition
class SubOp(ElementwiseBinary):
    """`lhs - rhs`."""

    name = "gnn.sub"
    traits = traits_def(Pure())


class MulCanonicalization(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from gnnc.dialects.gnn.canonicalization import TimesOne

        return (TimesOne(),)


@irdl_op_definition
class MulOp(ElementwiseBinary):
    """`lhs * rhs`."""

    name = "gnn.mul"
    traits = traits_def(Pure(), MulCanonicalization())


@irdl_op_definition
class DivOp(ElementwiseBinary):
    """`lhs / rhs`, true division."""

    name = "gnn.div"
    traits = traits_def(Pure())


class Activation(GnnOperation):
    """A function of each number; the result has the type of the operand."""

    T: ClassVar = VarConstraint("T", TensorType.constr())

    input = operand_def(T)
    result = result_def(T)

    def verify_semantics(self) -> None:
        shared_domain(self)


class PlainActivation(Activation):
    """An activation without parameters."""

    def __init__(self, input: SSAValue):
        super().__init__(operands=[input], result_types=[input.type])


@irdl_op_definition
class ReluOp(PlainActivation):
    """`max(x, 0)`."""

    name = "gnn.relu"
    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` type($input)"


@irdl_op_definition
class SigmoidOp(PlainActivation):
    """`1 / (1 + exp(-x))`."""

    name = "gnn.sigmoid"
    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` type($input)"


@irdl_op_definition
class TanhOp(PlainActivation):
    """The hyperbolic tangent."""

    name = "gnn.tanh"
    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` type($input)"


@irdl_op_definition
class ExpOp(PlainActivation):
    """`e ** x`."""

    name = "gnn.exp"
    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` type($input)"


@irdl_op_definition
class LeakyReluOp(Activation):
    """`x` where positive, `slope * x` elsewhere.

    ```mlir
    %y = gnn.leaky_relu %x slope 2.0e-01 : tensor<?x8xf32, #gnn.on<edges "e">>
    ```
    """

    name = "gnn.leaky_relu"

    slope = prop_def(FloatAttr.constr(f64))

    traits = traits_def(Pure())
    custom_directives = (Double,)
    assembly_format = "$input `slope` custom<Double>($slope) attr-dict `:` type($input)"

    def __init__(self, input: SSAValue, slope: float):
        super().__init__(operands=[input], properties={"slope": FloatAttr(slope, f64)}, result_types=[input.type])


@irdl_op_definition
class EluOp(Activation):
    """`x` where positive, `alpha * (exp(x) - 1)` elsewhere.

    ```mlir
    %y = gnn.elu %x alpha 1.0 : tensor<?x8xf32, #gnn.on<nodes "n">>
    ```
    """

    name = "gnn.elu"

    alpha = prop_def(FloatAttr.constr(f64))

    traits = traits_def(Pure())
    custom_directives = (Double,)
    assembly_format = "$input `alpha` custom<Double>($alpha) attr-dict `:` type($input)"

    def __init__(self, input: SSAValue, alpha: float):
        super().__init__(operands=[input], properties={"alpha": FloatAttr(alpha, f64)}, result_types=[input.type])


def is_last_axis(value: SSAValue) -> bool:
    return domain_axis(value.type) == len(shape_of(value)) - 1


@irdl_op_definition
class LinearOp(GnnOperation):
    """`input @ weight.T + bias`, over the last axis, as torch.nn.Linear: `weight` is [out, in], `bias` [out], or of the
    result's type: then the product is added to it. `densities` are those of input and weight (gnn-annotate-density),
    `primitive` says how the input is read if that is given to the program (gnn-select-primitives).

    ```mlir
    %y = gnn.linear %x, %w, %b
        : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<16x8xf32>, tensor<16xf32> -> tensor<?x16xf32, #gnn.on<nodes "n">>
    ```
    """

    name = "gnn.linear"

    input = operand_def(TensorType.constr())
    weight = operand_def(TensorType.constr())
    bias = opt_operand_def(TensorType.constr())
    densities = opt_prop_def(ArrayAttr[DensityAttr])
    primitive = opt_prop_def(PrimitiveAttr)
    result = result_def(TensorType.constr())

    traits = traits_def(Pure())
    assembly_format = (
        "$input `,` $weight (`,` $bias^)? (`densities` $densities^)? (`primitive` $primitive^)? attr-dict "
        "`:` type($input) `,` type($weight) (`,` type($bias)^)? `->` type($result)"
    )

    def __init__(self, input: SSAValue, weight: SSAValue, bias: SSAValue | None, type: AnyTensor):
        super().__init__(operands=[input, weight, bias], result_types=[type])

    def verify_semantics(self) -> None:
        require_domain(self.input, shared_domain(self), "the input")
        weight = shape_of(self.weight)
        if domain_of(self.weight.type) is not None or len(weight) != 2:
            raise VerifyException("the weight must be a matrix without a domain")
        if is_last_axis(self.input) or shape_of(self.input)[-1] != weight[1]:
            raise VerifyException(f"the last axis of the input must have the weight's {weight[1]} columns")
        if shape_of(self.result) != (*shape_of(self.input)[:-1], weight[0]):
            raise VerifyException(f"the last axis of the result must have the weight's {weight[0]} rows")
        if self.bias is not None and shape_of(self.bias) != (weight[0],) and self.bias.type != self.result.type:
            raise VerifyException(f"the bias must have {weight[0]} numbers or the type of the result")
        verify_densities(self.densities)


@irdl_op_definition
class MatmulOp(GnnOperation):
    """`lhs @ rhs` for a value on a domain and one without; the domain axis is not the one that is summed over.
    `densities` are those of the two sides: gnn-annotate-density.

    ```mlir
    %y = gnn.matmul %x, %w
        : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8x16xf32> -> tensor<?x16xf32, #gnn.on<nodes "n">>
    ```
    """

    name = "gnn.matmul"

    lhs = operand_def(TensorType.constr())
    rhs = operand_def(TensorType.constr())
    densities = opt_prop_def(ArrayAttr[DensityAttr])
    result = result_def(TensorType.constr())

    traits = traits_def(Pure())
    assembly_format = (
        "$lhs `,` $rhs (`densities` $densities^)? attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)"
    )

    def __init__(self, lhs: SSAValue, rhs: SSAValue, type: AnyTensor):
        super().__init__(operands=[lhs, rhs], result_types=[type])

    def verify_semantics(self) -> None:
        shared_domain(self)
        lhs, rhs = shape_of(self.lhs), shape_of(self.rhs)
        on_rows = domain_of(self.lhs.type) is not None and domain_of(self.rhs.type) is None
        if not on_rows or len(lhs) < 2 or len(rhs) < 2:
            raise VerifyException("matmul takes a value on a domain and one without, both with two or more axes")
        if is_last_axis(self.lhs) or lhs[-1] != rhs[-2]:
            raise VerifyException(f"the last axis of the left side must have the right side's {rhs[-2]} rows")
        expected = (*broadcast_shape([lhs[:-2], rhs[:-2]]), lhs[-2], rhs[-1])
        if shape_of(self.result) != expected:
            raise VerifyException(f"the result must have shape {readable(expected)}")
        verify_densities(self.densities)


@irdl_op_definition
class BatchNormOp(GnnOperation):
    """Batch normalisation in evaluation mode, with running statistics: `(x - mean) / sqrt(var + eps) * scale + shift`
    over axis 1.

    ```mlir
    %y = gnn.batch_norm %x, %mean, %var affine %scale, %shift eps 1.0e-05
        : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8xf32>, tensor<8xf32> affine tensor<8xf32>, tensor<8xf32>
    ```
    """

    name = "gnn.batch_norm"

    T: ClassVar = VarConstraint("T", TensorType.constr())

    input = operand_def(T)
    mean = operand_def(TensorType.constr())
    variance = operand_def(TensorType.constr())
    affine = var_operand_def(TensorType.constr())
    eps = prop_def(FloatAttr.constr(f64))
    result = result_def(T)

    traits = traits_def(Pure())
    custom_directives = (Double,)
    assembly_format = (
        "$input `,` $mean `,` $variance (`affine` $affine^)? `eps` custom<Double>($eps) attr-dict "
        "`:` type($input) `,` type($mean) `,` type($variance) (`affine` type($affine)^)?"
    )

    def __init__(self, input: SSAValue, mean: SSAValue, variance: SSAValue, affine: Sequence[SSAValue], eps: float):
        super().__init__(
            operands=[input, mean, variance, affine],
            properties={"eps": FloatAttr(eps, f64)},
            result_types=[input.type],
        )

    def verify_semantics(self) -> None:
        require_domain(self.input, shared_domain(self), "the input")
        shape = shape_of(self.input)
        if len(shape) < 2 or domain_axis(self.input.type) == 1:
            raise VerifyException("axis 1 of the input holds the channels and can't be the domain axis")
        if len(self.affine) not in (0, 2):
            raise VerifyException("affine takes a scale and a shift")
        for value in (self.mean, self.variance, *self.affine):
            if shape_of(value) != (shape[1],):
                raise VerifyException(f"statistics, scale and shift must have {shape[1]} numbers")


@irdl_op_definition
class LayerNormOp(GnnOperation):
    """Layer normalisation over the last `axes` axes of each row, with or without scale and shift.

    ```mlir
    %y = gnn.layer_norm %x affine %scale, %shift axes 1 eps 1.0e-05
        : tensor<?x8xf32, #gnn.on<nodes "n">> affine tensor<8xf32>, tensor<8xf32>
    ```
    """

    name = "gnn.layer_norm"

    T: ClassVar = VarConstraint("T", TensorType.constr())

    input = operand_def(T)
    affine = var_operand_def(TensorType.constr())
    axes = prop_def(IntegerAttr.constr(i64))
    eps = prop_def(FloatAttr.constr(f64))
    result = result_def(T)

    traits = traits_def(Pure())
    custom_directives = (Double,)
    assembly_format = (
        "$input (`affine` $affine^)? `axes` $axes `eps` custom<Double>($eps) attr-dict "
        "`:` type($input) (`affine` type($affine)^)?"
    )

    def __init__(self, input: SSAValue, affine: Sequence[SSAValue], axes: int, eps: float):
        super().__init__(
            operands=[input, affine],
            properties={"axes": IntegerAttr(axes, i64), "eps": FloatAttr(eps, f64)},
            result_types=[input.type],
        )

    def verify_semantics(self) -> None:
        shared_domain(self)
        shape, axes = shape_of(self.input), self.axes.value.data
        if not 0 < axes < len(shape) or DYNAMIC_INDEX in shape[-axes:]:
            raise VerifyException("the normalised axes must be row axes")
        if len(self.affine) not in (0, 1, 2) or any(shape_of(v) != shape[-axes:] for v in self.affine):
            raise VerifyException(f"scale and shift must have shape {readable(shape[-axes:])}")


class ConcatCanonicalization(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from gnnc.dialects.gnn.canonicalization import ConcatOfOne

        return (ConcatOfOne(),)


@irdl_op_definition
class ConcatOp(GnnOperation):
    """Values on one domain side by side, along a row axis.

    ```mlir
    %y = gnn.concat %a, %b axis 1
        : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x8xf32, #gnn.on<nodes "n">>
          -> tensor<?x16xf32, #gnn.on<nodes "n">>
    ```
    """

    name = "gnn.concat"

    inputs = var_operand_def(TensorType.constr())
    axis = prop_def(IntegerAttr.constr(i64))
    result = result_def(TensorType.constr())

    traits = traits_def(Pure(), ConcatCanonicalization())
    assembly_format = "$inputs `axis` $axis attr-dict `:` type($inputs) `->` type($result)"

    def __init__(self, inputs: Sequence[SSAValue], axis: int, type: AnyTensor):
        super().__init__(operands=[inputs], properties={"axis": IntegerAttr(axis, i64)}, result_types=[type])

    def verify_semantics(self) -> None:
        require_domain(self.result, shared_domain(self), "the result")
        axis, result = self.axis.value.data, shape_of(self.result)
        if not 0 <= axis < len(result) or axis == domain_axis(self.result.type):
            raise VerifyException("values are joined along a row axis")
        for value in self.inputs:
            shape = shape_of(value)
            rest = (*shape[:axis], *shape[axis + 1 :])
            if len(shape) != len(result) or rest != (*result[:axis], *result[axis + 1 :]):
                raise VerifyException("the operands must agree on every other axis")
        if sum(shape_of(value)[axis] for value in self.inputs) != result[axis]:
            raise VerifyException(f"the operands don't add up to {result[axis]} on axis {axis}")


class ReshapeCanonicalization(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from gnnc.dialects.gnn.canonicalization import ReshapeOfReshape, ReshapeToItself

        return (ReshapeToItself(), ReshapeOfReshape())


def element_counts(type_: Attribute) -> tuple[int, int]:
    """How many numbers lie before and after the domain axis."""
    assert isinstance(type_, TensorType)
    axis, before, after = domain_axis(type_), 1, 1
    for position, size in enumerate(type_.get_shape()):
        before *= size if position < axis else 1
        after *= size if position > axis else 1
    return before, after


@irdl_op_definition
class ReshapeOp(GnnOperation):
    """The same numbers under other row axes; rows stay rows.

    ```mlir
    %y = gnn.reshape %x : tensor<?x16xf32, #gnn.on<nodes "n">> -> tensor<?x2x8xf32, #gnn.on<nodes "n">>
    ```
    """

    name = "gnn.reshape"

    input = operand_def(TensorType.constr())
    result = result_def(TensorType.constr())

    traits = traits_def(Pure(), ReshapeCanonicalization())
    assembly_format = "$input attr-dict `:` type($input) `->` type($result)"

    def __init__(self, input: SSAValue, type: AnyTensor):
        super().__init__(operands=[input], result_types=[type])

    def verify_semantics(self) -> None:
        shared_domain(self)
        for value in (self.input, self.result):
            if domain_of(value.type) is None:
                raise VerifyException("operand and result must be on the domain")
        if element_counts(self.input.type) != element_counts(self.result.type):
            raise VerifyException("a reshape keeps the count of numbers before and after the domain axis")


@irdl_op_definition
class BroadcastOp(GnnOperation):
    """Row axes of size 1, or missing in front, repeated; rows stay rows.

    ```mlir
    %y = gnn.broadcast %x : tensor<?x1xf32, #gnn.on<nodes "n">> -> tensor<?x16xf32, #gnn.on<nodes "n">>
    ```
    """

    name = "gnn.broadcast"

    input = operand_def(TensorType.constr())
    result = result_def(TensorType.constr())

    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` type($input) `->` type($result)"

    def __init__(self, input: SSAValue, type: AnyTensor):
        super().__init__(operands=[input], result_types=[type])

    def verify_semantics(self) -> None:
        domain = shared_domain(self)
        if domain_of(self.input.type) != domain:
            raise VerifyException("the operand must be on the domain")
        if broadcast_shape([shape_of(self.input), shape_of(self.result)]) != shape_of(self.result):
            raise VerifyException("the operand doesn't broadcast to the result")
