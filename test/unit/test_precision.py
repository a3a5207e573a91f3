"""Numbers stored in 16 bits: what the IR says is what runs, and the error is small and said."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pytest
import torch
from torch_geometric.nn import SGConv
from torch_geometric.nn.models import GAT, GCN, GIN, GraphSAGE

import gnnc
from gnnc.errors import GnncError
from gnnc.targets.gpu import csr
from gnnc.targets.reference.run import run_model

Make: TypeAlias = Callable[[int], torch.nn.Module]
MODELS: dict[str, Make] = {
    "gcn": lambda width: GCN(width, 24, 3, 5),
    "sage": lambda width: GraphSAGE(width, 24, 3, 5),
    "gin": lambda width: GIN(width, 24, 2, 5, norm="batch_norm"),
    "gat": lambda width: GAT(width, 24, 2, 5, heads=2),
    "jk": lambda width: GCN(width, 24, 3, 5, jk="cat"),
    "max": lambda width: GraphSAGE(width, 24, 2, 5, aggr="max"),
    "sgc": lambda width: SGConv(width, 5, K=2),
}
DTYPES = {"bf16": torch.bfloat16, "fp16": torch.float16}
ROUNDING = {"bf16": 2**-8, "fp16": 2**-11}


def graph_of(width: int, nodes: int = 50, density: float = 1.0) -> gnnc.Graph:
    random = np.random.default_rng(0)
    x = random.standard_normal((nodes, width)).astype(np.float32) * (random.random((nodes, width)) < density)
    return gnnc.Graph(x=x, edge_index=random.integers(0, nodes, (2, 4 * nodes)))


@pytest.mark.parametrize("width", [3, 16, 47])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("precision", DTYPES)
def test_kernels_compute_what_the_module_says(name: str, precision: Any, width: int) -> None:
    graph = graph_of(width)
    torch.manual_seed(0)
    program = gnnc.compile(MODELS[name](width).eval(), graph, precision=precision)
    x, edges = torch.as_tensor(graph.x).to(DTYPES[precision]), torch.as_tensor(graph.edge_index)
    (expected,) = run_model(program.module, {"x": x, "edge_index": edges}, program.weights, graph.node_counts)
    result = torch.as_tensor(program.run())
    assert result.dtype == torch.float32 and program.precision == precision
    # a sum in another order may be rounded to the next number when it is stored
    assert (result - expected).abs().max() <= 4 * ROUNDING[precision] * expected.abs().max()
    verification = program.verify()
    assert verification.passed and 0 < verification.outputs[0].relative < 8 * ROUNDING[precision]


@pytest.mark.parametrize("name", ["gcn", "gat"])
def test_batches_nodes_artifacts_and_given_features(name: str, tmp_path: Path) -> None:
    graph = graph_of(16)
    program = gnnc.compile(MODELS[name](16).eval(), graph, precision="bf16", keep_reference=10)
    whole = program.run()
    for part in (program.run(batch_size=7), program.run(x=graph.x), program.run(threads=2)):
        np.testing.assert_allclose(part, whole, atol=0.02 * abs(whole).max())
    np.testing.assert_allclose(program.run(nodes=[4, 1]), whole[[4, 1]], atol=0.02 * abs(whole).max())
    program.save(tmp_path / "m.gnnc")
    loaded = gnnc.load(tmp_path / "m.gnnc")
    assert loaded.precision == "bf16" and loaded.verify(graph=graph).passed
    assert np.array_equal(loaded.run(graph=graph), whole)


def test_sums_of_a_hub_take_32_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Threads share its edges, and pieces of them are added up in memory."""
    nodes = 3000
    star = np.stack([np.arange(1, nodes), np.zeros(nodes - 1, np.int64)])
    x = np.random.default_rng(0).standard_normal((nodes, 16)).astype(np.float32)
    program = gnnc.compile(MODELS["gat"](16).eval(), gnnc.Graph(x=x, edge_index=star), precision="bf16")
    expected = program.run()
    monkeypatch.setattr(csr, "HUB_EDGES", 500)
    result = program.run(graph=gnnc.Graph(x=x, edge_index=star))
    np.testing.assert_allclose(result, expected, atol=ROUNDING["bf16"] * abs(expected).max())


def test_sparse_features_keep_their_numbers() -> None:
    graph = graph_of(300, density=0.02)
    program = gnnc.compile(MODELS["gcn"](300).eval(), graph, precision="bf16")
    assert program.weights["convs.0.lin.weight"].dtype == torch.float32
    assert program.weights["convs.1.lin.weight"].dtype == torch.bfloat16
    assert program.verify().passed


def test_frozen_features_are_stored_narrow() -> None:
    graph = graph_of(16)
    program = gnnc.compile(MODELS["sgc"](16).eval(), graph, precision="bf16", freeze_features=True)
    assert program.weights["frozen.0"].dtype == torch.bfloat16
    assert program.verify().passed


def test_unknown_or_unusable_precisions_are_refused() -> None:
    graph = graph_of(3)
    unknown: Any = "fp8"
    with pytest.raises(GnncError, match="precision 'fp8' is none: use 'fp32', 'bf16' or 'fp16'"):
        gnnc.compile(MODELS["gcn"](3).eval(), graph, precision=unknown)
    with pytest.raises(GnncError, match="precision bf16 is for the target gpu"):
        gnnc.compile(MODELS["gcn"](3).eval(), graph, "fpga", precision="bf16")
