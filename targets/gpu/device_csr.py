"""The edges that meet some nodes as kernels on a device read them, with hubs cut into parts."""

from __future__ import annotations

from dataclasses import dataclass

import torch

from gnnc.dialects.gnn import End
from gnnc.targets.edge_sets import EdgeSet

PART_EDGES = 1024
"""Edges of a row that one program goes over; a row with more is a hub, and several programs share it."""

INT32 = 2**31 - 1 - 2 * PART_EDGES
"""Kernels look ahead of the last edge by less than that, and count in the type of the offsets."""


@dataclass(frozen=True)
class Hubs:
    """Rows with more than PART_EDGES edges. Part p goes over edges of row `part_rows[p]`, from `part_firsts[p]`; hub h,
    row `rows[h]`, has parts `offsets[h]` to `offsets[h + 1]`."""

    rows: torch.Tensor
    offsets: torch.Tensor
    part_rows: torch.Tensor
    part_firsts: torch.Tensor


@dataclass(frozen=True)
class DeviceCsr:
    """As `Csr`, on a device: offsets in int32 where they fit."""

    offsets: torch.Tensor
    neighbors: torch.Tensor
    hubs: Hubs | None
    part_edges: int

    @property
    def rows(self) -> int:
        return self.offsets.shape[0] - 1

    @staticmethod
    def of(offsets: torch.Tensor, neighbors: torch.Tensor, device: str) -> DeviceCsr:
        """From offsets on the host, and neighbors there or on the device; what is there already is not copied."""
        hubs = hubs_of(offsets, PART_EDGES, device)
        return DeviceCsr(narrowed(offsets).to(device), neighbors.to(torch.int32).to(device), hubs, PART_EDGES)

    def rows_of(self, offsets: torch.Tensor, rows: range, device: str) -> DeviceCsr:
        """Some rows, whose `offsets` among their own edges are known on the host."""
        neighbors = self.neighbors[int(self.offsets[rows.start]) :]
        return DeviceCsr.of(offsets, neighbors, device)


def whole_device_csr(edges: EdgeSet, end: End, device: str) -> DeviceCsr:
    """The rows of all nodes at one end, with the nodes at the other end for neighbors; stays on the device."""
    known, key = edges.csrs, (end, device)
    if key not in known:
        known[key] = DeviceCsr.of(edges.incidence(end).offsets, edges.others(end), device)
    return known[key]


def forget_device_csrs(edges: EdgeSet) -> None:
    """Gives their memory back."""
    for key in [key for key in edges.csrs if key[1] != "cpu"]:
        del edges.csrs[key]


def hubs_of(offsets: torch.Tensor, part_edges: int, device: str) -> Hubs | None:
    """The rows with too many edges for one program, if there are any."""
    degrees = offsets.diff()
    rows = (degrees > part_edges).nonzero().squeeze(1)
    if rows.shape[0] == 0:
        return None
    parts = (degrees[rows] + part_edges - 1) // part_edges
    ends = parts.cumsum(0)
    part_rows = torch.repeat_interleave(rows, parts)
    places = torch.arange(int(ends[-1])) - torch.repeat_interleave(ends - parts, parts)
    part_firsts = offsets[part_rows] + places * part_edges
    first = torch.zeros(1, dtype=torch.int64)
    return Hubs(*(narrowed(t).to(device) for t in (rows, torch.cat([first, ends]), part_rows, part_firsts)))


def narrowed(numbers: torch.Tensor) -> torch.Tensor:
    """Ascending or small numbers as int32, where they all fit."""
    fits = numbers.numel() == 0 or int(numbers.max()) <= INT32
    return numbers.to(torch.int32) if fits else numbers
