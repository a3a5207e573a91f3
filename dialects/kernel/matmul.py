"""The two kernels, sums of matrix products with an epilogue."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntegerAttr, TensorType, i64
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from gnnc.dialects.gnn.attributes import DensityAttr, domain_of, row_shape
from gnnc.dialects.gnn.rowwise import shape_of
from gnnc.dialects.kernel.attributes import ActivationAttr, AdjacencyType, SchemeAttr


class Matmul(IRDLOperation):
    """`activation(scale * (sum of lhs[s] x rhs[s] + addends) + bias) + residuals`.

    The sum over s is one inner list: the pairs of tiles of all products, one after the other. `layer` is the layer of
    the Conv whose block the kernel belongs to. `densities` has one for each lhs, then one for each rhs; `scheme` is set
    by kernel-partition.
    """

    lhs = var_operand_def()
    rhs = var_operand_def()
    addends = var_operand_def(TensorType.constr())
    scale = opt_operand_def(TensorType.constr())
    bias = opt_operand_def(TensorType.constr())
    residuals = var_operand_def(TensorType.constr())
    layer = prop_def(IntegerAttr.constr(i64))
    activation = opt_prop_def(ActivationAttr)
    densities = opt_prop_def(ArrayAttr[DensityAttr])
    scheme = opt_prop_def(SchemeAttr)
    result = result_def(TensorType.constr())

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    assembly_format = (
        "$lhs `times` $rhs (`plus` $addends^)? (`scale` $scale^)? (`bias` $bias^)? (`activation` $activation^)? "
        "(`then` `plus` $residuals^)? `layer` $layer (`densities` $densities^)? (`scheme` $scheme^)? attr-dict `:` "
        "type($lhs) `times` type($rhs) (`plus` type($addends)^)? (`scale` type($scale)^)? (`bias` type($bias)^)? "
        "(`then` `plus` type($residuals)^)? `->` type($result)"
    )

    def __init__(
        self,
        lhs: Sequence[SSAValue],
        rhs: Sequence[SSAValue],
        result_type: Attribute,
        layer: int,
        *,
        addends: Sequence[SSAValue] = (),
        scale: SSAValue | None = None,
        bias: SSAValue | None = None,
        activation: ActivationAttr | None = None,
        residuals: Sequence[SSAValue] = (),
    ):
        unknown = ArrayAttr([DensityAttr()] * (len(lhs) + len(rhs)))
        super().__init__(
            operands=[lhs, rhs, addends, scale, bias, residuals],
            properties={"layer": IntegerAttr(layer, i64), "activation": activation, "densities": unknown},
            result_types=[result_type],
        )

    @property
    def layer_index(self) -> int:
        return self.layer.value.data

    @property
    def width(self) -> int:
        """The columns of the result."""
        return shape_of(self.result)[1]

    @property
    def segments(self) -> list[tuple[SSAValue, SSAValue]]:
        """The two sides of each product."""
        return list(zip(self.lhs, self.rhs, strict=True))

    @property
    def aggregates(self) -> bool:
        """Whether sums are over nodes, by an adjacency matrix."""
        raise NotImplementedError

    def cut(self, nodes: int, n1: int, n2: int) -> SchemeAttr:
        """The scheme for partition sizes: a task a tile of the output, in it a pair a tile of what is summed over."""
        side = n1 if self.aggregates else n2
        lengths = [nodes if self.aggregates else shape_of(lhs)[1] for lhs in self.lhs]
        grid = (-(-nodes // side), -(-self.width // n2))
        return SchemeAttr(n1, n2, grid, [-(-length // side) for length in lengths])

    def verify_(self) -> None:
        domain = domain_of(self.result.type)
        if domain is None or not domain.is_nodes or len(row_shape(self.result.type)) != 1:
            raise VerifyException("the result must be a matrix with a row a node")
        if not self.lhs or len(self.lhs) != len(self.rhs):
            raise VerifyException("a kernel needs a right side for each left side, and one product at least")
        for lhs, rhs in self.segments:
            self.verify_product(lhs, rhs)
        if any(value.type != self.result.type for value in (*self.addends, *self.residuals)):
            raise VerifyException("what is added must have the type of the result")
        for value in (self.scale, self.bias):
            if value is not None and shape_of(value) != (self.width,):
                raise VerifyException(f"scale and bias must have {self.width} numbers")
        if self.densities is not None and len(self.densities) != len(self.lhs) + len(self.rhs):
            raise VerifyException("there must be a density for each operand of each product")
        if self.scheme is not None and len(self.scheme.inner) != len(self.lhs):
            raise VerifyException("there must be an inner length for each product")

    def verify_product(self, lhs: SSAValue, rhs: SSAValue) -> None:
        """What one product asks of its sides; raises VerifyException."""
        raise NotImplementedError


@irdl_op_definition
class AggregateOp(Matmul):
    """Adjacency matrices times node values: each node's value from its neighbours'. Dynasparse calls this Aggregate().

    ```mlir
    %y = kernel.aggregate %a times %h bias %b activation <relu> layer 1
        : !kernel.adjacency<"n" x "n"> times tensor<?x16xf32, #gnn.on<nodes "n">> bias tensor<16xf32>
          -> tensor<?x16xf32, #gnn.on<nodes "n">>
    ```
    """

    name = "kernel.aggregate"
    traits = traits_def(Pure())

    @property
    def aggregates(self) -> bool:
        return True

    def verify_product(self, lhs: SSAValue, rhs: SSAValue) -> None:
        if not isinstance(lhs.type, AdjacencyType) or lhs.type.row_domain != domain_of(self.result.type):
            raise VerifyException("an aggregation's left side must be an adjacency with a row a node of the result")
        if domain_of(rhs.type) != lhs.type.column_domain or row_shape(rhs.type) != (self.width,):
            raise VerifyException("the right side must have a row a column of the left and the width of the result")


@irdl_op_definition
class UpdateOp(Matmul):
    """Node values times weights. Dynasparse calls this Update(); several products are several values side by side.

    ```mlir
    %y = kernel.update %h, %x times %w, %v bias %b layer 1
        : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<?x4xf32, #gnn.on<nodes "n">>
          times tensor<8x16xf32>, tensor<4x16xf32> bias tensor<16xf32> -> tensor<?x16xf32, #gnn.on<nodes "n">>
    ```
    """

    name = "kernel.update"
    traits = traits_def(Pure())

    @property
    def aggregates(self) -> bool:
        return False

    def verify_product(self, lhs: SSAValue, rhs: SSAValue) -> None:
        if domain_of(lhs.type) != domain_of(self.result.type) or len(row_shape(lhs.type)) != 1:
            raise VerifyException("an update's left side must be a matrix with a row a node of the result")
        if domain_of(rhs.type) is not None or shape_of(rhs) != (*row_shape(lhs.type), self.width):
            raise VerifyException("the right side must be a weight with a row a column of the left")
