"""Fused operations: what a kernel computes in one loop nest."""

from abc import ABC
from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import FlatSymbolRefAttrConstr, SymbolRefAttr
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    irdl_op_definition,
    opt_prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import IsolatedFromAbove, Pure
from xdsl.utils.exceptions import VerifyException

from gnnc.dialects.gnn.attributes import EdgeSetType, EndAttr, domain_of
from gnnc.dialects.gnn.base import GnnOperation
from gnnc.dialects.gnn.bindings import parse_bindings, parse_results_and_body, print_bindings, print_results_and_body
from gnnc.dialects.gnn.blocks import YieldOp
from gnnc.dialects.gnn.neighborhood import AggregateOp, ConvOperation, GatherOp


class FusedOperation(GnnOperation, ABC):
    """Operations on the rows of a batch as one. It means what its body says, operation by operation. `kernel` names the
    function in loops that computes the same, once there is one."""

    kernel = opt_prop_def(FlatSymbolRefAttrConstr)
    inputs = var_operand_def()
    outputs = var_result_def()
    body = region_def("single_block")

    traits = traits_def(IsolatedFromAbove(), Pure())

    def __init__(self, inputs: Sequence[SSAValue], result_types: Sequence[Attribute], body: Region):
        super().__init__(operands=[inputs], result_types=[result_types], regions=[body])

    def set_kernel(self, name: str) -> None:
        self.kernel = SymbolRefAttr(name)

    @property
    def results_inside(self) -> Sequence[SSAValue]:
        """The values of the body that the results are."""
        terminator = self.body.block.last_op
        assert isinstance(terminator, YieldOp)
        return terminator.values

    def verify_semantics(self) -> None:
        arguments = self.body.block.args
        if [a.type for a in arguments] != [o.type for o in self.operands]:
            raise VerifyException("the arguments of the body must have the types of the operands, in order")
        terminator = self.body.block.last_op
        if not isinstance(terminator, YieldOp):
            raise VerifyException("the body must end in gnn.yield")
        if [v.type for v in terminator.values] != [r.type for r in self.outputs]:
            raise VerifyException("gnn.yield must give values of the types of the results")
        self.verify_body()

    def verify_body(self) -> None:
        """What else holds of the body."""

    def print(self, printer: Printer) -> None:
        if self.kernel is not None:
            printer.print_string(" kernel ")
            printer.print_attribute(self.kernel)
        print_bindings(printer, list(zip(self.body.block.args, self.inputs, strict=True)))
        print_results_and_body(printer, self, self.body)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        kernel = parser.parse_optional_keyword("kernel") and parser.parse_attribute()
        arguments: list[Parser.Argument] = []
        inputs = parse_bindings(parser, arguments)
        result_types, attributes, body = parse_results_and_body(parser, arguments)
        fused = cls(inputs, result_types, body)
        if isinstance(kernel, SymbolRefAttr):
            fused.kernel = kernel
        if attributes is not None:
            fused.attributes |= attributes.data
        return fused


@irdl_op_definition
class FusedConvOp(FusedOperation):
    """A Conv from gather to activation as one operation, for one loop over the nodes and one over the edges of each. It
    means what its body says, operation by operation; the body gathers and reduces over one edge set, and gathers only
    what comes from outside. `kernel` names the function in loops that computes the same, once there is one.

    ```mlir
    %y = gnn.fused_conv(%a = %x : tensor<?x8xf32, #gnn.on<nodes "n">>, %e = %edges : !gnn.edges<"e", "n" -> "n">)
        -> (tensor<?x8xf32, #gnn.on<nodes "n">>) {
      %m = gnn.gather %a at source of %e
          : tensor<?x8xf32, #gnn.on<nodes "n">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x8xf32, #gnn.on<edges "e">>
      %s = gnn.aggregate sum %m at target of %e
          : tensor<?x8xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x8xf32, #gnn.on<nodes "n">>
      %r = gnn.relu %s : tensor<?x8xf32, #gnn.on<nodes "n">>
      gnn.yield %r : tensor<?x8xf32, #gnn.on<nodes "n">>
    }
    ```
    """

    name = "gnn.fused_conv"

    @property
    def reductions(self) -> list[ConvOperation]:
        """The reductions of the body, in order."""
        return [op for op in self.body.block.ops if isinstance(op, ConvOperation)]

    @property
    def edges(self) -> SSAValue:
        """The argument of the body that stands for the edge set."""
        return self.reductions[0].operands[-1]

    @property
    def end(self) -> EndAttr:
        """The end of the edges at which the body reduces."""
        end = self.reductions[0].properties["end"]
        assert isinstance(end, EndAttr)
        return end

    def verify_body(self) -> None:
        sets = [a for a in self.body.block.args if isinstance(a.type, EdgeSetType)]
        reductions = self.reductions
        if len(sets) != 1 or not any(isinstance(op, AggregateOp) for op in reductions):
            raise VerifyException("the body must aggregate over one edge set")
        if len({str(op.properties["end"]) for op in reductions}) != 1:
            raise VerifyException("the body must reduce at one end of the edges")
        for op in self.body.block.ops:
            if isinstance(op, GatherOp) and op.nodes.owner is not self.body.block:
                raise VerifyException("the body may gather only what comes from outside")


@irdl_op_definition
class FusedRowsOp(FusedOperation):
    """Row-wise work on the rows of one set as one operation, for one loop over rows: what lies between has no memory.

    ```mlir
    %y = gnn.fused_rows(%a = %x : tensor<?x8xf32, #gnn.on<nodes "n">>, %b = %w : tensor<8xf32>)
        -> (tensor<?x8xf32, #gnn.on<nodes "n">>) {
      %m = gnn.mul %a, %b : tensor<?x8xf32, #gnn.on<nodes "n">>, tensor<8xf32> -> tensor<?x8xf32, #gnn.on<nodes "n">>
      %r = gnn.relu %m : tensor<?x8xf32, #gnn.on<nodes "n">>
      gnn.yield %r : tensor<?x8xf32, #gnn.on<nodes "n">>
    }
    ```
    """

    name = "gnn.fused_rows"

    def verify_body(self) -> None:
        values = [v for op in self.body.block.ops for v in (*op.operands, *op.results)]
        domains = {domain for v in values if (domain := domain_of(v.type)) is not None}
        met = any(isinstance(op, GatherOp | ConvOperation) for op in self.body.block.ops)
        if met or len(domains) != 1:
            raise VerifyException("the body must work on the rows of one set")
