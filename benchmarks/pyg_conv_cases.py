"""The convs of torch-geometric with their options, and the graphs on which they are compared."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from typing import Any

import torch
import torch_geometric.nn.conv as pyg

import gnnc

F = 8  # features a node
D = 4  # features an edge
TYPES = 3  # kinds of edges, kinds of nodes


# The graphs.

HUB = [(node, 0) for node in range(1, 10)] + [(0, node) for node in range(1, 10, 3)]
LOOPS = [(0, 0), (2, 2), (2, 2), (11, 11)]
DUPLICATES = [(4, 3), (4, 3), (4, 3), (3, 4), (6, 3)]

GRAPHS: dict[str, tuple[int, list[tuple[int, int]]]] = {
    # nodes 10, 12 and 13 are isolated, the last two at the end
    "hub, self-loops, duplicate edges, isolated nodes": (14, HUB + LOOPS + DUPLICATES),
    "no edges": (5, []),
}


@cache
def attributes_of(graph: str) -> dict[str, torch.Tensor]:
    """All that a conv may ask for, by the names that it has in a gnnc.Graph."""
    nodes, edges = GRAPHS[graph]
    generator = torch.Generator().manual_seed(nodes)
    return {
        "edge_index": torch.tensor(edges, dtype=torch.int64).reshape(-1, 2).T.contiguous(),
        "x": torch.randn(nodes, F, generator=generator),
        "pos": torch.randn(nodes, 3, generator=generator),
        "normal": torch.randn(nodes, 3, generator=generator),
        "node_type": torch.arange(nodes) % TYPES,
        "edge_weight": torch.rand(len(edges), generator=generator) + 0.1,
        "edge_attr": torch.randn(len(edges), D, generator=generator),
        "edge_type": torch.arange(len(edges)) % TYPES,
    }


# One graph with types: papers cite each other, themselves too; venues are sources only; nobody reviews.
EdgeType = tuple[str, str, str]
COUNTS = {"paper": 9, "author": 6, "venue": 3}
RELATIONS: dict[EdgeType, list[tuple[int, int]]] = {
    ("paper", "cites", "paper"): [(1, 0), (2, 0), (3, 0), (3, 0), (4, 4), (0, 5)],
    ("author", "writes", "paper"): [(0, 0), (0, 1), (1, 1), (2, 7), (5, 7)],
    ("paper", "written by", "author"): [(0, 0), (1, 0), (1, 1), (7, 2)],
    ("venue", "prints", "paper"): [(0, paper) for paper in range(8)],
    ("author", "reviews", "paper"): [],
}


@cache
def typed_graph() -> gnnc.HeteroGraph:
    generator = torch.Generator().manual_seed(1)
    nodes = {type_: {"x": torch.randn(count, F, generator=generator)} for type_, count in COUNTS.items()}
    edges = {
        type_: {"edge_index": torch.tensor(pairs, dtype=torch.int64).reshape(-1, 2).T.contiguous()}
        for type_, pairs in RELATIONS.items()
    }
    return gnnc.HeteroGraph(nodes, edges)


# Modules around convs whose forward takes more than the graph's attributes, or by other names.


class Wrapped(torch.nn.Module):
    def __init__(self, conv: torch.nn.Module):
        super().__init__()
        self.conv = conv


class WithFirstFeatures(Wrapped):
    """The conv of a deep model, which also sees the first layer's features."""

    def forward(self, x: Any, edge_index: Any, edge_weight: Any = None) -> Any:
        return self.conv(x, x.relu(), edge_index, edge_weight)


class WithEarlierLayers(Wrapped):
    """The conv of a model that attends over the features of all earlier layers."""

    def forward(self, x: Any, edge_index: Any, edge_weight: Any = None) -> Any:
        return self.conv(torch.stack([x, x.relu()], 1), edge_index, edge_weight)


