"""Graphs with several types of nodes and edges: one array for each attribute of each type, in an `.npz` or a folder."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from gnnc.errors import GraphError
from gnnc.graph_files import npy
from gnnc.graph_files.npz_archive import whole_numbers
from gnnc.graph_files.sparse import checked_csr

if TYPE_CHECKING:
    from numpy.typing import NDArray

EDGES, COUNT, FEATURES = "edge_index__", "num_nodes__", "x__"
CSR = ("data", "indices", "indptr", "shape")


class Arrays(Protocol):
    """Named arrays, read one by one."""

    @property
    def file(self) -> Path: ...

    @property
    def names(self) -> tuple[str, ...]: ...

    def __getitem__(self, name: str) -> NDArray[Any]: ...


@dataclass
class TypedEntries:
    """What a file holds: attributes by node type and by edge type, and numbers of nodes."""

    nodes: dict[str, dict[str, Any]] = field(default_factory=dict[str, dict[str, Any]])
    edges: dict[tuple[str, str, str], dict[str, Any]] = field(
        default_factory=dict[tuple[str, str, str], dict[str, Any]]
    )
    num_nodes: dict[str, int] = field(default_factory=dict[str, int])


class Folder:
    """The `.npy` files of a folder, mapped into memory."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self.names = tuple(path.stem for path in sorted(file.glob("*.npy")))

    def __getitem__(self, name: str) -> NDArray[Any]:
        return npy.read_array(self.file / f"{name}.npy")


def matches(names: Collection[str]) -> bool:
    """Whether the arrays of these names are of a graph with types."""
    return "edge_index" not in names and any(name.startswith((EDGES, COUNT)) for name in names)


def read(arrays: Arrays) -> TypedEntries:
    """Read `edge_index__SOURCE__RELATION__TARGET` (2, E), `num_nodes__TYPE`, and attributes `NAME__TYPE` and
    `NAME__SOURCE__RELATION__TARGET`; `x` may also be the arrays of a CSR matrix, `x__TYPE__data`, `indices`, `indptr`
    and `shape`.

    A name may have `__` in it where only one reading fits the node types, which are those with `num_nodes` or `x` and
    the ends of edges. What belongs to no type is left out. Raises GraphError.
    """
    entries = TypedEntries()
    sparse = sparse_features(arrays)
    parts = {f"{FEATURES}{type_}__{part}" for type_ in sparse for part in CSR}
    names = [name for name in arrays.names if name not in parts]
    known = [*sparse, *(n.removeprefix(p) for p in (COUNT, FEATURES) for n in names if n.startswith(p))]
    for name in names:
        if name.startswith(EDGES):
            type_ = edge_type(name.removeprefix(EDGES), known, arrays.file)
            entries.edges[type_] = {"edge_index": whole_numbers(arrays[name], f"{arrays.file}: {name}")}
    entries.nodes = {type_: {} for type_ in dict.fromkeys([*known, *(e for t in entries.edges for e in (t[0], t[2]))])}
    written = {"__".join(type_): attributes for type_, attributes in entries.edges.items()} | entries.nodes
    for name in names:
        if name.startswith(COUNT):
            entries.num_nodes[name.removeprefix(COUNT)] = count_in(arrays, name)
        elif not name.startswith(EDGES):
            set_attribute(name, arrays, written)
    for type_ in sparse:
        entries.nodes[type_]["x"] = read_sparse(arrays, type_)
    return entries


def edge_type(written: str, node_types: Collection[str], file: Path) -> tuple[str, str, str]:
    """The edge type that is written like this, joining node types that are known wherever names have `__` in them.

    Raises GraphError if there is none, or more than one.
    """
    words = written.split("__")
    if len(words) == 3:
        return (words[0], words[1], words[2])
    places = range(1, len(words))
    cuts = [
        ("__".join(words[:i]), "__".join(words[i:j]), "__".join(words[j:])) for i in places for j in places if i < j
    ]
    found = [cut for cut in cuts if cut[0] in node_types and cut[2] in node_types]
    if len(found) != 1:
        fault = "can be read in several ways" if found else "joins no node types that have num_nodes or x"
        raise GraphError(
            f"{file}: the edge type of {EDGES}{written} {fault}; write SOURCE__RELATION__TARGET, and num_nodes__TYPE "
            "for every node type."
        )
    return found[0]


def sparse_features(arrays: Arrays) -> list[str]:
    """The node types whose features are the arrays of a CSR matrix."""
    ending = f"__{CSR[0]}"
    types = [
        name[len(FEATURES) : -len(ending)]
        for name in arrays.names
        if name.startswith(FEATURES) and name.endswith(ending)
    ]
    found = []
    for type_ in types:
        missing = [part for part in CSR if f"{FEATURES}{type_}__{part}" not in arrays.names]
        if 0 < len(missing) < len(CSR) - 1:
            lacking = ", ".join(f"{FEATURES}{type_}__{part}" for part in missing)
            raise GraphError(f"{arrays.file}: the CSR features of {type_} lack {lacking}; save all four arrays.")
        if not missing:
            found.append(type_)
    return found


def read_sparse(arrays: Arrays, type_: str) -> NDArray[Any]:
    data, indices, indptr, shape = (arrays[f"{FEATURES}{type_}__{part}"] for part in CSR)
    return checked_csr(data, indices, indptr, shape, f"{arrays.file}: the CSR features of {type_}").toarray()


def count_in(arrays: Arrays, name: str) -> int:
    number = whole_numbers(arrays[name], f"{arrays.file}: {name}")
    if number.size != 1:
        raise GraphError(f"{arrays.file}: {name} has shape {number.shape}; save one number.")
    return int(number.reshape(-1)[0])


def set_attribute(name: str, arrays: Arrays, written: dict[str, dict[str, Any]]) -> None:
    """Gives the attribute `NAME__TYPE` to its type, of several that fit the longest; one of no type is left out."""
    fits: Iterable[str] = (type_ for type_ in written if name.endswith(f"__{type_}"))
    type_ = max(fits, key=len, default=None)
    if type_ is not None:
        written[type_][name[: -len(type_) - 2]] = arrays[name]
