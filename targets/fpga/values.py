"""The numbers: what a graph and the weights put into a plan's operands, and what kernels compute from them.

Adjacency matrices are CSR, features CSR where they come so or are mostly zero; nothing of the size of an adjacency
matrix or of one-hot features is ever made dense.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import torch
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue

from gnnc.dialects.gnn import ConstantOp, LoadWeightOp
from gnnc.dialects.gnn.attributes import domain_of
from gnnc.dialects.kernel import AdjacencyType
from gnnc.passes.analysis.model_functions import ModelFunctions, argument_name, model_functions, returned
from gnnc.targets.fpga.feature_order import ordered_operands
from gnnc.targets.fpga.matrices import Matrix, is_sparse
from gnnc.targets.fpga.plan import KernelPlan, Operand, Plan, host_operations
from gnnc.targets.reference.run import run_structure, run_weights
from gnnc.targets.torch_functions import constant, function_of

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")

SPARSE_BELOW = 0.25  # features of lower density are kept in CSR
COLUMNS_AT_ONCE = 32  # of a dense right side, 128 bytes a row


class Numbers:
    """The values of a program on one graph: `features` by the graph's names, `edges` the inputs on edges.

    `by_frequency` renumbers the columns of sparse features, where the plan allows it.
    """

    def __init__(
        self,
        module: ModuleOp,
        plan: Plan,
        weights: Mapping[str, torch.Tensor],
        features: Mapping[str, Matrix],
        edges: Mapping[str, torch.Tensor],
        *,
        by_frequency: bool = False,
    ):
        self.plan = plan
        self.functions: ModelFunctions = model_functions(module)
        self.before, self.after = host_operations(module)
        self.weights = weights
        self.features = features
        with torch.no_grad():
            counts = node_counts(self.functions, plan.nodes)
            self.structure = list(run_structure(module, edges, weights, counts))
            self.parameters = run_weights(module, weights)
        self.host: dict[SSAValue, Any] = {}
        self.computed: dict[SSAValue, Matrix] = {}
        self.kept: dict[Any, Any] = {}
        if by_frequency:
            self.kept = {("operand", place): m for place, m in ordered_operands(plan, self.matrix).items()}

    def cached(self, key: Any, make: Callable[[], T]) -> T:
        """Something that depends on the program and the graph alone; made once for all runs."""
        if key not in self.kept:
            self.kept[key] = make()
        return self.kept[key]

    def forget(self, kind: str) -> None:
        """Frees what is kept under keys of one kind."""
        self.kept = {key: value for key, value in self.kept.items() if key[0] != kind}

    def matrix(self, place: int) -> Matrix:
        """The numbers of an operand that no kernel computes."""
        return self.cached(("operand", place), lambda: self.operand(self.plan.operands[place], self.plan.values[place]))

    def operand(self, operand: Operand, value: SSAValue) -> Matrix:
        """The numbers of an operand that no kernel computes, in float32."""
        if operand.role == "adjacency":
            matrix = as_csr(self.structure[operand.source])
            self.structure[operand.source] = None  # of large graphs there is no room for both forms
            return matrix
        if operand.role == "weight":
            return np.atleast_2d(self.parameters[operand.source].numpy()).astype(np.float32)
        return compact(self.input(value))

    def input(self, value: SSAValue) -> Matrix:
        """Features as they come, or what the host makes of them beforehand."""
        if isinstance(value.owner, Operation):
            result = self.on_host(value.owner, self.before)
            return np.ascontiguousarray(result.numpy())
        name = argument_name(self.functions.forward, self.argument_index(value))
        return self.features[name or ""]

    def argument_index(self, value: SSAValue) -> int:
        return list[SSAValue](self.functions.forward.body.block.args).index(value)

    def on_host(self, op: Operation, allowed: list[Operation]) -> Any:
        """What a row-wise operation computes from features, structure and weights; a torch tensor."""
        return function_of(op)(*(self.host_value(operand, allowed) for operand in op.operands))

    def host_value(self, value: SSAValue, allowed: list[Operation]) -> Any:
        if value not in self.host:
            self.host[value] = self.make_host_value(value, allowed)
        return self.host[value]

    def make_host_value(self, value: SSAValue, allowed: list[Operation]) -> Any:
        owner = value.owner
        if value in self.computed:
            return torch.from_numpy(as_dense(self.computed[value]))
        if isinstance(owner, LoadWeightOp):
            return self.weights[owner.weight.string_value()]
        if isinstance(owner, ConstantOp):
            return constant(owner)
        if isinstance(owner, Operation):
            return self.on_host(owner, allowed)
        place = self.functions.structure_place(value)
        if place is not None:
            return self.structure[place]
        name = argument_name(self.functions.forward, self.argument_index(value))
        matrix = self.features[name or ""]
        return torch.as_tensor(matrix.toarray() if is_sparse(matrix) else matrix)

    def outputs(self, matrices: Mapping[int, Matrix]) -> list[NDArray[Any]]:
        """What @forward returns, from the matrices of all operands."""
        computed = {place for place, operand in enumerate(self.plan.operands) if operand.role == "intermediate"}
        self.computed = {value: matrices[place] for place, value in enumerate(self.plan.values) if place in computed}
        for value in [v for v in self.host if self.follows_kernels(v)]:
            del self.host[value]
        with torch.no_grad():
            return [
                np.asarray(self.host_value(value, self.after)) for value in returned(self.functions.forward).arguments
            ]

    def follows_kernels(self, value: SSAValue) -> bool:
        return value in self.computed or (isinstance(value.owner, Operation) and value.owner in self.after)


def node_counts(functions: ModelFunctions, nodes: int) -> dict[str, int]:
    """The sizes of the node sets of a model with one type of nodes."""
    values = [*functions.structure.body.block.args, *functions.forward.body.block.args]
    domains = [domain_of(value.type) for value in values]
    adjacencies = [value.type for value in values if isinstance(value.type, AdjacencyType)]
    names = {domain.set_name.data for domain in domains if domain is not None and domain.is_nodes}
    names |= {name.data for type_ in adjacencies for name in (type_.rows, type_.columns)}
    return dict.fromkeys(names, nodes)


def as_csr(matrix: torch.Tensor) -> Any:
    """A sparse torch matrix as scipy's CSR, entries of one place added up, explicit zeros dropped."""
    from scipy.sparse import coo_array

    indices, values = matrix._indices().numpy(), matrix._values().numpy().astype(np.float32)
    result = coo_array((values, (indices[0], indices[1])), shape=tuple(matrix.shape)).tocsr()
    result.sum_duplicates()
    result.eliminate_zeros()
    return result


