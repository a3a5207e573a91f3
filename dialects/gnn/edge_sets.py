"""Edge sets and the operations on them. They depend on the structure of the graph alone and run once, on all of it."""

from xdsl.dialects.builtin import DYNAMIC_INDEX, IntegerAttr, TensorType, i1, i64
from xdsl.ir import SSAValue
from xdsl.irdl import irdl_op_definition, operand_def, prop_def, result_def, traits_def
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait, Pure
from xdsl.utils.exceptions import VerifyException

from gnnc.dialects.gnn.attributes import EdgeSetType, EndAttr, SampleAttr, tensor_on
from gnnc.dialects.gnn.base import GnnOperation, require_domain, require_index


def edge_set_type(value: SSAValue) -> EdgeSetType:
    """The type of a value that is known to be an edge set."""
    assert isinstance(value.type, EdgeSetType)
    return value.type


class EdgeSetOperation(GnnOperation):
    """An operation that makes an edge set out of edge sets."""

    def verify_ends(self, *operands: SSAValue) -> None:
        result = edge_set_type(self.results[0])
        for operand in operands:
            type_ = edge_set_type(operand)
            if (type_.source, type_.target) != (result.source, result.target):
                raise VerifyException("the edge sets must join the same node sets")


@irdl_op_definition
class RelationOp(GnnOperation):
    """The edges of the graph as they are given: row 0 of the index tensor holds sources, row 1 targets.

    ```mlir
    %e = gnn.relation %edge_index : tensor<2x?xi64, #gnn.on<edges "cites">> -> !gnn.edges<"cites", "paper" -> "paper">
    ```
    """

    name = "gnn.relation"

    edge_index = operand_def(TensorType.constr())
    result = result_def(EdgeSetType)

    traits = traits_def(Pure())
    assembly_format = "$edge_index attr-dict `:` type($edge_index) `->` type($result)"

    def __init__(self, edge_index: SSAValue, type: EdgeSetType):
        super().__init__(operands=[edge_index], result_types=[type])

    def verify_semantics(self) -> None:
        require_domain(self.edge_index, edge_set_type(self.result).domain, "the index tensor")
        assert isinstance(self.edge_index.type, TensorType)
        if self.edge_index.type.get_shape() != (2, DYNAMIC_INDEX):
            raise VerifyException("the index tensor must be of shape 2x?")


@irdl_op_definition
class EdgeSetOp(GnnOperation):
    """Edges from two index tensors, one entry an edge: the general form that the named set operations refine.

    ```mlir
    %e = gnn.edge_set %src, %dst
        : tensor<?xi64, #gnn.on<edges "e">>, tensor<?xi64, #gnn.on<edges "e">> -> !gnn.edges<"e", "paper" -> "paper">
    ```
    """

    name = "gnn.edge_set"

    sources = operand_def(TensorType.constr())
    targets = operand_def(TensorType.constr())
    result = result_def(EdgeSetType)

    traits = traits_def(Pure())
    assembly_format = "$sources `,` $targets attr-dict `:` type($sources) `,` type($targets) `->` type($result)"

    def __init__(self, sources: SSAValue, targets: SSAValue, type: EdgeSetType):
        super().__init__(operands=[sources, targets], result_types=[type])

    def verify_semantics(self) -> None:
        for value, what in ((self.sources, "the sources"), (self.targets, "the targets")):
            require_domain(value, edge_set_type(self.result).domain, what)
            require_index(value, what)


class SelfLoopOperation(EdgeSetOperation):
    """An operation that takes out or adds self-loops, of edges within one node set."""

    edges = operand_def(EdgeSetType)
    result = result_def(EdgeSetType)

    assembly_format = "$edges attr-dict `:` type($edges) `->` type($result)"

    def __init__(self, edges: SSAValue, type: EdgeSetType):
        super().__init__(operands=[edges], result_types=[type])

    def verify_semantics(self) -> None:
        self.verify_ends(self.edges)
        type_ = edge_set_type(self.edges)
        if type_.source != type_.target:
            raise VerifyException("self-loops need one node set at both ends")


@irdl_op_definition
class WithoutLoopsOp(SelfLoopOperation):
    """The edges whose ends differ, in their order.

    ```mlir
    %kept = gnn.without_loops %e : !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"e.noloops", "n" -> "n">
    ```
    """

    name = "gnn.without_loops"
    traits = traits_def(Pure())


@irdl_op_definition
class WithLoopsOp(SelfLoopOperation):
    """The edges, and after them one edge from each node to itself, in the order of the nodes.

    ```mlir
    %all = gnn.with_loops %e : !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"e.loops", "n" -> "n">
    ```
    """

    name = "gnn.with_loops"
    traits = traits_def(Pure())


