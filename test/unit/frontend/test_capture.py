"""Capturing a model: sizes stay open, the model stays as it was, and refusals say where."""

from __future__ import annotations

import sys

import pytest
import torch
import torch_geometric.backend
from torch import Tensor
from torch.export import ExportedProgram
from torch_geometric.nn import GATConv, GCNConv, GPSConv, RGCNConv, SAGEConv

from gnnc.errors import CaptureError
from gnnc.frontend.arguments import Arguments
from gnnc.frontend.capture import capture, is_constraint, user_line
from gnnc.frontend.inputs import ModelInput

WIDTH = 8
INPUTS = [
    ModelInput("x", "nodes", "nodes", 0, (WIDTH,), torch.float32),
    ModelInput("edge_index", "edges", "edges", 1, (2,), torch.int64, ("nodes", "nodes")),
]
TYPED = [*INPUTS, ModelInput("edge_type", "edges", "edges", 0, (), torch.int64)]


def input_sizes(program: ExportedProgram) -> list[list[int | str]]:
    names = program.graph_signature.user_inputs
    nodes = {node.name: node for node in program.graph.nodes}
    shapes = [nodes[str(name)].meta["val"].shape for name in names]
    return [[size if isinstance(size, int) else str(size) for size in shape] for shape in shapes]


@pytest.mark.parametrize(
    "model",
    [
        GCNConv(WIDTH, 4),
        GATConv(WIDTH, 4, heads=2),
        SAGEConv(WIDTH, 4),
        GPSConv(WIDTH, GCNConv(WIDTH, WIDTH), heads=2),
    ],
    ids=lambda model: type(model).__name__,
)
def test_sizes_stay_open(model: torch.nn.Module) -> None:
    """GPSConv's only with a bound on them, which is tried second."""
    (nodes, width), (two, edges) = input_sizes(capture(model.eval(), Arguments.by_name(INPUTS)))
    assert (width, two) == (WIDTH, 2)
    assert isinstance(nodes, str) and isinstance(edges, str)
    assert nodes != edges


def test_sizes_of_one_set_are_the_same() -> None:
    program = capture(RGCNConv(WIDTH, 4, 3).eval(), Arguments.by_name(TYPED))
    _, (_, edges), (types,) = input_sizes(program)
    assert edges == types


def test_a_program_runs_on_any_size() -> None:
    model = GATConv(WIDTH, 4).eval()
    module = capture(model, Arguments.by_name(INPUTS)).module()
    for nodes, edges in ((1, 0), (1, 1), (7, 7), (40, 3)):
        x, edge_index = torch.randn(nodes, WIDTH), torch.randint(nodes, (2, edges))
        with torch.no_grad():
            torch.testing.assert_close(module(x, edge_index), model(x, edge_index))


def test_pyg_is_left_as_it_was() -> None:
    before = torch_geometric.backend.use_segment_matmul
    try:
        torch_geometric.backend.use_segment_matmul = True
        capture(RGCNConv(WIDTH, 4, 3).eval(), Arguments.by_name(TYPED))
        assert torch_geometric.backend.use_segment_matmul is True
    finally:
        torch_geometric.backend.use_segment_matmul = before


class Branches(torch.nn.Module):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        if x.sum() > 0:  # looks at the values
            return x
        return -x


class Helped(torch.nn.Module):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        return scaled(x)


def scaled(x: Tensor) -> Tensor:
    return x * float(x.max())  # in a helper


class Loops(torch.nn.Module):
    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        y = x.relu()
        rows = [row for row in y]  # one by one
        return torch.stack(rows)


class Counts(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("calls", torch.zeros(()))

    def forward(self, x: Tensor, edge_index: Tensor) -> Tensor:
        self.calls += 1
        return x * self.calls


@pytest.mark.parametrize(
    ("model", "comment", "reason"),
    [
        (Branches(), "# looks at the values", "GuardOnDataDependentSymNode"),
        (Helped(), "# in a helper", "data-dependent"),
        (Loops(), "# one by one", "specialized it to be a constant"),
    ],
    ids=lambda value: type(value).__name__ if isinstance(value, torch.nn.Module) else "",
)
def test_what_looks_at_data_is_refused_with_its_line(model: torch.nn.Module, comment: str, reason: str) -> None:
    with pytest.raises(CaptureError) as caught:
        capture(model, Arguments.by_name(INPUTS))
    with open(__file__, encoding="utf-8") as file:
        line = next(number for number, text in enumerate(file, 1) if text.rstrip().endswith(comment))
    assert f"{__file__}:{line}" in str(caught.value)
    assert type(model).__name__ in str(caught.value)
    assert reason in caught.value.reason
    assert caught.value.reason in str(caught.value)


def test_nothing_is_printed(capfd: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(CaptureError):
        capture(Branches(), Arguments.by_name(INPUTS))
    assert capfd.readouterr() == ("", "")


def test_state_is_refused() -> None:
    with pytest.raises(CaptureError, match="Counts changes its buffers calls in forward"):
        capture(Counts(), Arguments.by_name(INPUTS))


def test_a_cached_graph_is_refused() -> None:
    model = torch.nn.ModuleDict({"conv": GCNConv(WIDTH, 4, cached=True)})
    model["conv"](torch.randn(3, WIDTH), torch.tensor([[0, 1], [1, 2]]))
    with pytest.raises(CaptureError, match=r"ModuleDict\.conv has cached the graph"):
        capture(model, Arguments.by_name(INPUTS))


def test_a_model_that_fails_on_the_graph_is_to_blame_itself() -> None:
    with pytest.raises(
        CaptureError, match=r"fails on rows as wide as the graph's \(x \[8\]\).*shapes cannot be multiplied"
    ):
        capture(GCNConv(5, 4), Arguments.by_name(INPUTS))


def test_a_line_of_a_library_is_better_than_none() -> None:
    """Where no file of the user's is in sight, the line is the library's."""
    try:
        GCNConv(5, 4)(torch.zeros(2, 8), torch.zeros(2, 0, dtype=torch.int64))
    except RuntimeError as error:
        error.__traceback__ = error.__traceback__ and error.__traceback__.tb_next
        assert "torch_geometric" in user_line(error)
    assert user_line(ValueError("never raised")) == ""


def test_constraints_are_told_from_other_errors() -> None:
    assert is_constraint(ValueError("Constraints violated (nodes)! For more information"))
    assert not is_constraint(ValueError("something else"))
    assert "torch_geometric" in sys.modules
