"""Arithmetic on weights alone: function @weights of a module at the level of kernels. It runs once, when a program is
compiled, so that nothing linear is left to do beside the products."""

from __future__ import annotations

from xdsl.dialects.builtin import FloatAttr, IntegerAttr, TensorType, f64, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import IRDLOperation, irdl_op_definition, operand_def, opt_operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from gnnc.dialects.gnn.attributes import tensor_on
from gnnc.dialects.gnn.double import Double
from gnnc.dialects.gnn.rowwise import readable, shape_of


def element_of(value: SSAValue) -> Attribute:
    assert isinstance(value.type, TensorType)
    return value.type.element_type


@irdl_op_definition
class TransposeOp(IRDLOperation):
    """A matrix with rows and columns exchanged: torch keeps weights as [out, in], a product H x W wants [in, out].

    ```mlir
    %t = kernel.transpose %w : tensor<16x1433xf32> -> tensor<1433x16xf32>
    ```
    """

    name = "kernel.transpose"

    input = operand_def(TensorType.constr())
    result = result_def(TensorType.constr())

    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` type($input) `->` type($result)"

    def __init__(self, input: SSAValue):
        super().__init__(operands=[input], result_types=[tensor_on(None, shape_of(input)[::-1], element_of(input))])

    def verify_(self) -> None:
        if len(shape_of(self.input)) != 2 or shape_of(self.result) != shape_of(self.input)[::-1]:
            raise VerifyException("a transpose exchanges the two axes of a matrix")


@irdl_op_definition
class RowsOp(IRDLOperation):
    """Some rows of a matrix, or numbers of a vector: the part that meets one of several values side by side.

    ```mlir
    %w1 = kernel.rows %w from 16 : tensor<48x7xf32> -> tensor<16x7xf32>
    ```
    """

    name = "kernel.rows"

    input = operand_def(TensorType.constr())
    start = prop_def(IntegerAttr.constr(i64))
    result = result_def(TensorType.constr())

    traits = traits_def(Pure())
    assembly_format = "$input `from` $start attr-dict `:` type($input) `->` type($result)"

    def __init__(self, input: SSAValue, start: int, count: int):
        super().__init__(
            operands=[input],
            properties={"start": IntegerAttr(start, i64)},
            result_types=[tensor_on(None, (count, *shape_of(input)[1:]), element_of(input))],
        )

    def verify_(self) -> None:
        given, kept, start = shape_of(self.input), shape_of(self.result), self.start.value.data
        if start < 0 or start + kept[0] > given[0] or given[1:] != kept[1:]:
            raise VerifyException(f"rows {start} to {start + kept[0]} are not all in {readable(given)}")


@irdl_op_definition
class NormScaleOp(IRDLOperation):
    """What a batch normalisation multiplies each channel by: `scale / sqrt(variance + eps)`, without a scale 1.

    ```mlir
    %s = kernel.norm_scale %variance scale %gamma eps 1.0e-05 : tensor<16xf32> scale tensor<16xf32> -> tensor<16xf32>
    ```
    """

    name = "kernel.norm_scale"

    variance = operand_def(TensorType.constr())
    scale = opt_operand_def(TensorType.constr())
    eps = prop_def(FloatAttr.constr(f64))
    result = result_def(TensorType.constr())

    traits = traits_def(Pure())
    custom_directives = (Double,)
    assembly_format = (
        "$variance (`scale` $scale^)? `eps` custom<Double>($eps) attr-dict `:` type($variance) "
        "(`scale` type($scale)^)? `->` type($result)"
    )

    def __init__(self, variance: SSAValue, scale: SSAValue | None, eps: float):
        super().__init__(
            operands=[variance, scale], properties={"eps": FloatAttr(eps, f64)}, result_types=[variance.type]
        )

    def verify_(self) -> None:
        if any(value.type != self.result.type for value in self.operands):
            raise VerifyException("variance, scale and result are vectors of one length")


class WeightArithmetic(IRDLOperation):
    """Two weights combined number by number; a vector meets the columns of a matrix, a single number meets all."""

    lhs = operand_def(TensorType.constr())
    rhs = operand_def(TensorType.constr())
    result = result_def(TensorType.constr())

    assembly_format = "$lhs `,` $rhs attr-dict `:` type($lhs) `,` type($rhs) `->` type($result)"

    def __init__(self, lhs: SSAValue, rhs: SSAValue):
        super().__init__(operands=[lhs, rhs], result_types=[lhs.type])

    def verify_(self) -> None:
        shape = shape_of(self.lhs)
        if shape_of(self.result) != shape or shape_of(self.rhs) not in (shape, shape[-1:], (1,), ()):
            raise VerifyException(f"{readable(shape_of(self.rhs))} doesn't meet the columns of {readable(shape)}")


@irdl_op_definition
class ScaleOp(WeightArithmetic):
    """`lhs * rhs`, for a matrix column by column."""

    name = "kernel.scale"
    traits = traits_def(Pure())


@irdl_op_definition
class AddOp(WeightArithmetic):
    """`lhs + rhs`."""

    name = "kernel.add"
    traits = traits_def(Pure())


@irdl_op_definition
class SubOp(WeightArithmetic):
    """`lhs - rhs`."""

    name = "kernel.sub"
    traits = traits_def(Pure())
