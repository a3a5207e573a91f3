"""On which rows of a batch a ConvBlock needs each of its values: a walk from its results up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from xdsl.ir import BlockArgument, Operation, SSAValue

from gnnc.dialects.gnn import (
    ConvBlockOp,
    ConvOperation,
    EdgeSetType,
    EdgeSoftmaxOp,
    End,
    EndAttr,
    FusedConvOp,
    FusedOperation,
    GatherOp,
    GlobalReduceOp,
    YieldOp,
)
from gnnc.dialects.gnn.attributes import domain_of
from gnnc.dialects.gnn.edge_sets import edge_set_type
from gnnc.passes.analysis.conv_layers import edge_sets_of, home_of
from gnnc.passes.loops.arguments import KernelInput, Role
from gnnc.targets.gpu.block_rows import TARGETS, Edges, NeighborNodes, Rows, Stored, Way, place_of
from gnnc.targets.neighbor_sampling import sample_of

if TYPE_CHECKING:
    from gnnc.targets.gpu.compiled_block import AnyKernel


class Demands:
    """The rows on which each value is needed, for `results` on theirs. `kernels` say what fused operations read, `way`
    how the rows of neighbors come to a batch."""

    def __init__(
        self,
        op: ConvBlockOp,
        results: Sequence[tuple[SSAValue, Rows | None]],
        kernels: Mapping[FusedOperation, AnyKernel],
        way: Way,
    ):
        self.kernels = kernels
        self.way = way
        self.edge_sets = edge_sets_of(op.body.block)
        self.operations = [o for o in op.body.block.ops if not isinstance(o, YieldOp)]
        self.demands: dict[SSAValue, dict[Rows | None, None]] = {}
        self.collect(results)

    def of(self, value: SSAValue) -> list[Rows | None]:
        return list(self.demands.get(value, {}))

    def all_rows(self) -> list[Rows | None]:
        """All rows on which anything is needed."""
        return list({rows: None for demanded in self.demands.values() for rows in demanded})

    def collect(self, results: Sequence[tuple[SSAValue, Rows | None]]) -> None:
        for result, rows in results:
            self.demand(result, rows)
        for operation in reversed(self.operations):
            for rows in self.rows_of(operation):
                for operand, needed in self.requirements(operation, rows):
                    self.demand(operand, needed)

    def demand(self, value: SSAValue, rows: Rows | None) -> None:
        has_rows = domain_of(value.type) is not None
        self.demands.setdefault(value, {})[rows if has_rows else None] = None

    def rows_of(self, operation: Operation) -> list[Rows | None]:
        return list({rows: None for result in operation.results for rows in self.demands.get(result, {})})

    def requirements(self, operation: Operation, rows: Rows | None) -> list[tuple[SSAValue, Rows | None]]:
        if isinstance(operation, GatherOp):
            return [(operation.nodes, self.gathered_rows(operation, rows)), (operation.edges, None)]
        if isinstance(operation, ConvOperation):
            edges = self.reduced_edges(operation, rows)
            return [(v, edges if is_on(v, edges) else TARGETS) for v in operation.operands]
        if isinstance(operation, FusedConvOp):
            read = [(operation.inputs[i.place], self.rows_read(operation, i)) for i in self.kernels[operation].inputs]
            return [*read, (self.edges_of(operation), None)]
        if isinstance(operation, GlobalReduceOp):
            return [(operand, self.reduced_rows(operation)) for operand in operation.operands]
        return [(operand, rows) for operand in operation.operands]

    def edges_of(self, operation: FusedConvOp) -> SSAValue:
        return operation.inputs[place_of(operation.edges)]

    def rows_read(self, operation: FusedConvOp, read: KernelInput) -> Rows | None:
        """The rows on which a kernel reads one of its arrays."""
        edges = Edges(self.edges_of(operation), operation.end.data)
        if read.role is Role.NEIGHBOR:
            nodes = NeighborNodes(edges, edges.edges, operation.end.opposite.data)
            return Stored(nodes) if self.reads_stored(operation) else nodes
        return {Role.TARGET: TARGETS, Role.EDGE: edges, Role.WHOLE: None}[read.role]

    def reads_stored(self, operation: FusedConvOp) -> bool:
        """Whether all that a kernel reads for neighbors is stored in memory: then it reads it there."""
        if self.way is Way.GATHERED:
            return False
        places = [i.place for i in self.kernels[operation].inputs if i.role is Role.NEIGHBOR]
        return all(isinstance(operation.inputs[place], BlockArgument) for place in places)

    def gathered_rows(self, operation: GatherOp, rows: Rows | None) -> Rows:
        assert isinstance(rows, Edges), "a gather gives rows of edges"
        end = operation.end.data
        return (
            TARGETS if (operation.edges, end) == (rows.edges, rows.end) else NeighborNodes(rows, operation.edges, end)
        )

    def reduced_edges(self, operation: ConvOperation, rows: Rows | None) -> Edges:
        end = operation.properties["end"]
        assert isinstance(end, EndAttr)
        edges = Edges(operation.operands[-1], end.data, sample_of(operation))
        expected = edges if isinstance(operation, EdgeSoftmaxOp) else TARGETS
        assert rows == expected, f"{operation.name} is needed for neighbors: the module has not been split into blocks"
        return edges

    def reduced_rows(self, operation: GlobalReduceOp) -> Rows | None:
        """The rows of a batch that a reduction of all rows takes its part from."""
        operand = next(v for v in operation.operands if domain_of(v.type) is not None)
        return batches_of(operand, self.edge_sets)[1]


def batches_of(value: SSAValue, edge_sets: Sequence[SSAValue]) -> tuple[str, Rows | None]:
    """The node set whose batches a result is computed in, and its rows there."""
    if isinstance(value.owner, GlobalReduceOp):
        operand = next(v for v in value.owner.operands if domain_of(v.type) is not None)
        return batches_of(operand, edge_sets)[0], None
    domain = domain_of(value.type)
    assert domain is not None
    if domain.is_nodes:
        return domain.set_name.data, TARGETS
    home = home_of(value, edge_sets)
    return node_set_at(home.edges, home.end.data), Edges(home.edges, home.end.data)


def node_set_at(edges: SSAValue, end: End) -> str:
    return edge_set_type(edges).node_domain(EndAttr(end)).set_name.data


def is_on(value: SSAValue, edges: Edges) -> bool:
    """Whether a value has a row an edge of the set."""
    assert isinstance(edges.edges.type, EdgeSetType)
    return domain_of(value.type) == edges.edges.type.domain
