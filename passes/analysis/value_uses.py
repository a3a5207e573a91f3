"""Who needs the rows of a value, and in which layer: what the cuts between ConvBlocks are computed from."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from gnnc.dialects.gnn import ConvOperation, GatherOp, GlobalReduceOp
from gnnc.passes.analysis.conv_layers import (
    ConvLayers,
    Restriction,
    edge_sets_of,
    home_of,
    is_on_edges,
    is_on_nodes,
    restriction_of,
)
from gnnc.passes.analysis.model_functions import ModelFunctions, returned


@dataclass
class Uses:
    """Who needs the rows of a value.

    `neighbor_layers` and `target_layers` are the layers of the Convs, outputs and reductions of all rows that need it
    for neighbours or for targets. `rowwise` are the values computed from it row by row, among them `gathered`, those
    edge values that take it from neighbours. `is_output` says that the caller needs it.
    """

    neighbor_layers: set[int] = field(default_factory=set[int])
    target_layers: set[int] = field(default_factory=set[int])
    rowwise: list[SSAValue] = field(default_factory=list[SSAValue])
    gathered: set[SSAValue] = field(default_factory=set[SSAValue])
    is_output: bool = False


def values_to_keep(functions: ModelFunctions, layers: ConvLayers) -> list[SSAValue]:
    """The values that might be kept between blocks, in order: node values that depend on features, and edge values if
    one that was computed from neighbours is used in a later layer, as edge states are."""
    edge_sets = edge_sets_of(functions.forward.body.block)
    found = [v for v, layer in layers.layers.items() if layer >= 0]
    on_edges = [v for v in found if is_on_edges(v) and isinstance(v.owner, Operation)]
    carried = any(used_later(v, layers) and from_neighbors(v, edge_sets, layers) for v in on_edges)
    return [v for v in found if is_on_nodes(v) or (carried and v in set(on_edges))]


def used_later(value: SSAValue, layers: ConvLayers) -> bool:
    """Whether an edge value is used in a later layer than its own."""
    return any(layer > layers.layers[value] for use in value.uses for layer in layers_of_use(use.operation, layers))


def layers_of_use(user: Operation, layers: ConvLayers) -> list[int]:
    """The layers in which an operation runs that uses an edge value."""
    if isinstance(user, ConvOperation):
        return [layers.convs[user][0]]
    if isinstance(user, GlobalReduceOp):
        return [layers.reductions[user]]
    return [layers.layers[result] for result in user.results if is_on_edges(result)]


def from_neighbors(value: SSAValue, edge_sets: list[SSAValue], layers: ConvLayers) -> bool:
    """Whether an edge value depends on what lies at the other end of its edges."""
    home, stack, seen = home_of(value, edge_sets), [value], {value}
    while stack:
        op = stack.pop().owner
        if isinstance(op, GatherOp) and restriction_of(op) != home and layers.layers[op.nodes] >= 0:
            return True
        if isinstance(op, Operation) and not isinstance(op, GatherOp):
            fresh = [v for v in op.operands if is_on_edges(v) and v not in seen]
            seen.update(fresh)
            stack.extend(fresh)
    return False


def collect_uses(functions: ModelFunctions, layers: ConvLayers, values: Iterable[SSAValue]) -> dict[SSAValue, Uses]:
    """The uses of each value that might be kept."""
    return _UseCollector(functions, layers, list(values)).run()


class _UseCollector:
    def __init__(self, functions: ModelFunctions, layers: ConvLayers, values: list[SSAValue]):
        self.layers = layers
        self.values = values
        self.kept_on_edges = {v for v in values if is_on_edges(v)}
        self.outputs = set(returned(functions.forward).arguments)
        self.edge_sets = edge_sets_of(functions.forward.body.block)

    def run(self) -> dict[SSAValue, Uses]:
        return {value: self.uses_of(value) for value in self.values}

    def uses_of(self, value: SSAValue) -> Uses:
        uses = Uses(is_output=value in self.outputs)
        for use in value.uses:
            self.add_use(uses, value, use.operation)
        return uses

    def add_use(self, uses: Uses, value: SSAValue, user: Operation) -> None:
        if isinstance(user, GatherOp):
            self.add_gather(uses, value, user)
        elif isinstance(user, ConvOperation):
            uses.target_layers.add(self.layers.convs[user][0])
        elif isinstance(user, GlobalReduceOp):
            uses.target_layers.add(self.layers.reductions[user])
        else:
            uses.rowwise.extend(r for r in user.results if is_on_nodes(r) or r in self.kept_on_edges)

    def add_gather(self, uses: Uses, value: SSAValue, gather: GatherOp) -> None:
        if gather.result not in self.kept_on_edges:
            for layer, restriction in self.sinks(gather.result):
                is_target = restriction_of(gather) == restriction
                (uses.target_layers if is_target else uses.neighbor_layers).add(layer)
            return
        uses.rowwise.append(gather.result)
        if self.layers.layers[gather.result] > self.layers.layers[value]:
            uses.gathered.add(gather.result)
            uses.neighbor_layers.add(self.layers.layers[gather.result])

    def sinks(self, value: SSAValue) -> list[tuple[int, Restriction]]:
        """Where an edge value ends, through row-wise work and softmaxes: the layers and ends of reductions, and of what
        the model returns."""
        found: dict[tuple[int, Restriction], None] = {}
        stack, seen = [value], {value}
        while stack:
            current = stack.pop()
            if current in self.outputs:
                found[self.layers.layers[current], home_of(current, self.edge_sets)] = None
            for use in current.uses:
                if isinstance(use.operation, ConvOperation):
                    found[self.layers.convs[use.operation][0], restriction_of(use.operation)] = None
                if isinstance(use.operation, GlobalReduceOp):
                    found[self.layers.reductions[use.operation], home_of(current, self.edge_sets)] = None
                fresh = [r for r in use.operation.results if is_on_edges(r) and r not in seen]
                seen.update(fresh)
                stack.extend(fresh)
        return list(found)
