"""The one object that many models take instead of tensors: PyG's Data and HeteroData, or OGB's with a dict `graph`."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeAlias

from gnnc.frontend.recipes import Recipe, Tensors

# Parameters that take the whole graph, by name; a `batch` beside other arguments says which graph a node is of.
NAMES = ("data", "batched_data", "dataset", "batch_data", "graph_data", "hetero_data")

# What datasets of OGB call the entries of their dict `graph`.
OGB_NAMES = {"node_feat": "x", "edge_index": "edge_index", "edge_feat": "edge_attr", "num_nodes": "num_nodes"}

# Where an object of PyG keeps what it makes when it is asked for.
DERIVED = "_derived"

# PyG's classes, as an annotation may name them without importing them.
CLASSES = ("Data", "HeteroData", "Batch", "BaseData", "TemporalData")


@dataclass(frozen=True)
class DataObject:
    """The whole graph in one object: `parts` by node type or edge type (None for a homogeneous graph) and name.

    `derived` are further attributes that the object has if it is asked for them, but does not list.
    """

    parts: Mapping[Any, Mapping[str, Recipe]]
    derived: Mapping[str, Recipe]

    @property
    def children(self) -> tuple[Recipe, ...]:
        return (*(recipe for named in self.parts.values() for recipe in named.values()), *self.derived.values())

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(key for recipe in self.children for key in recipe.keys)

    def build(self, tensors: Tensors, eager: bool = False) -> Any:
        parts = {
            type_: {name: recipe.build(tensors, eager) for name, recipe in named.items()}
            for type_, named in self.parts.items()
        }
        late = {name: deferred(recipe, tensors, eager) for name, recipe in self.derived.items()}
        # whoever wants PyG's class has imported it
        pyg: Any = sys.modules.get("torch_geometric.data")
        if None in parts:
            late = {**ogb(parts[None]), **late}
            return PlainData(parts[None], late) if pyg is None else pyg_data(pyg.Data, parts[None], late)
        if pyg is None:
            return PlainData({type_: PlainData(named, {}) for type_, named in parts.items()}, late)
        return hetero_data(pyg.HeteroData, parts, late)


Derived: TypeAlias = Mapping[str, Callable[[], Any]]


def deferred(recipe: Recipe, tensors: Tensors, eager: bool) -> Callable[[], Any]:
    return lambda: recipe.build(tensors, eager)


def ogb(values: Mapping[str, Any]) -> dict[str, Callable[[], Any]]:
    """What code for OGB's datasets asks for."""
    graph = {name: values.get(own) for name, own in OGB_NAMES.items()}
    return {"graph": lambda: graph, "node_feat": lambda: graph["node_feat"], "edge_feat": lambda: graph["edge_feat"]}


def pyg_data(base: Any, values: Mapping[str, Any], derived: Derived) -> Any:
    data = with_derived(base)()
    data.__dict__[DERIVED] = derived
    for name, value in values.items():
        setattr(data, name, value)
    return data


def hetero_data(base: Any, parts: Mapping[Any, Mapping[str, Any]], derived: Derived) -> Any:
    data = pyg_data(base, {}, derived)
    for type_, named in parts.items():
        for name, value in named.items():
            setattr(data[type_], name, value)
    return data


class PlainData:
    """A graph with its arrays as attributes and as items."""

    def __init__(self, values: Mapping[Any, Any], derived: Derived):
        self._values = dict(values)
        self._derived = derived

    def keys(self) -> list[Any]:
        return list(self._values)

    def __contains__(self, name: Any) -> bool:
        return name in self._values

    def __getitem__(self, name: Any) -> Any:
        if name in self._values:
            return self._values[name]
        if name in self._derived:
            return self._derived[name]()
        raise KeyError(f"the graph has no {name!r}; it has {', '.join(map(str, self._values))}")

    def __getattr__(self, name: str) -> Any:
        if name.startswith("_"):
            raise AttributeError(name)
        if name in self._values or name in self._derived:
            return self[name]
        stem = name.removesuffix("_dict")
        if stem != name:
            return {type_: part[stem] for type_, part in self._values.items() if stem in part}
        if name in ("x", "edge_attr", "edge_weight", "y", "pos", "batch"):
            return None
        raise AttributeError(f"the graph has no attribute {name!r}; it has {', '.join(map(str, self._values))}")


@cache
def with_derived(base: Any) -> Any:
    """PyG's class, with attributes that are made when asked for; code that lists what there is won't see them."""

    class WithDerived(base):
        def __getattr__(self, key: str) -> Any:
            derived = self.__dict__.get(DERIVED, {})
            try:
                return super().__getattr__(key)
            except (AttributeError, KeyError):
                if key not in derived:
                    raise
            return derived[key]()

        def __getitem__(self, *key: Any) -> Any:
            derived = self.__dict__.get(DERIVED, {})
            if len(key) == 1 and isinstance(key[0], str) and key[0] in derived and key[0] not in self.keys():
                return derived[key[0]]()
            return super().__getitem__(*key)

    WithDerived.__name__ = WithDerived.__qualname__ = base.__name__
    return WithDerived


def is_data(parameter: inspect.Parameter, is_only: bool) -> bool:
    """Whether a parameter of forward takes the whole graph: its annotation or its name says so. One that is the only
    one and no name of the graph can be nothing else; the caller sees to that."""
    annotation: Any = parameter.annotation
    name = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", "")
    named = name.strip("'\"").rpartition(".")[2] in CLASSES
    return named or is_pyg_data(annotation) or parameter.name in NAMES or (is_only and parameter.name == "batch")


def is_pyg_data(annotation: Any) -> bool:
    pyg: Any = sys.modules.get("torch_geometric.data.data")
    return pyg is not None and isinstance(annotation, type) and issubclass(annotation, pyg.BaseData)
