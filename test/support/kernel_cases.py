"""A Conv of one block, written as IR, with inputs for it: what the tests of kernels compare with the reference."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.parser import Parser

from gnnc.dialects.gnn import GNN
from gnnc.targets.edge_sets import EdgeSet
from gnnc.targets.reference.interpreter import run_function

AGGREGATIONS = ("sum", "mean", "max", "min", "mul")

# What an edge says, in terms of %a (rows of nodes), %d (one number a node), %w (one number an edge) and %v (a row an
# edge); %m is the message.
MESSAGES = {
    "neighbor": "%m = gnn.gather %a at source of %e : !n, !e -> !m",
    "weighted by nodes": """
        %there = gnn.gather %a at source of %e : !n, !e -> !m
        %s = gnn.gather %d at source of %e : !d, !e -> !c
        %t = gnn.gather %d at target of %e : !d, !e -> !c
        %st = gnn.mul %s, %t : !c, !c -> !c
        %m = gnn.mul %st, %there : !c, !m -> !m""",
    "weighted by edges": """
        %there = gnn.gather %a at source of %e : !n, !e -> !m
        %m = gnn.mul %there, %w : !m, !c -> !m""",
    "difference": """
        %there = gnn.gather %a at source of %e : !n, !e -> !m
        %here = gnn.gather %a at target of %e : !n, !e -> !m
        %m = gnn.sub %there, %here : !m, !m -> !m""",
    "edge rows": """
        %there = gnn.gather %a at source of %e : !n, !e -> !m
        %u = gnn.add %there, %v : !m, !m -> !m
        %m = gnn.relu %u : !m""",
    "gated": """
        %there = gnn.gather %a at source of %e : !n, !e -> !m
        %here = gnn.gather %a at target of %e : !n, !e -> !m
        %u = gnn.add %there, %here : !m, !m -> !m
        %g = gnn.sigmoid %u : !m
        %m = gnn.mul %g, %there : !m, !m -> !m""",
}

BEFORE = """
!n = tensor<?x{width}x{dtype}, #gnn.on<nodes "n">>
!m = tensor<?x{width}x{dtype}, #gnn.on<edges "e">>
!d = tensor<?x1x{dtype}, #gnn.on<nodes "n">>
!c = tensor<?x1x{dtype}, #gnn.on<edges "e">>
!b = tensor<{width}x{dtype}>
!e = !gnn.edges<"e", "n" -> "n">
gnn.weight @bias : !b
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {{gnn.name = "i"}}) -> !e {{
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  func.return %e : !e
}}
func.func @forward(%nx: !n {{gnn.name = "x"}}, %nd: !d {{gnn.name = "d"}}, %ew: !c {{gnn.name = "w"}},
    %ev: !m {{gnn.name = "v"}}, %set: !e {{gnn.structure = 0 : i64}}) -> !n {{
  %h = gnn.conv_block layer 1 neighbors(%a = %nx : !n, %d = %nd : !d) edges(%w = %ew : !c, %v = %ev : !m)
      structure(%e = %set : !e) -> (!n) {{
    {message}
    %y = gnn.aggregate {aggregation} %m at target of %e layer 1 conv 0 : !m, !e -> !n
    {after}
  }}
  func.return %h : !n
}}
"""
PLAIN = "gnn.yield %y : !n"
EPILOGUE = """%bias = gnn.load_weight @bias : !b
    %z = gnn.add %y, %bias : !n, !b -> !n
    %self = gnn.mul %d, %a : !d, !n -> !n
    %both = gnn.add %z, %self : !n, !n -> !n
    %r = gnn.leaky_relu %both slope 1.0e-01 : !n
    gnn.yield %r : !n"""


def parsed(text: str) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Func, GNN):
        context.load_dialect(dialect)
    module = Parser(context, text).parse_module()
    module.verify()
    return module


@dataclass
class Case:
    """A model of one Conv with inputs for a graph of some nodes; the last nodes have no edges."""

    module: ModuleOp
    width: int
    dtype: torch.dtype
    nodes: int
    edges: int

    def __post_init__(self) -> None:
        generator = torch.Generator().manual_seed(self.width + self.nodes)

        def random(*shape: int) -> torch.Tensor:
            return torch.randn(*shape, generator=generator, dtype=self.dtype)

        ends = torch.randint(0, max(1, self.nodes - 2), (2, self.edges), generator=generator)
        ends[1, : self.edges // 3] = 0  # a hub
        self.set = EdgeSet(ends[0], ends[1], self.nodes, self.nodes)
        self.inputs = {
            "x": random(self.nodes, self.width),
            "d": random(self.nodes, 1),
            "w": random(self.edges, 1),
            "v": random(self.edges, self.width),
        }
        self.weights = {"bias": random(self.width)}

    def reference(self) -> torch.Tensor:
        arguments: list[Any] = [*self.inputs.values(), self.set]
        return run_function(self.module, "forward", arguments, self.weights, {"n": self.nodes})[0]


def case_of(message: str, aggregation: str, width: int, dtype: str, after: str = PLAIN, nodes: int = 30) -> Case:
    text = BEFORE.format(message=MESSAGES[message], aggregation=aggregation, width=width, dtype=dtype, after=after)
    return Case(parsed(text), width, {"f32": torch.float32, "f64": torch.float64}[dtype], nodes, 4 * nodes)


def assert_close(result: torch.Tensor, expected: torch.Tensor) -> None:
    scale = float(expected.abs().max()) or 1.0
    tolerance = 2e-5 if expected.dtype == torch.float32 else 1e-12
    assert float((result - expected).abs().max()) <= tolerance * scale
