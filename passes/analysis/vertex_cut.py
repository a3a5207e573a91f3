"""Where one ConvBlock ends and the next begins: a minimum vertex cut of the dataflow graph.

The rules are those of the splitter in DGI (the paper on layer-wise GNN inference): "minimum input" asks for the
cheapest set of values to hand over, "upstream binding" puts an operator upstream where the price leaves it open. By
max-flow min-cut, both are answered by the minimum cut that lies nearest to the sink. DGI counts tensors (every `store`
is 1); here a value has a price of its own, and computing it again downstream has one too.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass
from graphlib import CycleError, TopologicalSorter
from typing import TypeAlias

_Half: TypeAlias = tuple[str, Hashable]
_Arc: TypeAlias = tuple[_Half, _Half, dict[str, int]]

_SOURCE: _Half = ("source", None)
_SINK: _Half = ("sink", None)
_INFINITE: dict[str, int] = {}  # networkx takes an arc without a capacity as infinite


@dataclass(frozen=True)
class Vertex:
    """One node value of the dataflow graph."""

    name: Hashable
    store: int
    """Price of keeping the value: writing it and the loads to expect."""
    recompute: int = 0
    """Price of computing the value again, paid where it lies on the consumer side of the cut and is not available."""


@dataclass(frozen=True)
class DataflowGraph:
    """The row-wise computation around one cut."""

    vertices: tuple[Vertex, ...]
    edges: tuple[tuple[Hashable, Hashable], ...]
    """Pairs (operand, result): the result is computed row by row from the operand."""
    available: frozenset[Hashable]
    """Values that are at hand: stored before, or fresh from this layer's aggregation."""
    needed: frozenset[Hashable]
    """Values that something after the cut asks for."""


@dataclass(frozen=True)
class Cut:
    """The values to keep, in the order of the graph's vertices, and the price of keeping them and of recomputation."""

    values: tuple[Hashable, ...]
    price: int


def minimum_vertex_cut(graph: DataflowGraph) -> Cut:
    """The cheapest set of values through which every path from an available to a needed value passes.

    This is the splitter of DGI ("minimum input", then "upstream binding") as a minimum cut. Every vertex is split into
    an arc in -> out of capacity `store`; arcs along the dataflow are infinite, and so are those from the source into
    the available values and from the needed ones to the sink. A further arc from the source of capacity `recompute`
    prices a vertex that falls to the consumer side. Among the cuts of minimum price this is the one nearest to the
    sink, so ties bind upstream, and a value that is free to keep is kept if anything downstream asks for it.

    A value that no available one reaches is outside the question: it is never kept and costs nothing.
    Raises ValueError if the graph is malformed.
    """
    import networkx as nx

    _check(graph)
    reachable = _reachable(graph)
    if reachable.isdisjoint(graph.needed):
        return Cut((), 0)
    network = nx.DiGraph(list(_flow_arcs(graph, reachable)))
    price, (_, consumer_side) = nx.minimum_cut(network, _SOURCE, _SINK)
    kept = (v.name for v in graph.vertices if ("out", v.name) in consumer_side and ("in", v.name) not in consumer_side)
    return Cut(tuple(kept), price)


def price_of(graph: DataflowGraph, kept: Iterable[Hashable]) -> int:
    """The price of keeping some values, and of those available ones that are needed and lie before none of them, and of
    computing the rest of what is needed again."""
    prices = {vertex.name: vertex for vertex in graph.vertices}
    operands: dict[Hashable, list[Hashable]] = {name: [] for name in prices}
    for operand, result in graph.edges:
        operands[result].append(operand)
    reachable, kept = _reachable(graph), set(kept)
    stack, seen, price = [v for v in graph.needed if v in reachable], set[Hashable](), 0
    while stack:
        name = stack.pop()
        if name in seen:
            continue
        seen.add(name)
        if name in kept or name in graph.available:
            price += prices[name].store
            continue
        price += prices[name].recompute
        stack.extend(operand for operand in operands[name] if operand in reachable)
    return price


def _flow_arcs(graph: DataflowGraph, reachable: set[Hashable]) -> Iterator[_Arc]:
    """The arcs of the split graph over the reachable values."""
    for vertex in graph.vertices:
        if vertex.name not in reachable:
            continue
        entry = _INFINITE if vertex.name in graph.available else {"capacity": vertex.recompute}
        yield _SOURCE, ("in", vertex.name), entry
        yield ("in", vertex.name), ("out", vertex.name), {"capacity": vertex.store}
        if vertex.name in graph.needed:
            yield ("out", vertex.name), _SINK, _INFINITE
    for operand, result in graph.edges:
        if operand in reachable:
            yield ("out", operand), ("in", result), _INFINITE


def _reachable(graph: DataflowGraph) -> set[Hashable]:
    """The available values and all that is computed from them."""
    results: dict[Hashable, list[Hashable]] = {vertex.name: [] for vertex in graph.vertices}
    for operand, result in graph.edges:
        results[operand].append(result)
    reached = set(graph.available)
    frontier = list(graph.available)
    while frontier:
        fresh = set(results[frontier.pop()]) - reached
        reached |= fresh
        frontier.extend(fresh)
    return reached


def _check(graph: DataflowGraph) -> None:
    names = {vertex.name for vertex in graph.vertices}
    if len(names) < len(graph.vertices):
        raise ValueError("Two vertices of the dataflow graph have the same name.")
    for vertex in graph.vertices:
        if vertex.store < 0 or vertex.recompute < 0:
            raise ValueError(f"The vertex {vertex.name!r} has a negative price.")
    _check_known(names, (name for edge in graph.edges for name in edge), "an edge")
    _check_known(names, graph.available, "the available values")
    _check_known(names, graph.needed, "the needed values")
    try:
        _sorter(graph).prepare()
    except CycleError as error:
        cycle = " -> ".join(repr(name) for name in error.args[1])
        raise ValueError(f"The dataflow graph has a cycle: {cycle}.") from error


def _check_known(names: set[Hashable], used: Iterable[Hashable], where: str) -> None:
    for name in used:
        if name not in names:
            raise ValueError(f"The name {name!r} in {where} is not a vertex of the dataflow graph.")


def _sorter(graph: DataflowGraph) -> TopologicalSorter[Hashable]:
    sorter: TopologicalSorter[Hashable] = TopologicalSorter()
    for operand, result in graph.edges:
        sorter.add(result, operand)
    return sorter
