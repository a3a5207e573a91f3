"""ConvBlocks: the unit of layer-wise execution."""

from collections.abc import Sequence
from typing import Self

from xdsl.dialects.builtin import IntegerAttr, i64
from xdsl.ir import Attribute, Region, SSAValue
from xdsl.irdl import (
    AttrSizedOperandSegments,
    irdl_op_definition,
    lazy_traits_def,
    prop_def,
    region_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.traits import HasParent, IsolatedFromAbove, IsTerminator, OpTrait, Pure, RecursiveMemoryEffect
from xdsl.utils.exceptions import VerifyException

from gnnc.dialects.gnn.attributes import domain_of
from gnnc.dialects.gnn.base import GnnOperation
from gnnc.dialects.gnn.bindings import parse_bindings, parse_results_and_body, print_bindings, print_results_and_body
from gnnc.dialects.gnn.global_values import GlobalReduceOp
from gnnc.dialects.gnn.neighborhood import ConvOperation

GROUPS = ("neighbors", "targets", "edges", "structure")


@irdl_op_definition
class ConvBlockOp(GnnOperation):
    """Everything that runs in one pass over the nodes: all Convs of one layer and the row-wise work around them (DGI,
    section on the splitter). A batch of target nodes needs, of each operand:

    - `neighbors`: the rows of its in-neighbours (and of the targets where the body uses those too);
    - `targets`: the rows of the targets alone;
    - `edges`: the rows of the edges that meet the targets;
    - `structure`: edge sets and what the structure function made of them, and values of the whole graph, which stay at
      hand.

    A result has rows of the targets, or of the edges that meet them, or none: then it is what gnn.global_reduce makes
    of all rows, and there when the last batch has run. Blocks run in order; an operand is free after the last block
    that uses it.

    ```mlir
    %h = gnn.conv_block layer 1 neighbors(%a = %x : tensor<?x8xf32, #gnn.on<nodes "n">>)
        structure(%e = %edges : !gnn.edges<"e", "n" -> "n">) -> (tensor<?x8xf32, #gnn.on<nodes "n">>) {
      %m = gnn.gather %a at source of %e
          : tensor<?x8xf32, #gnn.on<nodes "n">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x8xf32, #gnn.on<edges "e">>
      %y = gnn.aggregate sum %m at target of %e layer 1 conv 0
          : tensor<?x8xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x8xf32, #gnn.on<nodes "n">>
      gnn.yield %y : tensor<?x8xf32, #gnn.on<nodes "n">>
    }
    ```
    """

    name = "gnn.conv_block"

    layer = prop_def(IntegerAttr.constr(i64))
    neighbors = var_operand_def()
    targets = var_operand_def()
    edges = var_operand_def()
    structure = var_operand_def()
    outputs = var_result_def()
    body = region_def("single_block")

    irdl_options = (AttrSizedOperandSegments(as_property=True),)
    traits = traits_def(IsolatedFromAbove(), RecursiveMemoryEffect())

    def __init__(
        self,
        layer: int,
        neighbors: Sequence[SSAValue],
        targets: Sequence[SSAValue],
        edges: Sequence[SSAValue],
        structure: Sequence[SSAValue],
        result_types: Sequence[Attribute],
        body: Region,
    ):
        super().__init__(
            operands=[neighbors, targets, edges, structure],
            properties={"layer": IntegerAttr(layer, i64)},
            result_types=[result_types],
            regions=[body],
        )

    @property
    def layer_index(self) -> int:
        return self.layer.value.data

    def verify_semantics(self) -> None:
        arguments = self.body.block.args
        if [a.type for a in arguments] != [o.type for o in self.operands]:
            raise VerifyException("the arguments of the body must have the types of the operands, in order")
        for operand in (*self.neighbors, *self.targets):
            domain = domain_of(operand.type)
            if domain is None or not domain.is_nodes:
                raise VerifyException("what is loaded for neighbors or targets must be on a node domain")
        for operand in self.edges:
            domain = domain_of(operand.type)
            if domain is None or domain.is_nodes:
                raise VerifyException("what is loaded for edges must be on an edge domain")
        terminator = self.body.block.last_op
        if not isinstance(terminator, YieldOp):
            raise VerifyException("the body must end in gnn.yield")
        if [v.type for v in terminator.values] != [r.type for r in self.outputs]:
            raise VerifyException("gnn.yield must give values of the types of the results")
        if any(domain_of(v.type) is None and not isinstance(v.owner, GlobalReduceOp) for v in terminator.values):
            raise VerifyException("a result without rows must come from gnn.global_reduce")
        self.verify_samples()

    def verify_samples(self) -> None:
        """One Conv, one sample: a softmax over other edges than those that are summed would not add up to 1."""
        samples: dict[int | None, Attribute | None] = {}
        for op in self.body.block.ops:
            if isinstance(op, ConvOperation) and samples.setdefault(op.conv_index, op.sample) != op.sample:
                raise VerifyException(f"the reductions of conv {op.conv_index} must share one sample")

    def print(self, printer: Printer) -> None:
        printer.print_string(f" layer {self.layer_index}")
        arguments = iter(self.body.block.args)
        for name, operands in zip(GROUPS, (self.neighbors, self.targets, self.edges, self.structure), strict=True):
            if not operands:
                continue
            printer.print_string(f" {name}")
            print_bindings(printer, [(next(arguments), operand) for operand in operands])
        print_results_and_body(printer, self, self.body)

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        parser.parse_keyword("layer")
        layer = parser.parse_integer(allow_boolean=False)
        arguments: list[Parser.Argument] = []
        groups: list[list[SSAValue]] = []
        for group in GROUPS:
            present = parser.parse_optional_keyword(group) is not None
            groups.append(parse_bindings(parser, arguments) if present else [])
        result_types, attributes, body = parse_results_and_body(parser, arguments)
        neighbors, targets, edges, structure = groups
        block = cls(layer, neighbors, targets, edges, structure, result_types, body)
        if attributes is not None:
            block.attributes |= attributes.data
        return block


def yield_traits() -> tuple[OpTrait, ...]:
    from gnnc.dialects.gnn.fused import FusedConvOp, FusedRowsOp

    return IsTerminator(), HasParent(ConvBlockOp, FusedConvOp, FusedRowsOp), Pure()


@irdl_op_definition
class YieldOp(GnnOperation):
    """The results of a ConvBlock or of a fused operation.

    ```mlir
    gnn.yield %y : tensor<?x16xf32, #gnn.on<nodes "n">>
    ```
    """

    name = "gnn.yield"

    values = var_operand_def()

    traits = lazy_traits_def(yield_traits)
    assembly_format = "attr-dict ($values^ `:` type($values))?"

    def __init__(self, values: Sequence[SSAValue]):
        super().__init__(operands=[values])
