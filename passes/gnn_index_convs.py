"""gnn-index-convs: every reduction gets the number and the layer of its Conv."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from gnnc.dialects.gnn import ConvOperation
from gnnc.passes.analysis.conv_layers import conv_layers
from gnnc.passes.analysis.model_functions import model_functions


@dataclass(frozen=True)
class GnnIndexConvs(ModulePass):
    """Writes `layer` and `conv` on the reductions of @forward. The Conv's layer is one more than the largest layer of
    the Convs whose results it gathers from neighbours (DGI, layer indexing); reductions of one edge set, end and layer
    are one Conv. What @structure reduces, such as in-degrees, is no Conv.
    """

    name = "gnn-index-convs"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for reduction, (layer, conv) in conv_layers(model_functions(op)).convs.items():
            assert isinstance(reduction, ConvOperation)
            reduction.set_conv(layer, conv)
