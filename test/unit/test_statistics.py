"""What a module is told of its graph: counts of edges are those that @structure makes, densities those of arrays."""

from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.nn import GATConv, GCNConv, SAGEConv
from xdsl.dialects.builtin import ModuleOp

import gnnc
from gnnc import statistics
from gnnc.dialects.gnn import AggregateOp, DensityAttr, LinearOp
from gnnc.dialects.gnn.attributes import EdgeSetType
from gnnc.passes.analysis.densities import Densities
from gnnc.passes.analysis.model_functions import model_functions
from gnnc.targets.reference.run import run_structure


def modules() -> dict[str, ModuleOp]:
    graph = gnnc.Graph(edge_index=np.zeros((2, 1), np.int64), x=np.zeros((2, 3), np.float32))
    convs = {"gcn": GCNConv(3, 2), "gat": GATConv(3, 2), "sage": SAGEConv(3, 2)}
    return {name: gnnc.compile(conv.eval(), graph).module for name, conv in convs.items()}


MODULES = modules()


@settings(deadline=None, max_examples=40)
@given(st.data(), st.sampled_from(sorted(MODULES)), st.integers(1, 5), st.integers(0, 12))
def test_counts_are_those_of_the_structure(data: st.DataObject, name: str, nodes: int, edges: int) -> None:
    ends = data.draw(st.lists(st.integers(0, nodes - 1), min_size=2 * edges, max_size=2 * edges))
    graph = gnnc.Graph(edge_index=np.array(ends, np.int64).reshape(2, edges), x=np.zeros((nodes, 3), np.float32))
    module = MODULES[name].clone()
    statistics.write_statistics(module, graph, {})
    functions = model_functions(module)
    made = run_structure(module, {"edge_index": torch.from_numpy(graph.edge_index)}, {}, graph.node_counts)
    checked = 0
    for argument in functions.forward.body.block.args:
        place = functions.structure_place(argument)
        if place is not None and isinstance(argument.type, EdgeSetType):
            expected = DensityAttr(min(made[place].edge_count, nodes * nodes), nodes * nodes)
            assert Densities(module).of(argument) == expected
            checked += 1
    assert checked


def test_matmuls_of_a_compiled_model_carry_densities() -> None:
    x = np.zeros((4, 3), np.float32)
    x[0, 1] = x[2, 2] = 1
    graph = gnnc.Graph(edge_index=np.array([[0, 1, 2], [1, 2, 2]]), x=x)
    module = gnnc.compile(GCNConv(3, 2).eval(), graph).module
    linear = next(op for op in module.walk() if isinstance(op, LinearOp))
    aggregate = next(op for op in module.walk() if isinstance(op, AggregateOp) and op.layer is not None)
    assert linear.densities is not None and aggregate.densities is not None
    assert list(linear.densities) == [DensityAttr(2, 12), DensityAttr(6, 6)]
    assert list(aggregate.densities) == [DensityAttr(6, 16), DensityAttr()]


@pytest.mark.parametrize("kind", [np.asarray, torch.from_numpy])
def test_large_arrays_are_counted_in_part(kind: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    array = kind(np.tile(np.array([[1.0, 0.0, 0.0, 0.0]]), (100, 1)))
    assert statistics.density_of(array) == DensityAttr(100, 400)
    monkeypatch.setattr(statistics, "MOST_NUMBERS", 40)
    assert statistics.density_of(array) == DensityAttr(10, 40)
    assert statistics.density_of(array[:0]) == DensityAttr(0, 0)
