"""Adding up the Convs of a block tile by tile, where their neighbors' rows are read from disk from front to back."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from xdsl.ir import BlockArgument, SSAValue

from gnnc.dialects.gnn import ConvBlockOp, ConvOperation, End, FusedConvOp, FusedOperation, LoadWeightOp
from gnnc.dialects.gnn.attributes import domain_axis, domain_of
from gnnc.passes.loops.arguments import PADDING, KernelInput, Role
from gnnc.targets.gpu.arena import LINE, RowsOf, new_buffer
from gnnc.targets.gpu.background import background
from gnnc.targets.gpu.block_compiler import convs_at
from gnnc.targets.gpu.block_rows import place_of
from gnnc.targets.gpu.csr import Csr
from gnnc.targets.gpu.kernels.kernel import Kernel
from gnnc.targets.gpu.kernels.threads import run_ranges
from gnnc.targets.gpu.store.array_file import numbers_of
from gnnc.targets.gpu.store.tiled_edges import Grid, TiledEdges, known_tilings, pieces_of, tiled_bytes, tiled_edges
from gnnc.targets.gpu.stored_edges import StoredEdgeSet
from gnnc.targets.gpu.tiling import Demand, Tiling
from gnnc.targets.gpu.workers import torch_threads

if TYPE_CHECKING:
    from gnnc.targets.gpu.compiled_block import AnyKernel

PAGE = 4096


@dataclass(frozen=True)
class TiledConv:
    """One fused Conv of a block: what its kernel reads, the edges by target, and the arrays among the inputs whose rows
    lie on disk."""

    kernel: Kernel
    edges: StoredEdgeSet
    end: End
    inputs: Sequence[tuple[KernelInput, torch.Tensor]]
    from_disk: frozenset[int]
    """Places among the inputs."""

    @property
    def sum_bytes(self) -> int:
        return sum_bytes(self.kernel)

    @property
    def demand(self) -> Demand:
        row_bytes = sum(row_size(self.inputs[place][1]) for place in self.from_disk)
        nodes, edges = self.edges.node_count(self.end.opposite), self.edges.edge_count
        return Demand(nodes, row_bytes, self.sum_bytes, edges, known_tilings(self.edges.file))


def sum_bytes(kernel: Kernel) -> int:
    """Bytes of the sums of a target."""
    start = kernel.first_sums
    return RowsOf(tuple(start.shape), start.dtype).stride * start.element_size()


def row_size(rows: torch.Tensor) -> int:
    return prod(rows.shape[1:]) * rows.element_size()


def tiled_convs(
    op: ConvBlockOp,
    node_set: str,
    operands: Sequence[Any],
    on_disk: Collection[int],
    kernels: Mapping[FusedOperation, AnyKernel],
    weights: Mapping[str, torch.Tensor],
) -> list[TiledConv] | None:
    """The Convs at nodes of a set, if all that reduces edges there are Convs that can be added up in parts from what
    the block is given. `on_disk` are the places of operands whose rows are read from disk."""
    adding = kernels_in_parts(op, node_set, kernels)
    if adding is None:
        return None
    found: list[TiledConv] = []
    for conv, kernel in adding.items():
        edges = operands[place_of(conv.inputs[place_of(conv.edges)])]
        if not isinstance(edges, StoredEdgeSet):
            return None
        inputs = [(i, given_array(conv.inputs[i.place], operands, weights)) for i in kernel.adding.inputs]
        from_disk = [
            number
            for number, (i, _) in enumerate(inputs)
            if i.role is Role.NEIGHBOR and place_of(conv.inputs[i.place]) in on_disk
        ]
        found.append(TiledConv(kernel, edges, conv.end.data, inputs, frozenset(from_disk)))
    return found


def kernels_in_parts(
    op: ConvBlockOp, node_set: str, kernels: Mapping[FusedOperation, AnyKernel]
) -> dict[FusedConvOp, Kernel] | None:
    """The Convs at nodes of a set, if all that reduces edges there are Convs that can be added up in parts from what a
    block is given."""
    if any(isinstance(o, ConvOperation) for o in op.body.block.ops):
        return None
    found: dict[FusedConvOp, Kernel] = {}
    for conv in convs_at(op, node_set):
        kernel = kernels[conv]
        assert isinstance(kernel, Kernel)
        if not all(i.role is not Role.EDGE and is_given(conv.inputs[i.place]) for i in kernel.adding.inputs):
            return None
        found[conv] = kernel
    return found


def is_given(value: SSAValue) -> bool:
    """Whether a block is given an input of a Conv, with its rows first, and doesn't compute it."""
    rows_first = domain_of(value.type) is None or domain_axis(value.type) == 0
    return isinstance(value.owner, LoadWeightOp) or (isinstance(value, BlockArgument) and rows_first)


