"""Random models of the dialect, and graphs for them: what the tests of splitting and of the executors draw."""

from __future__ import annotations

from typing import TypeVar

import torch
from hypothesis import strategies as st
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DictionaryAttr,
    IntegerAttr,
    ModuleOp,
    StringAttr,
    f64,
    i1,
    i64,
)
from xdsl.dialects.func import FuncOp, ReturnOp
from xdsl.ir import Block, Operation, Region, SSAValue

from gnnc.dialects.gnn import (
    AddOp,
    AggregateOp,
    ConcatOp,
    DomainAttr,
    EdgeSetOp,
    EdgeSetType,
    EdgeSoftmaxOp,
    End,
    EndAttr,
    EndpointsOp,
    FillOp,
    GatherOp,
    GlobalCallOp,
    GlobalReduceOp,
    LinearOp,
    LoadWeightOp,
    MatmulOp,
    MulOp,
    OperandAttr,
    Reduction,
    RelationOp,
    ReshapeOp,
    ScatterOp,
    SubOp,
    TanhOp,
    WeightOp,
    WithLoopsOp,
    WithoutLoopsOp,
)
from gnnc.dialects.gnn.attributes import AnyTensor, domain_of, row_shape, tensor_on
from gnnc.dialects.gnn.edge_sets import edge_set_type

OperationT = TypeVar("OperationT", bound=Operation)

NODES = DomainAttr("nodes", "nodes")
WIDTHS = (1, 2, 5)
# How all rows become one. Of no rows there is no largest: torch raises.
ALL_ROWS = (
    (Reduction.SUM, "aten.sum.dim_IntList"),
    (Reduction.MAX, "aten.amax.default"),
    (Reduction.MIN, "aten.amin.default"),
)
ENDS = (EndAttr(End.SOURCE), EndAttr(End.TARGET))


def nodes_type(width: int) -> AnyTensor:
    return tensor_on(NODES, (DYNAMIC_INDEX, width), f64)


def rows_type(value: SSAValue, width: int) -> AnyTensor:
    """Rows of a width on the nodes or edges that a value is on."""
    return tensor_on(domain_of(value.type), (DYNAMIC_INDEX, width), f64)


def width_of(value: SSAValue) -> int:
    return row_shape(value.type)[0]


