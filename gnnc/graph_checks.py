"""Whether arrays are edges, features and counts that make a graph."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

import numpy as np

from gnnc.errors import GraphError
from gnnc.graph_objects import is_sparse_tensor

if TYPE_CHECKING:
    import torch
    from numpy.typing import NDArray
    from scipy.sparse import csr_array, csr_matrix

    Array: TypeAlias = NDArray[Any] | torch.Tensor


def as_numpy(array: Array) -> NDArray[Any]:
    """View `array` as a numpy array that shares its memory; only a tensor on another device than the CPU is copied."""
    if isinstance(array, np.ndarray):
        return array
    return array.numpy(force=True)


def checked_edges(edge_index: object) -> NDArray[Any]:
    """Return the edges as a numpy view, (2, E); raise GraphError if they are not edges."""
    if not is_array(edge_index):
        raise GraphError(f"edge_index is {kind_of(edge_index)}; pass a numpy array or a torch tensor of shape (2, E).")
    shape = tuple(edge_index.shape)
    if len(shape) != 2 or shape[0] != 2:
        hint = "transpose it" if len(shape) == 2 and shape[1] == 2 else "row 0 holds the sources, row 1 the targets"
        raise GraphError(f"edge_index has shape {shape}, not (2, E); {hint}.")
    # the names of both libraries' integer types, and of no others, have "int" in them
    if "int" not in str(edge_index.dtype):
        raise GraphError(f"edge_index has dtype {edge_index.dtype}; convert the node ids to integers, such as int64.")
    return as_numpy(edge_index)


def count_of_nodes(edges: NDArray[Any], x: object, num_nodes: object, of_edges: str = "", of_nodes: str = "") -> int:
    """Return the number of nodes, by the rule in Graph; raise GraphError if the three do not agree.

    `edges` are node ids in any number of rows; `of_edges` and `of_nodes` begin the messages about each.
    """
    smallest, largest = (int(edges.min()), int(edges.max())) if edges.size else (0, -1)
    if smallest < 0:
        raise GraphError(
            f"{of_edges}edge_index {first_fault(edges < 0, edges)}, but node ids start at 0; drop or renumber such "
            "edges."
        )

    declared = None if num_nodes is None else checked_count(num_nodes)
    rows = None if x is None else checked_rows(x)
    if rows is not None and declared is not None and rows != declared:
        raise GraphError(f"{of_nodes}x has {rows} rows, but num_nodes is {declared}; pass one row of x per node.")

    known = rows if rows is not None else declared
    if known is None:
        return largest + 1
    if largest >= known:
        source = "num_nodes is" if rows is None else "the rows of x are"
        raise GraphError(
            f"{of_edges}edge_index {first_fault(edges >= known, edges)}, but {source} {known}; node ids must be "
            "below that number."
        )
    return known


def checked_count(num_nodes: object) -> int:
    """Return `num_nodes` as an int; raise GraphError unless it is a whole number, at least 0."""
    try:
        count = operator.index(num_nodes)  # pyright: ignore[reportArgumentType]  # the TypeError is what is asked for
    except TypeError:
        raise GraphError(f"num_nodes is {num_nodes!r}; pass a whole number.") from None
    if count < 0:
        raise GraphError(f"num_nodes is {count}; pass 0 or more.")
    return count


def checked_rows(x: Any) -> int:
    """Return the number of rows of the features; raise GraphError if they are no array with rows."""
    if not (is_array(x) or is_csr(x)):
        raise GraphError(f"x is {kind_of(x)}; pass a numpy array of numbers, a torch tensor or a scipy CSR matrix.")
    if not x.shape:
        raise GraphError("x is a single number; pass one row per node.")
    return int(x.shape[0])


def first_fault(faults: NDArray[np.bool_], edges: NDArray[Any]) -> str:
    """Describe the first edge with a fault; `faults` has the shape of `edges`, (2, E)."""
    column = int(faults.any(axis=0).argmax())
    ends = ", ".join(str(row[column]) for row in edges)
    return f"column {column} is ({ends})" if len(edges) > 1 else f"names the node {ends} in column {column}"


def is_array(value: Any) -> TypeGuard[Array]:
    """Whether `value` is a numpy array of numbers or, told by `detach` because torch stays unimported, a tensor."""
    if isinstance(value, np.ndarray):
        return value.dtype.kind in "biufc"
    return hasattr(value, "detach") and hasattr(value, "shape") and not is_sparse_tensor(value)


def is_csr(value: Any) -> TypeGuard[csr_array | csr_matrix]:
    return getattr(value, "format", None) == "csr" and hasattr(value, "toarray")


def kind_of(value: object) -> str:
    """Name what was given, for a message."""
    if value is None:
        return "None"
    if isinstance(value, np.ndarray):
        return f"a numpy array of dtype {value.dtype}"
    return "a sparse tensor" if is_sparse_tensor(value) else f"of type {type(value).__name__}"
