"""Types and attributes of the `kernel` dialect."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntAttr, StringAttr, f64
from xdsl.ir import Attribute, ParametrizedAttribute, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException

from gnnc.dialects.gnn.attributes import DomainAttr, parse_name

# What a core's epilogue can do to a number, and whether it takes a parameter (slope, alpha).
ACTIVATIONS = {"relu": False, "leaky_relu": True, "elu": True, "sigmoid": False, "tanh": False}


@irdl_attr_definition
class AdjacencyType(ParametrizedAttribute, TypeAttribute):
    """A sparse matrix with a row a node of one set and a column a node of another: `!kernel.adjacency<"n" x "n">`.

    Entry (i, j) is what the value of node j counts for in the new value of node i: norms, means and edge weights are
    in it.
    """

    name = "kernel.adjacency"

    rows: StringAttr
    columns: StringAttr

    def __init__(self, rows: str | StringAttr, columns: str | StringAttr):
        super().__init__(*(StringAttr(n) if isinstance(n, str) else n for n in (rows, columns)))

    @property
    def row_domain(self) -> DomainAttr:
        return DomainAttr("nodes", self.rows)

    @property
    def column_domain(self) -> DomainAttr:
        return DomainAttr("nodes", self.columns)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            rows = parse_name(parser)
            parser.parse_characters("x")
            return (StringAttr(rows), StringAttr(parse_name(parser)))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.rows.data)
            printer.print_string(" x ")
            printer.print_string_literal(self.columns.data)


@irdl_attr_definition
class ActivationAttr(ParametrizedAttribute):
    """The function that a task's epilogue applies to each number: `<relu>`, `<leaky_relu 0.2>`, `<elu 1.0>`,
    `<sigmoid>` or `<tanh>`."""

    name = "kernel.activation"

    kind: StringAttr
    parameter: FloatAttr

    def __init__(self, kind: str | StringAttr, parameter: float | FloatAttr = 0.0):
        super().__init__(
            StringAttr(kind) if isinstance(kind, str) else kind,
            FloatAttr(parameter, f64) if isinstance(parameter, float) else parameter,
        )

    def verify(self) -> None:
        if self.kind.data not in ACTIVATIONS:
            raise VerifyException(f"an epilogue has no {self.kind.data}, only {', '.join(ACTIVATIONS)}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            kind = parser.parse_identifier()
            number = float(parser.parse_number()) if ACTIVATIONS.get(kind) else 0.0
        return (StringAttr(kind), FloatAttr(number, f64))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(self.kind.data)
            if ACTIVATIONS[self.kind.data]:
                printer.print_string(f" {self.parameter.value.data!r}")


@irdl_attr_definition
class SchemeAttr(ParametrizedAttribute):
    """The execution scheme of a kernel: `<n1 64 n2 16 grid 43x1 inner [43]>`.

    N1 and N2 are the partition sizes, the grid has a task for each tile of the output, and the inner list says how many
    pairs of tiles a task multiplies, for each product of the kernel.
    """

    name = "kernel.scheme"

    n1: IntAttr
    n2: IntAttr
    rows: IntAttr
    columns: IntAttr
    inner: ArrayAttr[IntAttr]

    def __init__(self, n1: int, n2: int, grid: tuple[int, int], inner: Sequence[int]):
        super().__init__(IntAttr(n1), IntAttr(n2), *(IntAttr(n) for n in grid), ArrayAttr(IntAttr(n) for n in inner))

    @property
    def tasks(self) -> int:
        return self.rows.data * self.columns.data

    def verify(self) -> None:
        if self.n2.data < 1 or self.n1.data % self.n2.data:
            raise VerifyException(f"N1 is a multiple of N2, {self.n1.data} is none of {self.n2.data}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        def number() -> int:
            return parser.parse_integer(allow_boolean=False, allow_negative=False)

        with parser.in_angle_brackets():
            parser.parse_keyword("n1")
            n1 = number()
            parser.parse_keyword("n2")
            n2 = number()
            parser.parse_keyword("grid")
            rows, columns = parser.parse_shape_dimension(False), parser.parse_shape_delimiter()
            columns = parser.parse_shape_dimension(False)
            parser.parse_keyword("inner")
            inner = parser.parse_comma_separated_list(parser.Delimiter.SQUARE, number)
        return (*(IntAttr(n) for n in (n1, n2, rows, columns)), ArrayAttr(IntAttr(n) for n in inner))

    def print_parameters(self, printer: Printer) -> None:
        inner = ", ".join(str(n.data) for n in self.inner)
        with printer.in_angle_brackets():
            printer.print_string(
                f"n1 {self.n1.data} n2 {self.n2.data} grid {self.rows.data}x{self.columns.data} inner [{inner}]"
            )
