"""Edges put in order out of core, against a stable sort in memory."""

from pathlib import Path

import numpy as np
import pytest
import torch

from gnnc.targets.gpu.store.csc_file import build_csc, open_csc
from gnnc.targets.gpu.store.edge_stream import EdgeStream, Relation, Reversed, Union, WithLoops, WithoutLoops

NODES, EDGES = 300, 20_000


def relation(seed: int, edges: int = EDGES) -> Relation:
    return Relation(torch.randint(0, NODES, (2, edges), generator=torch.Generator().manual_seed(seed)), NODES, NODES)


def hub() -> Relation:
    """Half of the edges meet one node, which has more of them than a bucket holds."""
    edges = relation(3).edge_index.clone()
    edges[1, ::2] = 7
    return Relation(edges, NODES, NODES)


STREAMS: dict[str, EdgeStream] = {
    "relation": relation(0),
    "loops": WithLoops(WithoutLoops(relation(0), NODES, NODES), NODES, NODES),
    "reversed": Reversed(relation(1), NODES, NODES),
    "union": Union(relation(1), relation(2, 5), NODES, NODES),
    "hub": hub(),
    "no edges": relation(0, 0),
    "no nodes": Relation(torch.empty((2, 0), dtype=torch.int64), 0, 0),
}


@pytest.mark.parametrize("by_target", [True, False])
@pytest.mark.parametrize("budget", [1, 10**9])
@pytest.mark.parametrize("name", list(STREAMS))
def test_order(tmp_path: Path, name: str, budget: int, by_target: bool) -> None:
    """A budget of 1 gives the smallest pieces and buckets, of 1,024 edges."""
    stream = STREAMS[name]
    pieces = [np.stack(piece) for piece in stream.pieces(10**9)] or [np.empty((3, 0), np.int64)]
    sources, targets, origins = np.concatenate(pieces, axis=1)
    keys, others = (targets, sources) if by_target else (sources, targets)
    build_csc(tmp_path / "csc", stream, by_target=by_target, padding=5, budget=budget)
    file = open_csc(tmp_path / "csc")
    assert file.neighbors.tolist() == [*others[np.argsort(keys, kind="stable")].tolist(), *[0] * 5]
    assert file.offsets.diff().tolist() == np.bincount(keys, minlength=stream.target_count).tolist()
    assert sorted(path.name for path in (tmp_path / "csc").iterdir()) == ["neighbors.npy", "offsets.npy"]
    numbered = build_csc(tmp_path / "n", stream, by_target=by_target, padding=5, budget=budget, with_origins=True)
    assert torch.equal(numbered.neighbors, file.neighbors) and numbered.origins is not None
    assert numbered.origins.tolist() == origins[np.argsort(keys, kind="stable")].tolist()


def test_origins_count_relations_one_after_the_other() -> None:
    edges = Relation(torch.tensor([[0, 1, 2], [1, 1, 0]]), 3, 3, "a")
    both = Union(WithLoops(WithoutLoops(edges, 3, 3), 3, 3), Reversed(edges, 3, 3), 3, 3)
    assert np.concatenate([piece[2] for piece in both.pieces(2)]).tolist() == [0, 2, -1, -1, -1, 3, 4, 5]
    assert both.relations == [("a", 3), ("a", 3)]
    assert both.term == "Union(WithLoops(WithoutLoops(a)), Reversed(a))"
