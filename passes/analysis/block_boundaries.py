"""Which node values the ConvBlocks of a model hand on: one minimum vertex cut a layer.

After the block of layer l, everything that later blocks need must be computable, row by row, from what is stored. DGI,
section on the splitter: layer indexing, minimum input, upstream binding; prices after `cost_model`.
"""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue

from gnnc.dialects.gnn import ConvOperation, GatherOp
from gnnc.passes.analysis.conv_layers import ConvLayers, is_on_edges, is_on_nodes
from gnnc.passes.analysis.cost_model import CostKind, recompute_price, row_bytes, store_price
from gnnc.passes.analysis.model_functions import ModelFunctions
from gnnc.passes.analysis.value_uses import Uses, collect_uses, values_to_keep
from gnnc.passes.analysis.vertex_cut import DataflowGraph, Vertex, minimum_vertex_cut, price_of


@dataclass(frozen=True)
class Prices:
    """How values are priced: by what, and how many loads a row that neighbours need is expected to have."""

    kind: CostKind
    loads: int


@dataclass(frozen=True)
class Boundary:
    """The values that are at hand after a layer, among them new ones to store, and the price of that. Beside it are the
    prices of keeping only what its Convs give, and of keeping all that later layers use."""

    kept: list[SSAValue]
    price: int
    upstream_price: int
    downstream_price: int


def block_boundaries(functions: ModelFunctions, layers: ConvLayers, prices: Prices) -> list[Boundary]:
    """What is at hand after each layer below the deepest."""
    values = values_to_keep(functions, layers)
    uses = collect_uses(functions, layers, values)
    arguments = functions.forward.body.block.args
    stored: set[SSAValue] = {v for v in arguments if layers.layers[v] == 0 and is_on_nodes(v)}
    boundaries: list[Boundary] = []
    for layer in range(layers.deepest):
        graph = boundary_graph(layer, values, uses, layers, prices, stored)
        cut = minimum_vertex_cut(graph)
        kept = [value for value in cut.values if isinstance(value, SSAValue)]
        boundaries.append(Boundary(kept, cut.price, price_of(graph, ()), price_of(graph, graph.needed)))
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
    if prices.kind == "stored":
        neighbors |= needed_by_neighbors(layer, inside, edges, uses, at_targets=True)
    vertices = [Vertex(v, *vertex_prices(v, v in neighbors, prices, stored=v in stored)) for v in inside]
    return DataflowGraph(tuple(vertices), tuple(edges), frozenset(stored & set(inside) | fresh), frozenset(needed))


def vertex_prices(value: SSAValue, for_neighbors: bool, prices: Prices, *, stored: bool) -> tuple[int, int]:
    """The prices of keeping a value and of computing it again, per node; a node has as many edges as loads."""
    rows = prices.loads if is_on_edges(value) else 1
    loads = prices.loads if for_neighbors and not is_on_edges(value) else 1
    store = rows * store_price(prices.kind, row_bytes(value.type), loads, stored=stored)
    owner = value.owner
    recompute = recompute_price(prices.kind, owner, loads) if isinstance(owner, Operation) else 0
    return store, rows * recompute


def needed_by_neighbors(
    layer: int,
    inside: list[SSAValue],
    edges: list[tuple[SSAValue, SSAValue]],
    uses: dict[SSAValue, Uses],
    *,
    at_targets: bool = False,
) -> set[SSAValue]:
    """The values whose rows a later block needs for neighbours, or on edges `at_targets`, directly or through row-wise
    work."""
    users: dict[SSAValue, list[SSAValue]] = {v: [] for v in inside}
    for operand, result in edges:
        users[operand].append(result)
    found: set[SSAValue] = set()
    for value in reversed(inside):
        on_edges = at_targets and any(isinstance(use.operation, GatherOp) for use in value.uses)
        layers = uses[value].neighbor_layers | (uses[value].target_layers if on_edges else set[int]())
        later = any(later > layer for later in layers)
        if later or any(user in found or user in uses[value].gathered for user in users[value]):
            found.add(value)
    return found
