"""Published models, in our own words: each is exact on nasty graphs at any batch size, or refused with a reason."""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
import torch
from academic_graph import FEW, RELATIONS, WIDTH, WIDTHS, edge_indices, features, hetero, papers_and_authors
from batched_runs import assert_exact, assert_same
from cached_gcn import CachedGcn
from deeper_gcn import DeeperGcn
from dense_concatenation import DenseConcatenation
from difformer import DifFormer
from gat_heads import Gat
from gated_gcn import GatedGcn
from gcn2_initial_residual import Gcn2
from gcn_two_layers import Gcn
from hetero_lazy import HeteroLazy
from hgt import Hgt
from jk_max_data_graph import JkMaxDataGraph
from link_decoder import LinkDecoder
from masked_labels import MaskedLabels
from pretended_device import pretended_device
from relation_adjacencies import RelationAdjacencies
from relational_attention import RelationalAttention
from residual_layer_norm import ResidualLayerNorm
from sage_with_inference import Sage
from sgformer import SgFormer
from torch import Tensor, nn
from torch.utils._pytree import tree_map
from triton_stand_in import triton_stand_in

import gnnc
from gnnc.targets.gpu import executor

CLASSES = 4
EDGE_WIDTH = 3


@dataclass(frozen=True)
class Published:
    """A model, the graphs it takes, made of homogeneous ones, and how it is called itself."""

    make: Callable[[], nn.Module]
    graph: Callable[[gnnc.Graph], Any]
    call: Callable[[Any, Any], Any]
    is_for_one_graph: bool = False


def with_values(graph: gnnc.Graph) -> gnnc.Graph:
    """With every kind of value a model here takes."""
    generator = torch.Generator().manual_seed(graph.num_edges)
    nodes, edges = graph.num_nodes, graph.num_edges
    return gnnc.Graph(
        x=graph.x,
        edge_index=graph.edge_index,
        edge_weight=torch.rand(edges, generator=generator),
        edge_attr=torch.randn(edges, EDGE_WIDTH, generator=generator),
        edge_type=torch.arange(edges) % 3,
        edge_label_index=torch.randint(0, nodes, (2, nodes + 2), generator=generator),
        y=torch.arange(nodes) % CLASSES,
        train_mask=torch.arange(nodes) % 3 == 1,
    )


def plain(graph: gnnc.Graph) -> gnnc.Graph:
    return graph


def without_repeated_edges(graph: gnnc.Graph) -> gnnc.Graph:
    """For models that take the edges as a matrix."""
    return gnnc.Graph(x=graph.x, edge_index=torch.unique(torch.as_tensor(graph.edge_index), dim=1))


def with_few_features(graph: gnnc.Graph) -> gnnc.HeteroGraph:
    """Features for papers alone."""
    full = hetero(graph)
    arrays = {entry.key: entry.array for entry in full.entries()}
    return gnnc.HeteroGraph(
        {"paper": {"x": arrays["x__paper"]}, "author": {}, "institute": {}},
        {relation: {"edge_index": edge_indices(full)[relation]} for relation in RELATIONS},
        num_nodes=dict(full.node_counts),
    )


class Adjacency:
    """What a model asks of a sparse matrix."""

    def __init__(self, edge_index: Tensor, rows: int):
        self.edge_index = edge_index
        self.rows = rows

    def matmul(self, h: Tensor, reduce: str) -> Tensor:
        assert reduce == "mean"
        source, target = self.edge_index
        total = torch.zeros(self.rows, h.size(1)).index_add(0, target, h[source])
        return total / torch.zeros(self.rows, 1).index_add(0, target, torch.ones(source.numel(), 1)).clamp(min=1)


def with_adjacencies(model: nn.Module, graph: gnnc.HeteroGraph) -> Any:
    rows = graph.node_counts
    matrices = {type_: Adjacency(edges, rows[type_[2]]) for type_, edges in edge_indices(graph).items()}
    return model(features(graph), matrices)


def on_dicts(model: nn.Module, graph: gnnc.HeteroGraph) -> Any:
    return model(features(graph), edge_indices(graph))


def on(*names: str) -> Callable[[nn.Module, gnnc.Graph], Any]:
    """Calls a model with some of a graph's arrays."""
    return lambda model, graph: model(*({**graph.attributes, "edge_index": graph.edge_index}[name] for name in names))


def on_matrix(model: nn.Module, graph: gnnc.Graph) -> Any:
    """Calls a model with a transposed adjacency matrix."""
    source, target = torch.as_tensor(graph.edge_index)
    size = (graph.num_nodes, graph.num_nodes)
    matrix = torch.sparse_coo_tensor(torch.stack([target, source]), torch.ones(source.numel()), size)
    return model(graph.x, matrix.coalesce().to_sparse_csr())


def on_data_set(model: nn.Module, graph: gnnc.Graph) -> Any:
    arrays = {"node_feat": graph.x, "edge_index": graph.edge_index, "num_nodes": graph.num_nodes}
    return model(SimpleNamespace(graph=arrays))


def initialised(model: nn.Module) -> nn.Module:
    """A lazy model, whose widths its first run decides."""
    with torch.no_grad():
        on_dicts(model.eval(), hetero(SMALL))
    return model


SMALL = gnnc.Graph(
    x=torch.randn(5, WIDTH, generator=torch.Generator().manual_seed(0)),
    edge_index=torch.tensor([[0, 1, 2, 2, 4, 3, 3], [1, 0, 2, 1, 3, 4, 0]]),
)

