"""Aggregations that are no reduction of two messages into one: quantiles, recurrent cells, lists of messages."""

from collections.abc import Sequence

from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, TensorType, UnitAttr, f64, i64
from xdsl.dialects.utils import EnumAttribute
from xdsl.ir import SpacedOpaqueSyntaxAttribute, SSAValue
from xdsl.irdl import (
    irdl_attr_definition,
    irdl_op_definition,
    operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
)
from xdsl.traits import Pure
from xdsl.utils.exceptions import VerifyException
from xdsl.utils.str_enum import StrEnum

from gnnc.dialects.gnn.attributes import AnyTensor, EdgeSetType, EndAttr, domain_axis, row_shape
from gnnc.dialects.gnn.base import GnnOperation, require_domain
from gnnc.dialects.gnn.double import Double
from gnnc.dialects.gnn.edge_sets import edge_set_type
from gnnc.dialects.gnn.neighborhood import CONV_FORMAT, ConvOperation, ThroughReverse


class Interpolation(StrEnum):
    LINEAR = "linear"
    LOWER = "lower"
    HIGHER = "higher"
    NEAREST = "nearest"
    MIDPOINT = "midpoint"


@irdl_attr_definition
class InterpolationAttr(EnumAttribute[Interpolation], SpacedOpaqueSyntaxAttribute):
    """What a quantile between two messages is: `linear`, `lower`, `higher`, `nearest` or `midpoint`."""

    name = "gnn.interpolation"


class RecurrentCell(StrEnum):
    LSTM = "lstm"
    GRU = "gru"


@irdl_attr_definition
class RecurrentCellAttr(EnumAttribute[RecurrentCell], SpacedOpaqueSyntaxAttribute):
    """The cell of a recurrent aggregation: `lstm` or `gru`."""

    name = "gnn.cell"


class Aggregation(ConvOperation):
    """An operation that makes one row a node of the rows of the edges that meet there with one end."""

    result = result_def(TensorType.constr())

    traits = traits_def(Pure(), ThroughReverse())

    def verify_rows(self, messages: SSAValue, edges: SSAValue, end: EndAttr, result: SSAValue) -> None:
        require_domain(messages, edge_set_type(edges).domain, "the messages")
        require_domain(result, edge_set_type(edges).node_domain(end), "the result")
        if domain_axis(messages.type) != domain_axis(result.type):
            raise VerifyException("messages and result must have their rows on the same axis")
        self.verify_conv()


@irdl_op_definition
class AggregateQuantileOp(Aggregation):
    """Quantiles of the messages of each node, number by number: `quantiles` is [Q, 1] and holds Q of them, between 0
    and 1. The results stand side by side in the first row axis, Q for each place of it. A node without messages gets
    `fill`. As in torch-geometric, positions count over all messages of the graph, sorted by node: of two messages as
    near, `nearest` takes the one at the even position.

    ```mlir
    %y = gnn.aggregate_quantile %m, %q linear fill 0.0 at target of %e layer 1 conv 0
        : tensor<?x8xf32, #gnn.on<edges "e">>, tensor<2x1xf32>, !gnn.edges<"e", "n" -> "n">
          -> tensor<?x16xf32, #gnn.on<nodes "n">>
    ```
    """

    name = "gnn.aggregate_quantile"

    messages = operand_def(TensorType.constr())
    quantiles = operand_def(TensorType.constr())
    edges = operand_def(EdgeSetType)
    interpolation = prop_def(InterpolationAttr)
    fill = prop_def(FloatAttr.constr(f64))
    end = prop_def(EndAttr)
    result = result_def(TensorType.constr())

    custom_directives = (Double,)
    assembly_format = (
        "$messages `,` $quantiles $interpolation `fill` custom<Double>($fill) `at` $end `of` $edges "
        + CONV_FORMAT
        + " `:` type($messages) `,` type($quantiles) `,` type($edges) `->` type($result)"
    )

    def __init__(
        self,
        messages: SSAValue,
        quantiles: SSAValue,
        edges: SSAValue,
        end: EndAttr,
        interpolation: Interpolation,
        fill: float,
        type: AnyTensor,
    ):
        super().__init__(
            operands=[messages, quantiles, edges],
            properties={"interpolation": InterpolationAttr(interpolation), "fill": FloatAttr(fill, f64), "end": end},
            result_types=[type],
        )

    def verify_semantics(self) -> None:
        self.verify_rows(self.messages, self.edges, self.end, self.result)
        shape = row_shape(self.quantiles.type)
        if len(shape) != 2 or shape[1] != 1:
            raise VerifyException("the quantiles must be a matrix with one column")
        axis, rows = domain_axis(self.messages.type), list(row_shape(self.messages.type))
        if shape[0] > 1 and axis == len(rows):
            raise VerifyException("several quantiles need an axis after the rows to stand in")
        if shape[0] > 1:
            rows[axis] *= shape[0]
        if tuple(rows) != row_shape(self.result.type):
            raise VerifyException(f"the rows of the result must have shape {rows}")


