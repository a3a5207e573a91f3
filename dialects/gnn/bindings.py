"""How operations with a body write what comes in and what goes out: `(%a = %x : type) -> (types) { … }`."""

from collections.abc import Sequence

from xdsl.dialects.builtin import DictionaryAttr
from xdsl.ir import Attribute, Operation, Region, SSAValue
from xdsl.parser import Parser
from xdsl.printer import Printer


def print_bindings(printer: Printer, bindings: Sequence[tuple[SSAValue, SSAValue]]) -> None:
    """The body's arguments, each with the operand that it stands for."""
    with printer.in_parens():
        printer.print_list(bindings, lambda binding: print_binding(printer, *binding))


def print_binding(printer: Printer, argument: SSAValue, operand: SSAValue) -> None:
    printer.print_ssa_value(argument)
    printer.print_string(" = ")
    printer.print_ssa_value(operand)
    printer.print_string(" : ")
    printer.print_attribute(operand.type)


def print_results_and_body(printer: Printer, op: Operation, body: Region) -> None:
    printer.print_string(" -> ")
    with printer.in_parens():
        printer.print_list(op.results, lambda result: printer.print_attribute(result.type))
    printer.print_op_attributes(op.attributes, print_keyword=True)
    printer.print_string(" ")
    printer.print_region(body, print_entry_block_args=False)


def parse_bindings(parser: Parser, arguments: list[Parser.Argument]) -> list[SSAValue]:
    """The operands; the body's arguments are added to `arguments`."""

    def parse_binding() -> SSAValue:
        name = parser.parse_argument(expect_type=False).name
        parser.parse_punctuation("=")
        operand = parser.parse_unresolved_operand()
        parser.parse_punctuation(":")
        type_ = parser.parse_type()
        arguments.append(Parser.Argument(name, type_))
        return parser.resolve_operand(operand, type_)

    return parser.parse_comma_separated_list(parser.Delimiter.PAREN, parse_binding)


def parse_results_and_body(
    parser: Parser, arguments: Sequence[Parser.Argument]
) -> tuple[list[Attribute], DictionaryAttr | None, Region]:
    """The types of the results, attributes, and the body."""
    parser.parse_punctuation("->")
    result_types: list[Attribute] = list(parser.parse_comma_separated_list(parser.Delimiter.PAREN, parser.parse_type))
    attributes = parser.parse_optional_attr_dict_with_keyword()
    return result_types, attributes, parser.parse_region(arguments)
