"""What a simulation is compared with: the model's module before it became kernels, run batch by batch.

Features that are too wide to be made dense can't go through it. For those, the kernels' graph is computed again in
double precision, without tiles and in one go; that checks the simulation, not the conversion, which the tests do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import torch
from xdsl.dialects.builtin import ModuleOp

from gnnc.targets.fpga.matrices import Matrix, is_sparse
from gnnc.targets.fpga.values import Numbers, as_dense, compute
from gnnc.targets.gpu.executor import BatchedExecutor

DENSE_LIMIT = 1 << 30  # bytes of features


def reference_outputs(
    module: ModuleOp,
    weights: Mapping[str, torch.Tensor],
    features: Mapping[str, Matrix],
    edges: Mapping[str, torch.Tensor],
    numbers: Callable[[], Numbers],
    counts: Mapping[str, int],
) -> list[torch.Tensor]:
    """The model's outputs; `module` is at the level of ConvBlocks."""
    if any(is_sparse(m) and 4 * m.shape[0] * m.shape[1] > DENSE_LIMIT for m in features.values()):
        return in_double(numbers())
    executor = BatchedExecutor(module, weights)
    dense = {name: torch.from_numpy(as_dense(matrix)) for name, matrix in features.items()}
    structure = executor.structure({**dense, **edges}, counts)
    return list(executor.run(dense, structure, counts))


def in_double(numbers: Numbers) -> list[torch.Tensor]:
    """The kernels' outputs, each from one product in double precision."""
    plan = numbers.plan
    matrices: dict[int, Any] = {}
    for place, operand in enumerate(plan.operands):
        if operand.role != "intermediate":
            matrices[place] = numbers.matrix(place).astype(np.float64)
    for kernel in plan.kernels:
        key = ("double", kernel.output)
        matrices[kernel.output] = numbers.cached(key, lambda kernel=kernel: compute(kernel, matrices, np.float64))
    return [torch.from_numpy(output) for output in numbers.outputs(matrices)]
