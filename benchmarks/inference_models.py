"""The models of `benchmarks.inference`, and how a user of PyG runs them."""

from __future__ import annotations

import copy
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import torch
from torch_geometric.data import Data
from torch_geometric.loader import NeighborLoader
from torch_geometric.nn import GCNConv, PNAConv, RGCNConv
from torch_geometric.nn.models import GAT, GCN, GIN, GraphSAGE
from torch_geometric.nn.models.basic_gnn import BasicGNN
from torch_geometric.typing import WITH_PYG_LIB, WITH_TORCH_SPARSE

import gnnc

HIDDEN, LAYERS, RELATIONS = 128, 3, 4

LAYER_WISE_BATCH = 1024
"""Targets a batch, as PyG's examples of layer-wise inference have them."""


class PNA(torch.nn.Module):
    """Three PNA layers."""

    def __init__(self, features: int, classes: int):
        super().__init__()
        widths = [features, HIDDEN, HIDDEN, classes]
        degrees = torch.tensor([10, 40, 60, 80, 90, 80, 60, 40, 30, 20, 20, 10])
        options: dict[str, Any] = {
            "aggregators": ["mean", "min", "max", "std"],
            "scalers": ["identity", "amplification", "attenuation"],
            "deg": degrees,
        }
        self.convs = torch.nn.ModuleList(PNAConv(a, b, **options) for a, b in pairwise(widths))

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        for conv in self.convs[:-1]:
            x = conv(x, edge_index).relu()
        return self.convs[-1](x, edge_index)


class RGCN(torch.nn.Module):
    """Three RGCN layers over four relations."""

    def __init__(self, features: int, classes: int):
        super().__init__()
        widths = [features, HIDDEN, HIDDEN, classes]
        self.convs = torch.nn.ModuleList(RGCNConv(a, b, RELATIONS) for a, b in pairwise(widths))

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor, edge_type: torch.Tensor) -> torch.Tensor:
        for conv in self.convs[:-1]:
            x = conv(x, edge_index, edge_type).relu()
        return self.convs[-1](x, edge_index, edge_type)


def seeded(make: Callable[[int, int], torch.nn.Module]) -> Callable[[int, int], torch.nn.Module]:
    def build(features: int, classes: int) -> torch.nn.Module:
        torch.manual_seed(0)
        return make(features, classes).eval()

    return build


MODELS: dict[str, Callable[[int, int], torch.nn.Module]] = {
    "gcn": seeded(lambda f, c: GCN(f, HIDDEN, LAYERS, c)),
    "sage": seeded(lambda f, c: GraphSAGE(f, HIDDEN, LAYERS, c)),
    "gin": seeded(lambda f, c: GIN(f, HIDDEN, LAYERS, c)),
    "gat": seeded(lambda f, c: GAT(f, HIDDEN, LAYERS, c, heads=2)),
    "gatv2": seeded(lambda f, c: GAT(f, HIDDEN, LAYERS, c, heads=2, v2=True)),
    "jknet": seeded(lambda f, c: GCN(f, HIDDEN, LAYERS, c, jk="cat")),
    "pna": seeded(PNA),
    "rgcn": seeded(RGCN),
}


class Inference:
    """A model and a graph as PyG takes them."""

    def __init__(self, model: torch.nn.Module, graph: gnnc.Graph):
        self.model = model
        x, edge_index = torch.as_tensor(graph.x), torch.as_tensor(graph.edge_index)
        self.arguments: list[torch.Tensor] = [x, edge_index]
        extra: dict[str, Any] = {}
        if isinstance(model, RGCN):
            generator = torch.Generator().manual_seed(0)
            extra["edge_type"] = torch.randint(0, RELATIONS, (edge_index.shape[1],), generator=generator)
            self.arguments.append(extra["edge_type"])
        self.graph = gnnc.Graph(x=x, edge_index=edge_index, **extra)

    def run(self) -> torch.Tensor:
        with torch.no_grad():
            return self.model(*self.arguments)

    def in_double(self) -> torch.Tensor:
        """In double precision, rounded once."""
        with torch.no_grad():
            x, *others = self.arguments
            return copy.deepcopy(self.model).double()(x.double(), *others).float()

    def on_csr(self) -> Callable[[], torch.Tensor]:
        """On a sparse CSR tensor, by target, with normalisations cached."""
        x, edge_index = self.arguments[:2]
        count, ones = x.shape[0], torch.ones(self.arguments[1].shape[1])
        adjacency = torch.sparse_coo_tensor(edge_index.flip(0), ones, (count, count)).to_sparse_csr()
        model = copy.deepcopy(self.model)  # what it caches is not for the model on edge_index
        for conv in model.modules():
            if isinstance(conv, GCNConv):
                conv.cached = True

        def run() -> torch.Tensor:
            with torch.no_grad():
                return model(x, adjacency)

        return run

    def compiled(self) -> Callable[[], torch.Tensor]:
        """Under torch.compile."""
        model = torch.compile(self.model, dynamic=False)

        def run() -> torch.Tensor:
            with torch.no_grad():
                return model(*self.arguments)

        return run

    def layer_wise(self) -> Callable[[], torch.Tensor] | None:
        """PyG's own loop over layers and batches, on whole neighborhoods; None where it has none, or nothing that finds
        neighborhoods is installed."""
        model = self.model
        if not (WITH_TORCH_SPARSE or WITH_PYG_LIB):
            return None
        if not isinstance(model, BasicGNN) or model.jk_mode not in (None, "last"):
            return None
        x, edge_index = self.arguments
        loader = NeighborLoader(Data(x=x, edge_index=edge_index), [-1], batch_size=LAYER_WISE_BATCH)

        def run() -> torch.Tensor:
            with torch.no_grad():
                return model.inference(loader)

        return run


ON_CSR = ("gcn", "sage", "gin", "gat", "jknet")
"""Models that PyG runs on a sparse adjacency."""


def peers_of(model: str, inference: Inference) -> dict[str, Callable[[], torch.Tensor]]:
    peers: dict[str, Callable[[], torch.Tensor]] = {"edge_index": inference.run}
    if model in ON_CSR:
        peers["csr"] = inference.on_csr()
    layer_wise = inference.layer_wise()
    if layer_wise is not None:
        peers["layerwise"] = layer_wise
    return peers
