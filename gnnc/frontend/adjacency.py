"""Sparse adjacency matrices, which torch.export can't trace: a stand-in that does with an edge list what they do.

What a torch sparse CSR tensor computes is the measure. `adj_t` has a row a target and a column a source, `adj` the
other way round. A matrix has an entry once, so that the graph must have an edge once.
"""

from __future__ import annotations

import contextlib
import inspect
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import torch
from torch import Tensor, nn

from gnnc.errors import CaptureError
from gnnc.frontend.distinct_edges import check_distinct
from gnnc.frontend.recipes import Recipe, Tensors

# The parameters that take a matrix with a row a target, and those that take one with a row a source.
TARGET_ROWS = ("adj_t",)
SOURCE_ROWS = ("adj", "adjacency", "adj_mat", "adj_matrix")

REDUCTIONS = {"sum": "sum", "add": "sum", "mean": "mean", "max": "amax", "min": "amin", "amax": "amax", "amin": "amin"}

MULTIPLY = {torch.mm, torch.matmul, torch.spmm, torch.sparse.mm, Tensor.matmul, Tensor.mm, Tensor.__matmul__}
SCALE = {torch.mul, Tensor.mul, Tensor.__mul__, Tensor.__rmul__}


@dataclass(frozen=True)
class AdjacencyMatrix:
    """The edges of one type as a sparse matrix. `rows` is the place in edge_index of what the rows are, 1 for targets;
    `counts` the numbers of sources and of targets. A model that is given a whole graph need not ask for its matrix:
    `made` says whether one has been made."""

    edge_index: str
    weight: str | None
    counts: tuple[Recipe, Recipe]
    rows: int
    made: list[bool] = field(default_factory=list[bool], compare=False)

    @property
    def keys(self) -> tuple[str, ...]:
        weight = () if self.weight is None else (self.weight,)
        return (self.edge_index, *weight, *(key for count in self.counts for key in count.keys))

    def build(self, tensors: Tensors, eager: bool = False) -> Any:
        edge_index = tensors[self.edge_index]
        value = None if self.weight is None else tensors[self.weight]
        sizes = (self.counts[0].build(tensors), self.counts[1].build(tensors))
        matrix = Adjacency(edge_index, value, sizes, self.rows)
        self.made.append(True)
        return matrix.as_csr() if eager else matrix


