"""Orders of the columns of sparse features, one-hot ones above all, that gather nonzeros in few tiles.

The columns that most nodes have come first. The rows of the weights that meet them follow, so the model computes the
same; sums over the adjacency pass the order on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from gnnc.dialects.task import RangeOp
from gnnc.targets.fpga.matrices import Matrix, is_sparse

if TYPE_CHECKING:
    from gnnc.targets.fpga.matrices import Integers
    from gnnc.targets.fpga.plan import KernelPlan, Plan


def followers(plan: Plan, features: int) -> frozenset[int]:
    """The weights whose rows follow the columns of an operand; empty if these can't be renumbered, because something
    takes them as they are."""
    ordered, weights = {features}, set[int]()
    for kernel in plan.kernels:
        taken = {place for pair in kernel.products for place in pair} | set(kernel.addends) | set(kernel.residuals)
        if not taken & ordered:
            continue
        if kernel.kind == "update":
            weights |= {rhs for lhs, rhs in kernel.products if lhs in ordered}
            fits = not ordered & {*kernel.addends, *kernel.residuals}
        else:
            fits = passes_on(kernel, ordered)
            ordered.add(kernel.output)
        if not fits or not used_by_kernels_alone(plan, ordered):
            return frozenset()
    shared = {rhs for k in plan.kernels for lhs, rhs in k.products if rhs in weights and lhs not in ordered}
    return frozenset() if shared else frozenset(weights)


def passes_on(kernel: KernelPlan, ordered: set[int]) -> bool:
    """Whether everything that an aggregate adds up has its columns in the order."""
    added = {rhs for _, rhs in kernel.products} | set(kernel.addends) | set(kernel.residuals)
    return added <= ordered and kernel.scale is None and kernel.bias is None


def used_by_kernels_alone(plan: Plan, ordered: set[int]) -> bool:
    """The host takes features before they are renumbered, but what kernels compute as it is."""
    computed = [plan.values[place] for place in ordered if plan.operands[place].role == "intermediate"]
    return all(isinstance(use.operation, RangeOp) for value in computed for use in value.uses)


def by_frequency(matrix: Matrix) -> Integers:
    """The columns of a sparse matrix, those with the most nonzeros first."""
    return np.argsort(-np.bincount(matrix.indices, minlength=matrix.shape[1]), kind="stable")


def in_order(matrix: Matrix, order: Integers) -> Any:
    """A sparse matrix with its columns in an order."""
    from scipy.sparse import csr_array

    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    result = csr_array((matrix.data.copy(), rank[matrix.indices], matrix.indptr.copy()), shape=matrix.shape)
    result.sort_indices()
    return result


def ordered_operands(plan: Plan, operand: Any) -> dict[int, Matrix]:
    """What becomes of sparse features and of the weights that meet them, by place; `operand` gives the numbers of one
    as they are. Empty where the plan has no sparse features, or none that can be renumbered."""
    changed: dict[int, Matrix] = {}
    for place, described in enumerate(plan.operands):
        if described.role != "features" or not is_sparse(matrix := operand(place)):
            continue
        weights = followers(plan, place)
        if not weights or weights & changed.keys():
            continue
        order = by_frequency(matrix)
        changed[place] = in_order(matrix, order)
        changed |= {weight: np.ascontiguousarray(operand(weight)[order]) for weight in weights}
    return changed
