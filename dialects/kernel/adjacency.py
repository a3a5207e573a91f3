"""The adjacency matrices that aggregations multiply with. They depend on the structure of the graph alone."""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType, UnitAttr
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from gnnc.dialects.gnn.attributes import EdgeSetType, EndAttr, domain_of
from gnnc.dialects.gnn.edge_sets import edge_set_type
from gnnc.dialects.gnn.rowwise import shape_of
from gnnc.dialects.kernel.attributes import AdjacencyType


@irdl_op_definition
class AdjacencyOp(IRDLOperation):
    """The matrix of an aggregation: a row for each node at one end of the edges, a column for each at the other.

    An entry is the sum over the edges that join the two nodes of their values (1 without values); with `mean` a row is
    divided by its count of edges; then all is multiplied by `scaled` and `diagonal` is added on the diagonal.

    ```mlir
    %a = kernel.adjacency mean at target of %e values %v diagonal %d
        : !gnn.edges<"e", "n" -> "n"> values tensor<?xf32, #gnn.on<edges "e">> diagonal tensor<1xf32>
          -> !kernel.adjacency<"n" x "n">
    ```
    """

    name = "kernel.adjacency"

    mean = opt_prop_def(UnitAttr)
    end = prop_def(EndAttr)
    edges = operand_def(EdgeSetType)
    values = opt_operand_def(TensorType.constr())
    scaled = opt_operand_def(TensorType.constr())
    diagonal = opt_operand_def(TensorType.constr())
    result = result_def(AdjacencyType)

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(Pure())
    assembly_format = (
        "(`mean` $mean^)? `at` $end `of` $edges (`values` $values^)? (`scaled` $scaled^)? (`diagonal` $diagonal^)? "
        "attr-dict `:` type($edges) (`values` type($values)^)? (`scaled` type($scaled)^)? "
        "(`diagonal` type($diagonal)^)? `->` type($result)"
    )

    def __init__(
        self,
        edges: SSAValue,
        end: EndAttr,
        *,
        mean: bool,
        values: SSAValue | None,
        scaled: SSAValue | None,
        diagonal: SSAValue | None,
    ):
        super().__init__(
            operands=[edges, values, scaled, diagonal],
            properties={"mean": UnitAttr() if mean else None, "end": end},
            result_types=[adjacency_type(edges, end)],
        )

    def verify_(self) -> None:
        if self.result.type != adjacency_type(self.edges, self.end):
            raise VerifyException(f"the matrix must be of type {adjacency_type(self.edges, self.end)}")
        if self.values is not None and (
            domain_of(self.values.type) != edge_set_type(self.edges).domain or len(shape_of(self.values)) != 1
        ):
            raise VerifyException("the values must be one number an edge")
        if any(number is not None and shape_of(number) not in ((), (1,)) for number in (self.scaled, self.diagonal)):
            raise VerifyException("scale and diagonal are single numbers")
        if self.diagonal is not None and self.result.type.rows != self.result.type.columns:
            raise VerifyException("a diagonal needs one node set at both ends")


def adjacency_type(edges: SSAValue, end: EndAttr) -> AdjacencyType:
    """The type of the matrix of an aggregation at one end of some edges."""
    type_ = edge_set_type(edges)
    return AdjacencyType(type_.node_domain(end).set_name, type_.node_domain(end.opposite).set_name)
