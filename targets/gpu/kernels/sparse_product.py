"""X @ W.T for a sparse X, as a kernel: a row of the result is a sum over the row's numbers, each times a row of W.T.

That is what an aggregation with edge weights computes, on a graph whose edges are the numbers of X.
"""

from __future__ import annotations

from functools import cache, lru_cache

import torch
from xdsl.dialects.builtin import DYNAMIC_INDEX, BFloat16Type, Float16Type, Float32Type, Float64Type
from xdsl.ir import Attribute, Block, Region, SSAValue

from gnnc.dialects.gnn import (
    AddOp,
    AggregateOp,
    DomainAttr,
    EdgeSetType,
    End,
    EndAttr,
    FusedConvOp,
    GatherOp,
    MulOp,
    Reduction,
    YieldOp,
)
from gnnc.dialects.gnn.attributes import tensor_on
from gnnc.passes.loops.lanes import NoKernelError
from gnnc.targets.gpu.csr import Csr
from gnnc.targets.gpu.kernels import compiler
from gnnc.targets.gpu.kernels.kernel import Kernel

ELEMENTS = {
    torch.float32: Float32Type(),
    torch.float64: Float64Type(),
    torch.float16: Float16Type(),
    torch.bfloat16: BFloat16Type(),
}
NUMBERS = EdgeSetType("numbers", "columns", "rows")


def sparse_product(
    csr: Csr, values: torch.Tensor, weight: torch.Tensor, added: torch.Tensor | None, out: torch.Tensor
) -> bool:
    """Writes into `out` the product of a matrix with the transpose of `weight`, plus a bias or rows that are `added`.
    The neighbors of `csr` are columns. False where there is no kernel for it, and nothing is written.
    """
    if not (values.dtype == weight.dtype == out.dtype and values.dtype in ELEMENTS and compiler.is_available()):
        return False
    kernel = kernel_for(weight.shape[0], values.dtype, None if added is None else added.dim())
    if kernel is None:
        return False
    arrays = [transposed(weight), values.unsqueeze(1), *([] if added is None else [added])]
    kernel(csr, arrays, [out], torch.get_num_threads())
    return True


@cache
def kernel_for(width: int, dtype: torch.dtype, added: int | None) -> Kernel | None:
    """`added` is the number of axes of what is added: 1 for a bias, 2 for rows."""
    try:
        return Kernel(product_as_conv(width, ELEMENTS[dtype], added))
    except NoKernelError:
        return None


def product_as_conv(width: int, element: Attribute, added: int | None) -> FusedConvOp:
    columns = tensor_on(DomainAttr("nodes", "columns"), [DYNAMIC_INDEX, width], element)
    rows = tensor_on(DomainAttr("nodes", "rows"), [DYNAMIC_INDEX, width], element)
    numbers = tensor_on(NUMBERS.domain, [DYNAMIC_INDEX, 1], element)
    of_added = {None: [], 1: [tensor_on(None, [width], element)], 2: [rows]}[added]
    types: list[Attribute] = [columns, numbers, *of_added, NUMBERS]
    body = Block(arg_types=types)
    weight, values, *others, edges = body.args
    gather = GatherOp(weight, edges, EndAttr(End.SOURCE))
    message = MulOp(gather.result, values, tensor_on(NUMBERS.domain, [DYNAMIC_INDEX, width], element))
    total = AggregateOp(Reduction.SUM, message.result, edges, EndAttr(End.TARGET))
    body.add_ops([gather, message, total])
    result: SSAValue = total.result
    for other in others:
        add = AddOp(result, other, rows)
        body.add_op(add)
        result = add.result
    body.add_op(YieldOp([result]))
    return FusedConvOp(Block(arg_types=types).args, [rows], Region(body))


@lru_cache(maxsize=64)
def transposed(weight: torch.Tensor) -> torch.Tensor:
    """The transpose of a weight, row by row; tensors are told apart by identity."""
    return weight.t().contiguous()
