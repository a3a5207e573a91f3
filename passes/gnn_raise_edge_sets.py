"""gnn-raise-edge-sets: index arithmetic becomes terms over the graph's own edges."""

from __future__ import annotations

from dataclasses import dataclass, replace

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, TensorType, i1
from xdsl.ir import BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriteWalker,
    RewritePattern,
    op_type_rewrite_pattern,
)
from xdsl.rewriter import InsertPoint

from gnnc.dialects.gnn import (
    DomainAttr,
    EdgeSetOp,
    EdgeSetType,
    End,
    EndAttr,
    RelationOp,
    ReshapeOp,
    ReverseOp,
    WhereOp,
    WithLoopsOp,
    WithoutLoopsOp,
)
from gnnc.dialects.gnn.attributes import domain_of
from gnnc.dialects.gnn.edge_sets import edge_set_type
from gnnc.passes.analysis.matching import aten_call, located


@dataclass(frozen=True)
class GnnRaiseEdgeSets(ModulePass):
    """Recognises edge sets that are terms over the given edges: the edges themselves, without self-loops or masked,
    with one self-loop a node added, reversed. What is not recognised stays as general index arithmetic on the whole
    graph.
    """

    name = "gnn-raise-edge-sets"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        patterns = GreedyRewritePatternApplier([RaiseRelation(), RaiseTerm()])
        PatternRewriteWalker(patterns).rewrite_module(op)


@dataclass(frozen=True)
class EdgeTerm:
    """An index tensor of shape 2x? as a term: the given edges, perhaps without some, perhaps with loops added."""

    edge_index: SSAValue
    kept: SSAValue | None = None
    """The index tensor after edges were taken out, if they were."""
    mask: SSAValue | None = None
    """Which edges were kept; None for those that are no loops."""
    looped: SSAValue | None = None
    """The index tensor after the loops were added, if they were."""


class RaiseRelation(RewritePattern):
    """edge_set(row 0, row 1) of an input is the relation itself; with exchanged rows its reverse."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: EdgeSetOp, rewriter: PatternRewriter) -> None:
        rows = rows_of_one_index(op)
        if rows is None or not isinstance(rows[0], BlockArgument):
            return
        edge_index, reverse = rows
        type_ = edge_set_type(op.result)
        row = maker(op.sources)
        if not reverse:
            rewriter.replace(op, located(RelationOp(edge_index, type_), row))
            return
        given = located(RelationOp(edge_index, EdgeSetType(type_.edge_set, type_.target, type_.source)), row)
        rewriter.replace(op, [given, located(ReverseOp(given.result), row)])


class RaiseTerm(RewritePattern):
    """edge_set(row 0, row 1) of some of the edges, of cat([edges, one loop a node]), or of both is a set operation."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: EdgeSetOp, rewriter: PatternRewriter) -> None:
        rows = rows_of_one_index(op)
        type_ = edge_set_type(op.result)
        if rows is None:
            return
        index, reverse = rows
        term = edge_term(index, type_.node_domain(EndAttr(End.SOURCE)))
        if term is None or (term.kept is None and term.looped is None):
            return
        only_masked = term.mask is not None and term.looped is None
        if type_.source != type_.target and not only_masked:
            return
        if reverse:
            type_ = EdgeSetType(type_.edge_set, type_.target, type_.source)
        # Each set goes where the tensor is made that lists its edges: values on these may come right after that.
        old = maker(term.kept or index)
        new: Operation = located(RelationOp(term.edge_index, set_of(term.edge_index, type_)), old)
        rewriter.insert(new, InsertPoint.before(old))
        if term.kept is not None:
            new = located(selection(new.results[0], term, set_of(term.kept, type_)), old)
            rewriter.insert(new, InsertPoint.before(old))
        if term.looped is not None:
            old = maker(term.looped)
            new = located(WithLoopsOp(new.results[0], set_of(term.looped, type_)), old)
            rewriter.insert(new, InsertPoint.before(old))
        if reverse:
            new = located(ReverseOp(new.results[0]), maker(op.sources))
            rewriter.insert(new)
        rewriter.replace(op, [], new.results)


def selection(edges: SSAValue, term: EdgeTerm, type_: EdgeSetType) -> Operation:
    """Some of the edges, as a term says which."""
    return WithoutLoopsOp(edges, type_) if term.mask is None else WhereOp(edges, term.mask, type_)


def maker(value: SSAValue) -> Operation:
    """The operation of a value that is known to be no argument."""
    assert isinstance(value.owner, Operation)
    return value.owner


