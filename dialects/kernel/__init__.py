"""The `kernel` dialect: inference as a graph of sparse and dense matrix products (Dynasparse, section IV).

A module at this level has three functions for three binding times: `@structure` makes adjacency matrices from edges,
`@weights` makes what products and epilogues need from the weights, `@forward` multiplies. Row-wise operations of the
`gnn` dialect may stand in `@forward` before the first product and after the last: the host runs them.
"""

from xdsl.ir import Dialect

from gnnc.dialects.kernel.adjacency import AdjacencyOp
from gnnc.dialects.kernel.attributes import ActivationAttr, AdjacencyType, SchemeAttr
from gnnc.dialects.kernel.matmul import AggregateOp, Matmul, UpdateOp
from gnnc.dialects.kernel.weights import AddOp, NormScaleOp, RowsOp, ScaleOp, SubOp, TransposeOp

__all__ = [
    "KERNEL",
    "ActivationAttr",
    "AddOp",
    "AdjacencyOp",
    "AdjacencyType",
    "AggregateOp",
    "Matmul",
    "NormScaleOp",
    "RowsOp",
    "ScaleOp",
    "SchemeAttr",
    "SubOp",
    "TransposeOp",
    "UpdateOp",
]

KERNEL = Dialect(
    "kernel",
    [AdjacencyOp, TransposeOp, RowsOp, NormScaleOp, ScaleOp, AddOp, SubOp, AggregateOp, UpdateOp],
    [AdjacencyType, ActivationAttr, SchemeAttr],
)
