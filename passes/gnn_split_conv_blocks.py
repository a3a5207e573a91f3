"""gnn-split-conv-blocks: @forward becomes a sequence of ConvBlocks."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import LocationAttr, ModuleOp
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.exceptions import PassFailedException

from gnnc.dialects.gnn import ConvBlockOp, ConvOperation, GatherOp, YieldOp
from gnnc.passes.analysis.block_boundaries import Prices, block_boundaries
from gnnc.passes.analysis.conv_layers import conv_layers, is_on_edges, restriction_of
from gnnc.passes.analysis.cost_model import CostKind
from gnnc.passes.analysis.model_functions import ModelFunctions, model_functions, returned


@dataclass(frozen=True)
class GnnSplitConvBlocks(ModulePass):
    """Splits @forward into ConvBlocks, one a layer, so that each can run batch by batch over target nodes.

    What a block hands on is a minimum vertex cut, nearest to its consumers. `cost` prices it: `time` counts loads, the
    write and what is computed again for every neighbour; `bytes` counts bytes moved; `tensors` counts tensors, as the
    DGI paper does. `loads` is how often a batch is expected to load a row that neighbours need, for each target: the
    mean in-degree at most.
    """

    name = "gnn-split-conv-blocks"

    cost: CostKind = "time"
    loads: int = 8

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        functions = model_functions(op)
        require_model(functions)
        layers = conv_layers(functions)
        boundaries = block_boundaries(functions, layers, Prices(self.cost, max(1, self.loads)))
        splitter = Splitter(functions)
        for layer, kept in enumerate(boundaries):
            splitter.add_block(layer, kept)
        splitter.add_block(layers.deepest, list(returned(functions.forward).arguments))
        splitter.finish()


def require_model(functions: ModelFunctions) -> None:
    """Raises PassFailedException for what can't be split: results on edges, and what has been split already."""
    if any(isinstance(op, ConvBlockOp) for op in functions.forward.body.block.ops):
        raise PassFailedException("@forward has been split into ConvBlocks already")
    if any(is_on_edges(value) for value in returned(functions.forward).arguments):
        raise PassFailedException("@forward returns a value on edges: ConvBlocks hand on node values only")


class Splitter:
    """Writes the blocks before the operations they replace."""

    def __init__(self, functions: ModelFunctions):
        self.functions = functions
        self.block = functions.forward.body.block
        self.old = list(self.block.ops)
        self.stored: dict[SSAValue, SSAValue] = {v: v for v in self.block.args if not is_on_edges(v)}

    def add_block(self, layer: int, values: list[SSAValue]) -> None:
        """Adds the block that computes those of the values that are not stored yet."""
        outputs = [v for v in dict.fromkeys(values) if v not in self.stored]
        if not outputs:
            return
        body = BlockBody(self.functions, set(self.stored), outputs)
        targets = [v for v in body.inputs if v not in body.for_neighbors]
        neighbors = [v for v in body.inputs if v in body.for_neighbors]
        location = first_conv(self.old, body).location
        region = clone_body(self.old, body, [*neighbors, *targets, *body.structure], outputs, location)
        op = ConvBlockOp(
            layer,
            [self.stored[v] for v in neighbors],
            [self.stored[v] for v in targets],
            body.structure,
            [v.type for v in outputs],
            region,
        )
        op.location = location
        Rewriter.insert_op(op, InsertPoint.before(self.old[0]))
        self.stored |= dict(zip(outputs, op.outputs, strict=True))

    def finish(self) -> None:
        """Returns what the blocks computed and erases the operations they were made of."""
        terminator = returned(self.functions.forward)
        terminator.operands = [self.stored[v] for v in terminator.arguments]
        for op in reversed(self.old):
            if op is not terminator:
                Rewriter.erase_op(op)


class BlockBody:
    """What a block holds: the operations from stored values to its outputs, and on which rows it needs its inputs."""

    def __init__(self, functions: ModelFunctions, stored: set[SSAValue], outputs: list[SSAValue]):
        self.functions = functions
        self.stored = stored
        self.operations: set[Operation] = set()
        self.structure: list[SSAValue] = []
        self.inputs: list[SSAValue] = []
        self.for_neighbors: set[SSAValue] = set()
        self.seen: set[tuple[SSAValue, object]] = set()
        for output in outputs:
            self.demand(output, None)

    def demand(self, value: SSAValue, rows: object) -> None:
        """Notes what a value on some rows needs: None for the targets, "neighbors", or a restriction for its edges."""
        stack = [(value, rows)]
        while stack:
            item = stack.pop()
            if item not in self.seen:
                self.seen.add(item)
                stack.extend(self.requirements(*item))

    def requirements(self, value: SSAValue, rows: object) -> list[tuple[SSAValue, object]]:
        op = value.owner
        if self.functions.structure_place(value) is not None:
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
