"""A ConvBlock becomes a Python function over one batch: straight-line code, no interpreter step an operation.

Every value is needed on some rows: the batch's targets, the edges that meet them, or the nodes at the other ends of
those edges, as `block_demands` says. A walk down writes one line for each operation and kind of rows. The lines of a
GCN layer, for example:

    def block(batch, arena, threads, out, a0, a1, a2):
        e0 = batch.edges(a1, target)
        n0 = e0.neighbors(a1, source)
        v0 = n0.load(a0, 0)
        v1 = v0.index_select(0, n0.places)
        ...
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import torch
from xdsl.dialects.builtin import TensorType
from xdsl.ir import BlockArgument, Operation, SSAValue

from gnnc.dialects.gnn import (
    AggregateOp,
    Aggregation,
    ConstantOp,
    ConvBlockOp,
    ConvOperation,
    EdgeSoftmaxOp,
    End,
    FillOp,
    FusedConvOp,
    FusedOperation,
    FusedRowsOp,
    GatherOp,
    GlobalReduceOp,
    LinearOp,
    LoadWeightOp,
    ReshapeOp,
    ScatterOp,
    YieldOp,
)
from gnnc.dialects.gnn.attributes import domain_axis, domain_of, row_shape
from gnnc.passes.analysis.conv_layers import edge_sets_of
from gnnc.targets.aggregations import aggregation_of
from gnnc.targets.edge_sets import aggregate, edge_softmax, reduce_rows
from gnnc.targets.gpu.arena import RowsOf
from gnnc.targets.gpu.batch import Union
from gnnc.targets.gpu.block_demands import Demands, batches_of, node_set_at
from gnnc.targets.gpu.block_lines import PLACE, BlockLines, Line
from gnnc.targets.gpu.block_rows import (
    TARGETS,
    Edges,
    NeighborDemand,
    NeighborNodes,
    Rows,
    Stored,
    Targets,
    UnionNodes,
    Way,
    place_of,
)
from gnnc.targets.gpu.compiled_block import CompiledBlock
from gnnc.targets.gpu.memory_model import BatchMemory, memory_of_lines
from gnnc.targets.gpu.out_functions import may_lie_over, out_function_of
from gnnc.targets.neighbor_sampling import Sample
from gnnc.targets.torch_functions import constant, dtype_of, filled, function_of

if TYPE_CHECKING:
    from gnnc.targets.gpu.compiled_block import AnyKernel


def compile_block(
    op: ConvBlockOp,
    weights: Mapping[str, torch.Tensor],
    device: str,
    kernels: Mapping[FusedOperation, AnyKernel],
    *,
    way: Way = Way.INDEXED,
) -> list[CompiledBlock]:
    """One function for each node set whose batches the block's results are computed in. `weights` lie on the device;
    every fused operation of the block has a kernel; if it is tiled, Convs have one that finishes sums."""
    edge_sets = edge_sets_of(op.body.block)
    outputs: dict[str, dict[int, Rows | None]] = {}
    for place, value in enumerate(yielded(op)):
        node_set, rows = batches_of(value, edge_sets)
        outputs.setdefault(node_set, {})[place] = rows
    return [
        _BlockWriter(op, node_set, places, weights, device, kernels, way).compile()
        for node_set, places in outputs.items()
    ]


def yielded(op: ConvBlockOp) -> Sequence[SSAValue]:
    terminator = op.body.block.last_op
    assert isinstance(terminator, YieldOp)
    return terminator.values


class _BlockWriter:
    def __init__(
        self,
        op: ConvBlockOp,
        node_set: str,
        outputs: Mapping[int, Rows | None],
        weights: Mapping[str, torch.Tensor],
        device: str,
        kernels: Mapping[FusedOperation, AnyKernel],
        way: Way,
    ):
        self.op = op
        self.way = way
        self.kernels = kernels
        self.node_set = node_set
        self.weights = weights
        self.device = device
        self.outputs = outputs
        self.results = [(yielded(op)[place], rows) for place, rows in outputs.items()]
        self.operations = [o for o in op.body.block.ops if not isinstance(o, YieldOp)]
        self.demands = Demands(op, self.results, kernels, way)
        self.row_names: dict[Rows, str] = {}
        self.names: dict[tuple[SSAValue, Rows | None], str] = {}
        self.lines = BlockLines()
        self.namespace: dict[str, Any] = {
            "aggregate": aggregate,
            "edge_softmax": edge_softmax,
            "reduce_rows": reduce_rows,
            "filled": filled,
            "as_rows": as_rows,
            "index_select": torch.index_select,
            "Union": Union,
            "source": End.SOURCE,
            "target": End.TARGET,
        }

    def compile(self) -> CompiledBlock:
        self.write_rows()
        for argument in self.op.body.block.args:
            self.write_argument(argument)
        for operation in self.operations:
            for rows in self.demands.rows_of(operation):
                self.write_operation(operation, rows)
        source = self.source_text()
        exec(compile(source, f"<conv_block layer {self.op.layer_index}>", "exec"), self.namespace)
        needs_all = any(rows != TARGETS for rows in self.outputs.values())
        demands, run = self.neighbor_demands(), self.namespace["block"]
        outputs, is_local, keeps_rows = tuple(self.outputs), self.is_local(), self.keeps_rows()
        reduced = tuple((place_of(self.demands.edges_of(o)), o.end.data) for o in convs_at(self.op, self.node_set))
        return CompiledBlock(
            self.node_set,
            outputs,
            needs_all,
            is_local,
            keeps_rows,
            reduced,
            self.samples(),
            demands,
            self.memory(),
            run,
            source,
        )

    def memory(self) -> BatchMemory:
        """What a batch takes while it runs."""
        variables = {name: key for key, name in self.names.items()}
        placed = set(self.lines.placed)
        results = [value for value, rows in self.results if rows == TARGETS]
        return memory_of_lines(self.lines.lines, variables, placed, list(self.row_names), results, self.device)

    def is_local(self) -> bool:
        computed_for_neighbors = any(isinstance(rows, NeighborNodes) for rows in self.row_names)
        return self.device == "cpu" and not computed_for_neighbors and None not in self.outputs.values()

    def keeps_rows(self) -> bool:
        """Whether anything is computed but by kernels that write results of the block."""
        results = {value for value, _ in self.results}
        computed = [
            o for o in self.operations if self.demands.rows_of(o) and not isinstance(o, LoadWeightOp | ConstantOp)
        ]
        return not all(isinstance(o, FusedConvOp) and results.issuperset(o.results) for o in computed)

    def samples(self) -> tuple[tuple[int, End, Sample], ...]:
        edges = [rows for rows in self.row_names if isinstance(rows, Edges)]
        return tuple((place_of(rows.edges), rows.end, rows.sample) for rows in edges if rows.sample is not None)

    def neighbor_demands(self) -> tuple[NeighborDemand, ...]:
        """Where the rows of inputs are loaded from; structure values need no loading."""
        count = len(self.op.neighbors)
        inputs = [argument for argument in self.op.body.block.args if argument.index < count]
        rows = {rows: None for argument in inputs for rows in self.demands.of(argument)}
        nodes = [r.at if isinstance(r, Stored) else r for r in rows]
        return tuple(
            NeighborDemand(
                place_of(r.at.edges), r.at.end, place_of(r.edges), r.end, node_set_at(r.edges, r.end), r.at.sample
            )
            for r in dict.fromkeys(nodes)
            if isinstance(r, NeighborNodes)
        )

    def write_rows(self) -> None:
        for rows in self.demands.all_rows():
            self.row_name(rows)

    def row_name(self, rows: Rows | None) -> str:
        """The variable that stands for some rows."""
        if rows is None or isinstance(rows, Targets | Stored):
            return "batch"
        if rows in self.row_names:
            return self.row_names[rows]
        if isinstance(rows, UnionNodes):
            return self.union_name(rows)
        made_by = "batch.edges" if isinstance(rows, Edges) else f"{self.row_name(rows.at)}.neighbors"
        name = f"{'e' if isinstance(rows, Edges) else 'n'}{len(self.row_names)}"
        self.row_names[rows] = name
        sampled = f", {self.known('s', rows.sample)}" if isinstance(rows, Edges) and rows.sample is not None else ""
        self.lines.add(Line((name,), f"{made_by}(a{place_of(rows.edges)}, {rows.end.value}{sampled})", []))
        return name

    def union_name(self, rows: UnionNodes) -> str:
        parts = [self.row_name(part) for part in rows.parts]
        self.row_names[rows] = f"u{len(self.row_names)}"
        self.lines.add(Line((self.row_names[rows],), f"Union.of([{', '.join(parts)}])", []))
        return self.row_names[rows]

    def write_argument(self, argument: BlockArgument) -> None:
        shared = self.shared_loads(argument)
        if shared:
            self.write_shared_load(argument, shared)
        for rows in self.demands.of(argument):
            if rows in shared:
                continue
            if isinstance(argument.type, TensorType) and rows is None:
                self.assign((argument, None), f"batch.whole(a{argument.index})", [])
                continue
            if isinstance(rows, Stored) and self.device == "cpu":
                self.assign((argument, rows), f"batch.in_lines(a{argument.index})", [])
                continue
            if rows is None or isinstance(rows, Stored):
                self.names[argument, rows] = f"a{argument.index}"
                continue
            axis = domain_axis(argument.type)
            if isinstance(rows, Targets):
                self.assign((argument, rows), f"batch.targets(a{argument.index}, {axis})", [])
            elif isinstance(rows, NeighborNodes):
                load = f"{self.row_name(rows)}.load(a{argument.index}, {axis}, arena)"
                self.lines.add(Line((self.new_name((argument, rows)),), load, [], loads=True))
            else:
                self.assign((argument, rows), f"{self.row_name(rows)}.load(a{argument.index}, {axis})", [])

    def shared_loads(self, argument: BlockArgument) -> list[NeighborNodes]:
        """The neighborhoods that one load serves: rows come from the host once, whatever relations reach them. On the
        host itself taking them from there again costs no more than from a copy."""
        if self.device == "cpu" or argument.index >= len(self.op.neighbors):
            return []
        reached = [rows for rows in self.demands.of(argument) if isinstance(rows, NeighborNodes)]
        return reached if len(reached) > 1 else []

    def write_shared_load(self, argument: BlockArgument, reached: Sequence[NeighborNodes]) -> None:
        axis, union = domain_axis(argument.type), UnionNodes(tuple(reached))
        self.assign((argument, union), f"{self.row_name(union)}.load(a{argument.index}, {axis})", [])
        loaded = self.name(argument, union)
        for rows in reached:
            self.assign(
                (argument, rows), f"{self.row_name(union)}.select({loaded}, {self.row_name(rows)}, {axis})", [loaded]
            )

    def write_operation(self, operation: Operation, rows: Rows | None) -> None:
        if isinstance(operation, LoadWeightOp):
            self.bind(operation.result, self.weights[operation.weight.string_value()])
        elif isinstance(operation, ConstantOp):
            self.bind(operation.result, constant(operation))
        elif isinstance(operation, FillOp):
            self.write_fill(operation, rows)
        elif isinstance(operation, GatherOp):
            self.write_gather(operation, rows)
        elif isinstance(operation, ConvOperation):
            self.write_reduction(operation, rows)
        elif isinstance(operation, FusedConvOp):
            self.write_fused(operation, rows)
        elif isinstance(operation, FusedRowsOp):
            self.write_fused_rows(operation, rows)
        else:
            self.write_call(operation, rows)

    def write_fill(self, operation: FillOp, rows: Rows | None) -> None:
        type_ = self.known("t", operation.result.type)
        value, count = operation.value.value.data, f"{self.row_name(rows)}.rows"
        self.assign(
            (operation.result, rows), f"filled({type_}, {self.known('c', value)}, {count}, {self.device!r})", []
        )

    def write_gather(self, operation: GatherOp, rows: Rows | None) -> None:
        from_rows = self.demands.gathered_rows(operation, rows)
        index = f"{self.row_name(rows)}.targets" if from_rows == TARGETS else f"{self.row_name(from_rows)}.places"
        nodes = self.name(operation.nodes, from_rows)
        axis = domain_axis(operation.nodes.type)
        if self.device == "cpu" and axis == 0:
            name, count = self.new_name((operation.result, rows)), f"{self.row_name(rows)}.rows"
            text = f"index_select({nodes}, 0, {index}, out={PLACE}0)"
            self.lines.add(Line((name,), text, [nodes], [self.kind(operation.result)], count, packed=True))
            return
        self.assign((operation.result, rows), f"{nodes}.index_select({axis}, {index})", [nodes])

    def write_reduction(self, operation: ConvOperation, rows: Rows | None) -> None:
        edges = self.demands.reduced_edges(operation, rows)
        messages = self.name(operation.operands[0], edges)
        axis = domain_axis(operation.operands[0].type)
        index = f"{self.row_name(edges)}.targets"
        if isinstance(operation, EdgeSoftmaxOp):
            text = f"edge_softmax({messages}, {index}, batch.rows, {axis}, {operation.eps.value.data!r})"
            self.assign((operation.result, rows), text, [messages])
            return
        if isinstance(operation, Aggregation):
            function = self.known("f", aggregation_of(operation))
            others = [self.name(operand, TARGETS) for operand in operation.operands[1:-1]]
            text = f"{function}({', '.join([f'{self.row_name(edges)}.neighborhoods', messages, *others])})"
            self.assign((operation.result, rows), text, [messages, *others])
            return
        assert isinstance(operation, AggregateOp | ScatterOp)
        reduction = self.known("r", operation.reduction.data)
        if isinstance(operation, AggregateOp):
            arguments = f"{reduction}, {messages}, {index}, batch.rows, {axis}"
            if self.device == "cpu" and axis == 0:
                name, kind = self.new_name((operation.result, rows)), self.kind(operation.result)
                text = f"aggregate({arguments}, {PLACE}0)"
                self.lines.add(Line((name,), text, [messages], [kind], "batch.rows", packed=True))
                return
            self.assign((operation.result, rows), f"aggregate({arguments})", [messages])
            return
        init = self.name(operation.init, TARGETS)
        counted = operation.with_init is not None
        text = f"reduce_rows({reduction}, {messages}, {index}, {init}, {axis}, with_init={counted})"
        self.assign((operation.result, rows), text, [messages, init])

    def write_fused(self, operation: FusedConvOp, rows: Rows | None) -> None:
        assert rows == TARGETS, "a fused Conv is needed for neighbors: the module has not been split into blocks"
        kernel = self.kernels[operation]
        read = [(operation.inputs[i.place], self.demands.rows_read(operation, i)) for i in kernel.inputs]
        arrays = [self.name(value, on) for value, on in read]
        edges = self.row_name(Edges(self.demands.edges_of(operation), operation.end.data))
        computed = [self.row_name(on) for _, on in read if isinstance(on, NeighborNodes)]
        where = "csr" if self.device == "cpu" else "device_csr"
        csr = f"{edges}.{where}_of({computed[0]}), " if computed else f"{edges}.{where}, "
        if self.way is Way.TILED:
            arrays.append(f"batch.sums[{convs_at(self.op, self.node_set).index(operation)}]")
        self.write_kernel_call(operation, rows, csr, arrays)

    def write_fused_rows(self, operation: FusedRowsOp, rows: Rows | None) -> None:
        kernel = self.kernels[operation]
        self.write_kernel_call(operation, rows, "", [self.name(operation.inputs[i.place], rows) for i in kernel.inputs])

    def write_kernel_call(
        self, operation: FusedOperation, rows: Rows | None, lists: str, arrays: Sequence[str]
    ) -> None:
        names = [self.new_name((result, rows)) for result in operation.outputs]
        one = "" if len(names) > 1 else "[0]"
        call = f"{self.known('k', self.kernels[operation])}({lists}[{', '.join(arrays)}]"
        if self.device != "cpu":
            self.lines.add(Line(tuple(names), f"{call}){one}", arrays))
            return
        places = ", ".join(f"{PLACE}{i}" for i in range(len(names)))
        kinds, count = [self.kind(result) for result in operation.outputs], f"{self.row_name(rows)}.rows"
        self.lines.add(Line(tuple(names), f"{call}, [{places}], threads){one}", arrays, kinds, count))

    def write_call(self, operation: Operation, rows: Rows | None) -> None:
        if isinstance(operation, GlobalReduceOp):
            rows = self.demands.reduced_rows(operation)
        operands = [self.name(operand, rows) for operand in operation.operands]
        out_function = out_function_of(operation) if self.device == "cpu" else None
        if out_function is not None:
            self.write_out_call(operation, rows, out_function, operands)
            return
        arguments = operands
        if isinstance(operation, GlobalReduceOp):
            # torch rounds the sum of all rows once; the part of a batch must not be rounded before
            halves = [dtype_of(operand.type) in (torch.half, torch.bfloat16) for operand in operation.operands]
            arguments = [f"{name}.float()" if half else name for name, half in zip(operands, halves, strict=True)]
        function = self.known("f", function_of(operation))
        call = f"{function}({', '.join(arguments)})"
        if isinstance(operation, GlobalReduceOp) and isinstance(rows, Edges):
            # of no edges there is no largest value: such a batch has no part in it
            call += f" if {self.row_name(rows)}.rows else None"
        if len(operation.results) == 1:
            self.assign((operation.results[0], rows), call, operands)
            return
        names = [self.new_name((result, rows)) for result in operation.results]
        self.lines.add(Line(tuple(names), call, operands))

    def write_out_call(
        self, operation: Operation, rows: Rows | None, function: Callable[..., Any], operands: list[str]
    ) -> None:
        """A call that writes into memory of the arena, or over an operand that is not needed any more."""
        (result,) = operation.results
        factors = operands
        if isinstance(operation, LinearOp) and rows == TARGETS and self.may_skip_zeros(operation):
            assert operation.primitive is not None
            crossover = operation.primitive.crossover.value.data
            factors = [f"batch.factor(a{place_of(operation.input)}, {operands[0]}, {crossover!r})", *operands[1:]]
        call = f"{self.known('o', function)}({PLACE}0, {', '.join(factors)})"
        over = [name for v in may_lie_over(operation) if (name := self.name(v, rows)).startswith("v")]
        name = self.new_name((result, rows))
        self.lines.add(Line((name,), call, operands, [self.kind(result)], f"{self.row_name(rows)}.rows", over))

    def may_skip_zeros(self, operation: LinearOp) -> bool:
        """Whether a product may read sparse rows: zero times infinity is no zero."""
        weight = operation.weight.owner
        if operation.primitive is None or not isinstance(weight, LoadWeightOp):
            return False
        return bool(self.weights[weight.weight.string_value()].isfinite().all())

    def kind(self, value: SSAValue) -> str:
        """A name for what the rows of a value are like."""
        return self.known("t", RowsOf(row_shape(value.type), dtype_of(value.type)))

    def bind(self, value: SSAValue, tensor: torch.Tensor) -> None:
        self.names[value, None] = self.known("w", tensor)

    def known(self, letter: str, thing: Any) -> str:
        """A name for something that is known when the block is compiled."""
        name = f"{letter}{len(self.namespace)}"
        self.namespace[name] = thing
        return name

    def name(self, value: SSAValue, rows: Rows | None) -> str:
        return self.names[value, rows if domain_of(value.type) is not None else None]

    def new_name(self, key: tuple[SSAValue, Rows | None]) -> str:
        self.names[key] = f"v{len(self.names)}"
        return self.names[key]

    def assign(self, key: tuple[SSAValue, Rows | None], expression: str, uses: list[str]) -> None:
        if domain_of(key[0].type) is None:
            key = (key[0], None)
        self.lines.add(Line((self.new_name(key),), expression, uses))

    def source_text(self) -> str:
        """The function, which forgets every value after its last use."""
        arguments = "".join(f", a{i}" for i in range(len(self.op.body.block.args)))
        returned = [self.name(result, rows) for result, rows in self.results]
        belongs_to = ["None" if rows is None else self.row_name(rows) for _, rows in self.results]
        for place, (result, rows) in enumerate(self.results):
            if rows == TARGETS and self.device == "cpu":
                self.place_result(place, result)
        pairs = "".join(f"({rows}, {name}), " for rows, name in zip(belongs_to, returned, strict=True))
        body = "\n".join(f"    {line}" for line in [*self.lines.body(returned), f"return ({pairs})"])
        return f"def block(batch, arena, threads, out{arguments}):\n{body}\n"

    def place_result(self, place: int, result: SSAValue) -> None:
        """What the block hands on is written where it belongs, if the line that makes it can do that."""
        made = result
        while isinstance(made.owner, ReshapeOp):
            made = made.owner.input
        name = self.names.get((made, TARGETS))
        line = next((line for line in self.lines.lines if line.kinds and name in line.names), None)
        if line is None or name is None or name in self.lines.placed or domain_axis(result.type) != 0:
            return
        if line.packed:
            # sums depend on how rows lie, and the same ones must come out wherever results go
            return
        self.lines.placed[name] = f"as_rows(out[{place}], {line.kinds[line.names.index(name)]})"


def as_rows(array: torch.Tensor, kind: RowsOf) -> torch.Tensor:
    """The same rows under another shape."""
    return array if array.shape[1:] == kind.shape else array.view(array.shape[0], *kind.shape)


def convs_at(op: ConvBlockOp, node_set: str) -> list[FusedConvOp]:
    """The fused Convs of a block that reduce at nodes of a set, in order."""
    fused = [o for o in op.body.block.ops if isinstance(o, FusedConvOp)]
    return [o for o in fused if node_set_at(o.edges, o.end.data) == node_set]
