"""Calls of ATen operators inside the IR: `"aten.clamp.default"(%x, 1, none)`.

The positional arguments of an operator are operands, numbers, flags, element types, or lists of those. The IR keeps
them as one template: an array attribute in which `#gnn.operand<i>` stands for operand i. Keyword arguments hold no
operands.
"""

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, IntAttr, IntegerAttr, NoneAttr, i64
from xdsl.ir import Attribute, ParametrizedAttribute, SSAValue
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser, Parser, UnresolvedOperand
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException


@irdl_attr_definition
class OperandAttr(ParametrizedAttribute):
    """In the argument template of an ATen call: the place of operand `index`."""

    name = "gnn.operand"

    index: IntAttr

    def __init__(self, index: int | IntAttr):
        super().__init__(IntAttr(index) if isinstance(index, int) else index)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            return (IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False)),)

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_int(self.index.data)


def operand_indices(template: Attribute) -> list[int]:
    """The operands that a template names, in order of appearance."""
    if isinstance(template, OperandAttr):
        return [template.index.data]
    if isinstance(template, ArrayAttr):
        return [index for item in template.data for index in operand_indices(item)]
    return []


def verify_template(arguments: Attribute, operand_count: int) -> None:
    """Every operand is named once, in order."""
    named = operand_indices(arguments)
    if named != list(range(operand_count)):
        raise VerifyException(f"the arguments must name operands 0 to {operand_count - 1} in order, they name {named}")


def print_arguments(printer: Printer, arguments: Sequence[Attribute], operands: Sequence[SSAValue]) -> None:
    """Prints `(%x, [1, -1], none)`."""

    def print_argument(argument: Attribute) -> None:
        if isinstance(argument, OperandAttr):
            printer.print_ssa_value(operands[argument.index.data])
        elif isinstance(argument, ArrayAttr):
            with printer.in_square_brackets():
                printer.print_list(argument.data, print_argument)
        elif isinstance(argument, IntegerAttr) and argument.type == i64:
            printer.print_int(argument.value.data)
        elif isinstance(argument, NoneAttr):
            printer.print_string("none")
        else:
            printer.print_attribute(argument)

    with printer.in_parens():
        printer.print_list(arguments, print_argument)


def parse_arguments(parser: Parser) -> tuple[list[Attribute], list[UnresolvedOperand]]:
    """Parses what `print_arguments` prints; the caller resolves the operands, whose types come later in the text."""
    operands: list[UnresolvedOperand] = []

    def parse_argument() -> Attribute:
        operand = parser.parse_optional_unresolved_operand()
        if operand is not None:
            operands.append(operand)
            return OperandAttr(len(operands) - 1)
        items = parser.parse_optional_comma_separated_list(parser.Delimiter.SQUARE, parse_argument)
        if items is not None:
            return ArrayAttr(items)
        if parser.parse_optional_keyword("none") is not None:
            return NoneAttr()
        return parser.parse_attribute()

    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_argument), operands
