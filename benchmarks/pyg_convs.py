"""Every conv of torch-geometric: is what gnnc computes what the conv computes?

    python -m benchmarks.pyg_convs [--write docs/coverage.md]

Compiles each conv of `torch_geometric.nn.conv` with its usual arguments and with its important options, and runs it at
batch sizes 1, 3 and all nodes on graphs where message passing goes wrong easily. Prints for each: exact, refused with
the operator and the reason, or why it is not tried. A result that differs ends the run with an error.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
import torch_geometric.nn.conv as pyg

import gnnc

TOLERANCE = 1e-4
BATCH_SIZES = (1, 3, None)

F = 8  # features a node
D = 4  # features an edge
TYPES = 3  # kinds of edges, kinds of nodes

EXACT, REFUSED, NOT_TRIED = "exact", "refused", "not tried"


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


def class_of(conv: str) -> Callable[..., torch.nn.Module]:
    return UserWritten if conv == "MessagePassing" else getattr(pyg, conv)


def option_text(value: Any) -> str:
    if isinstance(value, partial):
        return value.func.__name__
    return "MLP" if callable(value) else repr(value)


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
    "HGTConv": "takes several node types",
    "HANConv": "takes several node types",
    "HeteroConv": "takes several node types",
    "MeshCNNConv": "takes meshes, not graphs: features on the edges, each with four neighbours in a fixed order",
}


# Running one.


@dataclass(frozen=True)
class Row:
    """What is known of one case, as a row of the page."""

    conv: str
    options: str
    result: str
    reason: str = ""

    def text(self) -> str:
        return f"| {self.conv} | {self.options} | {self.result} | {self.reason} |"


class WrongResult(Exception):
    """A compiled conv computed something else than the conv itself."""


def check(case: Case) -> Row:
    """Compiles a case and compares it with the conv on every graph. Raises WrongResult where it differs."""
    torch.manual_seed(0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = randomized(case.make()).eval()
        expected = {name: eager(model, case, name) for name in GRAPHS}
        first, *_ = GRAPHS
        assert expected[first] is not None, f"{case.name} does not run by itself"
        try:
            program = gnnc.compile(model, graph_for(case, first))
        except (gnnc.UnsupportedModelError, gnnc.CaptureError) as error:
            return Row(case.conv, case.options, REFUSED, reason_of(error))
        for name, values in expected.items():
            compare(program, case, name, values)
    return Row(case.conv, case.options, EXACT)


def randomized(model: torch.nn.Module) -> torch.nn.Module:
    """The module with no weight as initialised: a bias of zeros or a scale of one would hide what is left out."""
    with torch.no_grad():
        for tensor in model.parameters():
            tensor.add_(torch.randn_like(tensor), alpha=0.1)
    return model


def inputs_of(case: Case, graph: str) -> dict[str, Any]:
    attributes = attributes_of(graph)
    return {name: attributes[name] for name in ("x", "edge_index", *case.inputs)}


def graph_for(case: Case, name: str) -> gnnc.Graph:
    return gnnc.Graph(**inputs_of(case, name))


def eager(model: torch.nn.Module, case: Case, name: str) -> torch.Tensor | None:
    """What the conv computes by itself; None where it raises, and there is nothing to match."""
    try:
        with torch.no_grad():
            return model(**inputs_of(case, name))
    except (RuntimeError, IndexError, AssertionError):
        return None


def compare(program: gnnc.Program, case: Case, name: str, expected: torch.Tensor | None) -> None:
    if expected is None:
        return
    for batch_size in BATCH_SIZES:
        result = program.run(graph=graph_for(case, name), batch_size=batch_size)
        if not is_right(result, expected):
            raise WrongResult(f"{case.name} on a graph with {name}, batch size {batch_size or 'all'}")


def is_right(result: torch.Tensor, expected: torch.Tensor) -> bool:
    """Within the tolerance, relative to the largest number; infinite and undefined numbers at the same places."""
    if result.shape != expected.shape or result.dtype != expected.dtype:
        return False
    finite = expected.isfinite()
    if not torch.allclose(result[~finite], expected[~finite], equal_nan=True):
        return False
    scale = float(expected[finite].abs().max()) if finite.any() else 0.0
    return bool(((result - expected)[finite].abs() <= TOLERANCE * max(scale, 1e-30)).all())


# The kinds of torch.export's errors, whose own words name the symbols and sizes of one trace.
NOT_TRACED = {
    "GuardOnDataDependentSymNode": "it looks at the values of a tensor",
    "UserError": "it works for a fixed number of nodes or edges only",
}


def reason_of(error: gnnc.UnsupportedModelError | gnnc.CaptureError) -> str:
    """The operator and the reason, without the line of the source: it changes with torch-geometric's versions."""
    if isinstance(error, gnnc.UnsupportedModelError):
        return f"{error.op}: {error.reason}" if error.op else error.reason
    kind = error.reason.partition(":")[0]
    return f"torch.export can't trace it: {NOT_TRACED[kind]}" if kind in NOT_TRACED else str(error)


# The page.

INTRODUCTION = """\
# What compiles of torch-geometric

Generated by `python -m benchmarks.pyg_convs --write docs/coverage.md`; `test/unit/test_pyg_convs.py` checks every row.

Every conv that `torch_geometric.nn.conv` exports, with its usual arguments and with options. *Exact* means: compiled
once, run at batch sizes 1, 3 and all nodes on a graph with a hub, self-loops, duplicate edges and isolated nodes and on
one without edges (where the conv itself takes that), and equal to the conv itself within 1e-4 of the largest number.
*Refused* means that `gnnc.compile` raises, for the reason given. `MessagePassing` stands for convs that users write.
"""
HEAD = "| conv | options | result | why |\n|---|---|---|---|"


def page(rows: Sequence[Row]) -> str:
    return "\n".join([INTRODUCTION, totals(rows), "", HEAD, *(row.text() for row in rows)]) + "\n"


def totals(rows: Sequence[Row]) -> str:
    """How many convs are exact with usual arguments, which is each one's first row, and how many rows are in all."""
    first = {row.conv: row for row in reversed(rows)}
    exact = sum(row.result == EXACT for row in first.values())
    tried = [row for row in rows if row.result != NOT_TRIED]
    every = sum(row.result == EXACT for row in tried)
    return (
        f"Exact with usual arguments: **{exact} of {len(first)}** convs. "
        f"Exact in all: **{every} of {len(tried)}** cases that are tried."
    )


def rows_of(text: str) -> list[Row]:
    """The rows of a page. No cell has a bar in it."""
    lines = text.partition(HEAD)[2].strip().splitlines()
    return [Row(*(cell.strip() for cell in line[1:-1].split("|"))) for line in lines]


def rows_not_tried() -> list[Row]:
    return [Row(conv, "", NOT_TRIED, reason) for conv, reason in NO_CASE.items()]


def main() -> int:
    parser = argparse.ArgumentParser(description="Compares compiled convs of torch-geometric with eager ones.")
    parser.add_argument("--write", type=Path, metavar="PAGE", help="write the results as a page")
    parser.add_argument("--only", nargs="+", metavar="CONV", help="these convs only")
    arguments = parser.parse_args()
    rows: list[Row] = []
    for case in CASES:
        if arguments.only and case.conv not in arguments.only:
            continue
        rows.append(check(case))
        print(f"{case.name:70} {rows[-1].result} {rows[-1].reason}".rstrip(), flush=True)
    rows.extend(rows_not_tried())
    print(totals(rows))
    if arguments.write:
        arguments.write.write_text(page(rows), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