def compact(matrix: Matrix, dtype: Any = np.float32) -> Matrix:
    """A matrix in float32, in CSR if few of its numbers are not zero."""
    from scipy.sparse import csr_array

    if is_sparse(matrix):
        result = csr_array(matrix, dtype=dtype)
        result.eliminate_zeros()
        return result
    matrix = np.ascontiguousarray(matrix, dtype=dtype)
    if matrix.size and np.count_nonzero(matrix) < SPARSE_BELOW * matrix.size:
        return csr_array(matrix)
    return matrix


def product_of(lhs: Matrix, rhs: Matrix) -> Matrix:
    """One product; of a sparse matrix and a dense one, a few columns at a time, of which all rows fit a cache: what is
    added up, and in which order, is the same."""
    if not is_sparse(lhs) or is_sparse(rhs):
        return lhs @ rhs
    result = np.empty((lhs.shape[0], rhs.shape[1]), np.result_type(lhs.dtype, rhs.dtype))
    for first in range(0, rhs.shape[1], COLUMNS_AT_ONCE):
        columns = slice(first, first + COLUMNS_AT_ONCE)
        result[:, columns] = lhs @ np.ascontiguousarray(rhs[:, columns])
    return result


def compute(kernel: KernelPlan, numbers: Mapping[int, Matrix], dtype: Any = np.float32) -> Matrix:
    """What a kernel computes from its operands, one product each; sparse where the product of sparse matrices has no
    epilogue."""
    total: Any = None
    for lhs, rhs in kernel.products:
        part = product_of(numbers[lhs], numbers[rhs])
        total = part if total is None else add(total, part)
    extra = [numbers[place] for place in kernel.addends]
    for part in extra:
        total = add(total, part)
    if kernel.scale is None and kernel.bias is None and kernel.activation is None and not kernel.residuals:
        return compact(total, dtype)
    total = np.asarray(total.toarray() if is_sparse(total) else total, dtype)
    if kernel.scale is not None:
        total *= np.asarray(numbers[kernel.scale])
    if kernel.bias is not None:
        total = total + np.asarray(numbers[kernel.bias])
    total = activate(total, kernel.activation)
    for place in kernel.residuals:
        total = add(total, numbers[place])
    return compact(total, dtype)


def add(a: Any, b: Any) -> Any:
    if is_sparse(a) and is_sparse(b):
        return a + b
    return (a.toarray() if is_sparse(a) else a) + (b.toarray() if is_sparse(b) else b)


def activate(x: NDArray[Any], activation: tuple[str, float] | None) -> NDArray[Any]:
    """The epilogue's activation, number by number."""
    if activation is None:
        return x
    kind, parameter = activation
    match kind:
        case "relu":
            return np.maximum(x, 0)
        case "leaky_relu":
            return np.where(x > 0, x, x.dtype.type(parameter) * x)
        case "elu":
            return np.where(x > 0, x, x.dtype.type(parameter) * np.expm1(np.minimum(x, 0)))
        case "sigmoid":
            return torch.sigmoid(torch.from_numpy(x)).numpy()
        case _:
            return np.tanh(x)


def as_dense(matrix: Matrix) -> NDArray[Any]:
    return np.ascontiguousarray(matrix.toarray() if is_sparse(matrix) else matrix)
