"""What crosses edges: gather from nodes to edges, scatter and aggregate from edges to nodes, softmax per node."""

from typing import ClassVar

from xdsl.dialects.builtin import ArrayAttr, FloatAttr, IntegerAttr, TensorType, UnitAttr, f64, i64
from xdsl.ir import SSAValue
from xdsl.irdl import VarConstraint, irdl_op_definition, operand_def, opt_prop_def, prop_def, result_def, traits_def
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait, Pure
from xdsl.utils.exceptions import VerifyException

from gnnc.dialects.gnn.attributes import (
    DensityAttr,
    EdgeSetType,
    EndAttr,
    Reduction,
    ReductionAttr,
    SampleAttr,
    domain_axis,
    row_shape,
    with_domain,
)
from gnnc.dialects.gnn.base import GnnOperation, require_domain, verify_densities
from gnnc.dialects.gnn.double import Double
from gnnc.dialects.gnn.edge_sets import edge_set_type


class ThroughReverse(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from gnnc.dialects.gnn.canonicalization import UseReversedEdges

        return (UseReversedEdges(),)


def verify_ends(edges: SSAValue, end: EndAttr, on_nodes: SSAValue, on_edges: SSAValue) -> None:
    """`on_nodes` lives at the end of the edges, `on_edges` on the edges, and both have rows of the same shape."""
    require_domain(on_nodes, edge_set_type(edges).node_domain(end), "the node value")
    require_domain(on_edges, edge_set_type(edges).domain, "the edge value")
    same_axis = domain_axis(on_nodes.type) == domain_axis(on_edges.type)
    if not same_axis or row_shape(on_nodes.type) != row_shape(on_edges.type):
        raise VerifyException("the node value and the edge value must have rows of the same shape on the same axis")


@irdl_op_definition
class GatherOp(GnnOperation):
    """For every edge, the row of the node at one of its ends.

    ```mlir
    %m = gnn.gather %h at source of %e
        : tensor<?x16xf32, #gnn.on<nodes "n">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x16xf32, #gnn.on<edges "e">>
    ```
    """

    name = "gnn.gather"

    nodes = operand_def(TensorType.constr())
    edges = operand_def(EdgeSetType)
    end = prop_def(EndAttr)
    result = result_def(TensorType.constr())

    traits = traits_def(Pure(), ThroughReverse())
    assembly_format = "$nodes `at` $end `of` $edges attr-dict `:` type($nodes) `,` type($edges) `->` type($result)"

    def __init__(self, nodes: SSAValue, edges: SSAValue, end: EndAttr):
        type_ = with_domain(nodes.type, edge_set_type(edges).domain)
        super().__init__(operands=[nodes, edges], properties={"end": end}, result_types=[type_])

    def verify_semantics(self) -> None:
        verify_ends(self.edges, self.end, self.nodes, self.result)


class ConvOperation(GnnOperation):
    """An operation that reduces over whole neighbourhoods, and so belongs to a graph convolution (Conv).

    `layer` and `conv` are set by the pass gnn-index-convs: the Conv's layer counts from 1 (DGI, layer indexing), a
    layer of 0 needs no neighbour's features; all reductions of one Conv carry the same number. Those that
    gnn-sample-neighbors gave a `sample` see the sampled edges only, and all reductions of a Conv the same ones.
    """

    layer = opt_prop_def(IntegerAttr.constr(i64))
    conv = opt_prop_def(IntegerAttr.constr(i64))
    sample = opt_prop_def(SampleAttr)

    def set_conv(self, layer: int, conv: int) -> None:
        self.layer = IntegerAttr(layer, i64)
        self.conv = IntegerAttr(conv, i64)

    @property
    def layer_index(self) -> int | None:
        """The Conv's layer, or None before gnn-index-convs has run."""
        return None if self.layer is None else self.layer.value.data

    @property
    def conv_index(self) -> int | None:
        """The Conv's number, or None before gnn-index-convs has run."""
        return None if self.conv is None else self.conv.value.data

    def verify_conv(self) -> None:
        if (self.layer is None) != (self.conv is None):
            raise VerifyException("a Conv has both a layer and a number, or neither yet")
        if self.sample is not None and self.layer is None:
            raise VerifyException("a sample is drawn for a layer, and this reduction has none yet")


CONV_FORMAT = "(`layer` $layer^)? (`conv` $conv^)? (`sample` $sample^)? attr-dict"


@irdl_op_definition
class ScatterOp(ConvOperation):
    """The rows of the edges reduced into the row of the node at one end, starting from given rows: what PyTorch's
    scatter_add and scatter_reduce say, before gnn-raise-messages recognises an aggregation.

    With `with_init` the initial row takes part in the reduction; without, it stays only where a node has no edge.

    ```mlir
    %y = gnn.scatter sum %m into %zeros with_init at target of %e
        : tensor<?xf32, #gnn.on<edges "e">>, tensor<?xf32, #gnn.on<nodes "n">>, !gnn.edges<"e", "n" -> "n">
    ```
    """

    name = "gnn.scatter"

    T: ClassVar = VarConstraint("T", TensorType.constr())

    reduction = prop_def(ReductionAttr)
    messages = operand_def(TensorType.constr())
    init = operand_def(T)
    edges = operand_def(EdgeSetType)
    with_init = opt_prop_def(UnitAttr)
    end = prop_def(EndAttr)
    result = result_def(T)

    traits = traits_def(Pure(), ThroughReverse())
    assembly_format = (
        "$reduction $messages `into` $init (`with_init` $with_init^)? `at` $end `of` $edges "
        + CONV_FORMAT
        + " `:` type($messages) `,` type($init) `,` type($edges)"
    )

    def __init__(
        self,
        reduction: Reduction,
        messages: SSAValue,
        init: SSAValue,
        edges: SSAValue,
        end: EndAttr,
        *,
        with_init: bool,
    ):
        super().__init__(
            operands=[messages, init, edges],
            properties={
                "reduction": ReductionAttr(reduction),
                "with_init": UnitAttr() if with_init else None,
                "end": end,
            },
            result_types=[init.type],
        )

    def verify_semantics(self) -> None:
        verify_ends(self.edges, self.end, self.init, self.messages)
        self.verify_conv()


@irdl_op_definition
class AggregateOp(ConvOperation):
    """The messages of the edges of each node, reduced. A node without edges gets 0 (1 for `mul`). As a product A X of
    the adjacency matrix and the node values that messages are made of, it has `densities`: gnn-annotate-density.

    ```mlir
    %y = gnn.aggregate sum %m at target of %e layer 1 conv 0
        : tensor<?x16xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n"> -> tensor<?x16xf32, #gnn.on<nodes "n">>
    ```
    """

    name = "gnn.aggregate"

    reduction = prop_def(ReductionAttr)
    messages = operand_def(TensorType.constr())
    edges = operand_def(EdgeSetType)
    end = prop_def(EndAttr)
    densities = opt_prop_def(ArrayAttr[DensityAttr])
    result = result_def(TensorType.constr())

    traits = traits_def(Pure(), ThroughReverse())
    assembly_format = (
        "$reduction $messages `at` $end `of` $edges "
        + CONV_FORMAT.replace("attr-dict", "(`densities` $densities^)? attr-dict")
        + " `:` type($messages) `,` type($edges) `->` type($result)"
    )

    def __init__(self, reduction: Reduction, messages: SSAValue, edges: SSAValue, end: EndAttr):
        type_ = with_domain(messages.type, edge_set_type(edges).node_domain(end))
        super().__init__(
            operands=[messages, edges],
            properties={"reduction": ReductionAttr(reduction), "end": end},
            result_types=[type_],
        )

    def verify_semantics(self) -> None:
        verify_ends(self.edges, self.end, self.result, self.messages)
        self.verify_conv()
        verify_densities(self.densities)


@irdl_op_definition
class EdgeSoftmaxOp(ConvOperation):
    """Softmax of the scores of each node's edges: exp(s - max) / (sum exp(s - max) + eps), reduced over the edges that
    meet at one end.

    ```mlir
    %a = gnn.edge_softmax %s at target of %e eps 1.0e-16
        : tensor<?x8xf32, #gnn.on<edges "e">>, !gnn.edges<"e", "n" -> "n">
    ```
    """

    name = "gnn.edge_softmax"

    T: ClassVar = VarConstraint("T", TensorType.constr())

    scores = operand_def(T)
    edges = operand_def(EdgeSetType)
    end = prop_def(EndAttr)
    eps = prop_def(FloatAttr.constr(f64))
    result = result_def(T)

    traits = traits_def(Pure(), ThroughReverse())
    custom_directives = (Double,)
    assembly_format = (
        "$scores `at` $end `of` $edges `eps` custom<Double>($eps) "
        + CONV_FORMAT
        + " `:` type($scores) `,` type($edges)"
    )

    def __init__(self, scores: SSAValue, edges: SSAValue, end: EndAttr, eps: float):
        super().__init__(
            operands=[scores, edges],
            properties={"end": end, "eps": FloatAttr(eps, f64)},
            result_types=[scores.type],
        )

    def verify_semantics(self) -> None:
        require_domain(self.scores, edge_set_type(self.edges).domain, "the scores")
        self.verify_conv()
