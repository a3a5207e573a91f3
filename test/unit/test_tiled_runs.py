"""Runs with a store whose blocks are added up tile by tile, whatever the tiles, against runs in memory."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from backwards import Backwards
from hypothesis import given, settings
from hypothesis import strategies as st
from mapped_graphs import mapped
from torch_geometric.nn import GATConv, HeteroConv, RGCNConv, SAGEConv
from torch_geometric.nn.models import GAT, GCN, GIN, GraphSAGE

import gnnc
from gnnc.targets.gpu import stored_ways
from gnnc.targets.gpu.store import tiled_edges
from gnnc.targets.gpu.store.array_file import ArrayFile
from gnnc.targets.gpu.store.folder import StoreFolder
from gnnc.targets.gpu.store.journal import Journal
from gnnc.targets.gpu.tiling import Demand, Tiling

WIDTH = 10


MODELS: dict[str, Callable[[], torch.nn.Module]] = {
    "gcn": lambda: GCN(WIDTH, 16, 2, 7),
    "gat": lambda: GAT(WIDTH, 16, 2, 7, heads=2),
    "gatv2": lambda: GAT(WIDTH, 16, 2, 7, heads=2, v2=True),
    "gin": lambda: GIN(WIDTH, 16, 2, 7),
    "sage": lambda: GraphSAGE(WIDTH, 16, 2, 7),
    "several": lambda: GraphSAGE(WIDTH, 16, 2, 7, aggr=["mean", "max", "min"]),
    "one layer": lambda: GCN(WIDTH, 16, 1),
    "backwards": lambda: Backwards(WIDTH, GATConv),
}


def graph_of(nodes: int, edges: int) -> gnnc.Graph:
    generator = torch.Generator().manual_seed(nodes)
    edge_index = torch.randint(0, nodes, (2, edges), generator=generator)
    return gnnc.Graph(x=torch.randn(nodes, WIDTH, generator=generator), edge_index=edge_index)


@cache
def program_of(name: str) -> gnnc.Program:
    torch.manual_seed(0)
    return gnnc.compile(MODELS[name]().eval(), graph_of(20, 30))


@contextmanager
def tiles_of(target_rows: int, source_rows: int) -> Generator[None]:
    """Nothing fits into memory, and tiles have these sizes."""

    def tiling(targets: int, convs: Sequence[Demand], room: int) -> Tiling:
        return Tiling(target_rows, (source_rows,) * len(convs))

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(stored_ways, "PLANNED_SHARE", 0)
        patch.setattr(stored_ways, "best_tiling", tiling)
        patch.setattr(stored_ways.Chooser, "gathering_is_cheaper", never)
        yield


def never(*_: object) -> bool:
    return False


def ways(program: gnnc.Program) -> set[str]:
    return {block.way for block in program.report.blocks}


@pytest.mark.parametrize("name", list(MODELS))
def test_nasty_graphs(name: str, nasty_graph: gnnc.Graph, tmp_path: Path) -> None:
    program, graph = program_of(name), mapped(nasty_graph, tmp_path / "graph")
    with tiles_of(4, 3):
        result = program.run(graph=graph, store=tmp_path / "store")
    assert ways(program) <= {"tiles", "indexed in memory"}
    assert "tiles" in ways(program)
    np.testing.assert_allclose(result, program.run(graph=nasty_graph), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["gcn", "gat"])
def test_sizes_of_tiles_change_no_result(name: str, tmp_path: Path) -> None:
    program, graph = program_of(name), mapped(graph_of(90, 700), tmp_path / "graph")
    expected = program.run(graph=graph)
    runs = [0]

    @settings(max_examples=10, deadline=None)
    @given(st.integers(1, 100), st.integers(1, 100), st.sampled_from([1, 7, None]), st.sampled_from([1, 2]))
    def check(target_rows: int, source_rows: int, batch_size: int | None, threads: int) -> None:
        runs[0] += 1
        with tiles_of(target_rows, source_rows):
            store = tmp_path / str(runs[0])
            result = program.run(graph=graph, store=store, batch_size=batch_size, threads=threads)
        np.testing.assert_allclose(result, expected, rtol=1e-4, atol=1e-5)

    check()


def test_several_relations_in_one_block(tmp_path: Path) -> None:
    class Relations(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.first, self.second = RGCNConv(WIDTH, 16, 3), RGCNConv(16, 7, 3)

        def forward(self, x: torch.Tensor, edge_index: torch.Tensor, edge_type: torch.Tensor) -> torch.Tensor:
            return self.second(self.first(x, edge_index, edge_type).relu(), edge_index, edge_type)

    plain = graph_of(20, 1000)
    graph = gnnc.Graph(x=plain.x, edge_index=plain.edge_index, edge_type=torch.arange(1000) % 3)
    program = gnnc.compile(Relations().eval(), graph)
    with tiles_of(7, 6):
        result = program.run(store=tmp_path / "store")
    torch.testing.assert_close(result, program.run(), rtol=1e-4, atol=1e-5)


def test_types_of_nodes(tmp_path: Path) -> None:
    """Rows of one set are added up over edges from another one, which is larger."""

    class Types(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.layers = torch.nn.ModuleList(
                HeteroConv(
                    {
                        ("a", "to", "b"): SAGEConv((width, width), 16),
                        ("b", "back", "a"): GATConv((width, width), 16, add_self_loops=False),
                        ("b", "on", "b"): SAGEConv((width, width), 16, aggr="max"),
                    }
                )
                for width in (WIDTH, 16)
            )

        def forward(self, x_dict: dict[str, torch.Tensor], edge_index_dict: dict[Any, torch.Tensor]) -> Any:
            for layer in self.layers:
                x_dict = {name: rows.relu() for name, rows in layer(x_dict, edge_index_dict).items()}
            return x_dict

    generator = torch.Generator().manual_seed(0)

    def edges(sources: int, targets: int) -> torch.Tensor:
        return torch.stack([torch.randint(0, n, (600,), generator=generator) for n in (sources, targets)])

    ends = {("a", "to", "b"): edges(50, 20), ("b", "back", "a"): edges(20, 50), ("b", "on", "b"): edges(20, 20)}
    graph = gnnc.HeteroGraph(
        {name: {"x": torch.randn(count, WIDTH, generator=generator)} for name, count in (("a", 50), ("b", 20))},
        {type_: {"edge_index": edge_index} for type_, edge_index in ends.items()},
    )
    program = gnnc.compile(Types().eval(), graph)
    expected = program.run()
    with tiles_of(8, 9):
        result = program.run(store=tmp_path / "store")
    assert "tiles" in ways(program)
    for name, rows in expected.items():
        torch.testing.assert_close(result[name], rows, rtol=1e-4, atol=1e-5)


def test_a_budget_makes_tiles(tmp_path: Path) -> None:
    """A hub with thousands of edges costs one row, and the budget is kept whatever meets it."""
    plain = graph_of(6000, 60_000)
    edge_index = torch.as_tensor(plain.edge_index).clone()
    edge_index[1, ::5] = 17
    graph = mapped(gnnc.Graph(x=plain.x, edge_index=edge_index), tmp_path / "graph")
    for name in ("gcn", "gat"):
        program = program_of(name)
        result = program.run(graph=graph, store=tmp_path / name, memory="600KiB", batch_size=64, threads=1)
        assert "tiles" in ways(program)
        assert all(block.resident <= 600 * 1024 for block in program.report.blocks)
        np.testing.assert_allclose(result, program.run(graph=graph), rtol=1e-4, atol=1e-5)


def test_cells_without_room_on_disk_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, graph = program_of("gcn"), mapped(graph_of(300, 900), tmp_path / "graph")
    needed = [0]

    def check(self: StoreFolder, need: int) -> None:
        needed.append(need)

    monkeypatch.setattr(StoreFolder, "check_room", check)
    with tiles_of(40, 50):
        program.run(graph=graph, store=tmp_path / "store")
    sources, targets = np.asarray(graph.edge_index)
    edges = int((sources != targets).sum()) + 300
    assert 4 * edges + 8 * 6 * 300 in needed
    assert all(block.passes == 8 for block in program.report.blocks if block.way == "tiles")


def test_some_nodes_gather(tmp_path: Path) -> None:
    program, graph = program_of("gcn"), mapped(graph_of(300, 900), tmp_path / "graph")
    with tiles_of(40, 50):
        result = program.run(graph=graph, store=tmp_path / "store", nodes=[5, 80, 7])
    assert ways(program) == {"indexed in memory", "gathered"}
    np.testing.assert_allclose(result, program.run(graph=graph)[[5, 80, 7]], rtol=1e-4, atol=1e-5)


class Stop(BaseException):
    """Ends a run as a signal would, as far as the store can see."""


@pytest.mark.parametrize(("owner", "method"), [(Journal, "append"), (ArrayFile, "write"), (ArrayFile, "sync")])
@pytest.mark.parametrize("name", ["gcn", "gat"])
def test_a_run_goes_on_where_it_stopped(name: str, owner: Any, method: str, tmp_path: Path) -> None:
    program, graph = program_of(name), mapped(graph_of(900, 5000), tmp_path / "graph")

    def run(store: str) -> Any:
        with tiles_of(400, 250):
            return np.array(program.run(graph=graph, store=tmp_path / store, batch_size=90, threads=1))

    expected = run("undisturbed")
    original, stops = getattr(owner, method), 0
    for calls in (0, 1, 2, 3, 5, 8, 13):
        left = [calls]

        def limited(*arguments: Any, left: list[int] = left) -> Any:
            left[0] -= 1
            if left[0] < 0:
                raise Stop
            return original(*arguments)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(owner, method, limited)
            try:
                run("disturbed")
            except Stop:
                stops += 1
    assert stops >= 3
    assert run("disturbed").tobytes() == expected.tobytes()


def test_a_run_that_goes_on_keeps_its_plan(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Though tiles of another size would be chosen now."""
    program, graph = program_of("one layer"), mapped(graph_of(900, 5000), tmp_path / "graph")

    def run(store: str, rows: int) -> Any:
        with tiles_of(rows, rows):
            return np.array(program.run(graph=graph, store=tmp_path / store, batch_size=90, threads=1))

    expected = run("undisturbed", 400)
    append = Journal.append

    def limited(self: Journal, *records: dict[str, Any]) -> None:
        if any(record["block"] == 1 and "from" in record for record in records):
            raise Stop
        append(self, *records)

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "append", limited)
        with pytest.raises(Stop):
            run("disturbed", 400)
    assert run("disturbed", 123).tobytes() == expected.tobytes()


def test_edges_are_put_in_order_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, graph = program_of("gcn"), mapped(graph_of(300, 900), tmp_path / "graph")
    with tiles_of(40, 50):
        program.run(graph=graph, store=tmp_path / "store")
        monkeypatch.setattr(tiled_edges, "_Build", None)
        program.run(np.asarray(graph.x) + 1, graph=graph, store=tmp_path / "store")
    assert "tiles" in ways(program)
