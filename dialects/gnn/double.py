"""A double in the text of an operation, without its type."""

from xdsl.dialects.builtin import FloatAttr, f64
from xdsl.irdl import IRDLOperation
from xdsl.irdl.declarative_assembly_format import (
    AttributeVariable,
    CustomDirective,
    ParsingState,
    PrintingState,
    irdl_custom_directive,
)
from xdsl.parser import Parser
from xdsl.printer import Printer


@irdl_custom_directive
class Double(CustomDirective):
    """`custom<Double>($eps)` reads whatever `$eps` alone prints: `1.0e-05`, or bits in hexadecimal for infinities, NaNs
    and numbers without a short decimal form. `$eps` alone can't read the hexadecimal form."""

    number: AttributeVariable

    def parse(self, parser: Parser, state: ParsingState) -> None:
        if not parser.lexer.input.content.startswith("0x", parser.pos):
            self.number.parse(parser, state)
            return
        position = parser.pos
        bits = parser.parse_integer(allow_boolean=False)
        if bits.bit_length() > f64.bitwidth:
            parser.raise_error("a double has 64 bits", position, parser.pos)
        (value,) = f64.unpack(bits.to_bytes(f64.size, "little"), 1)
        self.number.set(state, FloatAttr(value, f64))

    def print(self, printer: Printer, state: PrintingState, op: IRDLOperation) -> None:
        self.number.print(printer, state, op)