class WithSigns(Wrapped):
    """The conv of a signed graph: edges of type 0 are positive, those of type 1 negative."""

    def forward(self, x: Any, edge_index: Any, edge_type: Any) -> Any:
        return self.conv(x, edge_index[:, edge_type == 0], edge_index[:, edge_type == 1])


class WithHyperedges(Wrapped):
    """An edge says that its source belongs to the hyperedge with its target's number."""

    def forward(self, x: Any, edge_index: Any) -> Any:
        return self.conv(x, edge_index, num_edges=x.size(0))


class WithHyperedgeAttention(Wrapped):
    def forward(self, x: Any, edge_index: Any) -> Any:
        return self.conv(x, edge_index, hyperedge_attr=x.relu(), num_edges=x.size(0))


class WithSortedEdges(Wrapped):
    """A conv whose edges must come in the order of their targets."""

    def forward(self, x: Any, edge_index: Any) -> Any:
        return self.conv(x, edge_index[:, edge_index[1].argsort(stable=True)])


class WithColors(Wrapped):
    def forward(self, x: Any, edge_index: Any) -> Any:
        return self.conv(x.argmax(-1), edge_index)


class WithDicts(Wrapped):
    """A conv whose forward takes whatever it is given."""

    def forward(self, x_dict: Any, edge_index_dict: Any) -> Any:
        return self.conv(x_dict, edge_index_dict)


class UserWritten(pyg.MessagePassing):
    """A conv as users write them, on the base class: messages are the neighbours' features."""

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.propagate(edge_index, x=x)

    def message(self, x_j: torch.Tensor) -> torch.Tensor:
        return x_j


def mlp(inputs: int, outputs: int = F) -> torch.nn.Module:
    return torch.nn.Sequential(torch.nn.Linear(inputs, outputs), torch.nn.ReLU(), torch.nn.Linear(outputs, outputs))


# The cases.


@dataclass(frozen=True)
class Case:
    """A conv with some options, and what it takes of a graph beside x and edge_index."""

    conv: str
    options: str
    make: Callable[[], torch.nn.Module]
    inputs: tuple[str, ...] = ()
    has_types: bool = False
    """Whether it takes a graph with several types of nodes and edges."""

    @property
    def name(self) -> str:
        return f"{self.conv} {self.options}".rstrip()


def case(
    conv: str, *arguments: Any, around: type[Wrapped] | None = None, takes: Sequence[str] = (), **options: Any
) -> Case:
    """A case that is named after its options. What can be called among the arguments makes a part of the conv."""

    def make() -> torch.nn.Module:
        made = [part() if callable(part) else part for part in arguments]
        module = class_of(conv)(*made, **{k: v() if callable(v) else v for k, v in options.items()})
        return module if around is None else around(module)

    words = [f"{key}={option_text(value)}" for key, value in options.items()]
    return Case(conv, ", ".join([*takes, *words]), make, tuple(takes))


def typed_case(conv: str, *arguments: Any, **options: Any) -> Case:
    """A case on a graph with types; a conv that updates some node types only is given back with them alone."""
    return replace(case(conv, *arguments, **options), has_types=True)


def class_of(conv: str) -> Callable[..., torch.nn.Module]:
    return UserWritten if conv == "MessagePassing" else getattr(pyg, conv)


def option_text(value: Any) -> str:
    if isinstance(value, partial):
        return value.func.__name__
    return "MLP" if callable(value) else repr(value)


WIDTHS = dict.fromkeys(("paper", "author", "venue"), F)
METADATA = (list(WIDTHS), list(RELATIONS))


def convs_of_relations(conv: Callable[..., torch.nn.Module], **options: Any) -> dict[EdgeType, torch.nn.Module]:
    return {type_: conv((F, F), 5, **options) for type_ in RELATIONS}


WEIGHT, ATTR, TYPE = ["edge_weight"], ["edge_attr"], ["edge_type"]
DEGREES = torch.tensor([1.0, 2.0, 3.0, 4.0])

