"""gnn-annotate-density: every matrix product says how dense its two sides are."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ArrayAttr, ModuleOp
from xdsl.passes import ModulePass

from gnnc.dialects.gnn import AggregateOp, LinearOp, MatmulOp
from gnnc.passes.analysis.densities import Densities
from gnnc.passes.analysis.model_functions import model_functions


@dataclass(frozen=True)
class GnnAnnotateDensity(ModulePass):
    """Writes the densities of both sides on every `gnn.linear`, `gnn.matmul` and `gnn.aggregate` of @forward, a number
    for what is known before a run and `?` for what is computed. An aggregation is the product A X.

    Known are the inputs, and they say it themselves: `gnn.density` is an attribute of arguments of @forward and of
    `gnn.weight`; the density of an adjacency matrix follows from `gnn.node_counts` of the module and from `gnn.edges`
    and `gnn.loops` of the arguments of @structure.
    """

    name = "gnn-annotate-density"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        densities = Densities(op)
        for product in model_functions(op).forward.walk():
            if isinstance(product, LinearOp | MatmulOp | AggregateOp):
                product.densities = ArrayAttr(densities.of_product(product))
