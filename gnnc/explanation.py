"""What a compiled module does, in the user's terms: Convs, structure, blocks and what they load."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import Any

from xdsl.dialects.builtin import FileLineColLoc, ModuleOp
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue

from gnnc.dialects.gnn import (
    AggregateOp,
    ConvBlockOp,
    ConvOperation,
    EdgeSetType,
    RelationOp,
    ReverseOp,
    SampledOp,
    UnionOp,
    WhereOp,
    WithLoopsOp,
    WithoutLoopsOp,
)
from gnnc.dialects.gnn.attributes import domain_of
from gnnc.dialects.gnn.edge_sets import edge_set_type
from gnnc.passes.analysis.cost_model import row_bytes
from gnnc.passes.analysis.model_functions import ModelFunctions, argument_name, model_functions, returned


@dataclass(frozen=True)
class Conv:
    """A graph convolution: what it reduces over which edges, in which layer, and the line it came from."""

    number: int
    layer: int
    edges: str
    reductions: tuple[str, ...]
    source: str | None


@dataclass(frozen=True)
class StructureValue:
    """Something that is computed once for a graph: an edge set, or a value with a row a node or an edge."""

    name: str
    kind: str
    made_by: str
    bytes_per_row: int | None
    source: str | None


@dataclass(frozen=True)
class Transfer:
    """A value that a block loads or hands on, with the bytes of one row; `unit` says what a row is: a node, an edge, or
    the whole graph."""

    name: str
    bytes_per_row: int
    unit: str


@dataclass(frozen=True)
class BlockSummary:
    """A ConvBlock: what it loads for the in-neighbours of its targets, for the targets alone, for their edges, what it
    hands on, and what is freed once it has run."""

    layer: int
    convs: tuple[int, ...]
    neighbors: tuple[Transfer, ...]
    targets: tuple[Transfer, ...]
    edges: tuple[Transfer, ...]
    outputs: tuple[Transfer, ...]
    freed: tuple[str, ...]


@dataclass(frozen=True)
class Explanation:
    """All of it."""

    convs: tuple[Conv, ...]
    structure: tuple[StructureValue, ...]
    blocks: tuple[BlockSummary, ...]

    def as_json(self) -> dict[str, Any]:
        return asdict(self)

    def as_text(self) -> str:
        return "\n".join([*self._conv_lines(), "", *self._structure_lines(), "", *self._block_lines()])

    def _conv_lines(self) -> list[str]:
        lines = [f"Convs: {len(self.convs)}"]
        for conv in self.convs:
            what = " and ".join(conv.reductions)
            lines.append(f"  conv {conv.number}  layer {conv.layer}  {what} over {conv.edges}")
            lines.extend([f"         {conv.source}"] if conv.source else [])
        return lines

    def _structure_lines(self) -> list[str]:
        lines = ["Computed once, from the edges alone:"]
        for value in self.structure:
            size = "" if value.bytes_per_row is None else f", {value.bytes_per_row} bytes a row"
            lines.append(f"  {value.name}: {value.kind}, by {value.made_by}{size}")
        return lines if self.structure else ["Computed once, from the edges alone: nothing"]

    def _block_lines(self) -> list[str]:
        lines = [f"Blocks: {len(self.blocks)}"]
        for block in self.blocks:
            convs = f", conv {', '.join(map(str, block.convs))}" if block.convs else ", row-wise"
            lines.append(f"  layer {block.layer}{convs}")
            for title, transfers in (
                ("loads for neighbors", block.neighbors),
                ("loads for targets", block.targets),
                ("loads for edges", block.edges),
                ("hands on", block.outputs),
            ):
                parts = [f"{t.name} {t.bytes_per_row} bytes {t.unit}" for t in transfers]
                lines.extend([f"    {title + ':':21}{', '.join(parts)}"] if parts else [])
            lines.extend([f"    {'then frees:':21}{', '.join(block.freed)}"] if block.freed else [])
        return lines


def explain_module(module: ModuleOp) -> Explanation:
    """Reads a module at the level of ConvBlocks."""
    functions = model_functions(module)
    names = value_names(functions)
    return Explanation(
        tuple(convs_of(functions)), tuple(structure_of(functions, names)), tuple(blocks_of(functions, names))
    )


def value_names(functions: ModelFunctions) -> dict[SSAValue, str]:
    """Names for the values that go between blocks: the graph's for features, the block's for what it hands on."""
    names: dict[SSAValue, str] = {}
    for argument in functions.forward.body.block.args:
        given = argument_name(functions.forward, argument.index)
        names[argument] = given or argument.name_hint or f"structure.{functions.structure_place(argument)}"
    blocks: Counter[int] = Counter()
    for op in functions.forward.body.block.ops:
        layer = op.layer_index if isinstance(op, ConvBlockOp) else 0
        blocks[layer] += isinstance(op, ConvBlockOp)
        # with reductions of all rows a layer has several blocks
        nth = "" if blocks[layer] < 2 else f"-{blocks[layer]}"
        for place, result in enumerate(op.results):
            suffix = f".{place}" if len(op.results) > 1 else ""
            names[result] = f"layer{layer}{nth}{suffix}"
    return names


def convs_of(functions: ModelFunctions) -> list[Conv]:
    groups: dict[int, list[ConvOperation]] = {}
    for op in functions.forward.walk():
        if isinstance(op, ConvOperation) and op.conv_index is not None:
            groups.setdefault(op.conv_index, []).append(op)
    convs: list[Conv] = []
    for number, operations in sorted(groups.items()):
        first = operations[0]
        described = edges_of_conv(functions, first)
        reductions = tuple(dict.fromkeys(reduction_name(op) for op in operations))
        assert first.layer_index is not None
        convs.append(Conv(number, first.layer_index, described, reductions, source_of(first)))
    return convs


def edges_of_conv(functions: ModelFunctions, op: ConvOperation) -> str:
    """Which edges a reduction runs over, in words."""
    block, argument = op.parent_op(), op.operands[-1]
    assert isinstance(argument, BlockArgument)
    outside = block.operands[argument.index] if isinstance(block, ConvBlockOp) else argument
    value = functions.structure_value(outside)
    return describe_edges(value) if value is not None else str(argument.type)


def describe_edges(value: SSAValue) -> str:
    """An edge set in words: `edges without self-loops, with one self-loop a node`."""
    owner = value.owner
    match owner:
        case RelationOp():
            return "edges"
        case WithoutLoopsOp():
            return f"{describe_edges(owner.edges)} without self-loops"
        case WithLoopsOp():
            return f"{describe_edges(owner.edges)}, with one self-loop a node"
        case ReverseOp():
            return f"{describe_edges(owner.edges)}, reversed"
        case WhereOp():
            return f"{describe_edges(owner.edges)}, masked"
        case SampledOp():
            return f"{describe_edges(owner.edges)}, at most {owner.sample.fanout.data} a node"
        case UnionOp():
            return f"{describe_edges(owner.first)} and {describe_edges(owner.second)}"
        case _:
            return f'edge set "{edge_set_type(value).edge_set.data}"'


def reduction_name(op: ConvOperation) -> str:
    return op.reduction.data.value if isinstance(op, AggregateOp) else op.name.removeprefix("gnn.").replace("_", " ")


def structure_of(functions: ModelFunctions, names: dict[SSAValue, str]) -> list[StructureValue]:
    values: list[StructureValue] = []
    for argument in functions.forward.body.block.args:
        place = functions.structure_place(argument)
        if place is None:
            continue
        made = returned(functions.structure).arguments[place]
        values.append(
            StructureValue(
                names[argument], kind_of(made.type), maker_of(made), bytes_of(made.type), source_of(made.owner)
            )
        )
    return values


def kind_of(type_: Attribute) -> str:
    return "edge set" if isinstance(type_, EdgeSetType) else str(type_)


def bytes_of(type_: Attribute) -> int | None:
    return row_bytes(type_) if hasattr(type_, "element_type") else None


def maker_of(value: SSAValue) -> str:
    """The operation, with the operator where it is a generic one."""
    owner = value.owner
    if isinstance(owner, Block):
        return "the graph"
    operator = owner.properties.get("op")
    return f"{owner.name} {operator}" if operator is not None else owner.name


def blocks_of(functions: ModelFunctions, names: dict[SSAValue, str]) -> list[BlockSummary]:
    operations = list(functions.forward.body.block.ops)
    last_use = {operand: place for place, op in enumerate(operations) for operand in op.operands}
    blocks: list[BlockSummary] = []
    for place, op in enumerate(operations):
        if not isinstance(op, ConvBlockOp):
            continue
        numbers = {o.conv_index for o in op.walk() if isinstance(o, ConvOperation) and o.conv_index is not None}
        loaded = (*op.neighbors, *op.targets, *op.edges)
        blocks.append(
            BlockSummary(
                op.layer_index,
                tuple(sorted(numbers)),
                transfers(op.neighbors, names),
                transfers(op.targets, names),
                transfers(op.edges, names),
                transfers(op.outputs, names),
                tuple(names[v] for v in loaded if last_use[v] == place and not isinstance(v.owner, Block)),
            )
        )
    return blocks


def transfers(values: Any, names: dict[SSAValue, str]) -> tuple[Transfer, ...]:
    return tuple(Transfer(names[value], row_bytes(value.type), unit_of(value.type)) for value in values)


def unit_of(type_: Attribute) -> str:
    domain = domain_of(type_)
    if domain is None:
        return "in all"
    return "a node" if domain.is_nodes else "an edge"


def source_of(op: Operation | Block) -> str | None:
    """`file:line` of an operation's location."""
    location = None if isinstance(op, Block) else op.location
    if not isinstance(location, FileLineColLoc):
        return None
    return f"{location.filename.data}:{location.line.data}"
