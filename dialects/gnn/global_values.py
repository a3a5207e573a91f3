"""Values of the whole graph: reductions of all rows into one value, and what is computed from such values."""

from collections.abc import Mapping, Sequence
from typing import Self

from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, prop_def, traits_def
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException

from gnnc.dialects.gnn.aten_calls import AtenCallOperation
from gnnc.dialects.gnn.attributes import Reduction, ReductionAttr, domain_of
from gnnc.dialects.gnn.base import operand_domain

COMBINED_BY = (Reduction.SUM, Reduction.MUL, Reduction.MAX, Reduction.MIN)


@irdl_op_definition
class GlobalReduceOp(AtenCallOperation):
    """An ATen operator that reduces all rows of a domain into one value, such that the results for parts of the rows
    can be combined by `reduction`: sums, products of a matrix over the rows, maxima. Each batch reduces its own rows;
    the value is there when all batches have run.

    ```mlir
    %s = gnn.global_reduce sum "aten.sum.dim_IntList"(%x, [0], 1)
        : (tensor<?x16xf32, #gnn.on<nodes "n">>) -> tensor<1x16xf32>
    ```
    """

    name = "gnn.global_reduce"

    reduction = prop_def(ReductionAttr)

    traits = traits_def(Pure())

    def __init__(
        self,
        reduction: Reduction,
        op: str,
        arguments: Sequence[Attribute],
        keywords: Mapping[str, Attribute],
        inputs: Sequence[SSAValue],
        result_type: Attribute,
    ):
        super().__init__(op, arguments, keywords, inputs, [result_type])
        self.reduction = ReductionAttr(reduction)

    def print(self, printer: Printer) -> None:
        printer.print_string(f" {self.reduction.data.value}")
        super().print(printer)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        reduction = parser.parse_str_enum(Reduction)
        call = cls.parse_call(parser)
        op = cls(reduction, call.op, call.arguments, call.keywords, call.inputs, call.result_types[0])
        op.attributes |= call.attributes
        return op

    def verify_semantics(self) -> None:
        self.verify_call()
        operand_domain(self)
        if len(self.outputs) != 1 or domain_of(self.outputs[0].type) is not None:
            raise VerifyException("a global reduction has one result, without rows")
        if self.reduction.data not in COMBINED_BY:
            raise VerifyException(f"partial results are combined by sum, mul, max or min, not {self.reduction.data}")


@irdl_op_definition
class GlobalCallOp(AtenCallOperation):
    """An ATen operator on values without rows, which runs once, between ConvBlocks.

    ```mlir
    %mean = gnn.global_call "aten.div.Tensor"(%sum, %n) : (tensor<1x16xf32>, index) -> tensor<1x16xf32>
    ```
    """

    name = "gnn.global_call"

    traits = traits_def(Pure())

    def verify_semantics(self) -> None:
        self.verify_call()
        if any(domain_of(value.type) is not None for value in (*self.inputs, *self.outputs)):
            raise VerifyException("a global call takes and gives values without rows")