class RandomModel:
    """@structure makes four edge sets, two of them on the same edges, and in-degrees; @forward is drawn."""

    def __init__(self, draw: st.DrawFn):
        self.draw = draw
        self.weights: dict[str, torch.Tensor] = {}
        self.block = Block()
        structure = structure_function()
        types = list(structure.function_type.outputs.data)
        self.edge_sets = [self.block.insert_arg(t, i) for i, t in enumerate(types[:-1])]
        self.degrees = self.block.insert_arg(types[-1], len(types) - 1)
        attributes = [DictionaryAttr({"gnn.structure": IntegerAttr(i, i64)}) for i in range(len(types))]
        self.values: list[SSAValue] = []
        self.on_edges: list[SSAValue] = []
        self.totals: list[SSAValue] = []
        for name, width in (("x", 2), ("z", 5)):
            self.values.append(self.block.insert_arg(nodes_type(width), len(self.block.args)))
            attributes.append(DictionaryAttr({"gnn.name": StringAttr(name)}))
        self.write_forward()
        outputs = self.outputs()
        self.block.add_op(ReturnOp(*outputs))
        signature = ([a.type for a in self.block.args], [v.type for v in outputs])
        forward = FuncOp("forward", signature, Region(self.block), arg_attrs=ArrayAttr(attributes))
        declared = [WeightOp(name, tensor_on(None, tuple(w.shape), f64)) for name, w in self.weights.items()]
        self.module = ModuleOp([*declared, structure, forward])

    def __repr__(self) -> str:
        return str(self.module)

    def write_forward(self) -> None:
        steps = [self.activation, self.projection, self.sum, self.concatenation, self.scaling]
        convs = [self.convolution, self.convolution, self.attention, self.two_steps, self.into_rows, self.edge_state]
        reductions = [self.centering, self.gram, self.edge_total]
        kinds = [convs] * self.draw(st.integers(1, 3)) + [steps] * self.draw(st.integers(0, 6))
        kinds += [reductions] * self.draw(st.sampled_from([0, 0, 1, 2]))
        for choices in self.draw(st.permutations(kinds)):
            self.values.append(self.draw(st.sampled_from(choices))())

    def outputs(self) -> list[SSAValue]:
        """Values of @forward; the last, and so the deepest, more often than others; some on edges or without rows."""
        every = [*self.values, *self.on_edges, *self.totals]
        others = self.draw(st.lists(st.sampled_from(every), max_size=2))
        return [self.values[-1], *others]

    def add(self, operation: OperationT) -> OperationT:
        self.block.add_op(operation)
        return operation

    def node_value(self, width: int | None = None) -> SSAValue:
        """A node value, often a late one, so that layers follow on layers; brought to a width."""
        recent = self.draw(st.booleans())
        value = self.draw(st.sampled_from(self.values[-2:] if recent else self.values))
        if width is None or width_of(value) == width:
            return value
        return self.project(value, width)

    def project(self, value: SSAValue, width: int) -> SSAValue:
        name = f"w{len(self.weights)}"
        generator = torch.Generator().manual_seed(len(self.weights))
        self.weights[name] = torch.randn((width, width_of(value)), generator=generator, dtype=torch.float64)
        weight = self.add(LoadWeightOp(name, tensor_on(None, (width, width_of(value)), f64))).result
        return self.add(LinearOp(value, weight, None, rows_type(value, width))).result

    # Row-wise steps.

    def activation(self) -> SSAValue:
        return self.add(TanhOp(self.node_value())).result

    def projection(self) -> SSAValue:
        return self.project(self.node_value(), self.draw(st.sampled_from(WIDTHS)))

    def sum(self) -> SSAValue:
        value = self.node_value()
        return self.add(AddOp(value, self.node_value(width_of(value)), value.type)).result  # type: ignore[arg-type]

    def concatenation(self) -> SSAValue:
        values = [self.node_value() for _ in range(self.draw(st.integers(2, 3)))]
        joined = self.add(ConcatOp(values, 1, nodes_type(sum(map(width_of, values))))).result
        return self.project(joined, 2)

    def scaling(self) -> SSAValue:
        """A product with in-degrees, which are no feature."""
        value = self.node_value()
        return self.add(MulOp(value, self.degrees, value.type)).result  # type: ignore[arg-type]

    # Convs. Messages come from any ends of any edge set on the same edges.

    def restriction(self) -> tuple[SSAValue, EndAttr]:
        return self.draw(st.sampled_from(self.edge_sets)), self.draw(st.sampled_from(ENDS))

    def gathered(self, edges: SSAValue, width: int) -> SSAValue:
        """Rows of a node value, features or in-degrees, at some end of some set on the same edges."""
        domain = edge_set_type(edges).domain
        same = [e for e in self.edge_sets if edge_set_type(e).domain == domain]
        value = self.degrees if width == 1 and self.draw(st.booleans()) else self.node_value(width)
        return self.add(GatherOp(value, self.draw(st.sampled_from(same)), self.draw(st.sampled_from(ENDS)))).result

    def known_on(self, edges: SSAValue, width: int) -> SSAValue | None:
        """An earlier edge value on the same edges, if there is one and it is drawn."""
        known = [v for v in self.on_edges if domain_of(v.type) == edge_set_type(edges).domain]
        if not known or not self.draw(st.booleans()):
            return None
        value = self.draw(st.sampled_from(known))
        return value if width_of(value) == width else self.project(value, width)

    def message(self, edges: SSAValue, width: int) -> SSAValue:
        message = self.known_on(edges, width) or self.gathered(edges, width)
        for operation in self.draw(st.lists(st.sampled_from([AddOp, SubOp, MulOp]), max_size=2)):
            factor = self.gathered(edges, self.draw(st.sampled_from([1, width])))
            message = self.add(operation(message, factor, message.type)).result  # type: ignore[arg-type]
        return self.add(TanhOp(message)).result

    def reduced(self, message: SSAValue, edges: SSAValue, end: EndAttr) -> SSAValue:
        reduction = self.draw(st.sampled_from([Reduction.SUM, Reduction.MEAN, Reduction.MAX, Reduction.MIN]))
        return self.add(AggregateOp(reduction, message, edges, end)).result

    def convolution(self) -> SSAValue:
        edges, end = self.restriction()
        message = self.message(edges, self.draw(st.sampled_from(WIDTHS)))
        if self.draw(st.booleans()):
            self.values.append(self.reduced(message, edges, self.draw(st.sampled_from(ENDS))))
        return self.reduced(message, edges, end)

    def attention(self) -> SSAValue:
        edges, end = self.restriction()
        scores = self.add(EdgeSoftmaxOp(self.message(edges, 1), edges, end, 1e-16)).result
        message = self.gathered(edges, 2)
        weighted = self.add(MulOp(message, scores, message.type)).result  # type: ignore[arg-type]
        return self.reduced(weighted, edges, end)

    def two_steps(self) -> SSAValue:
        """What was reduced, gathered again at some end, before or after row-wise work, and reduced once more."""
        edges, end = self.restriction()
        message = self.message(edges, 2)
        first = self.reduced(message, edges, end)
        first = self.add(TanhOp(first)).result if self.draw(st.booleans()) else first
        again = self.add(GatherOp(first, edges, self.draw(st.sampled_from(ENDS)))).result
        return self.reduced(self.add(SubOp(message, again, message.type)).result, edges, end)  # type: ignore[arg-type]

    def into_rows(self) -> SSAValue:
        edges, end = self.restriction()
        message = self.message(edges, 2)
        counted = self.draw(st.booleans())
        return self.add(ScatterOp(Reduction.MAX, message, self.node_value(2), edges, end, with_init=counted)).result

    def edge_state(self) -> SSAValue:
        """A value of edges that is reduced here and that later Convs may start from."""
        edges, end = self.restriction()
        state = self.message(edges, self.draw(st.sampled_from(WIDTHS)))
        self.on_edges.append(state)
        return self.reduced(state, edges, end)

    # Reductions of all rows, each used by all rows.

    def total(self, value: SSAValue) -> SSAValue:
        """All rows as one, or what is computed from that."""
        reduction, op = self.draw(st.sampled_from(ALL_ROWS))
        arguments = [OperandAttr(0), ArrayAttr([IntegerAttr(0, i64)]), IntegerAttr(1, i1)]
        total = GlobalReduceOp(reduction, op, arguments, {}, [value], tensor_on(None, (1, width_of(value)), f64))
        self.totals.append(self.add(total).results[0])
        if self.draw(st.booleans()):
            call = GlobalCallOp("aten.tanh.default", [OperandAttr(0)], {}, [self.totals[-1]], [self.totals[-1].type])
            self.totals.append(self.add(call).results[0])
        return self.totals[-1]

    def centering(self) -> SSAValue:
        value = self.node_value()
        total = self.draw(st.sampled_from(self.totals)) if self.totals and self.draw(st.booleans()) else None
        if total is None or width_of_total(total) != width_of(value):
            total = self.total(value)
        return self.add(SubOp(value, total, value.type)).result  # type: ignore[arg-type]

    def gram(self) -> SSAValue:
        """A product of two matrices over the nodes, as in linear attention."""
        keys, values = self.node_value(2), self.node_value(5)
        arguments = [StringAttr("nd,nk->dk"), ArrayAttr([OperandAttr(0), OperandAttr(1)])]
        product_type = tensor_on(None, (2, 5), f64)
        product = GlobalReduceOp(
            Reduction.SUM,
            "aten.einsum.default",
            arguments,
            {},
            [self.bounded(keys), self.bounded(values)],
            product_type,
        )
        return self.add(MatmulOp(keys, self.add(product).results[0], nodes_type(5))).result

    def bounded(self, value: SSAValue) -> SSAValue:
        return self.add(TanhOp(value)).result

    def edge_total(self) -> SSAValue:
        """All edges as one."""
        edges, _ = self.restriction()
        total = self.total(self.message(edges, 2))
        value = self.node_value(2)
        return self.add(AddOp(value, total, value.type)).result  # type: ignore[arg-type]


