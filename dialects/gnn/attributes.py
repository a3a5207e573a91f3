"""Attributes and types of the `gnn` dialect, and what can be asked of them.

A value of the model is a builtin tensor. Its encoding names the set its rows belong to and its one `?` is the axis
that runs over that set:

    tensor<?x16xf32, #gnn.on<nodes "paper">>     16 floats a paper
    tensor<2x?xi64, #gnn.on<edges "cites">>      two integers an edge
    tensor<16x8xf32>                             no rows: one value for the whole graph, such as a weight
"""

from collections.abc import Sequence
from fractions import Fraction
from typing import cast

from xdsl.dialects.builtin import DYNAMIC_INDEX, FloatAttr, IntAttr, NoneAttr, StringAttr, TensorType, f64
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import Attribute, ParametrizedAttribute, SpacedOpaqueSyntaxAttribute, SSAValue, TypeAttribute
from xdsl.irdl import irdl_attr_definition
from xdsl.parser import AttrParser
from xdsl.printer import Printer
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

DOMAIN_KINDS = ("nodes", "edges")
UNKNOWN = -1


def parse_name(parser: AttrParser) -> str:
    """Parses a string literal. xDSL escapes letters outside ASCII when it prints, and reads those escapes as bytes."""
    escaped = parser.parse_optional_bytes_literal()
    if escaped is None:
        return parser.parse_str_literal()
    try:
        return escaped.decode()
    except UnicodeDecodeError:
        parser.raise_error("a name must be UTF-8")


@irdl_attr_definition
class DomainAttr(ParametrizedAttribute):
    """The set of nodes or edges that the rows of a tensor belong to.

    Used as the encoding of a builtin tensor: `tensor<?x16xf32, #gnn.on<nodes "paper">>`. Two values are on the same
    rows if and only if their domains are equal; sizes that happen to be equal say nothing.
    """

    name = "gnn.on"

    kind: StringAttr
    set_name: StringAttr

    def __init__(self, kind: str | StringAttr, set_name: str | StringAttr):
        super().__init__(
            StringAttr(kind) if isinstance(kind, str) else kind,
            StringAttr(set_name) if isinstance(set_name, str) else set_name,
        )

    def verify(self) -> None:
        if self.kind.data not in DOMAIN_KINDS:
            raise VerifyException(f'a domain is "nodes" or "edges", not "{self.kind.data}"')

    @property
    def is_nodes(self) -> bool:
        return self.kind.data == "nodes"

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            kind = parser.parse_identifier()
            set_name = parse_name(parser)
        return (StringAttr(kind), StringAttr(set_name))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.kind.data} ")
            printer.print_string_literal(self.set_name.data)

    def __str__(self) -> str:
        return f'{self.kind.data} "{self.set_name.data}"'


@irdl_attr_definition
class EdgeSetType(ParametrizedAttribute, TypeAttribute):
    """A set of directed edges between two node sets: `!gnn.edges<"writes", "author" -> "paper">`.

    The first name is the edge domain: tensors `#gnn.on<edges "writes">` have one row for each of its edges.
    """

    name = "gnn.edges"

    edge_set: StringAttr
    source: StringAttr
    target: StringAttr

    def __init__(self, edge_set: str | StringAttr, source: str | StringAttr, target: str | StringAttr):
        names = (StringAttr(n) if isinstance(n, str) else n for n in (edge_set, source, target))
        super().__init__(*names)

    @property
    def domain(self) -> DomainAttr:
        return DomainAttr("edges", self.edge_set)

    def node_domain(self, end: "EndAttr") -> DomainAttr:
        """The node domain at one end of the edges."""
        return DomainAttr("nodes", self.source if end.data is End.SOURCE else self.target)

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            edge_set = parse_name(parser)
            parser.parse_punctuation(",")
            source = parse_name(parser)
            parser.parse_punctuation("->")
            target = parse_name(parser)
        return (StringAttr(edge_set), StringAttr(source), StringAttr(target))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string_literal(self.edge_set.data)
            printer.print_string(", ")
            printer.print_string_literal(self.source.data)
            printer.print_string(" -> ")
            printer.print_string_literal(self.target.data)


class End(StrEnum):
    SOURCE = "source"
    TARGET = "target"

    @property
    def opposite(self) -> "End":
        return End.TARGET if self is End.SOURCE else End.SOURCE


@irdl_attr_definition
class EndAttr(EnumAttribute[End], SpacedOpaqueSyntaxAttribute):
    """One end of an edge: `source` or `target`."""

    name = "gnn.end"

    @property
    def opposite(self) -> "EndAttr":
        return EndAttr(self.data.opposite)


class Reduction(StrEnum):
    SUM = "sum"
    MEAN = "mean"
    MAX = "max"
    MIN = "min"
    MUL = "mul"


@irdl_attr_definition
class ReductionAttr(EnumAttribute[Reduction], SpacedOpaqueSyntaxAttribute):
    """How the messages of one node become one value: `sum`, `mean`, `max`, `min` or `mul`."""

    name = "gnn.reduction"


@irdl_attr_definition
class SampleAttr(ParametrizedAttribute):
    """At most `fanout` of a node's edges, drawn without replacement: `#gnn.sample<fanout 10 seed 0>`.

    Every edge of a relation gets the number hash(seed, layer, relation, node, edge), and a node keeps the edges with
    the smallest: the sample does not depend on batches, on their order or on which other nodes are computed. Self-loops
    that the model added are kept and don't count.
    """

    name = "gnn.sample"

    fanout: IntAttr
    seed: IntAttr

    def __init__(self, fanout: int | IntAttr, seed: int | IntAttr):
        super().__init__(*(IntAttr(n) if isinstance(n, int) else n for n in (fanout, seed)))

    def verify(self) -> None:
        if self.fanout.data < 1:
            raise VerifyException(f"a sample has at least one edge, not {self.fanout.data}")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            parser.parse_keyword("fanout")
            fanout = parser.parse_integer(allow_boolean=False)
            parser.parse_keyword("seed")
            seed = parser.parse_integer(allow_boolean=False)
        return (IntAttr(fanout), IntAttr(seed))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"fanout {self.fanout.data} seed {self.seed.data}")


