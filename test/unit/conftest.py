"""Small graphs on which hand-written layer-wise inference goes wrong."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import torch
from hypothesis import settings

import gnnc

# The tests run in several processes, and small operations wait for threads much longer than they compute.
os.environ.setdefault("OMP_NUM_THREADS", "1")
torch.set_num_threads(1)
# Where Triton is installed, kernels for CUDA run in its interpreter; it must be told before it is imported.
os.environ.setdefault("TRITON_INTERPRET", "1")
# Kernels that tests compile are kept, but not among the user's.
os.environ.setdefault("GNNC_CACHE", str(Path(__file__).resolve().parents[2] / "build"))

# The same examples in every run and no limit on their time, so that a change is what makes a test fail, and not a busy
# machine; `HYPOTHESIS_PROFILE=default` explores.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "repeatable"))

WIDTH = 10


def graph_of(nodes: int, edges: list[tuple[int, int]]) -> gnnc.Graph:
    generator = torch.Generator().manual_seed(nodes + len(edges))
    edge_index = torch.tensor(edges, dtype=torch.int64).reshape(-1, 2).T.contiguous()
    return gnnc.Graph(x=torch.randn(nodes, WIDTH, generator=generator), edge_index=edge_index)


def random_edges(nodes: int, count: int) -> list[tuple[int, int]]:
    generator = torch.Generator().manual_seed(nodes)
    pairs = torch.randint(0, nodes, (count, 2), generator=generator)
    return [(int(a), int(b)) for a, b in pairs]


NASTY: dict[str, gnnc.Graph] = {
    "no edges": graph_of(5, []),
    "one node": graph_of(1, []),
    "one node with a loop": graph_of(1, [(0, 0)]),
    "isolated nodes": graph_of(9, [(1, 4), (4, 1), (4, 7)]),
    "trailing isolated nodes": graph_of(9, [(0, 1), (1, 2), (2, 0)]),
    "self-loops": graph_of(6, [(0, 0), (1, 1), (0, 1), (5, 5), (4, 5), (5, 5)]),
    "duplicate edges": graph_of(6, [(0, 1), (0, 1), (0, 1), (2, 1), (2, 1), (3, 4)]),
    "hub": graph_of(40, [(i, 0) for i in range(1, 40)] + [(0, i) for i in range(1, 40, 3)]),
    "as many edges as nodes": graph_of(7, [(i, (i + 1) % 7) for i in range(7)]),
    "random": graph_of(30, random_edges(30, 120)),
}


@pytest.fixture(params=list(NASTY))
def nasty_graph(request: pytest.FixtureRequest) -> gnnc.Graph:
    return NASTY[request.param]


@pytest.fixture
def nasty_graphs() -> dict[str, gnnc.Graph]:
    return NASTY


@pytest.fixture
def random_graph() -> gnnc.Graph:
    return NASTY["random"]
