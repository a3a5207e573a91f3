"""Numbers in more or fewer bits."""

from xdsl.dialects.builtin import AnyFloatConstr, TensorType
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, result_def, traits_def
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from gnnc.dialects.gnn.attributes import AnyTensor, domain_of
from gnnc.dialects.gnn.base import GnnOperation, shared_domain


@irdl_op_definition
class CastOp(GnnOperation):
    """The same numbers in another floating-point type, rounded to the nearest where that has fewer bits.

    ```mlir
    %y = gnn.cast %x : tensor<?x16xf32, #gnn.on<nodes "n">> -> tensor<?x16xbf16, #gnn.on<nodes "n">>
    ```
    """

    name = "gnn.cast"

    input = operand_def(TensorType.constr(AnyFloatConstr))
    result = result_def(TensorType.constr(AnyFloatConstr))

    traits = traits_def(Pure())
    assembly_format = "$input attr-dict `:` type($input) `->` type($result)"

    def __init__(self, input: SSAValue, type: AnyTensor):
        super().__init__(operands=[input], result_types=[type])

    def verify_semantics(self) -> None:
        shared_domain(self)
        before, after = self.input.type, self.result.type
        assert isinstance(before, TensorType) and isinstance(after, TensorType)
        if before.get_shape() != after.get_shape() or domain_of(before) != domain_of(after):
            raise VerifyException("a cast changes the type of the numbers alone")
