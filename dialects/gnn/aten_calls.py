"""The two generic operations: an ATen operator that is proved row-wise, and one that runs on the whole graph."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from xdsl.dialects.builtin import ArrayAttr, DictionaryAttr, StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import irdl_op_definition, prop_def, traits_def, var_operand_def, var_result_def
from xdsl.parser import Parser
from xdsl.pattern_rewriter import RewritePattern
from xdsl.printer import Printer
from xdsl.traits import HasCanonicalizationPatternsTrait, Pure
from xdsl.utils.exceptions import VerifyException

from gnnc.dialects.gnn.base import GnnOperation, shared_domain
from gnnc.dialects.gnn.template import parse_arguments, print_arguments, verify_template


@dataclass(frozen=True)
class ParsedCall:
    """The parts of a call in the text."""

    op: str
    arguments: Sequence[Attribute]
    keywords: Mapping[str, Attribute]
    inputs: Sequence[SSAValue]
    result_types: Sequence[Attribute]
    attributes: Mapping[str, Attribute]


class AtenCallOperation(GnnOperation):
    """A call of the ATen operator `op`, written as `"aten.clamp.default"(%x, 1, none) {keyword = value}`."""

    op = prop_def(StringAttr)
    arguments = prop_def(ArrayAttr)
    keywords = prop_def(DictionaryAttr)
    inputs = var_operand_def()
    outputs = var_result_def()

    def __init__(
        self,
        op: str,
        arguments: Sequence[Attribute],
        keywords: Mapping[str, Attribute],
        inputs: Sequence[SSAValue],
        result_types: Sequence[Attribute],
    ):
        super().__init__(
            operands=[inputs],
            properties={
                "op": StringAttr(op),
                "arguments": ArrayAttr(arguments),
                "keywords": DictionaryAttr(dict(keywords)),
            },
            result_types=[result_types],
        )

    def print(self, printer: Printer) -> None:
        printer.print_string(" ")
        printer.print_string_literal(self.op.data)
        print_arguments(printer, self.arguments.data, self.inputs)
        if self.keywords.data:
            printer.print_string(" ")
            printer.print_attribute(self.keywords)
        printer.print_op_attributes(self.attributes, print_keyword=True)
        printer.print_string(" : ")
        printer.print_function_type([v.type for v in self.inputs], [v.type for v in self.outputs])

    @classmethod
    def parse(cls, parser: Parser) -> Self:
        call = cls.parse_call(parser)
        op = cls(call.op, call.arguments, call.keywords, call.inputs, call.result_types)
        op.attributes |= call.attributes
        return op

    @staticmethod
    def parse_call(parser: Parser) -> "ParsedCall":
        """What stands after the name of the operation."""
        op = parser.parse_str_literal()
        arguments, unresolved = parse_arguments(parser)
        keywords = parser.parse_optional_dictionary_attr_dict()
        attributes = parser.parse_optional_attr_dict_with_keyword()
        parser.parse_punctuation(":")
        position = parser.pos
        types = parser.parse_function_type()
        inputs = parser.resolve_operands(unresolved, types.inputs.data, position)
        given = {} if attributes is None else attributes.data
        return ParsedCall(op, arguments, keywords, inputs, types.outputs.data, given)

    def verify_call(self) -> None:
        if not self.op.data.startswith("aten."):
            raise VerifyException(f'only operators of the aten namespace can be called, not "{self.op.data}"')
        verify_template(self.arguments, len(self.inputs))


class RowwiseCanonicalization(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from gnnc.dialects.gnn.canonicalization import LayoutOnly

        return (LayoutOnly(),)


@irdl_op_definition
class RowwiseOp(AtenCallOperation):
    """An ATen operator that is proved row-wise and has no operation of its own: every row of its results depends on the
    same row of its operands and on nothing else. The front end holds the proof (its table of row-wise rules).

    ```mlir
    %y = gnn.rowwise "aten.clamp.default"(%x, 0, none)
        : (tensor<?x16xf32, #gnn.on<nodes "n">>) -> tensor<?x16xf32, #gnn.on<nodes "n">>
    ```
    """

    name = "gnn.rowwise"

    traits = traits_def(Pure(), RowwiseCanonicalization())

    def verify_semantics(self) -> None:
        self.verify_call()
        shared_domain(self)


@irdl_op_definition
class WholeGraphOp(AtenCallOperation):
    """An ATen operator on values of the whole graph. Only the structure function may hold one: it runs once, in memory,
    on all nodes and edges, so nothing has to be known about how its rows depend on each other.

    ```mlir
    %keep = gnn.whole_graph "aten.ne.Tensor"(%src, %dst)
        : (tensor<?xi64, #gnn.on<edges "e">>, tensor<?xi64, #gnn.on<edges "e">>) -> tensor<?xi1, #gnn.on<edges "e">>
    ```
    """

    name = "gnn.whole_graph"

    traits = traits_def(Pure())

    def verify_semantics(self) -> None:
        self.verify_call()