@dataclass(frozen=True)
class Adjacency:
    """A sparse matrix as user code knows it from torch and from torch_sparse. A value of None means 1 everywhere."""

    edge_index: Tensor
    value: Tensor | None
    counts: tuple[int, int]
    rows: int

    def as_csr(self) -> Tensor:
        """The matrix as torch has it. Raises GraphError if an edge is there twice."""
        check_distinct(self.edge_index)
        order = torch.argsort(self.row * self.size(1) + self.col)
        pointers = torch.zeros(self.size(0) + 1, dtype=torch.int64)
        pointers[1:] = torch.bincount(self.row, minlength=self.size(0)).cumsum(0)
        return torch.sparse_csr_tensor(pointers, self.col[order], self.values()[order], self.sizes())

    @property
    def row(self) -> Tensor:
        return self.edge_index[self.rows]

    @property
    def col(self) -> Tensor:
        return self.edge_index[1 - self.rows]

    @property
    def shape(self) -> tuple[int, int]:
        return (self.counts[self.rows], self.counts[1 - self.rows])

    def sizes(self) -> tuple[int, int]:
        return self.shape

    def size(self, dim: int | None = None) -> Any:
        return self.shape if dim is None else self.shape[dim]

    sparse_sizes, sparse_size = sizes, size

    @property
    def device(self) -> torch.device:
        return self.edge_index.device

    @property
    def dtype(self) -> torch.dtype:
        return torch.get_default_dtype() if self.value is None else self.value.dtype

    def nnz(self) -> int:
        return self.edge_index.shape[1]

    def has_value(self) -> bool:
        return self.value is not None

    def values(self) -> Tensor:
        return torch.ones(self.nnz(), device=self.device) if self.value is None else self.value

    def coo(self) -> tuple[Tensor, Tensor, Tensor | None]:
        return self.row, self.col, self.value

    def indices(self) -> Tensor:
        return self.edge_index if self.rows == 0 else self.edge_index.flip(0)

    def t(self) -> Adjacency:
        return replace(self, rows=1 - self.rows)

    def transpose(self, first: int = 0, second: int = 1) -> Adjacency:
        return self if first == second else self.t()

    def same(self, *_: Any, **__: Any) -> Adjacency:
        """Conversions between layouts, and between devices: the stand-in has none."""
        return self

    to_sparse_csr = to_sparse_coo = to_torch_sparse_csr_tensor = to_torch_sparse_coo_tensor = coalesce = same
    detach = contiguous = cpu = cuda = clone = requires_grad_ = same

    def to(self, *arguments: Any, **keywords: Any) -> Adjacency:
        dtype = next((a for a in (*arguments, *keywords.values()) if isinstance(a, torch.dtype)), None)
        return self if dtype is None else self.set_value(self.values().to(dtype))

    def set_value(self, value: Tensor | None, layout: str | None = None) -> Adjacency:
        return replace(self, value=value)

    def fill_value(self, value: float, dtype: torch.dtype | None = None) -> Adjacency:
        return self.set_value(torch.full((self.nnz(),), value, dtype=dtype, device=self.device))

    def remove_diag(self, k: int = 0) -> Adjacency:
        self.check_diagonal(k)
        kept = self.edge_index[0] != self.edge_index[1]
        value = None if self.value is None else self.value[kept]
        return replace(self, edge_index=self.edge_index[:, kept], value=value)

    def fill_diag(self, value: float = 1.0, k: int = 0) -> Adjacency:
        """What is on the diagonal is replaced."""
        rest = self.remove_diag(k)
        loops = torch.arange(self.size(0), device=self.device)
        edge_index = torch.cat([rest.edge_index, torch.stack([loops, loops])], dim=1)
        if rest.value is None and value == 1:
            return replace(self, edge_index=edge_index)
        ones = torch.full((self.size(0),), value, dtype=self.dtype, device=self.device)
        return replace(self, edge_index=edge_index, value=torch.cat([rest.values(), ones]))

    def set_diag(self, values: Tensor | None = None, k: int = 0) -> Adjacency:
        if values is not None:
            raise CaptureError("set_diag with values is not supported on adj_t: use edge_index")
        return self.fill_diag(1.0, k)

    def check_diagonal(self, k: int) -> None:
        if k != 0 or self.counts[0] is not self.counts[1] and self.counts[0] != self.counts[1]:
            raise CaptureError("only the main diagonal of a square adj_t is supported")

    def sum(self, dim: int) -> Tensor:
        """Over the columns (dim 1) or over the rows, as a dense vector."""
        index = self.row if dim in (1, -1) else self.col
        count = self.shape[0 if dim in (1, -1) else 1]
        return torch.zeros(count, dtype=self.dtype, device=self.device).index_add(0, index, self.values())

    def mul(self, other: Any) -> Adjacency:
        """Scaled by a number, or by a column vector row by row, or by a row vector column by column."""
        if not isinstance(other, Tensor) or other.dim() == 0:
            return self.set_value(self.values() * other)
        width: Any = other.shape[-1]  # a number, where it is no symbol
        is_column = isinstance(width, int) and width == 1
        return self.set_value(self.values() * other.reshape(-1)[self.row if is_column else self.col])

    __mul__ = __rmul__ = mul

    def matmul(self, other: Tensor, reduce: str = "sum") -> Tensor:
        """The rows of `other` at the columns, reduced into the rows; rows without entries are 0."""
        dense = other.unsqueeze(-1) if other.dim() == 1 else other
        messages = dense.index_select(0, self.col)
        if self.value is not None:
            messages = messages * self.value.unsqueeze(-1)
        zeros = messages.new_zeros((self.size(0), *messages.shape[1:]))
        kind = REDUCTIONS[reduce]
        if kind in ("amax", "amin"):
            index = self.row.unsqueeze(-1).expand_as(messages)
            result = zeros.scatter_reduce(0, index, messages, kind, include_self=False)
        else:
            result = zeros.index_add(0, self.row, messages)
        if kind == "mean":
            count = zeros.new_zeros(self.size(0)).index_add(0, self.row, messages.new_ones(self.nnz()))
            result = result / count.clamp(min=1).unsqueeze(-1)
        return result.squeeze(-1) if other.dim() == 1 else result

    spmm = mm = __matmul__ = matmul

    @property
    def storage(self) -> Storage:
        return Storage(self)

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        first, *rest = args
        if func in MULTIPLY and isinstance(first, Adjacency):
            return first.matmul(*rest, **(kwargs or {}))
        if func in SCALE and rest:
            return first.mul(rest[0]) if isinstance(first, Adjacency) else rest[0].mul(first)
        if func in (torch.sparse.sum, torch.sum) and isinstance(first, Adjacency):
            return first.sum(*rest, **(kwargs or {}))
        name = getattr(func, "__name__", func)
        raise CaptureError(f"{name} of an adjacency matrix is not supported: let forward take edge_index")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        raise AttributeError(f"{name} of an adjacency matrix is not supported: let forward take edge_index")


