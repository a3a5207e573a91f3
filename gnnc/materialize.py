"""The numbers of weights that passes have made from other weights."""

from __future__ import annotations

from collections.abc import Mapping

import torch
from xdsl.dialects.builtin import ModuleOp

from gnnc.dialects.gnn import LoadWeightOp, WeightOp
from gnnc.passes.analysis.folded_weights import WEIGHTS, folded_names, weights_function
from gnnc.passes.analysis.model_functions import argument_name, model_functions
from gnnc.targets.reference.interpreter import run_function
from gnnc.targets.torch_functions import dtype_of


def materialize_weights(module: ModuleOp, weights: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """Runs @weights and takes it out of the module; what nothing loads any more is dropped. The weights by symbol."""
    function = weights_function(module)
    numbers = dict(weights)
    if function is not None:
        made = run_function(module, WEIGHTS, [], weights, {})
        numbers |= {name: w.contiguous() for name, w in zip(folded_names(function), made, strict=True)}
        function.detach()
        function.erase()
    return without_unused(module, numbers)


def without_unused(module: ModuleOp, weights: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The weights without those that nothing loads, which are gone from the module, too."""
    numbers = dict(weights)
    loaded = {op.weight.string_value() for op in module.walk() if isinstance(op, LoadWeightOp)}
    for op in list(module.ops):
        if isinstance(op, WeightOp) and op.sym_name.data not in loaded:
            op.detach()
            op.erase()
            numbers.pop(op.sym_name.data, None)
    return numbers


def as_declared(module: ModuleOp, weights: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The weights in the number types that the module declares, and the frozen values in those that @forward takes."""
    forward = model_functions(module).forward
    declared = {op.sym_name.data: dtype_of(op.type) for op in module.ops if isinstance(op, WeightOp)}
    taken = {argument_name(forward, a.index) or "": a.type for a in forward.body.block.args}
    declared |= {name: dtype_of(type_) for name, type_ in taken.items() if name in weights}
    return {name: tensor.to(declared.get(name, tensor.dtype)) for name, tensor in weights.items()}