CASES: list[Case] = [
    case("MessagePassing"),
    case("MessagePassing", aggr="mul"),
    case("MessagePassing", aggr="median"),
    case("MessagePassing", aggr="std"),
    case("MessagePassing", aggr=["mean", "max"]),
    case("MessagePassing", flow="target_to_source"),
    case("SimpleConv"),
    case("SimpleConv", takes=WEIGHT),
    case("SimpleConv", aggr="mean", combine_root="sum"),
    case("SimpleConv", aggr="max", combine_root="cat"),
    case("GCNConv", F, 5),
    case("GCNConv", F, 5, takes=WEIGHT),
    case("GCNConv", F, 5, normalize=False),
    case("GCNConv", F, 5, add_self_loops=False),
    case("GCNConv", F, 5, flow="target_to_source"),
    case("GCNConv", F, 5, aggr="max"),
    case("ChebConv", F, 5, 3),
    case("ChebConv", F, 5, 3, takes=WEIGHT),
    case("ChebConv", F, 5, 3, normalization=None, bias=False),
    case("ChebConv", F, 5, 3, normalization="rw"),
    case("SAGEConv", F, 5),
    case("SAGEConv", F, 5, aggr="max", project=True),
    case("SAGEConv", F, 5, aggr="lstm", around=WithSortedEdges),
    case("SAGEConv", F, 5, root_weight=False, bias=False),
    case("SAGEConv", F, 5, flow="target_to_source"),
    case("GraphConv", F, 5),
    case("GraphConv", F, 5, takes=WEIGHT),
    case("GatedGraphConv", F, 3),
    case("GatedGraphConv", F, 3, takes=WEIGHT, aggr="max", bias=False),
    case("ResGatedGraphConv", F, 5),
    case("ResGatedGraphConv", F, 5, takes=ATTR, edge_dim=D),
    case("GATConv", F, 5),
    case("GATConv", F, 5, heads=2),
    case("GATConv", F, 5, takes=ATTR, edge_dim=D, add_self_loops=False),
    case("GATConv", F, 5, takes=ATTR, edge_dim=D, fill_value="mean"),
    case("GATConv", F, 5, takes=ATTR, edge_dim=D, fill_value=0.5),
    case("GATConv", F, 5, add_self_loops=False, bias=False),
    case("GATConv", F, 5, heads=2, concat=False, residual=True),
    case("GATv2Conv", F, 5),
    case("GATv2Conv", F, 5, heads=2, concat=False, share_weights=True),
    case("GATv2Conv", F, 5, takes=ATTR, edge_dim=D, fill_value=0.5),
    case("GATv2Conv", F, 5, add_self_loops=False, residual=True),
    case("TransformerConv", F, 5),
    case("TransformerConv", F, 5, heads=2, concat=False, beta=True),
    case("TransformerConv", F, 5, takes=ATTR, edge_dim=D),
    case("TransformerConv", F, 5, root_weight=False, bias=False),
    case("AGNNConv"),
    case("AGNNConv", requires_grad=False, add_self_loops=False),
    case("TAGConv", F, 5),
    case("TAGConv", F, 5, takes=WEIGHT, normalize=False),
    case("GINConv", lambda: mlp(F)),
    case("GINConv", lambda: mlp(F), train_eps=True, eps=0.5),
    case("GINEConv", lambda: mlp(F), takes=ATTR, edge_dim=D),
    case("ARMAConv", F, 5),
    case("ARMAConv", F, 5, takes=WEIGHT, num_stacks=2, num_layers=2),
    case("SGConv", F, 5, K=2),
    case("SGConv", F, 5, takes=WEIGHT, K=2, add_self_loops=False),
    case("SSGConv", F, 5, 0.1, K=2),
    case("SSGConv", F, 5, 0.1, takes=WEIGHT, K=2),
    case("APPNP", 3, 0.1),
    case("APPNP", 3, 0.1, takes=WEIGHT, normalize=False),
    case("MFConv", F, 5),
    case("RGCNConv", F, 6, TYPES, takes=TYPE),
    case("RGCNConv", F, 6, TYPES, takes=TYPE, num_bases=2),
    case("RGCNConv", F, 6, TYPES, takes=TYPE, num_blocks=2),
    case("RGCNConv", F, 6, TYPES, takes=TYPE, aggr="max"),
    case("FastRGCNConv", F, 6, TYPES, takes=TYPE),
    case("FastRGCNConv", F, 6, TYPES, takes=TYPE, num_bases=2),
    case("FastRGCNConv", F, 6, TYPES, takes=TYPE, num_blocks=2),
    case("RGATConv", F, 6, TYPES, takes=TYPE),
    case("RGATConv", F, 6, TYPES, takes=TYPE, heads=2, concat=False),
    case("RGATConv", F, 6, TYPES, takes=TYPE, num_bases=2),
    case("RGATConv", F, 6, TYPES, takes=TYPE, num_blocks=2),
    case("RGATConv", F, 6, TYPES, takes=[*TYPE, *ATTR], edge_dim=D),
    case("RGATConv", F, 6, TYPES, takes=TYPE, attention_mechanism="within-relation"),
    case("SignedConv", F, 5, True, takes=TYPE, around=WithSigns),
    case("DNAConv", F, around=WithEarlierLayers),
    case("DNAConv", F, takes=WEIGHT, heads=2, around=WithEarlierLayers),
    case("DNAConv", F, groups=2, around=WithEarlierLayers),
    case("PointNetConv", takes=["pos"], local_nn=lambda: mlp(F + 3), global_nn=lambda: mlp(F)),
    case("PointNetConv", takes=["pos"], add_self_loops=False),
    case("GMMConv", F, 5, D, 2, takes=ATTR),
    case("GMMConv", F, 5, D, 2, takes=ATTR, separate_gaussians=True),
    case("NNConv", F, 5, lambda: mlp(D, F * 5), takes=ATTR),
    case("NNConv", F, 5, lambda: mlp(D, F * 5), takes=ATTR, aggr="mean", root_weight=False, bias=False),
    case("CGConv", F),
    case("CGConv", F, takes=ATTR, dim=D),
    case("CGConv", F, batch_norm=True, aggr="mean"),
    case("EdgeConv", lambda: mlp(2 * F)),
    case("PPFConv", takes=["pos", "normal"], local_nn=lambda: mlp(F + 4), global_nn=lambda: mlp(F)),
    case("FeaStConv", F, 5),
    case("FeaStConv", F, 5, heads=2, add_self_loops=False, bias=False),
    case("PointTransformerConv", F, 5, takes=["pos"]),
    case("PointTransformerConv", F, F, takes=["pos"], attn_nn=lambda: mlp(F), pos_nn=lambda: mlp(3)),
    case("HypergraphConv", F, 5, around=WithHyperedges),
    case("HypergraphConv", F, 5, use_attention=True, heads=2, around=WithHyperedgeAttention),
    case("LEConv", F, 5),
    case("LEConv", F, 5, takes=WEIGHT, bias=False),
    case("PNAConv", F, 6, ["mean", "max", "std"], ["identity", "amplification"], DEGREES),
    case("PNAConv", F, 6, ["sum", "min", "var"], ["attenuation", "linear", "inverse_linear"], DEGREES, towers=2),
    case("PNAConv", F, 6, ["mean", "max"], ["identity"], DEGREES, takes=ATTR, edge_dim=D, divide_input=True, towers=2),
    case("ClusterGCNConv", F, 5),
    case("ClusterGCNConv", F, 5, diag_lambda=0.5),
    case("GENConv", F, 5),
    case("GENConv", F, 5, takes=ATTR, edge_dim=D),
    case("GENConv", F, 5, aggr="softmax", learn_t=True, msg_norm=True, norm="layer"),
    case("GCN2Conv", F, 0.1, around=WithFirstFeatures),
    case(
        "GCN2Conv",
        F,
        0.1,
        layer=2,
        shared_weights=False,
        theta=0.5,
        add_self_loops=False,
        normalize=False,
        around=WithFirstFeatures,
    ),
    case("WLConv", around=WithColors),
    case("WLConvContinuous"),
    case("WLConvContinuous", takes=WEIGHT),
    case("FiLMConv", F, 5),
    case("FiLMConv", F, 5, nn=lambda: mlp(F, 10), act=None),
    case("FiLMConv", F, 5, takes=TYPE, num_relations=TYPES),
    case("SuperGATConv", F, 5),
    case("SuperGATConv", F, 5, heads=2, concat=False, attention_type="SD"),
    case("FAConv", F, around=WithFirstFeatures),
    case("FAConv", F, takes=WEIGHT, add_self_loops=False, normalize=False, around=WithFirstFeatures),
    case("EGConv", F, 8),
    case("EGConv", F, 8, aggregators=["mean", "max", "symnorm"]),
    case("EGConv", F, 8, aggregators=["sum", "min", "std"], num_heads=4, num_bases=2, add_self_loops=False),
    case("PDNConv", F, 5, D, 6, takes=ATTR),
    case("PDNConv", F, 5, D, 6, takes=ATTR, normalize=False, add_self_loops=False),
    case("GeneralConv", F, 5),
    case("GeneralConv", F, 5, takes=ATTR, in_edge_channels=D),
    case("GeneralConv", F, 5, attention=True, heads=2),
    case("GeneralConv", F, F, skip_linear=True, l2_normalize=True, directed_msg=False),
    case("HEATConv", F, 5, TYPES, TYPES, 3, D, 4, takes=["node_type", *TYPE, *ATTR]),
    case("LGConv"),
    case("LGConv", takes=WEIGHT, normalize=False),
    case("PointGNNConv", lambda: mlp(F, 3), lambda: mlp(F + 3), lambda: mlp(F), takes=["pos"]),
    case("GPSConv", F, lambda: pyg.GCNConv(F, F), heads=2),
    case("AntiSymmetricConv", F),
    case("AntiSymmetricConv", F, phi=partial(pyg.GATConv, F, F), num_iters=2),
    case("DirGNNConv", lambda: pyg.GCNConv(F, 5)),
    case("DirGNNConv", lambda: pyg.SAGEConv(F, 5), alpha=0.2, root_weight=False),
    case("MixHopConv", F, 5),
    case("MixHopConv", F, 5, takes=WEIGHT, powers=[0, 2], add_self_loops=False),
    typed_case("HGTConv", WIDTHS, 8, METADATA, heads=2),
    typed_case("HGTConv", F, F, METADATA),
    typed_case("HANConv", WIDTHS, 8, METADATA, heads=2),
    typed_case("HeteroConv", partial(convs_of_relations, pyg.SAGEConv), around=WithDicts),
    typed_case(
        "HeteroConv", partial(convs_of_relations, pyg.GATv2Conv, add_self_loops=False), aggr="mean", around=WithDicts
    ),
    typed_case("HeteroConv", partial(convs_of_relations, pyg.GraphConv), aggr=None, around=WithDicts),
]

NO_CASE: dict[str, str] = {
    "CuGraphSAGEConv": "needs pylibcugraphops",
    "CuGraphGATConv": "needs pylibcugraphops",
    "CuGraphRGCNConv": "needs pylibcugraphops",
    "FusedGATConv": "needs dgNN, and takes sparse matrices in place of edge_index",
    "GravNetConv": "needs pyg-lib; looks for neighbours in feature space, takes no graph",
    "DynamicEdgeConv": "needs pyg-lib; looks for neighbours in feature space, takes no graph",
    "XConv": "needs pyg-lib; looks for neighbours in space, takes no graph",
    "SplineConv": "needs pyg-lib",
    "PANConv": "needs torch-sparse",
    "MeshCNNConv": "takes meshes, not graphs: features on the edges, each with four neighbours in a fixed order",
}