def width_of_total(value: SSAValue) -> int:
    """The width of a value of all rows as one."""
    return row_shape(value.type)[-1]


def structure_function() -> FuncOp:
    edges = DomainAttr("edges", "e")
    block = Block(arg_types=[tensor_on(edges, (2, DYNAMIC_INDEX), i64)])
    relation = RelationOp(block.args[0], EdgeSetType("e", "nodes", "nodes"))
    ends = [EndpointsOp(relation.result, end) for end in ENDS]
    # another value than the relation, on the same edges: from target to source
    exchanged = EdgeSetOp(ends[1].result, ends[0].result, EdgeSetType("e", "nodes", "nodes"))
    without = WithoutLoopsOp(relation.result, EdgeSetType("e.1", "nodes", "nodes"))
    with_loops = WithLoopsOp(without.result, EdgeSetType("e.2", "nodes", "nodes"))
    ones = FillOp(1.0, tensor_on(DomainAttr("edges", "e.2"), (DYNAMIC_INDEX,), f64))
    count = AggregateOp(Reduction.SUM, ones.result, with_loops.result, ENDS[1])
    degrees = ReshapeOp(count.result, nodes_type(1))
    results = [relation.result, exchanged.result, without.result, with_loops.result, degrees.result]
    body: list[Operation] = [relation, *ends, exchanged, without, with_loops, ones, count, degrees]
    block.add_ops([*body, ReturnOp(*results)])
    named = [DictionaryAttr({"gnn.name": StringAttr("edge_index")})]
    signature = ([block.args[0].type], [v.type for v in results])
    return FuncOp("structure", signature, Region(block), arg_attrs=ArrayAttr(named))


@st.composite
def models(draw: st.DrawFn) -> RandomModel:
    return RandomModel(draw)


@st.composite
def graphs(draw: st.DrawFn) -> tuple[int, torch.Tensor]:
    """A node count and an edge index: loops, duplicates and isolated nodes come of themselves."""
    nodes = draw(st.integers(1, 6))
    node = st.integers(0, nodes - 1)
    edges = draw(st.lists(st.tuples(node, node), max_size=14))
    return nodes, torch.tensor(edges, dtype=torch.int64).reshape(-1, 2).T.contiguous()
