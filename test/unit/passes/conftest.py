"""Models from text: the body of @forward, whose arguments are features %x and %q, an edge set %e and in-degrees %d."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.ir import SSAValue
from xdsl.parser import Parser

from gnnc.dialects.gnn import GNN
from gnnc.passes.analysis.model_functions import ModelFunctions, model_functions

BEFORE = """
!n = tensor<?x4xf32, #gnn.on<nodes "n">>
!wide = tensor<?x16xf32, #gnn.on<nodes "n">>
!m = tensor<?x4xf32, #gnn.on<edges "e">>
!e = !gnn.edges<"e", "n" -> "n">
gnn.weight @widen : tensor<16x4xf32>
gnn.weight @narrow : tensor<4x16xf32>
func.func @structure(%i: tensor<2x?xi64, #gnn.on<edges "e">> {gnn.name = "edge_index"}) -> (!e, !n) {
  %e = gnn.relation %i : tensor<2x?xi64, #gnn.on<edges "e">> -> !e
  %ones = gnn.fill 1.0 : f64 -> !m
  %d = gnn.aggregate sum %ones at target of %e : !m, !e -> !n
  func.return %e, %d : !e, !n
}
func.func @forward(%x: !n {gnn.name = "x"}, %q: !n {gnn.name = "q"}, %e: !e {gnn.structure = 0 : i64},
    %d: !n {gnn.structure = 1 : i64}) -> """


@dataclass(frozen=True)
class ParsedModel:
    module: ModuleOp

    @property
    def functions(self) -> ModelFunctions:
        return model_functions(self.module)

    def value(self, name: str) -> SSAValue:
        """A value of @forward by its name in the text."""
        block = self.functions.forward.body.block
        values = [*block.args, *(result for op in block.ops for result in op.results)]
        return next(value for value in values if value.name_hint == name)


Parse = Callable[[str], ParsedModel]


@pytest.fixture
def parse_model() -> Parse:
    """A function from the text of @forward, from its result types on, to the model."""

    def parse(forward: str) -> ParsedModel:
        context = Context()
        for dialect in (Builtin, Func, GNN):
            context.load_dialect(dialect)
        module = Parser(context, BEFORE + forward).parse_module()
        module.verify()
        return ParsedModel(module)

    return parse
