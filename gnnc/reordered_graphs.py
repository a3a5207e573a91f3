"""Graphs whose nodes are in another order, and results back in the user's order."""

from __future__ import annotations

import shutil
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from gnnc.errors import RunError
from gnnc.frontend.inputs import NODES, ModelInput
from gnnc.graph import Graph, is_pairs
from gnnc.graph_entries import is_node_ids
from gnnc.output_rows import OutputRows
from gnnc.store_runs import FORMAT, array_key, digest
from gnnc.targets.gpu.errors import ResourceError, size_text
from gnnc.targets.gpu.reordering import REORDERS, Load, Reorder, choose_order, need, neighborhoods_of
from gnnc.targets.gpu.store.array_file import ArrayFile
from gnnc.targets.gpu.store.csc_file import build_csc
from gnnc.targets.gpu.store.edge_stream import Relation
from gnnc.targets.gpu.store.folder import StoreFolder, sync_folder
from gnnc.targets.gpu.store.row_order import (
    Ids,
    open_places,
    write_places,
    write_renamed_edges,
    write_reordered,
)
from gnnc.targets.orders.neighborhoods import Neighborhoods
from gnnc.tensors import as_tensor

if TYPE_CHECKING:
    from gnnc.graph import AnyGraph

EDGES_AT_ONCE = 2**20


