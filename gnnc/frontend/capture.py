"""torch.export on synthetic inputs: every module is seen through, and no size of the user's graph is baked in."""

from __future__ import annotations

import contextlib
import re
import sys
import traceback
import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import torch
from torch.export import Dim, ExportedProgram, export

from gnnc.errors import CaptureError
from gnnc.frontend.inputs import EDGES, NODES, ModelInput

# Some modules guard sizes against sys.maxsize, which torch can't tell from infinity; then a bound below it helps.
LARGEST_DIMENSION = 2**40


def capture(model: torch.nn.Module, inputs: Sequence[ModelInput]) -> ExportedProgram:
    """The model as a functional ATen graph in which node and edge counts are symbols.

    Only functionalisation is applied (`run_decompositions({})`): linear, layer_norm and their like stay whole. Raises
    CaptureError with torch's reason and the line of the model.
    """
    arguments = {i.parameter: i.synthetic() for i in inputs}
    try:
        with tracing_conditions():
            try:
                program = trace(model, arguments, inputs, Dim(NODES), Dim(EDGES))
            except torch._dynamo.exc.UserError as error:  # type: ignore[attr-defined]
                if "Constraints violated" not in str(error):
                    raise
                bounded = (Dim(name, max=LARGEST_DIMENSION) for name in (NODES, EDGES))
                program = trace(model, arguments, inputs, *bounded)
            program = program.run_decompositions({})
    except Exception as error:  # torch.export raises errors of a dozen unrelated classes, and the model its own
        raise CaptureError(
            f"{type(model).__name__} can't be captured: {first_sentence(error)}{user_line(error)}; "
            "torch.export must be able to trace the model without looking at the values of tensors"
        ) from error
    if program.graph_signature.buffers_to_mutate:
        names = ", ".join(sorted(program.graph_signature.buffers_to_mutate.values()))
        raise CaptureError(f"{type(model).__name__} changes its buffers {names} in forward: a program has no state")
    return program


def trace(
    model: torch.nn.Module, arguments: dict[str, torch.Tensor], inputs: Sequence[ModelInput], nodes: Any, edges: Any
) -> ExportedProgram:
    shapes = {i.parameter: {i.axis: nodes if i.domain == NODES else edges} for i in inputs}
    return export(model, (), arguments, dynamic_shapes=shapes, strict=False)


@contextlib.contextmanager
def tracing_conditions() -> Iterator[None]:
    """No gradients, no warnings about torch's internals, and PyG's paths that don't look at data."""
    backend = sys.modules.get("torch_geometric.backend")
    before = getattr(backend, "use_segment_matmul", None)
    if backend is not None:
        backend.use_segment_matmul = False  # type: ignore[attr-defined]
    try:
        with torch.no_grad(), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        if backend is not None:
            backend.use_segment_matmul = before  # type: ignore[attr-defined]


def first_sentence(error: BaseException) -> str:
    text = re.sub(r"\s+", " ", str(error).strip().split("\n")[0])
    return f"{type(error).__name__}: {text[:300]}".rstrip(".: ")


def user_line(error: BaseException) -> str:
    """Where in the user's model the error arose: the innermost frame outside of torch and gnnc."""
    frames = [f for f in traceback.extract_tb(error.__traceback__) if not is_library(f.filename)]
    return f" (in {frames[-1].filename}:{frames[-1].lineno}: {frames[-1].line})" if frames else ""


def is_library(file: str) -> bool:
    """Whether a file belongs to torch or to gnnc."""
    return bool(re.search(r"[/\\](torch|gnnc)[/\\]", file)) or file.startswith("<")
