"""The kernel graph computes what the model computes, and ConvBlocks leave no trace in it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache

import pytest
import torch
import torch.nn.functional as F
from torch_geometric.nn import BatchNorm, GATConv, GCNConv, GraphConv, SGConv, TransformerConv
from torch_geometric.nn.models import GCN, GIN, GraphSAGE
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.transforms.dead_code_elimination import DeadCodeElimination
from xdsl.utils.exceptions import PassFailedException

import gnnc
from gnnc.dialects import kernel
from gnnc.frontend.lower import LoweredModel, lower_model
from gnnc.passes.analysis.linear_forms import Order
from gnnc.passes.convert_gnn_to_kernel import ConvertGnnToKernel
from gnnc.passes.pipeline import block_pipeline_before_kernels
from gnnc.targets.reference.run import run_model

WIDTH = 10
ORDERS: tuple[Order, ...] = ("AH_W", "A_HW", "auto")


class Residual(torch.nn.Module):
    """Residual connections, batch normalisation, and several activations."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second, self.last = GCNConv(WIDTH, 6), GCNConv(6, 6), GCNConv(6, 3)
        self.norm = BatchNorm(6)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        h = F.elu(self.first(x, edge_index))
        h = F.leaky_relu(self.norm(self.second(h, edge_index)), 0.1) + h
        return F.log_softmax(self.last(h, edge_index), 1)


class RowNormalized(torch.nn.Module):
    """Features are divided by their sum first: the host's work."""

    def __init__(self) -> None:
        super().__init__()
        self.model = GCN(WIDTH, 6, 2, 3)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.model(x / x.sum(1, keepdim=True).clamp(min=1), edge_index)


class ByHand(torch.nn.Module):
    """D^-1 A D^-1 X W, written with node values before and after the aggregation, in plain torch."""

    def __init__(self) -> None:
        super().__init__()
        self.lin = torch.nn.Linear(WIDTH, 3, bias=False)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        source, target = edge_index
        degree = torch.zeros(x.size(0)).index_add(0, target, torch.ones(source.size(0))).clamp(min=1).unsqueeze(1)
        scaled = self.lin(x) / degree
        return torch.tanh(torch.zeros_like(scaled).index_add(0, target, scaled[source]) / degree)


class TwoPaths(torch.nn.Module):
    """A value that two layers use, pre-activation sums, a scaled value and two outputs."""

    def __init__(self) -> None:
        super().__init__()
        self.own, self.conv, self.last = torch.nn.Linear(WIDTH, 5), GraphConv(5, 5), GraphConv(5, 2, bias=False)

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        own = self.own(x)
        h = torch.sigmoid(0.5 * self.conv(own, edge_index) + own)
        return self.last(h, edge_index), h


MODELS: dict[str, Callable[[], torch.nn.Module]] = {
    "gcn": lambda: GCN(WIDTH, 6, 2, 3),
    "sage": lambda: GraphSAGE(WIDTH, 6, 2, 3, aggr="mean"),
    "gin": lambda: GIN(WIDTH, 6, 2, 3),
    "gin with norm": lambda: GIN(WIDTH, 6, 2, 3, norm="batch_norm"),
    "gcn with norm": lambda: GCN(WIDTH, 6, 2, 3, norm="batch_norm"),
    "sgc": lambda: SGConv(WIDTH, 3, K=2),
    "jumping knowledge": lambda: GCN(WIDTH, 6, 3, 3, jk="cat"),
    "residual": Residual,
    "row-normalised": RowNormalized,
    "by hand": ByHand,
    "two paths": TwoPaths,
}


@cache
def traced(name: str) -> LoweredModel:
    """A model at the level `model`. Tracing takes most of the time of these tests."""
    x, edge_index = torch.zeros(3, WIDTH), torch.zeros(2, 1, dtype=torch.int64)
    return lower_model(make(name), gnnc.Graph(x=x, edge_index=edge_index))


def lowered(model: torch.nn.Module | str, graph: gnnc.Graph, *, split: bool = False) -> LoweredModel:
    if isinstance(model, str):
        result = replace(traced(model), module=traced(model).module.clone())
    else:
        result = lower_model(model.eval(), graph)
    passes = block_pipeline_before_kernels()
    for module_pass in passes if split else passes[:-1]:
        module_pass.apply(Context(), result.module)
    return result


def convert(module: ModuleOp, order: Order) -> None:
    ConvertGnnToKernel(order).apply(Context(), module)
    DeadCodeElimination().apply(Context(), module)
    module.verify()