@dataclass(frozen=True)
class ReorderedGraph:
    """A graph whose node i is node `order[i]` of the user's, which is node `places[order[i]]` here; `bytes` are those
    of copies in memory, `seconds` what it took to find the order and to copy."""

    name: Reorder
    graph: Graph
    order: Ids
    places: Ids
    bytes: int
    seconds: float

    def features(self, x: Any) -> Any:
        """Features that are given for a run in this order."""
        if x is None:
            return None
        return x[torch.from_numpy(np.array(self.order))] if isinstance(x, torch.Tensor) else np.asarray(x)[self.order]

    def nodes(self, asked: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
        """What the nodes that are asked for are called here."""
        return {name: torch.from_numpy(self.places[ids.numpy()].astype(np.int64)) for name, ids in asked.items()}

    def restored(self, result: torch.Tensor, rows: OutputRows) -> torch.Tensor:
        """A result of all nodes, in memory, in the user's order."""
        if rows.kind != NODES:
            return result
        return result.index_select(rows.axis, torch.from_numpy(self.places.astype(np.int64)))

    def restored_on_disk(self, result: torch.Tensor, rows: OutputRows, path: Path, budget: int) -> torch.Tensor:
        """A result of all nodes that is mapped, written in the user's order and mapped."""
        if rows.kind != NODES:
            return result
        by_row = result.movedim(rows.axis, 0)
        write_reordered(path, by_row, self.places, self.order, budget)
        return ArrayFile(path, by_row.shape[0], by_row.shape[1:], result.dtype).mapped().movedim(0, rows.axis)


def check_reorder(reorder: str) -> Reorder:
    """One of the orders there are. Raises RunError."""
    if reorder not in REORDERS:
        raise RunError(f"reorder is '{reorder}': give one of {', '.join(REORDERS)}")
    return REORDERS[REORDERS.index(reorder)]


def reason_against(graph: AnyGraph, inputs: Sequence[ModelInput]) -> str | None:
    """Why the nodes of a graph can't be put in another order for a program, None if they can."""
    if not isinstance(graph, Graph):
        return "the graph has several types of nodes"
    weight = next((i.key for i in inputs if i.is_weight), None)
    return None if weight is None else f"the model has a row of {weight} a node"


def in_memory(
    graph: Graph, inputs: Sequence[ModelInput], reorder: Reorder, memory: int | None, loads: Sequence[Load]
) -> ReorderedGraph | None:
    """The graph with its nodes in another order, None where its own is as good; see `choose_order`."""
    start = time.perf_counter()
    edges = as_tensor(graph.edge_index).to(torch.int64)
    name, order = choose_order(reorder, neighborhoods_of(edges, graph.num_nodes), memory, loads)
    if order is None:
        return None
    places = np.empty_like(order)
    places[order] = np.arange(len(order))
    arrays: dict[str, Any] = {}
    for key, array in needed_arrays(graph, inputs).items():
        if is_edges(key, array):
            arrays[key] = like(array, torch.from_numpy(places)[as_tensor(array).long()])
        elif key.startswith("edge_"):
            arrays[key] = array
        else:
            arrays[key] = like(array, as_tensor(array).index_select(0, torch.from_numpy(order)))
    renamed = Graph(num_nodes=graph.num_nodes, **arrays, **numbers(inputs, order, arrays))
    copied = sum(a.nbytes for key, a in arrays.items() if is_edges(key, a) or not key.startswith("edge_"))
    return ReorderedGraph(name, renamed, order, places, copied, time.perf_counter() - start)


def is_edges(key: str, array: Any) -> bool:
    """Whether an array lists pairs of nodes."""
    return key == "edge_index" or is_pairs(key, array)


def like(array: Any, tensor: torch.Tensor) -> Any:
    """The tensor as the array is: of torch or of numpy, and of its type."""
    return tensor.to(array.dtype) if isinstance(array, torch.Tensor) else tensor.numpy().astype(array.dtype, copy=False)


def needed_arrays(graph: Graph, inputs: Sequence[ModelInput]) -> dict[str, Any]:
    """The arrays of a graph that a program takes, and its edges."""
    keys = {"edge_index", *(i.key for i in inputs)}
    return {entry.key: entry.array for entry in graph.entries() if entry.key in keys}


def numbers(inputs: Sequence[ModelInput], order: Ids, arrays: Mapping[str, Any]) -> dict[str, Any]:
    """What the nodes are called, for a program that takes it and a graph that doesn't say."""
    keys = [i.key for i in inputs if is_node_ids(i.key) and i.key not in arrays]
    return {key: torch.from_numpy(order.astype(np.int64)) for key in keys}


def on_disk(
    graph: Graph, inputs: Sequence[ModelInput], reorder: Reorder, store: Path, memory: int, loads: Sequence[Load]
) -> ReorderedGraph | None:
    """The graph with its nodes in another order, in a folder of the store; found there by a later run. Raises RunError
    if memory or disk don't suffice."""
    start = time.perf_counter()
    arrays = needed_arrays(graph, inputs)
    asked = f"{reorder} {memory} {loads}" if reorder == "auto" else reorder
    key = digest(FORMAT, asked, *(f"{name} {array_key(array)}" for name, array in arrays.items()))
    folder = StoreFolder(store)
    try:
        with folder.faults(), folder.locked():
            place = store / f"order-{key}"
            if not place.exists():
                building = place.with_name(f"{place.name}.partial")
                building.mkdir(exist_ok=True)
                folder.check_room(sum(array.nbytes for array in arrays.values()) + 8 * graph.num_edges)
                write_reordered_graph(building, graph, arrays, reorder, memory, loads)
                sync_folder(building)
                building.rename(place)
                sync_folder(store)
    except ResourceError as error:
        raise RunError(str(error)) from error
    chosen = check_reorder((place / "name").read_text(encoding="utf-8"))
    if chosen == "none":
        return None
    order, places = open_places(place)
    written = {n: np.load(place / f"{n}.npy", mmap_mode="r") for n in arrays if (place / f"{n}.npy").exists()}
    found = Graph(num_nodes=graph.num_nodes, **{**arrays, **written}, **numbers(inputs, order, arrays))
    return ReorderedGraph(chosen, found, order, places, 0, time.perf_counter() - start)


def write_reordered_graph(
    folder: Path, graph: Graph, arrays: Mapping[str, Any], reorder: Reorder, memory: int, loads: Sequence[Load]
) -> None:
    """Writes the order, the edges and what the graph has for each node."""
    edges = as_tensor(arrays["edge_index"])
    stream = Relation(edges, graph.num_nodes, graph.num_nodes)
    file = build_csc(folder / "neighbors", stream, by_target=True, padding=0, budget=memory)
    neighborhoods = Neighborhoods(file.offsets.numpy(), file.neighbors.numpy())
    taken = need(reorder, neighborhoods)
    if reorder != "auto" and taken > memory:
        raise ResourceError(
            f"memory of {size_text(memory)} does not suffice: the order '{reorder}' takes {size_text(taken)}; give at "
            "least that much, or another order"
        )
    name, order = choose_order(reorder if taken <= memory else "none", neighborhoods, memory, loads)
    shutil.rmtree(folder / "neighbors")
    (folder / "name").write_text(name, encoding="utf-8")
    if order is None:
        return
    kept, places = write_places(folder, order)
    del order
    for key, array in arrays.items():
        if is_edges(key, array):
            write_renamed_edges(folder / f"{key}.npy", as_tensor(array).numpy(), places, EDGES_AT_ONCE)
        elif not key.startswith("edge_"):
            write_reordered(folder / f"{key}.npy", as_tensor(array), kept, places, memory)
