"""Edges in cells against a stable sort in memory."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from gnnc.targets.gpu.store import tiled_edges as module
from gnnc.targets.gpu.store.csc_file import CscFile, build_csc
from gnnc.targets.gpu.store.edge_stream import Relation
from gnnc.targets.gpu.store.tiled_edges import Grid, tiled_bytes, tiled_edges

SOURCES, TARGETS = 70, 40


def ordered(folder: Path, edges: int, seed: int) -> tuple[torch.Tensor, CscFile]:
    generator = torch.Generator().manual_seed(seed)
    ends = torch.stack([torch.randint(0, n, (edges,), generator=generator) for n in (SOURCES, TARGETS)])
    ends[1, : edges // 3] = 5  # a hub
    stream = Relation(ends, SOURCES, TARGETS)
    return ends, build_csc(folder, stream, by_target=True, padding=3, budget=10**6)


@pytest.mark.parametrize("edges", [0, 1, 5000])
def test_cells_hold_every_edge_once_in_order(edges: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ends, csc = ordered(tmp_path / "csc", edges, edges)

    @settings(max_examples=15, deadline=None)
    @given(st.integers(1, TARGETS + 1), st.integers(1, SOURCES + 1), st.sampled_from([7, 1024]))
    def check(target_rows: int, source_rows: int, piece: int) -> None:
        monkeypatch.setattr(module, "PIECE", piece)
        found = tiled_edges(csc, Grid(TARGETS, SOURCES, target_rows, source_rows), 3, 10**6)
        for first, stop in found.grid.ranges:
            for tile, (begin, end) in enumerate(found.grid.tiles):
                offsets = found.cell_offsets(first, stop, tile)
                for row in range(stop - first):
                    inside = (ends[1] == first + row) & (ends[0] >= begin) & (ends[0] < end)
                    expected = ends[0][inside] - begin
                    assert found.neighbors[offsets[row] : offsets[row + 1]].tolist() == expected.tolist()
        assert int(found.offsets[-1]) == edges
        assert found.neighbors[edges:].tolist() == [0, 0, 0]

    check()


def test_cells_are_found_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, csc = ordered(tmp_path / "csc", 500, 1)
    grid = Grid(TARGETS, SOURCES, 13, 17)
    expected = tiled_edges(csc, grid, 3, 10**6).neighbors.tolist()
    monkeypatch.setattr(module, "_Build", None)
    assert tiled_edges(csc, grid, 3, 10**6).neighbors.tolist() == expected
    size = sum(path.stat().st_size for path in csc.folder.glob("tiles-13-17/*"))
    assert tiled_bytes(500, grid) <= size <= tiled_bytes(500, grid) + 512
