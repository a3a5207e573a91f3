"""A Conv that is added up over some of each row's edges after the other, against the same Conv in one go."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.nn import SimpleConv
from torch_geometric.nn.models import GAT, GCN, GraphSAGE

import gnnc
from gnnc.dialects.gnn import FusedConvOp
from gnnc.dialects.gnn.attributes import domain_of, row_shape
from gnnc.passes.loops.arguments import Part, Role
from gnnc.passes.loops.kernel import first_sums
from gnnc.targets.gpu import csr
from gnnc.targets.gpu.csr import Csr, padded
from gnnc.targets.gpu.fused_executor import executor_with_kernels
from gnnc.targets.gpu.kernels.kernel import Kernel
from gnnc.targets.gpu.kernels.threads import ranges_without
from gnnc.targets.torch_functions import dtype_of

WIDTH, ROWS, SOURCES = 40, 25, 30


class Wide(torch.nn.Module):
    """Rows of many tiles, which are computed in a loop."""

    def __init__(self) -> None:
        super().__init__()
        self.lin = torch.nn.Linear(WIDTH, 1001)
        self.conv = SimpleConv(aggr=["mean", "max"])

    def forward(self, x: torch.Tensor, edge_index: torch.Tensor) -> torch.Tensor:
        return self.conv(self.lin(x).relu(), edge_index)


MODELS: dict[str, Callable[[], torch.nn.Module]] = {
    "gcn": lambda: GCN(WIDTH, 40, 1),
    "sage": lambda: GraphSAGE(WIDTH, 40, 1, aggr=["mean", "max", "min"]),
    "gat": lambda: GAT(WIDTH, 46, 1, heads=2),
    "gatv2": lambda: GAT(WIDTH, 40, 1, heads=2, v2=True),
    "many heads": lambda: GAT(WIDTH, 128, 1, heads=8),
    "wide attention": lambda: GAT(WIDTH, 300, 1, heads=1),
    "wide": Wide,
    "heads of two tiles": lambda: GAT(WIDTH, 1024, 1, heads=4, v2=True),
    "scores of all tiles": lambda: GAT(WIDTH, 600, 1, heads=1, v2=True),
}


def conv_of(name: str) -> FusedConvOp:
    torch.manual_seed(0)
    graph = gnnc.Graph(x=torch.randn(9, WIDTH), edge_index=torch.zeros(2, 450, dtype=torch.int64))
    program = gnnc.compile(MODELS[name]().eval(), graph)
    executor = executor_with_kernels(program.module, program.weights)
    (op,) = (op for op in executor.kernels if isinstance(op, FusedConvOp))
    return op


class Inputs:
    """Numbers for each input of a Conv, and edges in no order that some rows don't have."""

    def __init__(self, op: FusedConvOp, seed: int, degree: int):
        generator = torch.Generator().manual_seed(seed)
        degrees = torch.randint(0, 2 * degree + 1, (ROWS,), generator=generator)
        degrees[degrees < degree // 2] = 0
        self.targets = torch.repeat_interleave(torch.arange(ROWS), degrees)
        self.sources = torch.randint(0, SOURCES, (len(self.targets),), generator=generator)
        self.values: dict[tuple[int, Role], torch.Tensor] = {}
        for i in Kernel(op).inputs:
            value = op.body.block.args[i.place]
            rows = [] if domain_of(value.type) is None else [max(ROWS, SOURCES)]
            shape = [*rows, *row_shape(value.type)]
            self.values[i.place, i.role] = torch.randn(shape, dtype=dtype_of(value.type), generator=generator)
        self.outputs = [torch.zeros(ROWS, *row_shape(v.type), dtype=dtype_of(v.type)) for v in op.outputs]

    def csr(self, first: int, stop: int) -> Csr:
        """The edges from some sources, which are counted from the first of them."""
        chosen = (self.sources >= first) & (self.sources < stop)
        offsets = torch.zeros(ROWS + 1, dtype=torch.int64)
        torch.cumsum(torch.bincount(self.targets[chosen], minlength=ROWS), 0, out=offsets[1:])
        return Csr(offsets, padded(self.sources[chosen] - first))

    def of(self, kernel: Kernel, first: int = 0) -> list[torch.Tensor]:
        return [
            self.values[i.place, i.role][first:] if i.role is Role.NEIGHBOR else self.values[i.place, i.role]
            for i in kernel.inputs
        ]

    def whole(self, op: FusedConvOp) -> list[torch.Tensor]:
        kernel = Kernel(op)
        return [out.clone() for out in kernel(self.csr(0, SOURCES), self.of(kernel), self.outputs, 1)]

    def in_parts(self, op: FusedConvOp, cuts: list[int]) -> list[torch.Tensor]:
        adding, finishing = Kernel(op, Part.ADD_UP), Kernel(op, Part.FINISH)
        sums = torch.tensor(first_sums(op)).repeat(ROWS, 1)
        bounds = [0, *sorted(cuts), SOURCES]
        for first, stop in zip(bounds, bounds[1:], strict=False):
            adding(self.csr(first, stop), self.of(adding, first), [sums], 1)
        return [out.clone() for out in finishing(self.csr(0, SOURCES), [*self.of(finishing), sums], self.outputs, 1)]


@pytest.mark.parametrize("name", list(MODELS))
def test_parts_give_the_whole(name: str) -> None:
    op = conv_of(name)

    @settings(max_examples=12, deadline=None)
    @given(st.integers(0, 99), st.sampled_from([0, 3, 40]), st.lists(st.integers(0, SOURCES), max_size=5))
    def check(seed: int, degree: int, cuts: list[int]) -> None:
        inputs = Inputs(op, seed, degree)
        for part, whole in zip(inputs.in_parts(op, cuts), inputs.whole(op), strict=True):
            torch.testing.assert_close(part, whole, rtol=1e-4, atol=1e-5)

    check()


@pytest.mark.parametrize("name", ["wide", "heads of two tiles", "scores of all tiles"])
def test_rows_of_many_tiles_are_the_models(name: str) -> None:
    torch.manual_seed(0)
    model, x, edge_index = MODELS[name]().eval(), torch.randn(50, WIDTH), torch.randint(0, 48, (2, 300))
    program = gnnc.compile(model, gnnc.Graph(x=x, edge_index=edge_index))
    torch.testing.assert_close(program.run(), model(x, edge_index), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("name", ["sage", "gat", "many heads"])
def test_a_hub_gets_what_few_edges_give(name: str) -> None:
    """A mean doesn't change when all that it is taken of comes 16,000 times; as many numbers of one sign, summed one
    by one, would be wrong by 1e-3."""
    op = conv_of(name)
    inputs = Inputs(op, 0, 0)
    for values in inputs.values.values():
        values.abs_()
    inputs.sources, inputs.targets = torch.arange(SOURCES), torch.zeros(SOURCES, dtype=torch.int64)
    expected = inputs.whole(op)
    inputs.sources, inputs.targets = inputs.sources.repeat(16_000), inputs.targets.repeat(16_000)
    for found in (inputs.whole(op), inputs.in_parts(op, [7, 20])):
        for result, right in zip(found, expected, strict=True):
            torch.testing.assert_close(result[0], right[0], rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("name", list(MODELS))
def test_threads_share_a_hub(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows with 40 edges are hubs here, added up in pieces of 7: the result is that of one piece, and the same to the
    bit by one thread and by several."""
    op = conv_of(name)
    inputs = Inputs(op, 1, 30)
    expected = inputs.whole(op)
    monkeypatch.setattr(csr, "HUB_EDGES", 40)
    monkeypatch.setattr(csr, "PIECE_EDGES", 7)
    assert 2 < len(inputs.csr(0, SOURCES).hubs) < ROWS
    kernel = Kernel(op)
    found = [
        [out.clone() for out in kernel(inputs.csr(0, SOURCES), inputs.of(kernel), inputs.outputs, threads)]
        for threads in (1, 2, 3)
    ]
    for one, two, three, right in zip(*found, expected, strict=True):
        torch.testing.assert_close(one, right, rtol=1e-4, atol=1e-5)
        assert torch.equal(one, two) and torch.equal(one, three)


def test_a_program_gives_hubs_to_all_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    """A star: its center is a batch's only hub, and every leaf has one edge."""
    nodes = 3000
    leaves, others = torch.arange(1, nodes), torch.arange(nodes)
    edge_index = torch.cat([torch.stack([leaves, 0 * leaves]), torch.stack([others.flip(0), others])], 1)
    torch.manual_seed(0)
    model, x = GAT(WIDTH, 16, 2, 5, heads=2).eval(), torch.randn(nodes, WIDTH)
    program = gnnc.compile(model, gnnc.Graph(x=x, edge_index=edge_index))
    expected = model(x, edge_index)
    for hub_edges in (2**16, 500):
        monkeypatch.setattr(csr, "HUB_EDGES", hub_edges)
        program.run(threads=1, graph=gnnc.Graph(x=x, edge_index=edge_index))
        results = [
            program.run(threads=threads, batch_size=size, graph=gnnc.Graph(x=x, edge_index=edge_index))
            for threads in (1, 2)
            for size in (None, 700)
        ]
        for result in results:
            torch.testing.assert_close(result, expected, rtol=1e-4, atol=1e-5)
            assert torch.equal(result, results[0])


def test_ranges_without_some_rows() -> None:
    assert ranges_without([0, 3, 4, 9], [(0, 3), (3, 8), (8, 10)]) == [(1, 3), (5, 8), (8, 9)]
    assert ranges_without([2], [(0, 2), (5, 6)]) == [(0, 2), (5, 6)]


def test_a_part_takes_what_it_reads_alone() -> None:
    """The bias follows from the sums, scores go into them."""
    op = conv_of("gat")
    roles = {part: [i.role for i in Kernel(op, part).inputs] for part in Part}
    assert Role.NEIGHBOR not in roles[Part.FINISH]
    assert Role.WHOLE not in roles[Part.ADD_UP]
    assert roles[Part.WHOLE].count(Role.NEIGHBOR) == roles[Part.ADD_UP].count(Role.NEIGHBOR) == 2
