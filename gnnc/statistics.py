"""What a module is told of the graph it is compiled for: how many nodes and edges there are, and how dense the numbers.

Passes decide by these figures; no result depends on them, so the program still runs on any graph.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from xdsl.dialects.builtin import DictionaryAttr, IntegerAttr, ModuleOp, i64

from gnnc.dialects.gnn import DensityAttr, WeightOp
from gnnc.passes.analysis.model_functions import (
    DENSITY,
    EDGES,
    LOOPS,
    NODE_COUNTS,
    argument_name,
    model_functions,
    set_argument_attribute,
)

if TYPE_CHECKING:
    from gnnc.graph import AnyGraph
    from gnnc.graph_entries import Entry

MOST_NUMBERS = 2**24
"""Of larger arrays the density is that of some rows, spread evenly: so many numbers are counted at most."""


def write_statistics(module: ModuleOp, graph: AnyGraph, weights: Mapping[str, torch.Tensor]) -> None:
    """Writes down counts and densities: of edges on the arguments of @structure, of features on those of @forward."""
    functions = model_functions(module)
    entries = {entry.key: entry for entry in graph.entries()}
    module.attributes[NODE_COUNTS] = DictionaryAttr({n: IntegerAttr(c, i64) for n, c in graph.node_counts.items()})
    for argument in functions.structure.body.block.args:
        entry = entries.get(argument_name(functions.structure, argument.index) or "")
        if entry is not None and entry.index_into is not None:
            for name, count in ((EDGES, int(entry.array.shape[1])), (LOOPS, loops_of(entry))):
                set_argument_attribute(functions.structure, argument.index, name, IntegerAttr(count, i64))
    for argument in functions.forward.body.block.args:
        name = argument_name(functions.forward, argument.index) or ""
        array = entries[name].array if name in entries else weights.get(name)
        if array is not None:
            set_argument_attribute(functions.forward, argument.index, DENSITY, density_of(array))
    for op in module.ops:
        if isinstance(op, WeightOp) and op.sym_name.data in weights:
            op.attributes[DENSITY] = density_of(weights[op.sym_name.data])


def loops_of(entry: Entry) -> int:
    """How many edges join a node with itself."""
    assert entry.index_into is not None
    if entry.index_into[0] != entry.index_into[1]:
        return 0
    return int((entry.array[0] == entry.array[1]).sum())


def density_of(array: Any) -> DensityAttr:
    """Nonzeros over numbers: of all of a tensor or a numpy array, or of some rows of a large one."""
    row = max(1, int(np.prod(array.shape[1:])))
    step = max(1, -(-array.shape[0] * row // MOST_NUMBERS)) if array.ndim else 1
    some = array[::step] if array.ndim else array
    count = torch.count_nonzero(some) if isinstance(some, torch.Tensor) else np.count_nonzero(some)
    return DensityAttr(int(count), int(np.prod(some.shape)))