@irdl_attr_definition
class DensityAttr(ParametrizedAttribute):
    """The density of an operand of a matrix product: nonzeros over numbers, `<49216/3880564>`, or `<?>` until run time.
    Of features too large to be counted, both are those of some rows.
    """

    name = "gnn.density"

    nonzeros: IntAttr
    extent: IntAttr

    def __init__(self, nonzeros: int | IntAttr = UNKNOWN, extent: int | IntAttr = UNKNOWN):
        super().__init__(*(IntAttr(n) if isinstance(n, int) else n for n in (nonzeros, extent)))

    @property
    def value(self) -> Fraction | None:
        """The density between 0 and 1, or None until run time; an operand without numbers has density 0."""
        if self.extent.data == UNKNOWN:
            return None
        return Fraction(self.nonzeros.data, max(1, self.extent.data))

    def verify(self) -> None:
        if not (self.nonzeros.data == self.extent.data == UNKNOWN or 0 <= self.nonzeros.data <= self.extent.data):
            raise VerifyException(f"{self.nonzeros.data} of {self.extent.data} numbers can't be nonzero")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            if parser.parse_optional_punctuation("?") is not None:
                return (IntAttr(UNKNOWN), IntAttr(UNKNOWN))
            nonzeros = parser.parse_integer(allow_boolean=False, allow_negative=False)
            parser.parse_characters("/")
            return (IntAttr(nonzeros), IntAttr(parser.parse_integer(allow_boolean=False, allow_negative=False)))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            unknown = self.extent.data == UNKNOWN
            printer.print_string("?" if unknown else f"{self.nonzeros.data}/{self.extent.data}")


@irdl_attr_definition
class PrimitiveAttr(ParametrizedAttribute):
    """How a product reads its left side: `<csr crossover 0.23>` as compressed sparse rows, or `<dense crossover 0.23>`.

    That is for the graph which was compiled. On another one, compressed sparse rows are read if the left side's density
    is below the crossover, at which both take the same time. The numbers are the same either way.
    """

    name = "gnn.primitive"

    kind: StringAttr
    crossover: FloatAttr

    def __init__(self, kind: str | StringAttr, crossover: float | FloatAttr):
        super().__init__(
            StringAttr(kind) if isinstance(kind, str) else kind,
            FloatAttr(crossover, f64) if isinstance(crossover, float) else crossover,
        )

    def verify(self) -> None:
        if self.kind.data not in ("csr", "dense"):
            raise VerifyException(f"a left side is read as csr or dense, not as {self.kind.data}")
        if not 0 <= self.crossover.value.data <= 1:
            raise VerifyException(f"a density is between 0 and 1, and {self.crossover.value.data} is not")

    @classmethod
    def parse_parameters(cls, parser: AttrParser) -> Sequence[Attribute]:
        with parser.in_angle_brackets():
            kind = parser.parse_identifier()
            parser.parse_keyword("crossover")
            return (StringAttr(kind), FloatAttr(float(parser.parse_number()), f64))

    def print_parameters(self, printer: Printer) -> None:
        with printer.in_angle_brackets():
            printer.print_string(f"{self.kind.data} crossover {self.crossover.value.data!r}")


AnyTensor = TensorType[Attribute]


def domain_of(type_: Attribute) -> DomainAttr | None:
    """The set that the rows of a value belong to, or None for a value without rows."""
    if not isinstance(type_, TensorType):
        return None
    encoding = cast(AnyTensor, type_).encoding
    return encoding if isinstance(encoding, DomainAttr) else None


def tensor_type(value: SSAValue) -> AnyTensor:
    """The type of a value that is a tensor."""
    assert isinstance(value.type, TensorType)
    return value.type


def domain_axis(type_: Attribute) -> int:
    """The axis of a tensor that runs over its domain; the tensor must have one."""
    return cast(AnyTensor, type_).get_shape().index(DYNAMIC_INDEX)


def row_shape(type_: Attribute) -> tuple[int, ...]:
    """The shape of one row: the tensor's shape without the domain axis; the whole shape for a value without rows."""
    return tuple(size for size in cast(AnyTensor, type_).get_shape() if size != DYNAMIC_INDEX)


def tensor_on(domain: DomainAttr | None, shape: Sequence[int], element_type: Attribute) -> AnyTensor:
    """A tensor type; `shape` has DYNAMIC_INDEX on the domain axis."""
    return TensorType(element_type, shape, domain if domain is not None else NoneAttr())


def with_domain(type_: Attribute, domain: DomainAttr) -> AnyTensor:
    """The same tensor on other rows."""
    tensor = cast(AnyTensor, type_)
    return TensorType(tensor.element_type, tensor.get_shape(), domain)


def verify_value_type(type_: Attribute, what: str) -> None:
    """A tensor has exactly one `?` if its encoding names a domain, and none otherwise."""
    if not isinstance(type_, TensorType):
        return
    unknown = cast(AnyTensor, type_).get_shape().count(DYNAMIC_INDEX)
    if domain_of(type_) is None and unknown:
        raise VerifyException(f"{what} has an unknown size but no #gnn.on encoding that names its domain")
    if domain_of(type_) is not None and unknown != 1:
        raise VerifyException(f"{what} is on a domain and must have exactly one `?`, it has {unknown}")