@dataclass(frozen=True)
class Storage:
    """Where torch_sparse keeps the parts of a matrix."""

    matrix: Adjacency

    def row(self) -> Tensor:
        return self.matrix.row

    def col(self) -> Tensor:
        return self.matrix.col

    def value(self) -> Tensor | None:
        return self.matrix.value

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"storage.{name} of an adjacency matrix is not supported: let forward take edge_index")


@contextlib.contextmanager
def taking_adjacency(model: nn.Module) -> Generator[None]:
    """Within, the convs in `model` take the stand-in, as the edge list and the weights that it stands for."""
    pyg: Any = sys.modules.get("torch_geometric.nn.conv.message_passing")
    convs = [] if pyg is None else [m for m in model.modules() if isinstance(m, pyg.MessagePassing)]
    passed: list[Tensor] = []
    with contextlib.ExitStack() as stack:
        stack.enter_context(loops_of_matrices(passed))
        stack.enter_context(products_of_matrices())
        for conv in convs:
            if type(conv).__module__.startswith("torch_geometric."):
                prepare = partial(pass_edges, passed)
                stack.callback(conv.register_forward_pre_hook(prepare, with_kwargs=True).remove)
            else:
                stack.enter_context(propagating_edges(conv))
        yield


def pass_edges(
    passed: list[Tensor], conv: nn.Module, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, Any] | None:
    """The arguments of a conv of PyG with an edge list for the matrix; it is added to `passed`."""
    signature = inspect.signature(conv.forward)
    bound = signature.bind(*args, **kwargs)
    matrices = {name: value for name, value in bound.arguments.items() if isinstance(value, Adjacency)}
    for name, matrix in matrices.items():
        bound.arguments[name] = edges_of(matrix)
        passed.append(bound.arguments[name])
        if matrix.value is not None and bound.arguments.get("edge_weight") is None:
            if "edge_weight" not in signature.parameters:
                raise CaptureError(
                    f"{type(conv).__name__} takes no edge weights, and what it does with those of an adjacency matrix "
                    "depends on the kind of matrix: give a graph without edge_weight"
                )
            bound.arguments["edge_weight"] = matrix.value
    return (bound.args, bound.kwargs) if matrices else None


@contextlib.contextmanager
def loops_of_matrices(passed: list[Tensor]) -> Generator[None]:
    """Within, GCN's normalisation adds loops to the edges of a matrix where there are some already, as it does to the
    diagonal of a sparse tensor; to an edge list it adds only those that are missing."""
    module: Any = sys.modules.get("torch_geometric.nn.conv.gcn_conv")
    if module is None:
        yield
        return
    missing_only, all_of_them = module.add_remaining_self_loops, module.add_self_loops_fn

    def add(edge_index: Tensor, edge_attr: Tensor | None = None, fill_value: Any = None, num_nodes: Any = None) -> Any:
        if not any(edge_index is edges for edges in passed):
            return missing_only(edge_index, edge_attr, fill_value, num_nodes)
        weights = torch.ones(edge_index.shape[1], device=edge_index.device) if edge_attr is None else edge_attr
        return all_of_them(edge_index, weights, fill_value, num_nodes)

    module.add_remaining_self_loops = add
    try:
        yield
    finally:
        module.add_remaining_self_loops = missing_only


@contextlib.contextmanager
def products_of_matrices() -> Generator[None]:
    """Within, PyG's spmm multiplies with the stand-in, as it does with its own EdgeIndex."""
    module: Any = sys.modules.get("torch_geometric.utils._spmm")
    if module is None:
        yield
        return
    own = module.EdgeIndex
    module.EdgeIndex = (own, Adjacency)
    try:
        yield
    finally:
        module.EdgeIndex = own


def edges_of(matrix: Adjacency) -> Tensor:
    """Sources and targets, for convs that sum over the columns of a row."""
    return matrix.edge_index if matrix.rows == 1 else matrix.edge_index.flip(0)


@contextlib.contextmanager
def propagating_edges(conv: nn.Module) -> Generator[None]:
    """Within, the `propagate` of a user's own conv takes the stand-in."""
    original: Callable[..., Any] = conv.propagate  # pyright: ignore[reportAssignmentType]
    own = conv.__dict__.get("propagate")

    def propagate(matrix: Any, *args: Any, **kwargs: Any) -> Any:
        if not isinstance(matrix, Adjacency):
            return original(matrix, *args, **kwargs)
        if matrix.value is not None and kwargs.get("edge_weight") is None:
            kwargs["edge_weight"] = matrix.value
        return original(edges_of(matrix), *args, **kwargs)

    conv.__dict__["propagate"] = propagate
    try:
        yield
    finally:
        del conv.__dict__["propagate"]
        if own is not None:
            conv.__dict__["propagate"] = own