@irdl_op_definition
class AggregateRecurrentOp(Aggregation):
    """The messages of each node, in the order of the edges, through a recurrent network of `layers` layers; the result
    is its output at the last step. As in torch-geometric every node takes `steps` steps, the largest degree in the
    whole graph, the ones after its last message on zeros. The weights are those of torch.nn.LSTM and GRU, in their
    order.

    ```mlir
    %y = gnn.aggregate_recurrent lstm layers 1 biases %m steps %d weights %w, %u, %b, %c at target of %e
        : tensor<?x8xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n">
          weights tensor<16x8xf32>, tensor<16x4xf32>, tensor<16xf32>, tensor<16xf32>
          -> tensor<?x4xf32, #gnn.on<nodes "n">>
    ```
    """

    name = "gnn.aggregate_recurrent"

    messages = operand_def(TensorType.constr())
    steps = operand_def(IndexType())
    weights = var_operand_def(TensorType.constr())
    edges = operand_def(EdgeSetType)
    cell = prop_def(RecurrentCellAttr)
    layers = prop_def(IntegerAttr.constr(i64))
    bidirectional = opt_prop_def(UnitAttr)
    biases = opt_prop_def(UnitAttr)
    end = prop_def(EndAttr)
    result = result_def(TensorType.constr())

    assembly_format = (
        "$cell `layers` $layers (`bidirectional` $bidirectional^)? (`biases` $biases^)? $messages `steps` $steps "
        "`weights` $weights `at` $end `of` $edges "
        + CONV_FORMAT
        + " `:` type($messages) `,` type($edges) `weights` type($weights) `->` type($result)"
    )

    def __init__(
        self,
        cell: RecurrentCell,
        messages: SSAValue,
        steps: SSAValue,
        weights: Sequence[SSAValue],
        edges: SSAValue,
        end: EndAttr,
        type: AnyTensor,
        *,
        layers: int,
        bidirectional: bool,
        biases: bool,
    ):
        super().__init__(
            operands=[messages, steps, weights, edges],
            properties={
                "cell": RecurrentCellAttr(cell),
                "layers": IntegerAttr(layers, i64),
                "bidirectional": UnitAttr() if bidirectional else None,
                "biases": UnitAttr() if biases else None,
                "end": end,
            },
            result_types=[type],
        )

    def verify_semantics(self) -> None:
        self.verify_rows(self.messages, self.edges, self.end, self.result)
        if len(row_shape(self.messages.type)) != 1 or domain_axis(self.messages.type) != 0:
            raise VerifyException("a recurrent network reads rows with one axis")
        cells = self.layers.value.data * (1 if self.bidirectional is None else 2)
        each = 2 if self.biases is None else 4
        # an LSTM whose output is projected has one weight more
        if cells < 1 or len(self.weights) not in (cells * each, cells * (each + 1)):
            raise VerifyException(f"{cells} cells need {each} weights each, there are {len(self.weights)}")


@irdl_op_definition
class ListMessagesOp(Aggregation):
    """The first `size` messages of each node, in the order of the edges or `descending` by their last number, and rows
    of zeros where there are fewer.

    ```mlir
    %y = gnn.list_messages %m size 3 descending at target of %e
        : tensor<?x8xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x3x8xf32, #gnn.on<nodes "n">>
    ```
    """

    name = "gnn.list_messages"

    messages = operand_def(TensorType.constr())
    edges = operand_def(EdgeSetType)
    size = prop_def(IntegerAttr.constr(i64))
    descending = opt_prop_def(UnitAttr)
    end = prop_def(EndAttr)
    result = result_def(TensorType.constr())

    assembly_format = (
        "$messages `size` $size (`descending` $descending^)? `at` $end `of` $edges "
        + CONV_FORMAT
        + " `:` type($messages) `,` type($edges) `->` type($result)"
    )

    def __init__(
        self, messages: SSAValue, edges: SSAValue, end: EndAttr, size: int, type: AnyTensor, *, descending: bool
    ):
        super().__init__(
            operands=[messages, edges],
            properties={
                "size": IntegerAttr(size, i64),
                "descending": UnitAttr() if descending else None,
                "end": end,
            },
            result_types=[type],
        )

    def verify_semantics(self) -> None:
        self.verify_rows(self.messages, self.edges, self.end, self.result)
        rows = row_shape(self.messages.type)
        if len(rows) != 1 or domain_axis(self.messages.type) != 0:
            raise VerifyException("messages that are listed are rows with one axis")
        if row_shape(self.result.type) != (self.size.value.data, *rows):
            raise VerifyException(f"the rows of the result must be {self.size.value.data} messages")


@irdl_op_definition
class MaxDegreeOp(GnnOperation):
    """How many edges meet at one end of a set at most, in the whole graph, whatever batch is running; 0 without edges.

    ```mlir
    %d = gnn.max_degree at target of %e : !gnn.edges<"e", "n" -> "n">
    ```
    """

    name = "gnn.max_degree"

    edges = operand_def(EdgeSetType)
    end = prop_def(EndAttr)
    result = result_def(IndexType())

    traits = traits_def(Pure(), ThroughReverse())
    assembly_format = "`at` $end `of` $edges attr-dict `:` type($edges)"

    def __init__(self, edges: SSAValue, end: EndAttr):
        super().__init__(operands=[edges], properties={"end": end}, result_types=[IndexType()])