def given_array(value: SSAValue, operands: Sequence[Any], weights: Mapping[str, torch.Tensor]) -> torch.Tensor:
    """What the block is given for an input of a Conv."""
    if isinstance(value.owner, LoadWeightOp):
        return weights[value.owner.weight.string_value()]
    return operands[place_of(value)]


def grids(convs: Sequence[TiledConv], tiling: Tiling, targets: int) -> list[Grid]:
    """The cells of each Conv's edges."""
    return [
        Grid(targets, conv.edges.node_count(conv.end.opposite), tiling.target_rows, rows)
        for conv, rows in zip(convs, tiling.source_rows, strict=True)
    ]


def bytes_to_order(convs: Sequence[TiledConv], tiling: Tiling, targets: int) -> int:
    """What edges that have to be put in order for a tiling take on disk."""
    return sum(
        tiled_bytes(conv.edges.edge_count, grid)
        for conv, grid in zip(convs, grids(convs, tiling, targets), strict=True)
        if (grid.target_rows, grid.source_rows) not in conv.demand.ordered
    )


class TiledSums:
    """Adds up Convs for one range of targets after the other. Memory for sums and tiles is taken once."""

    def __init__(self, convs: Sequence[TiledConv], tiling: Tiling, targets: int, budget: int, threads: int):
        """Puts edges in order where that has not been done; that takes at most about `budget` bytes."""
        self.convs = convs
        self.threads = threads
        self.edges: list[TiledEdges] = []
        for conv, grid in zip(convs, grids(convs, tiling, targets), strict=True):
            self.edges.append(tiled_edges(conv.edges.file, grid, PADDING, budget))
        self.sums = [new_buffer(min(targets, tiling.target_rows) * conv.sum_bytes, own_pages=True) for conv in convs]
        tiles = [rows * conv.demand.row_bytes for conv, rows in zip(convs, tiling.source_rows, strict=True)]
        beside = LINE * max((len(conv.inputs) for conv in convs), default=0)
        self.tile = new_buffer(max(tiles, default=0) + beside, own_pages=True)

    def add_up(self, first: int, stop: int) -> tuple[torch.Tensor, ...]:
        """The sums of a range of targets, an array a Conv; they last until the next call."""
        sums: list[torch.Tensor] = []
        with torch_threads(1):
            for conv, edges, buffer in zip(self.convs, self.edges, self.sums, strict=True):
                start = conv.kernel.first_sums
                rows = buffer[: (stop - first) * conv.sum_bytes].view(start.dtype).view(stop - first, -1)
                sums.append(rows[:, : len(start)])
                sums[-1].copy_(start)
                tiles = edges.grid.tiles
                following = [*tiles[1:], *(tiles[:1] if stop < edges.grid.targets else [(0, 0)])]
                for number, (begin, end) in enumerate(tiles):
                    csr = Csr(edges.cell_offsets(first, stop, number), edges.neighbors)
                    arrays = self.arrays(conv, (first, stop), (begin, end))
                    background().submit(self.read_ahead, conv, following[number])
                    conv.kernel.adding(csr, arrays, [sums[-1]], self.threads)
        return tuple(sums)

    def arrays(self, conv: TiledConv, targets: tuple[int, int], tile: tuple[int, int]) -> list[torch.Tensor]:
        """What the kernel reads for some targets and some neighbors."""
        place, arrays = 0, list[torch.Tensor]()
        for number, (i, array) in enumerate(conv.inputs):
            if i.role is Role.WHOLE:
                arrays.append(array)
                continue
            first, stop = tile if i.role is Role.NEIGHBOR else targets
            rows = array[first:stop]
            if number in conv.from_disk:
                size = (stop - first) * row_size(array)
                there = self.tile[place : place + size].view(array.dtype).view(rows.shape)
                copy_rows(rows, there, self.threads)
                rows, place = there, place + -(-size // LINE) * LINE
            arrays.append(rows)
        return arrays

    def read_ahead(self, conv: TiledConv, tile: tuple[int, int]) -> None:
        """Lets the system read the rows of a tile while another one is added up."""
        for number in conv.from_disk:
            rows = numbers_of(conv.inputs[number][1][slice(*tile)])
            rows.view(np.uint8).reshape(-1)[::PAGE].sum()


def copy_rows(rows: torch.Tensor, there: torch.Tensor, threads: int) -> None:
    """Copies rows from a file. Plain threads do it: those of torch's operations wait for each other actively, and some
    of them may wait for the disk."""
    source, target = numbers_of(rows), numbers_of(there)
    size = max(1, -(-len(source) // (4 * threads)))
    run_ranges(lambda a, b: np.copyto(target[a:b], source[a:b]), pieces_of(len(source), size), threads)
