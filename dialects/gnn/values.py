"""Where values come from: weights, constants, fills and sizes."""

from xdsl.dialects.builtin import (
    FlatSymbolRefAttr,
    FlatSymbolRefAttrConstr,
    FloatAttr,
    IndexType,
    IntegerAttr,
    StringAttr,
    SymbolNameConstraint,
    SymbolRefAttr,
    TensorType,
    f64,
    i64,
)
from xdsl.ir import Attribute, Operation
from xdsl.irdl import IRDLOperation, irdl_op_definition, prop_def, result_def, traits_def
from xdsl.traits import Pure, SymbolOpInterface, SymbolTable, SymbolUserOpInterface
from xdsl.utils.exceptions import VerifyException

from gnnc.dialects.gnn.attributes import AnyTensor, DomainAttr, domain_of, tensor_on
from gnnc.dialects.gnn.base import GnnOperation


@irdl_op_definition
class WeightOp(IRDLOperation):
    """Declares a weight of the model: its name and type. The numbers lie beside the module, never in its text.

    ```mlir
    gnn.weight @conv1.lin.weight : tensor<16x1433xf32>
    ```
    """

    name = "gnn.weight"

    sym_name = prop_def(SymbolNameConstraint())
    type = prop_def(TensorType.constr())

    traits = traits_def(SymbolOpInterface())
    assembly_format = "$sym_name `:` $type attr-dict"

    def __init__(self, name: str, type: AnyTensor):
        super().__init__(properties={"sym_name": StringAttr(name), "type": type})

    def verify_(self) -> None:
        if not self.type.has_static_shape() or domain_of(self.type) is not None:
            raise VerifyException("a weight has a static shape and no domain")


class LoadWeightSymbolUse(SymbolUserOpInterface):
    def verify(self, op: Operation) -> None:
        assert isinstance(op, LoadWeightOp)
        declared = SymbolTable.lookup_symbol(op, op.weight)
        if not isinstance(declared, WeightOp):
            raise VerifyException(f"no gnn.weight declares {op.weight}")
        if declared.type != op.result.type:
            raise VerifyException(f"{op.weight} is declared as {declared.type} and loaded as {op.result.type}")


@irdl_op_definition
class LoadWeightOp(IRDLOperation):
    """The value of a weight, by symbol.

    ```mlir
    %w = gnn.load_weight @conv1.lin.weight : tensor<16x1433xf32>
    ```
    """

    name = "gnn.load_weight"

    weight = prop_def(FlatSymbolRefAttrConstr)
    result = result_def(TensorType.constr())

    traits = traits_def(Pure(), LoadWeightSymbolUse())
    assembly_format = "$weight `:` type($result) attr-dict"

    def __init__(self, weight: str | FlatSymbolRefAttr, type: AnyTensor):
        symbol = SymbolRefAttr(weight) if isinstance(weight, str) else weight
        super().__init__(properties={"weight": symbol}, result_types=[type])


@irdl_op_definition
class ConstantOp(GnnOperation):
    """One number, without rows, that takes part in row-wise arithmetic as a Python number does in torch.

    ```mlir
    %eps = gnn.constant 1.0e-16 : f64 -> tensor<f64>
    ```
    """

    name = "gnn.constant"

    value = prop_def(FloatAttr.constr() | IntegerAttr.constr())
    result = result_def(TensorType.constr())

    traits = traits_def(Pure())
    assembly_format = "$value attr-dict `->` type($result)"

    def __init__(self, value: float):
        attribute: Attribute = FloatAttr(value, f64) if isinstance(value, float) else IntegerAttr(int(value), i64)
        element: Attribute = f64 if isinstance(value, float) else i64
        super().__init__(properties={"value": attribute}, result_types=[tensor_on(None, (), element)])

    def verify_(self) -> None:
        assert isinstance(self.result.type, TensorType)
        if self.result.type.get_shape() or self.result.type.element_type != self.value.type:
            raise VerifyException(f"the result must be tensor<{self.value.type}>")


@irdl_op_definition
class FillOp(GnnOperation):
    """The same number in every row of a domain; made at the size of whatever rows are asked for.

    ```mlir
    %ones = gnn.fill 1.0 : f64 -> tensor<?xf32, #gnn.on<edges "cites">>
    ```
    """

    name = "gnn.fill"

    value = prop_def(FloatAttr.constr() | IntegerAttr.constr())
    result = result_def(TensorType.constr())

    traits = traits_def(Pure())
    assembly_format = "$value attr-dict `->` type($result)"

    def __init__(self, value: float, type: AnyTensor):
        attribute: Attribute = FloatAttr(value, f64) if isinstance(value, float) else IntegerAttr(int(value), i64)
        super().__init__(properties={"value": attribute}, result_types=[type])

    def verify_semantics(self) -> None:
        if domain_of(self.result.type) is None:
            raise VerifyException("the result must be on a domain, use gnn.constant for a single number")


@irdl_op_definition
class CountOp(GnnOperation):
    """How many nodes or edges a domain has in the whole graph, whatever batch is running.

    ```mlir
    %n = gnn.count on<nodes "paper">
    ```
    """

    name = "gnn.count"

    domain = prop_def(DomainAttr)
    result = result_def(IndexType())

    traits = traits_def(Pure())
    assembly_format = "`on` `` $domain attr-dict"

    def __init__(self, domain: DomainAttr):
        super().__init__(properties={"domain": domain}, result_types=[IndexType()])
