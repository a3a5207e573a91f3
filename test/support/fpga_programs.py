"""Programs that several tests simulate. Compiling is most of the time, so each is compiled once."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import torch
from torch_geometric.nn.models import GCN, GIN, GraphSAGE

import gnnc
from benchmarks.exactness import load_trained_model
from gnnc.fpga_compile import compile_for_fpga
from gnnc.fpga_program import FpgaProgram
from gnnc.passes.analysis.linear_forms import Order
from gnnc.targets.fpga.values import Numbers

DATA = Path(__file__).parents[2] / "examples" / "data"
WIDTH = 10


def normalized(graph: gnnc.Graph) -> gnnc.Graph:
    """The graph with each node's features divided by their sum, as the weights were trained."""
    x = np.asarray(graph.x)
    return gnnc.Graph(x=x / np.maximum(x.sum(1, keepdims=True), 1), edge_index=np.asarray(graph.edge_index))


@cache
def trained_program(dataset: str, kind: str, order: Order) -> FpgaProgram:
    """A trained model on its graph."""
    trained = load_trained_model(DATA, dataset, kind)
    model = trained.model.get_submodule("model")
    return compile_for_fpga(model, normalized(trained.graph), order=order)


@cache
def numbers_of(dataset: str, kind: str, order: Order) -> Numbers:
    program = trained_program(dataset, kind, order)
    return program.numbers(program.graph_for(None))


@cache
def small_model(kind: str) -> torch.nn.Module:
    torch.manual_seed(5)
    models = {
        "gcn": lambda: GCN(WIDTH, 6, 2, 3),
        "sage": lambda: GraphSAGE(WIDTH, 20, 2, 3, aggr="mean"),
        "gin": lambda: GIN(WIDTH, 6, 2, 3, norm="batch_norm"),
        "jumping knowledge": lambda: GCN(WIDTH, 20, 3, 3, jk="cat"),
    }
    return models[kind]().eval()


SMALL = ("gcn", "sage", "gin", "jumping knowledge")


@cache
def small_program(kind: str) -> FpgaProgram:
    """A model on a graph of 50 nodes, with features of which some are zero."""
    generator = np.random.default_rng(1)
    x = generator.random((50, WIDTH)).astype(np.float32)
    x[generator.random(x.shape) < 0.4] = 0
    graph = gnnc.Graph(x=x, edge_index=generator.integers(0, 50, (2, 160)))
    return compile_for_fpga(small_model(kind), graph, order="A_HW")


@cache
def program_with_factors() -> FpgaProgram:
    """A GCN on a graph without double edges: its adjacency needs no numbers."""
    generator = np.random.default_rng(2)
    sources, targets = np.nonzero(np.triu(generator.random((50, 50)) < 0.05, 1))
    edges = np.stack([np.concatenate([sources, targets]), np.concatenate([targets, sources])])
    graph = gnnc.Graph(x=generator.random((50, WIDTH)).astype(np.float32), edge_index=edges)
    return compile_for_fpga(small_model("gcn"), graph, order="A_HW")