def make(name: str) -> torch.nn.Module:
    torch.manual_seed(3)
    model = MODELS[name]()
    for module in model.modules():
        if isinstance(module, torch.nn.BatchNorm1d):
            assert module.running_mean is not None and module.running_var is not None
            module.running_mean.normal_()
            module.running_var.uniform_(0.5, 2)
    return model.eval()


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", list(MODELS))
def test_computes_what_the_model_computes(name: str, order: Order, nasty_graphs: dict[str, gnnc.Graph]) -> None:
    model = make(name)
    result = lowered(name, nasty_graphs["random"])
    convert(result.module, order)
    for graph in nasty_graphs.values():
        inputs = {"x": torch.as_tensor(graph.x), "edge_index": torch.as_tensor(graph.edge_index)}
        with torch.no_grad():
            expected = model(**inputs)
        expected = expected if isinstance(expected, tuple) else (expected,)
        actual = run_model(result.module, inputs, result.weights, graph.node_counts)
        for ours, theirs in zip(actual, expected, strict=True):
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", list(MODELS))
def test_blocks_leave_no_trace(name: str, order: Order, random_graph: gnnc.Graph) -> None:
    texts: list[str] = []
    for split in (False, True):
        result = lowered(name, random_graph, split=split)
        convert(result.module, order)
        texts.append(str(result.module))
    assert texts[0] == texts[1]


def kernels(name: str, order: Order, graph: gnnc.Graph) -> list[tuple[str, int, int]]:
    """Name, layer and number of products of each kernel."""
    result = lowered(name, graph)
    convert(result.module, order)
    operations = [op for op in result.module.walk() if isinstance(op, kernel.Matmul)]
    return [(op.name.removeprefix("kernel."), op.layer_index, len(op.segments)) for op in operations]


def test_order_of_products(random_graph: gnnc.Graph) -> None:
    aggregate_first = [("aggregate", 1, 1), ("update", 1, 1), ("aggregate", 2, 1), ("update", 2, 1)]
    assert kernels("gcn", "AH_W", random_graph) == aggregate_first
    update_first = [("update", 1, 1), ("aggregate", 1, 1), ("update", 2, 1), ("aggregate", 2, 1)]
    assert kernels("gcn", "A_HW", random_graph) == update_first
    assert kernels("gcn", "auto", random_graph) == update_first


def test_own_node_of_sage_is_a_second_product(random_graph: gnnc.Graph) -> None:
    assert kernels("sage", "AH_W", random_graph)[1] == ("update", 1, 2)


def test_jumping_knowledge_is_one_update(random_graph: gnnc.Graph) -> None:
    assert kernels("jumping knowledge", "A_HW", random_graph)[-1] == ("update", 3, 3)


def test_sgc_aggregates_once_a_hop(random_graph: gnnc.Graph) -> None:
    assert kernels("sgc", "AH_W", random_graph) == [("aggregate", 1, 1), ("aggregate", 2, 1), ("update", 2, 1)]


class Attention(torch.nn.Module):
    def __init__(self, conv: torch.nn.Module) -> None:
        super().__init__()
        self.conv = conv

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.conv(x, edge_index)


@pytest.mark.parametrize("conv", [GATConv(WIDTH, 4, heads=2), TransformerConv(WIDTH, 4)])
def test_attention_is_refused_by_line(conv: torch.nn.Module, random_graph: gnnc.Graph) -> None:
    result = lowered(Attention(conv), random_graph)
    with pytest.raises(PassFailedException, match=r"test_convert_gnn_to_kernel\.py:\d+: ") as refusal:
        convert(result.module, "auto")
    assert "\n" not in str(refusal.value)


class Between(torch.nn.Module):
    """A function between two products that no epilogue has."""

    def __init__(self, function: Callable[[torch.Tensor], torch.Tensor]) -> None:
        super().__init__()
        self.first, self.second, self.function = GCNConv(WIDTH, 4), GCNConv(4, 2), function

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.second(self.function(self.first(x, edge_index)), edge_index)


def square(h: torch.Tensor) -> torch.Tensor:
    return h * h


def half(h: torch.Tensor) -> torch.Tensor:
    return h / 2


def twice_relu(h: torch.Tensor) -> torch.Tensor:
    return torch.relu(torch.relu(h))


@pytest.mark.parametrize(
    ("function", "message"),
    [
        (F.gelu, r"aten\.gelu\.default at .*: it is neither linear nor one of the epilogue's activations"),
        (square, r"gnn\.mul at .*: it multiplies or divides values that both depend on features"),
        (half, r"gnn\.div at .*: a value can be multiplied by a single number, not divided"),
        (twice_relu, r"gnn\.relu at .*: an activation is the epilogue of a product"),
    ],
)
def test_what_does_not_fold_is_refused(
    function: Callable[[torch.Tensor], torch.Tensor], message: str, random_graph: gnnc.Graph
) -> None:
    result = lowered(Between(function), random_graph)
    with pytest.raises(PassFailedException, match=message):
        convert(result.module, "auto")


def test_max_is_refused(random_graph: gnnc.Graph) -> None:
    result = lowered(GraphSAGE(WIDTH, 6, 2, 3, aggr="max"), random_graph)
    with pytest.raises(PassFailedException, match=r"gnn\.aggregate at .*: max is no sum of products"):
        convert(result.module, "auto")