@irdl_op_definition
class WhereOp(EdgeSetOperation):
    """The edges for which a mask is true, in their order.

    ```mlir
    %some = gnn.where %e, %mask
        : !gnn.edges<"e", "n" -> "n">, tensor<?xi1, #gnn.on<edges "e">> -> !gnn.edges<"e.kept", "n" -> "n">
    ```
    """

    name = "gnn.where"

    edges = operand_def(EdgeSetType)
    mask = operand_def(TensorType.constr())
    result = result_def(EdgeSetType)

    traits = traits_def(Pure())
    assembly_format = "$edges `,` $mask attr-dict `:` type($edges) `,` type($mask) `->` type($result)"

    def __init__(self, edges: SSAValue, mask: SSAValue, type: EdgeSetType):
        super().__init__(operands=[edges, mask], result_types=[type])

    def verify_semantics(self) -> None:
        self.verify_ends(self.edges)
        require_domain(self.mask, edge_set_type(self.edges).domain, "the mask")
        assert isinstance(self.mask.type, TensorType)
        if self.mask.type.element_type != i1 or len(self.mask.type.get_shape()) != 1:
            raise VerifyException("the mask must have one i1 an edge")


@irdl_op_definition
class SampledOp(EdgeSetOperation):
    """Of the edges that meet each node with one end those that a layer's `sample` keeps, in their order. They are the
    ones that a reduction of that layer sees which carries the sample itself.

    ```mlir
    %some = gnn.sampled %e at target layer 1 sample <fanout 10 seed 0>
        : !gnn.edges<"e", "n" -> "n"> -> !gnn.edges<"e.drawn", "n" -> "n">
    ```
    """

    name = "gnn.sampled"

    edges = operand_def(EdgeSetType)
    end = prop_def(EndAttr)
    layer = prop_def(IntegerAttr.constr(i64))
    sample = prop_def(SampleAttr)
    result = result_def(EdgeSetType)

    traits = traits_def(Pure())
    assembly_format = "$edges `at` $end `layer` $layer `sample` $sample attr-dict `:` type($edges) `->` type($result)"

    def __init__(self, edges: SSAValue, end: EndAttr, layer: int, sample: SampleAttr, type: EdgeSetType):
        properties = {"end": end, "layer": IntegerAttr(layer, i64), "sample": sample}
        super().__init__(operands=[edges], properties=properties, result_types=[type])

    def verify_semantics(self) -> None:
        self.verify_ends(self.edges)


@irdl_op_definition
class UnionOp(EdgeSetOperation):
    """The edges of the first set and after them those of the second; duplicates stay.

    ```mlir
    %both = gnn.union %a, %b : !gnn.edges<"a", "n" -> "n">, !gnn.edges<"b", "n" -> "n"> -> !gnn.edges<"ab", "n" -> "n">
    ```
    """

    name = "gnn.union"

    first = operand_def(EdgeSetType)
    second = operand_def(EdgeSetType)
    result = result_def(EdgeSetType)

    traits = traits_def(Pure())
    assembly_format = "$first `,` $second attr-dict `:` type($first) `,` type($second) `->` type($result)"

    def __init__(self, first: SSAValue, second: SSAValue, type: EdgeSetType):
        super().__init__(operands=[first, second], result_types=[type])

    def verify_semantics(self) -> None:
        self.verify_ends(self.first, self.second)


class ReverseOpCanonicalization(HasCanonicalizationPatternsTrait):
    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from gnnc.dialects.gnn.canonicalization import ReverseOfReverse

        return (ReverseOfReverse(),)


@irdl_op_definition
class ReverseOp(GnnOperation):
    """The same edges, in their order, with their ends exchanged.

    ```mlir
    %r = gnn.reverse %e : !gnn.edges<"e", "a" -> "b"> -> !gnn.edges<"e", "b" -> "a">
    ```
    """

    name = "gnn.reverse"

    edges = operand_def(EdgeSetType)
    result = result_def(EdgeSetType)

    traits = traits_def(Pure(), ReverseOpCanonicalization())
    assembly_format = "$edges attr-dict `:` type($edges) `->` type($result)"

    def __init__(self, edges: SSAValue):
        type_ = edge_set_type(edges)
        super().__init__(operands=[edges], result_types=[EdgeSetType(type_.edge_set, type_.target, type_.source)])

    def verify_semantics(self) -> None:
        before, after = edge_set_type(self.edges), edge_set_type(self.result)
        if (before.edge_set, before.source, before.target) != (after.edge_set, after.target, after.source):
            raise VerifyException("the result must have the same edge domain and exchanged ends")


@irdl_op_definition
class EndpointsOp(GnnOperation):
    """The node at one end of every edge, as an index tensor.

    ```mlir
    %src = gnn.endpoints source of %e : !gnn.edges<"e", "n" -> "n"> -> tensor<?xi64, #gnn.on<edges "e">>
    ```
    """

    name = "gnn.endpoints"

    end = prop_def(EndAttr)
    edges = operand_def(EdgeSetType)
    result = result_def(TensorType.constr())

    traits = traits_def(Pure())
    assembly_format = "$end `of` $edges attr-dict `:` type($edges) `->` type($result)"

    def __init__(self, edges: SSAValue, end: EndAttr):
        type_ = tensor_on(edge_set_type(edges).domain, (DYNAMIC_INDEX,), i64)
        super().__init__(operands=[edges], properties={"end": end}, result_types=[type_])

    def verify_semantics(self) -> None:
        require_domain(self.result, edge_set_type(self.edges).domain, "the result")
        require_index(self.result, "the result")