MODELS: dict[str, Published] = {
    "GCN": Published(lambda: Gcn(WIDTH, 8, CLASSES), plain, on("x", "edge_index")),
    "GCN with weights": Published(lambda: Gcn(WIDTH, 8, CLASSES), with_values, on("x", "edge_index", "edge_weight")),
    "GAT": Published(lambda: Gat(WIDTH, 4, CLASSES, 3), plain, on("x", "edge_index")),
    "SAGE": Published(lambda: Sage(WIDTH, 8, CLASSES, 3), plain, on("x", "edge_index")),
    "GCN2": Published(lambda: Gcn2(WIDTH, 8, CLASSES, 4), without_repeated_edges, on_matrix),
    "dense concatenation": Published(lambda: DenseConcatenation(WIDTH, 4, CLASSES, 3), plain, on("x", "edge_index")),
    "masked labels": Published(
        lambda: MaskedLabels(WIDTH, 8, CLASSES), with_values, on("x", "y", "edge_index", "train_mask")
    ),
    "DeeperGCN": Published(
        lambda: DeeperGcn(WIDTH, EDGE_WIDTH, 8, CLASSES, 3), with_values, on("x", "edge_index", "edge_attr")
    ),
    "cached GCN": Published(lambda: CachedGcn(WIDTH, 8, CLASSES, 3), without_repeated_edges, on_matrix),
    "relation adjacencies": Published(
        lambda: RelationAdjacencies({"paper": WIDTH}, {"author": 3, "institute": 2}, RELATIONS, 8, CLASSES),
        with_few_features,
        with_adjacencies,
        is_for_one_graph=True,
    ),
    "HeteroConv": Published(lambda: initialised(HeteroLazy(RELATIONS, RELATIONS[1], 8, CLASSES, 2)), hetero, on_dicts),
    "HGT": Published(
        lambda: Hgt({t: WIDTHS[t] for t in ("paper", "author")}, (["paper", "author"], RELATIONS[1:3]), 8, CLASSES, 2),
        papers_and_authors,
        on_dicts,
    ),
    "relational attention": Published(
        lambda: RelationalAttention(WIDTH, 8, CLASSES, 3), with_values, on("x", "edge_index", "edge_type")
    ),
    "residual, layer norm, sum": Published(
        lambda: ResidualLayerNorm(WIDTH, 8, CLASSES, 3), plain, on("x", "edge_index")
    ),
    "SGFormer": Published(lambda: SgFormer(WIDTH, 8, CLASSES), plain, on("x", "edge_index")),
    "DIFFormer": Published(lambda: DifFormer(WIDTH, 6, CLASSES, 2, 2), plain, on("x", "edge_index")),
    "JK max of data.graph": Published(lambda: JkMaxDataGraph(WIDTH, 8, CLASSES, 3), plain, on_data_set),
    "GatedGCN": Published(
        lambda: GatedGcn(WIDTH, EDGE_WIDTH, 8, CLASSES, 3), with_values, on("x", "edge_index", "edge_attr")
    ),
    "link decoder": Published(
        lambda: LinkDecoder(WIDTH, 8, CLASSES), with_values, on("x", "edge_index", "edge_label_index")
    ),
}


@cache
def model_of(name: str) -> nn.Module:
    """A model as if it had been trained: no norm does nothing."""
    torch.manual_seed(0)
    model = MODELS[name].make().eval()
    for part in model.modules():
        if isinstance(part, nn.BatchNorm1d):
            nn.init.uniform_(part.get_buffer("running_var"), 0.5, 2.0)
            nn.init.normal_(part.get_buffer("running_mean"))
    return model


def test_the_models_of_this_folder_are_all_here() -> None:
    assert len(MODELS) == 19


@pytest.mark.parametrize("name", list(MODELS))
def test_is_exact(name: str, nasty_graphs: Mapping[str, gnnc.Graph]) -> None:
    published, model = MODELS[name], model_of(name)
    program = gnnc.compile(model, published.graph(SMALL))
    # a model with a table of nodes is for the graph with these nodes
    graphs = {"small": SMALL} if published.is_for_one_graph else nasty_graphs
    if published.graph in (hetero, papers_and_authors):
        graphs = {kind: nasty_graphs[kind] for kind in FEW}
    for kind, nasty in graphs.items():
        graph = published.graph(nasty)
        with torch.no_grad():
            # what a model keeps for itself must not reach the next graph
            expected = published.call(copy.deepcopy(model), graph)
        assert_exact(program, graph, expected, kind)


ON_A_DEVICE = (
    "GCN with weights",
    "GAT",
    "masked labels",
    "DeeperGCN",
    "SGFormer",
    "GatedGCN",
    "link decoder",
)


@pytest.mark.parametrize("name", ON_A_DEVICE)
def test_runs_on_a_device(name: str, nasty_graphs: Mapping[str, gnnc.Graph], monkeypatch: pytest.MonkeyPatch) -> None:
    """With kernels and with torch's operations; nothing on the host meets what is on the device."""
    published = MODELS[name]
    graph = published.graph(nasty_graphs["hub"])
    program = gnnc.compile(model_of(name), published.graph(SMALL))
    expected = tree_map(torch.as_tensor, program.run(graph=graph))
    for resident, batch_size in ((True, None), (True, 7), (False, 7)):
        monkeypatch.setattr(executor, "fits", Mock(return_value=resident))
        with triton_stand_in(), pretended_device() as device:
            result = program.run(graph=graph, batch_size=batch_size, device=device)
            assert_same(result, expected, f"resident: {resident}, batch size {batch_size}")
