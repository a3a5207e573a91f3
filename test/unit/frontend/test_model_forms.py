"""Models in half and double precision, in wrappers, with lazy modules, with results of any form."""

from __future__ import annotations

import copy
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch
from torch import Tensor, nn
from torch.optim.swa_utils import AveragedModel
from torch.utils._pytree import tree_leaves, tree_structure
from torch_geometric.nn import GATConv, GCNConv, HeteroConv, SAGEConv

import gnnc

WIDTH = 10


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second = GCNConv(WIDTH, 8), GATConv(8, 3, heads=2)

    def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Tensor:
        h = self.first(x, edge_index, edge_weight).relu()
        return self.second(h, edge_index).log_softmax(-1)


def in_type(graph: gnnc.Graph, dtype: torch.dtype) -> gnnc.Graph:
    weights = torch.rand(graph.num_edges).to(dtype)
    return gnnc.Graph(x=torch.as_tensor(graph.x).to(dtype), edge_index=graph.edge_index, edge_weight=weights)


@pytest.mark.parametrize(
    ("dtype", "tolerance"), [(torch.float64, 1e-12), (torch.bfloat16, 0.03), (torch.float16, 0.01)]
)
def test_other_precisions(dtype: torch.dtype, tolerance: float, nasty_graphs: Any) -> None:
    program = gnnc.compile(Model().to(dtype).eval(), in_type(nasty_graphs["random"], dtype))
    for kind, nasty in nasty_graphs.items():
        graph = in_type(nasty, dtype)
        for batch_size in (1, 3, None):
            assert program.run(graph=graph, batch_size=batch_size).dtype is dtype
            verification = program.verify(graph=graph, batch_size=batch_size, tolerance=tolerance)
            assert verification.passed, (kind, verification)


def test_features_in_another_precision_than_the_model(random_graph: gnnc.Graph) -> None:
    with pytest.raises(gnnc.CaptureError, match="fails on rows as wide as the graph's.* to have the same dtype"):
        gnnc.compile(Model().eval(), in_type(random_graph, torch.float64))


def averaged(model: nn.Module) -> nn.Module:
    result = AveragedModel(model)
    result.update_parameters(model)
    return result


WRAPPERS: dict[str, Callable[[nn.Module], Any]] = {
    "DataParallel": nn.DataParallel,
    "torch.compile": torch.compile,
    "averaged": averaged,
    "both": lambda model: torch.compile(nn.DataParallel(model)),
}


@pytest.mark.filterwarnings("ignore:`torch.jit.script_method` is deprecated:DeprecationWarning")
@pytest.mark.parametrize("name", list(WRAPPERS))
def test_wrappers_are_taken_off(name: str, random_graph: gnnc.Graph) -> None:
    model = Model().eval()
    wrapped = WRAPPERS[name](copy.deepcopy(model)).eval()
    program = gnnc.compile(wrapped, random_graph)
    with torch.no_grad():
        expected = model(random_graph.x, random_graph.edge_index)
    torch.testing.assert_close(program.run(batch_size=4), expected)
    assert program.verify(model=wrapped).passed


class Lazy(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        relations = [("author", "writes", "paper"), ("paper", "rev_writes", "author"), ("paper", "cites", "paper")]
        self.conv = HeteroConv({relation: SAGEConv((-1, -1), 4) for relation in relations})
        self.lin = nn.LazyLinear(3)

    def forward(self, x_dict: Any, edge_index_dict: Any) -> Any:
        return {type_: self.lin(x.relu()) for type_, x in self.conv(x_dict, edge_index_dict).items()}


def run_once(model: nn.Module, graph: gnnc.HeteroGraph) -> None:
    with torch.no_grad():
        model(
            {type_: torch.as_tensor(graph[type_]["x"]) for type_ in graph.node_types},
            {type_: torch.as_tensor(graph[type_]["edge_index"]) for type_ in graph.edge_types},
        )


def test_lazy_modules_are_refused_until_they_have_their_weights(
    hetero_graphs: Any, hetero_graph: gnnc.HeteroGraph, assert_exact: Any
) -> None:
    model, fresh = Lazy().eval(), Lazy().eval()
    with pytest.raises(gnnc.CaptureError, match="Lazy has parameters without a shape, conv.*: run it once"):
        gnnc.compile(model, hetero_graph)
    run_once(model, hetero_graph)
    assert_exact(gnnc.compile(model, hetero_graph), hetero_graphs)
    fresh.load_state_dict(model.state_dict())
    assert_exact(gnnc.compile(fresh, hetero_graph), {"small": hetero_graph})


class Pair(NamedTuple):
    scores: Tensor
    hidden: Tensor


FORMS: dict[str, Callable[[Tensor, Tensor], Any]] = {
    "tuple": lambda h, z: (z, h),
    "list": lambda h, z: [z, h],
    "None": lambda h, z: (z, None),
    "dict": lambda h, z: {"z": z, "h": h},
    "nested": lambda h, z: {"z": (z, [h, None]), "h": {"inner": h}},
    "the same twice": lambda h, z: (z, z),
    "named tuple": Pair,
    "keys of edge types": lambda h, z: {("a", "to", "b"): z, 3: h},
    "defaultdict": lambda h, z: defaultdict(None, {"z": z}),
}


@pytest.mark.parametrize("form", list(FORMS))
def test_results_of_any_form(form: str, random_graph: gnnc.Graph, tmp_path: Path) -> None:
    class Returns(Model):
        def forward(self, x: Tensor, edge_index: Tensor, edge_weight: Tensor | None = None) -> Any:
            h = self.first(x, edge_index).relu()
            return FORMS[form](h, self.second(h, edge_index))

    model = Returns().eval()
    program = gnnc.compile(model, random_graph)
    with torch.no_grad():
        expected = model(random_graph.x, random_graph.edge_index)
    program.save(tmp_path / "a.gnnc")
    for result in (program.run(batch_size=4), gnnc.load(tmp_path / "a.gnnc").run(graph=random_graph)):
        if form not in ("named tuple", "defaultdict"):
            assert tree_structure(result) == tree_structure(expected)
        for actual, wanted in zip(tree_leaves(result), tree_leaves(expected), strict=True):
            assert actual is wanted is None or torch.allclose(actual, wanted, atol=1e-5)


def test_models_in_training_mode_are_put_back(random_graph: gnnc.Graph) -> None:
    model = Model().train()
    with pytest.warns(UserWarning, match="Model is in training mode: it is compiled in evaluation mode") as said:
        program = gnnc.compile(nn.DataParallel(model), random_graph)
    assert len(said) == 1
    assert model.training and program.verify().passed and model.training
