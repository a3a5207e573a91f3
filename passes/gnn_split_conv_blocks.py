"""gnn-split-conv-blocks: @forward becomes a sequence of ConvBlocks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from gnnc.dialects.gnn import (
    ConstantOp,
    ConvBlockOp,
    ConvOperation,
    GatherOp,
    GlobalCallOp,
    GlobalReduceOp,
    LoadWeightOp,
    YieldOp,
)
from gnnc.dialects.gnn.attributes import domain_of
from gnnc.passes.analysis.block_boundaries import Boundary, Prices, block_boundaries
from gnnc.passes.analysis.conv_layers import (
    ConvLayers,
    Restriction,
    conv_layers,
    edge_sets_of,
    home_of,
    is_on_edges,
    is_on_nodes,
    restriction_of,
    stages,
)
from gnnc.passes.analysis.cost_model import NEVER, CostKind, row_bytes
from gnnc.passes.analysis.decision_log import NODE, Decision, record, source_of
from gnnc.passes.analysis.model_functions import ModelFunctions, model_functions, returned

MINIMUM = "minimum cut"
UNITS: dict[CostKind, str] = {"time": NODE, "bytes": "bytes a node", "tensors": "tensors", "stored": NODE}


@dataclass(frozen=True)
class GnnSplitConvBlocks(ModulePass):
    """Splits @forward into ConvBlocks, one a layer, so that each can run batch by batch over target nodes. Where all
    rows are reduced to one value a block ends, too; operations on such values stand between blocks.

    What a block hands on is a minimum vertex cut, nearest to its consumers. `cost` prices it: `time` counts loads, the
    write and what is computed again for every neighbour; `bytes` counts bytes moved; `tensors` counts tensors, as the
    DGI paper does. `stored` is `time` where nothing is computed again: all that messages are made from is handed on,
    so that a Conv can be added up from arrays on disk. `loads` is how often a batch is expected to load a row that
    neighbours need, for each target: the mean in-degree at most.
    """

    name = "gnn-split-conv-blocks"

    cost: CostKind = "time"
    loads: int = 8

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = model_functions(op)
        require_model(functions)
        layers = stages(functions)
        boundaries = block_boundaries(functions, layers, Prices(self.cost, max(1, self.loads)))
        splitter = Splitter(functions, layers, conv_layers(functions))
        for layer, boundary in enumerate(boundaries):
            record(op, self.decision(layer, boundary))
        kept_values = [boundary.kept for boundary in boundaries]
        for stage, kept in enumerate([*kept_values, list(returned(functions.forward).arguments)]):
            splitter.add_block(stage, kept)
            splitter.add_global_calls()
        splitter.finish()

    def decision(self, layer: int, boundary: Boundary) -> Decision:
        names = ", ".join(f"{v.name_hint or 'a value'} ({row_bytes(v.type)} bytes)" for v in boundary.kept)
        subject = f"after layer {layer} keep {names}"
        predicted = {
            MINIMUM: boundary.price,
            "what the Convs give": boundary.upstream_price,
            "what later layers use": boundary.downstream_price,
        }
        predicted = {choice: price for choice, price in predicted.items() if price < NEVER}
        makers = [v.owner for v in boundary.kept if isinstance(v.owner, Operation)]
        place = source_of(makers[0]) if makers else ""
        return Decision(self.name, subject, place, MINIMUM, predicted, unit=UNITS[self.cost])


def require_model(functions: ModelFunctions) -> None:
    """Raises PassFailedException for what has been split already."""
    if any(isinstance(op, ConvBlockOp) for op in functions.forward.body.block.ops):
        raise PassFailedException("@forward has been split into ConvBlocks already")


class Splitter:
    """Writes the blocks, and what runs between them, before the operations they replace.

    Blocks follow the stages; the layer that a block is given is that of its Convs.
    """

    def __init__(self, functions: ModelFunctions, stages: ConvLayers, layers: ConvLayers):
        self.functions = functions
        self.stages = stages
        self.layers = layers
        self.block = functions.forward.body.block
        self.edge_sets = edge_sets_of(self.block)
        self.old = list(self.block.ops)
        self.outputs = list(returned(functions.forward).arguments)
        # structure values are no values to store, they are always there
        self.stored: dict[SSAValue, SSAValue] = {
            v: v for v in self.block.args if functions.structure_place(v) is None or is_on_nodes(v)
        }

    def add_block(self, stage: int, values: list[SSAValue]) -> None:
        """Adds the block that computes those of the values that are not stored yet, what the model returns of this
        stage's edges, and the stage's reductions of all rows."""
        own = [v for v in self.outputs if is_on_edges(v) and self.stages.layers[v] == stage]
        reductions = [op.results[0] for op, at in self.stages.reductions.items() if at == stage]
        wanted = dict.fromkeys([*(v for v in values if domain_of(v.type) is not None), *own, *reductions])
        outputs = [v for v in wanted if v not in self.stored and self.functions.structure_place(v) is None]
        if not outputs:
            return
        body = BlockBody(self.functions, set(self.stored), outputs, self.edge_sets)
        inputs = [v for v in body.inputs if is_on_nodes(v)]
        neighbors = [v for v in inputs if v in body.for_neighbors]
        targets = [v for v in inputs if v not in body.for_neighbors]
        edges = [v for v in body.inputs if is_on_edges(v)]
        location = first_conv(self.old, body).location
        region = clone_body(self.old, body, [*neighbors, *targets, *edges, *body.structure], outputs, location)
        op = ConvBlockOp(
            self.layer_of(stage, body),
            [self.stored[v] for v in neighbors],
            [self.stored[v] for v in targets],
            [self.stored[v] for v in edges],
            [self.stored.get(v, v) for v in body.structure],
            [v.type for v in outputs],
            region,
        )
        op.location = location
        Rewriter.insert_op(op, InsertPoint.before(self.old[0]))
        self.stored |= dict(zip(outputs, op.outputs, strict=True))

    def layer_of(self, stage: int, body: BlockBody) -> int:
        """The layer of the Convs in a block; of a block without, that of what it works on."""
        convs = [self.layers.convs[op][0] for op in body.operations if isinstance(op, ConvOperation)]
        if convs or not self.stages.reductions:
            return max(convs, default=stage)
        return max((self.layers.layers[r] for op in body.operations for r in op.results), default=0)

    def add_global_calls(self) -> None:
        """Moves operations on values of the whole graph before the rest, as soon as what they take is there."""
        for op in self.old:
            if isinstance(op, GlobalCallOp) and op.results[0] not in self.stored and self.is_ready(op):
                clone = op.clone(value_mapper={v: self.provided(v) for v in op.operands})
                Rewriter.insert_op(clone, InsertPoint.before(self.old[0]))
                self.stored |= dict(zip(op.results, clone.results, strict=True))

    def is_ready(self, op: GlobalCallOp) -> bool:
        return all(v in self.stored or is_without_features(v, self.functions) for v in op.operands)

    def provided(self, value: SSAValue) -> SSAValue:
        """A value for an operation between blocks; weights and numbers are made anew beside it."""
        if value in self.stored or isinstance(value.owner, Block):
            return self.stored.get(value, value)
        clone = value.owner.clone()
        Rewriter.insert_op(clone, InsertPoint.before(self.old[0]))
        return clone.results[0]

    def finish(self) -> None:
        """Returns what the blocks computed and erases the operations they were made of."""
        terminator = returned(self.functions.forward)
        terminator.operands = [self.provided(v) for v in terminator.arguments]
        for op in reversed(self.old):
            if op is not terminator:
                Rewriter.erase_op(op)


def is_without_features(value: SSAValue, functions: ModelFunctions) -> bool:
    """Weights, numbers, and what the structure function made."""
    return isinstance(value.owner, LoadWeightOp | ConstantOp) or functions.structure_place(value) is not None


class BlockBody:
    """What a block holds: the operations from stored values to its outputs, and on which rows it needs its inputs."""

    def __init__(
        self,
        functions: ModelFunctions,
        stored: set[SSAValue],
        outputs: list[SSAValue],
        edge_sets: Sequence[SSAValue],
    ):
        self.functions = functions
        self.edge_sets = edge_sets
        self.stored = stored
        self.operations: set[Operation] = set()
        self.structure: list[SSAValue] = []
        self.inputs: list[SSAValue] = []
        self.for_neighbors: set[SSAValue] = set()
        self.seen: set[tuple[SSAValue, object]] = set()
        for output in outputs:
            self.demand(output, self.rows_of(output))

    def demand(self, value: SSAValue, rows: object) -> None:
        """Notes what a value on some rows needs: None for the targets, "neighbors", or a restriction for its edges."""
        stack = [(value, rows)]
        while stack:
            item = stack.pop()
            if item not in self.seen:
                self.seen.add(item)
                stack.extend(self.requirements(*item))

    def rows_of(self, value: SSAValue) -> Restriction | None:
        """The rows on which a value is computed that is wanted as a whole."""
        if not is_on_edges(value):
            return None
        home = home_of(value, self.edge_sets)
        self.demand(home.edges, None)
        return home

    def requirements(self, value: SSAValue, rows: object) -> list[tuple[SSAValue, object]]:
        op = value.owner
        is_global = value in self.stored and domain_of(value.type) is None
        if self.functions.structure_place(value) is not None or is_global:
            if value not in self.structure:
                self.structure.append(value)
            return []
        if value in self.stored or isinstance(op, Block):
            self.add_input(value, rows)
            return []
        self.operations.add(op)
        if isinstance(op, GatherOp):
            at_target = restriction_of(op) == rows
            return [(op.nodes, None if at_target else "neighbors"), (op.edges, None)]
        if isinstance(op, ConvOperation):
            restriction = restriction_of(op)
            messages = [(v, restriction if is_on_edges(v) else rows) for v in op.operands[:-1]]
            return [*messages, (op.operands[-1], None)]
        if isinstance(op, GlobalReduceOp):
            return [(operand, self.rows_of(operand)) for operand in op.operands]
        return [(operand, rows) for operand in op.operands]

    def add_input(self, value: SSAValue, rows: object) -> None:
        if value not in self.inputs:
            self.inputs.append(value)
        if rows == "neighbors":
            self.for_neighbors.add(value)


def first_conv(old: list[Operation], body: BlockBody) -> Operation:
    """What a block is about, for error messages: its first reduction, or its first operation if it has none."""
    inside = [op for op in old if op in body.operations]
    return next((op for op in inside if isinstance(op, ConvOperation)), inside[0])


def clone_body(
    old: list[Operation],
    body: BlockBody,
    inputs: list[SSAValue],
    outputs: list[SSAValue],
    location: LocationAttr,
) -> Region:
    """The block's operations, in their order, on arguments in place of its inputs."""
    block = Block(arg_types=[v.type for v in inputs])
    mapping: dict[SSAValue, SSAValue] = dict(zip(inputs, block.args, strict=True))
    for value, argument in mapping.items():
        argument.name_hint = value.name_hint
    for op in old:
        if op in body.operations:
            block.add_op(op.clone(value_mapper=mapping))
    terminator = YieldOp([mapping[v] for v in outputs])
    terminator.location = location
    block.add_op(terminator)
    return Region(block)
