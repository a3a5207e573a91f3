"""Decisions of passes, as part of the module."""

from collections.abc import Sequence

from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, ParametrizedAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from gnnc.dialects.gnn.attributes import parse_name


@irdl_attr_definition
class DecisionAttr(ParametrizedAttribute):
    """What a pass decided, and what each choice costs:
    `<"gnn-reorder-linear" on "linear 128 to 47" at "model.py:12" chose "A(XW)" predicted {"A(XW)" = 9 : i64, "(AX)W" =
    12 : i64} measured {} in "ps a node">`.

    Predicted prices are those of the cost model that decided, measured ones were taken on this machine; a choice may
    have neither. A module has its decisions in `gnn.decisions`, in the order in which they were made.
    """

    name = "gnn.decision"

    made_by: StringAttr
    subject: StringAttr
    source: StringAttr
    choice: StringAttr
    predicted: DictionaryAttr
    measured: DictionaryAttr
    unit: StringAttr

    def verify(self) -> None:
        choices = {**self.predicted.data, **self.measured.data}
        if not all(isinstance(price, IntegerAttr) for price in choices.values()):
            raise VerifyException("the price of a choice is an integer")
        if choices and self.choice.data not in choices:
            raise VerifyException(f"{self.choice.data} is none of the choices {', '.join(choices)}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            texts = [parse_name(parser)]
            for keyword in ("on", "at", "chose"):
                parser.parse_keyword(keyword)
                texts.append(parse_name(parser))
            parser.parse_keyword("predicted")
            predicted = parser.parse_attribute()
            parser.parse_keyword("measured")
            measured = parser.parse_attribute()
            parser.parse_keyword("in")
            unit = StringAttr(parse_name(parser))
            return (*(StringAttr(text) for text in texts), predicted, measured, unit)

    def print_parameters(self, printer: Printer) -> None:
        texts = (("", self.made_by), (" on ", self.subject), (" at ", self.source), (" chose ", self.choice))
        with printer.in_angle_brackets():
            for before, text in texts:
                printer.print_string(before)
                printer.print_string_literal(text.data)
            printer.print_string(" predicted ")
            printer.print_attribute(self.predicted)
            printer.print_string(" measured ")
            printer.print_attribute(self.measured)
            printer.print_string(" in ")
            printer.print_string_literal(self.unit.data)
