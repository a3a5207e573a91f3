"""What the rows of a program's outputs are, and which of them are asked for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from xdsl.ir import Attribute

from gnnc.dialects.gnn.attributes import domain_axis, domain_of
from gnnc.errors import RunError
from gnnc.frontend.inputs import NODES
from gnnc.tensors import as_tensor


@dataclass(frozen=True)
class OutputRows:
    """One output: `kind` is "nodes" or "edges" and `set_name` which of them its rows are; both are empty for a value of
    the whole graph. `axis` runs over the rows."""

    kind: str
    set_name: str
    axis: int

    @staticmethod
    def of_type(type_: Attribute) -> OutputRows:
        domain = domain_of(type_)
        if domain is None:
            return OutputRows("", "", 0)
        return OutputRows(domain.kind.data, domain.set_name.data, domain_axis(type_))

    @property
    def unit(self) -> str:
        """What one row is called."""
        default = {"nodes": "node", "edges": "edge"}.get(self.kind, "value")
        return default if self.set_name in ("", "nodes", "edges") else f"{default} of {self.set_name}"

    def select(self, result: torch.Tensor, ids: Mapping[str, torch.Tensor]) -> torch.Tensor:
        """The rows with the ids of their set; all of a value of the whole graph."""
        return result.index_select(self.axis, ids[self.set_name].to(result.device)) if self.kind else result

    def count(self, result: torch.Tensor) -> int:
        return result.shape[self.axis] if self.kind else 1


def asked_nodes(nodes: Any, outputs: Sequence[OutputRows], counts: Mapping[str, int]) -> dict[str, torch.Tensor]:
    """Node ids by set, for the sets that outputs are on: `nodes` as Program.run takes them. Raises RunError."""
    on_edges = next((rows for rows in outputs if rows.kind == "edges"), None)
    if on_edges is not None:
        raise RunError("the program returns values on edges, which nodes don't name: run it without nodes")
    sets = list(dict.fromkeys(rows.set_name for rows in outputs if rows.kind == NODES))
    if isinstance(nodes, Mapping):
        return nodes_by_type(nodes, sets, counts)
    if len(sets) != 1:
        raise RunError(f"the program returns rows of {', '.join(sets)}: give nodes as a dict of ids by node type")
    return {sets[0]: node_ids(nodes, counts[sets[0]])}


def nodes_by_type(nodes: Mapping[Any, Any], sets: Sequence[str], counts: Mapping[str, int]) -> dict[str, torch.Tensor]:
    wrong = next((name for name in nodes if name not in sets), None)
    if wrong is not None:
        raise RunError(f"nodes has ids of '{wrong}', the program returns rows of {', '.join(sets)}")
    return {name: node_ids(nodes.get(name, ()), counts[name]) for name in sets}


def node_ids(nodes: Any, count: int) -> torch.Tensor:
    """Node ids as an int64 tensor. Raises RunError, naming the first that is no node of the graph."""
    if not isinstance(nodes, np.ndarray | torch.Tensor):
        nodes = np.asarray(nodes)
    ids = as_tensor(nodes)
    if ids.dim() != 1:
        raise RunError(f"nodes has shape {list(ids.shape)}: give a one-dimensional array of node ids")
    if ids.numel() == 0:
        return ids.to(torch.int64)
    if ids.dtype == torch.bool or ids.dtype.is_floating_point or ids.dtype.is_complex:
        raise RunError(f"nodes has type {ids.dtype}: give integer ids (for a mask, the indices where it is true)")
    ids = ids.to(torch.int64)
    wrong = ((ids < 0) | (ids >= count)).nonzero()
    if wrong.numel():
        place = int(wrong[0])
        raise RunError(f"nodes[{place}] is {int(ids[place])}, the graph has nodes 0 to {count - 1}")
    return ids