def set_of(index: SSAValue, like: EdgeSetType) -> EdgeSetType:
    """The edge set whose edges an index tensor of shape 2x? lists."""
    domain = domain_of(index.type)
    assert domain is not None
    return EdgeSetType(domain.set_name, like.source, like.target)


def rows_of_one_index(op: EdgeSetOp) -> tuple[SSAValue, bool] | None:
    """The index tensor whose two rows are the ends of the edges, and whether they are exchanged."""
    sources, targets = selected_row(op.sources), selected_row(op.targets)
    if sources is None or targets is None or sources[0] is not targets[0]:
        return None
    if {sources[1], targets[1]} != {0, 1}:
        return None
    return sources[0], sources[1] == 1


def selected_row(value: SSAValue) -> tuple[SSAValue, int] | None:
    """(index tensor, row) of `select(index, 0, row)`, through flips that exchange the rows."""
    arguments = aten_call(value, "aten.select.int")
    if arguments is None or len(arguments) != 3 or arguments[1] != 0:
        return None
    operand, _, row = arguments
    if not isinstance(operand, SSAValue) or not isinstance(row, int):
        return None
    flipped = aten_call(operand, "aten.flip.default")
    if flipped is not None and flipped[1] == [0] and isinstance(flipped[0], SSAValue):
        return flipped[0], 1 - row
    return operand, row


def edge_term(index: SSAValue, nodes: DomainAttr) -> EdgeTerm | None:
    """`index`, whose edges join `nodes`, as a term over an argument of the function, or None."""
    if isinstance(index, BlockArgument):
        return EdgeTerm(index)
    joined = aten_call(index, "aten.cat.default")
    if joined is None:
        return some_edges(index)
    parts = joined[0]
    if not isinstance(parts, list) or len(parts) != 2 or joined[1:] not in ([1], [-1]):
        return None
    edges, loops = parts
    if not isinstance(edges, SSAValue) or not isinstance(loops, SSAValue) or not is_one_loop_a_node(loops, nodes):
        return None
    term = EdgeTerm(edges) if isinstance(edges, BlockArgument) else some_edges(edges)
    return None if term is None else replace(term, looped=index)


def some_edges(index: SSAValue) -> EdgeTerm | None:
    """`edge_index[:, mask]`; the mask `edge_index[0] != edge_index[1]` takes out the loops."""
    arguments = aten_call(index, "aten.index.Tensor")
    if arguments is None:
        return None
    edge_index, picked = arguments
    if not isinstance(edge_index, BlockArgument):
        return None
    if not isinstance(picked, list) or len(picked) != 2 or picked[0] is not None:
        return None
    mask = picked[1]
    if not isinstance(mask, SSAValue) or not is_mask(mask):
        return None
    return EdgeTerm(edge_index, index, None if is_no_loop(mask, edge_index) else mask)


def is_mask(value: SSAValue) -> bool:
    """Whether a value has one flag an edge."""
    return isinstance(value.type, TensorType) and value.type.element_type == i1


def is_no_loop(mask: SSAValue, edge_index: SSAValue) -> bool:
    """Whether a mask says of every edge that its ends differ."""
    sides = aten_call(mask, "aten.ne.Tensor")
    if sides is None:
        return False
    rows = [selected_row(side) if isinstance(side, SSAValue) else None for side in sides]
    return {row for row in rows if row is not None} == {(edge_index, 0), (edge_index, 1)}


def is_one_loop_a_node(index: SSAValue, nodes: DomainAttr) -> bool:
    """`arange(0, number of nodes)` in both rows."""
    repeated = aten_call(index, "aten.repeat.default")
    if repeated is not None and repeated[1] == [2, 1]:
        return isinstance(repeated[0], SSAValue) and is_node_range(through_reshapes(repeated[0]), nodes)
    stacked = aten_call(index, "aten.stack.default")
    if stacked is not None and isinstance(stacked[0], list) and len(stacked[0]) == 2 and stacked[1:] in ([], [0]):
        return all(isinstance(row, SSAValue) and is_node_range(row, nodes) for row in stacked[0])
    return False


def is_node_range(value: SSAValue, nodes: DomainAttr) -> bool:
    """`arange(0, n)` on a node domain: its length is the number of nodes by its type."""
    if domain_of(value.type) != nodes:
        return False
    start = aten_call(value, "aten.arange.start")
    return aten_call(value, "aten.arange.default") is not None or (start is not None and start[0] == 0)


def through_reshapes(value: SSAValue) -> SSAValue:
    while isinstance(value.owner, ReshapeOp):
        value = value.owner.input
    return value
