"""What of a run stays on its device: the arrays of all rows where they fit, and what is the same from run to run."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

import torch
from xdsl.ir import Operation, SSAValue

from gnnc.dialects.gnn import EdgeSetType
from gnnc.dialects.gnn.attributes import domain_of
from gnnc.targets.edge_sets import EdgeSet
from gnnc.targets.gpu.budget import resident_bytes
from gnnc.targets.gpu.device_csr import forget_device_csrs

SHARE = 0.6
"""Of the device's free memory, what arrays of all rows may take; batches need the rest."""


def fits(device: str, need: int) -> bool:
    """Whether a device has room for so many bytes of arrays of all rows."""
    if not device.startswith("cuda"):
        return True
    free, _ = torch.cuda.mem_get_info(device)
    # what torch holds and nothing uses is free, too
    free += torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
    return need <= SHARE * free


def bytes_on_device(
    values: Mapping[SSAValue, Any],
    operations: Sequence[Operation],
    last_uses: Mapping[SSAValue, int],
    counts: Mapping[str, int],
) -> int:
    """What the arguments of @forward and the arrays that its blocks hand on take at most."""
    sets = {v.type.domain: e for v, e in values.items() if isinstance(e, EdgeSet) and isinstance(v.type, EdgeSetType)}
    graph = sum(4 * (e.edge_count + e.source_count + e.target_count) for e in sets.values())
    tensors = sum(v.numel() * v.element_size() for v in values.values() if isinstance(v, torch.Tensor))
    edge_counts = {domain: edges.edge_count for domain, edges in sets.items()}
    return graph + tensors + max(resident_bytes(operations, last_uses, counts, edge_counts).values(), default=0)


class DeviceCopies:
    """Copies of host tensors on a device. Those of tensors that are said to stay the same serve the next run, too."""

    def __init__(self) -> None:
        self.known: dict[tuple[int, str], tuple[torch.Tensor, torch.Tensor]] = {}

    def moved(self, values: Mapping[SSAValue, Any], device: str, same: Collection[SSAValue]) -> dict[SSAValue, Any]:
        """The values, with tensors that have rows on the device. What no value needs any more is forgotten."""
        before, self.known = self.known, {}
        result: dict[SSAValue, Any] = {}
        for value, tensor in values.items():
            if not isinstance(tensor, torch.Tensor) or domain_of(value.type) is None:
                result[value] = tensor
                continue
            key = (id(tensor), device)
            _, copy = before.get(key) or self.known.get(key) or (None, tensor.to(device))
            result[value] = copy
            if value in same:
                self.known[key] = tensor, copy
        return result

    def forget(self, values: Iterable[Any]) -> None:
        """Gives memory of earlier runs back, so that a budget counts what this one takes."""
        self.known = {}
        for edges in values:
            if isinstance(edges, EdgeSet):
                forget_device_csrs(edges)
