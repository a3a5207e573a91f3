"""Which node values the ConvBlocks of a model hand on: one minimum vertex cut a layer.

After the block of layer l, everything that later blocks need must be computable, row by row, from what is stored. DGI,
section on the splitter: layer indexing, minimum input, upstream binding; prices after `cost_model`.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from xdsl.ir import Operation, SSAValue

from gnnc.dialects.gnn import ConvOperation, GatherOp
from gnnc.passes.analysis.conv_layers import ConvLayers, is_on_edges, restriction_of
from gnnc.passes.analysis.cost_model import CostKind, recompute_price, row_bytes, store_price
from gnnc.passes.analysis.model_functions import ModelFunctions, returned
from gnnc.passes.analysis.vertex_cut import DataflowGraph, Vertex, minimum_vertex_cut


@dataclass
class Uses:
    """Who needs the rows of a node value: Convs by layer, for neighbours or for targets; operations; the caller."""

    neighbor_layers: set[int] = field(default_factory=set[int])
    target_layers: set[int] = field(default_factory=set[int])
    rowwise: list[SSAValue] = field(default_factory=list[SSAValue])
    is_output: bool = False


@dataclass(frozen=True)
class Prices:
    """How values are priced: by what, and how many loads a row that neighbours need is expected to have."""

    kind: CostKind
    loads: int


def block_boundaries(functions: ModelFunctions, layers: ConvLayers, prices: Prices) -> list[list[SSAValue]]:
    """For each layer below the deepest, the values that are at hand after its block, among them new ones to store."""
    values = [value for value, layer in layers.layers.items() if layer >= 0 and not is_on_edges(value)]
    uses = collect_uses(functions, layers, values)
    stored: set[SSAValue] = {value for value in functions.forward.body.block.args if layers.layers[value] == 0}
    boundaries: list[list[SSAValue]] = []
    for layer in range(layers.deepest):
        graph = boundary_graph(layer, values, uses, layers, prices, stored)
        kept = [value for value in minimum_vertex_cut(graph).values if isinstance(value, SSAValue)]
        boundaries.append(kept)
        stored |= set(kept)
    return boundaries


def boundary_graph(
    layer: int,
    values: list[SSAValue],
    uses: dict[SSAValue, Uses],
    layers: ConvLayers,
    prices: Prices,
    stored: set[SSAValue],
) -> DataflowGraph:
    """The dataflow graph of the values up to one layer."""
    inside = [value for value in values if layers.layers[value] <= layer]
    edges = [(v, w) for v in inside for w in uses[v].rowwise if layers.layers[w] <= layer]
    neighbors = needed_by_neighbors(layer, inside, edges, uses)
    fresh = {v for v in inside if isinstance(v.owner, ConvOperation) and layers.layers[v] == layer}
    needed = {
        v
        for v in inside
        if uses[v].is_output
        or any(later > layer for later in uses[v].neighbor_layers | uses[v].target_layers)
        or any(layers.layers[w] > layer for w in uses[v].rowwise)
    }
    vertices: list[Vertex] = []
    for v in inside:
        loads = prices.loads if v in neighbors else 1
        store = store_price(prices.kind, row_bytes(v.type), loads, stored=v in stored)
        owner = v.owner
        recompute = recompute_price(prices.kind, owner, loads) if isinstance(owner, Operation) else 0
        vertices.append(Vertex(v, store, recompute))
    return DataflowGraph(tuple(vertices), tuple(edges), frozenset(stored & set(inside) | fresh), frozenset(needed))


def needed_by_neighbors(
    layer: int, inside: list[SSAValue], edges: list[tuple[SSAValue, SSAValue]], uses: dict[SSAValue, Uses]
) -> set[SSAValue]:
    """The values whose rows a later block needs for neighbours, directly or through row-wise work."""
    users: dict[SSAValue, list[SSAValue]] = {v: [] for v in inside}
    for operand, result in edges:
        users[operand].append(result)
    found: set[SSAValue] = set()
    for value in reversed(inside):
        later = any(later > layer for later in uses[value].neighbor_layers)
        if later or any(user in found for user in users[value]):
            found.add(value)
    return found


def collect_uses(functions: ModelFunctions, layers: ConvLayers, values: Iterable[SSAValue]) -> dict[SSAValue, Uses]:
    outputs = set(returned(functions.forward).arguments)
    result: dict[SSAValue, Uses] = {}
    for value in values:
        uses = Uses(is_output=value in outputs)
        for use in value.uses:
            add_use(uses, value, use.operation, layers)
        result[value] = uses
    return result


def add_use(uses: Uses, value: SSAValue, user: Operation, layers: ConvLayers) -> None:
    if isinstance(user, GatherOp):
        for reduction in reductions_fed(user.result):
            layer = layers.convs[reduction][0]
            is_target = restriction_of(user) == restriction_of(reduction)
            (uses.target_layers if is_target else uses.neighbor_layers).add(layer)
        return
    if isinstance(user, ConvOperation):
        uses.target_layers.add(layers.convs[user][0])
        return
    uses.rowwise.extend(r for r in user.results if not is_on_edges(r))


def reductions_fed(value: SSAValue) -> list[Operation]:
    """The reductions that an edge value goes into, through row-wise work and through softmaxes."""
    found: dict[Operation, None] = {}
    stack, seen = [value], {value}
    while stack:
        for use in stack.pop().uses:
            if isinstance(use.operation, ConvOperation):
                found[use.operation] = None
            for result in use.operation.results:
                if is_on_edges(result) and result not in seen:
                    seen.add(result)
                    stack.append(result)
    return list(found)
