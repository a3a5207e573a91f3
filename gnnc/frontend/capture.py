"""torch.export on synthetic inputs: every module is seen through, and no size of the user's graph is baked in."""

from __future__ import annotations

import contextlib
import copy
import io
import logging
import os
import sys
import traceback
import warnings
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import Any

import torch
from torch._dynamo.exc import UserError
from torch.export import Dim, ExportedProgram, export
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_leaves

from gnnc.errors import CaptureError, GnncError
from gnnc.frontend.aggregation_stand_ins import aggregations_as_operators
from gnnc.frontend.arguments import Arguments, BoundModel
from gnnc.frontend.eager_model import CACHES
from gnnc.frontend.functionalize import functionalize
from gnnc.frontend.library_forms import traceable_forms

# Some modules guard sizes against sys.maxsize, which torch can't tell from infinity; then a bound below it helps.
LARGEST_DIMENSION = 2**40

# Folders of the frames that are never the model's, and of those that rarely are.
TRACERS = (f"{Path(torch.__file__).parent}{os.sep}", f"{Path(__file__).parents[1]}{os.sep}", "<")
INSTALLED = (str(Path(contextlib.__file__).parent), str(Path(torch.__file__).parents[1]))


def capture(model: torch.nn.Module, arguments: Arguments) -> ExportedProgram:
    """The model as a functional ATen graph in which node and edge counts are symbols. It takes the tensors of
    `arguments.inputs`, in order; its weights are called `model.NAME`.

    Nothing but in-place operators is rewritten, if that is possible; `decomposed` does more. Raises
    CaptureError with torch's reason and the line of the model.
    """
    refuse_caches(model)
    try:
        with tracing_conditions():
            try:
                program = trace(model, arguments)
            except UserError as error:
                if not is_constraint(error):
                    raise
                program = trace(model, arguments, max=LARGEST_DIMENSION)
            if not functionalize(program):
                program = program.run_decompositions({})
    except GnncError:
        raise
    except Exception as error:  # torch.export raises errors of a dozen unrelated classes, and the model its own
        refuse_failing(model, arguments)
        reason = first_sentence(error)
        line = line_of_constraint(model, arguments) if is_constraint(error) else user_line(error)
        raise CaptureError(
            f"{type(model).__name__} can't be captured: {reason}{line and f' (in {line})'}; torch.export must be able "
            "to trace the model without looking at the values of tensors, and for any number of nodes and edges",
            reason,
        ) from error
    if in_other_precision(model, arguments):
        refuse_failing(model, arguments)
    if program.graph_signature.buffers_to_mutate:
        changed = program.graph_signature.buffers_to_mutate.values()
        names = ", ".join(sorted(name.removeprefix("model.") for name in changed))
        raise CaptureError(f"{type(model).__name__} changes its buffers {names} in forward: a program has no state")
    return program


def decomposed(program: ExportedProgram) -> ExportedProgram:
    """The program as torch functionalises it, with operators that stand for several written out where torch does that;
    linear, layer_norm and their like stay whole."""
    with tracing_conditions():
        return program.run_decompositions({})


def refuse_caches(model: torch.nn.Module) -> None:
    """PyG's convs with cached=True keep the graph they first ran on, and would bake it in."""
    for name, module in model.named_modules():
        if any(getattr(module, cache, None) is not None for cache in CACHES):
            place = f"{type(model).__name__}.{name}" if name else type(model).__name__
            raise CaptureError(
                f"{place} has cached the graph it ran on (cached=True): compile a model that has not run yet, "
                "or call reset_parameters() before its weights are loaded"
            )


def in_other_precision(model: torch.nn.Module, arguments: Arguments) -> bool:
    """Whether some features are in another precision than the weights: torch traces more of that than it runs."""
    types = {i.dtype for i in arguments.inputs} | {parameter.dtype for parameter in model.parameters()}
    return sum(dtype.is_floating_point for dtype in types) > 1


def refuse_failing(model: torch.nn.Module, arguments: Arguments) -> None:
    """Where the model itself fails on inputs like the graph's, capture is not to blame."""
    try:
        with tracing_conditions():
            BoundModel(copy.deepcopy(model), arguments)(*arguments.synthetic())  # the run may change buffers
    except Exception as error:  # whatever the model raises
        line = user_line(error)
        widths = ", ".join(f"{i.key} {list(i.row_shape)}" for i in arguments.inputs if not i.index_into)
        reason = first_sentence(error)
        raise CaptureError(
            f"{type(model).__name__} fails on rows as wide as the graph's ({widths}): {reason}"
            f"{line and f' (in {line})'}; give the graph, or one like it, that the model was trained for",
            reason,
        ) from error


def trace(model: torch.nn.Module, arguments: Arguments, **bounds: int) -> ExportedProgram:
    """One dynamic dimension for each set of nodes and of edges."""
    sets = dict.fromkeys(i.set_name for i in arguments.inputs)
    # torch wants identifiers, and a set may be called anything
    dims = {name: Dim(identifier(name, place), **bounds) for place, name in enumerate(sets)}
    shapes = tuple({i.axis: dims[i.set_name]} for i in arguments.inputs)
    # the bound model is in evaluation mode if the model is
    bound = BoundModel(model, arguments).train(model.training)
    with aggregations_as_operators():
        return export(bound, tuple(arguments.synthetic()), dynamic_shapes=(shapes,), strict=False)


def identifier(name: str, place: int) -> str:
    """A name for messages of torch: that of the set if it can be."""
    return name if name.isidentifier() else f"set_{place}"


@contextlib.contextmanager
def tracing_conditions() -> Generator[None]:
    """No gradients, nothing said about torch's internals, and PyG's paths that don't look at data."""
    backend: Any = sys.modules.get("torch_geometric.backend")
    before = getattr(backend, "use_segment_matmul", None)
    if backend is not None:
        backend.use_segment_matmul = False
    logged = logging.root.manager.disable
    # torch logs and prints what it has traced when it fails; the error says it in one sentence
    logging.disable(logging.CRITICAL)
    try:
        with torch.no_grad(), warnings.catch_warnings(), contextlib.redirect_stderr(io.StringIO()):
            warnings.simplefilter("ignore")
            with traceable_forms():
                yield
    finally:
        logging.disable(logged)
        if backend is not None:
            backend.use_segment_matmul = before


def is_constraint(error: BaseException) -> bool:
    """Whether the model was traced, but for some numbers of nodes or edges only."""
    return str(error).startswith("Constraints violated")


def first_sentence(error: BaseException) -> str:
    """torch's reason; for a violated constraint, the constraints."""
    lines = str(error).strip().split("\n")
    violated = [line.strip(" -") for line in lines if line.startswith("  - ")]
    text = " ".join(violated) if is_constraint(error) and violated else lines[0]
    return f"{type(error).__name__}: {' '.join(text.split())[:300]}".rstrip(".: ")


class ConstraintWatch(TorchFunctionMode):
    """Notes at which line of the model torch first asks anything of the sizes that it is to keep open."""

    def __init__(self) -> None:
        super().__init__()
        self.line = ""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        if not self.line and any(has_constraints(tensor) for tensor in tree_leaves((args, result))):
            self.line = innermost_line(traceback.extract_stack())
        return result


def has_constraints(value: Any) -> bool:
    sizes = value.shape if isinstance(value, torch.Tensor) else ()
    return any(isinstance(size, torch.SymInt) and size.node.shape_env.guards for size in sizes)


def line_of_constraint(model: torch.nn.Module, arguments: Arguments) -> str:
    """Traces the model once more, to learn where it constrains the numbers of nodes or edges; torch doesn't say."""
    with tracing_conditions(), contextlib.suppress(Exception), ConstraintWatch() as watch:
        trace(model, arguments)
    return watch.line


def user_line(error: BaseException) -> str:
    """Where in the user's model the error arose."""
    return innermost_line(traceback.extract_tb(error.__traceback__))


def innermost_line(frames: Sequence[traceback.FrameSummary]) -> str:
    """The innermost frame outside of installed packages, or else outside of torch and gnnc."""
    others = [f for f in frames if not f.filename.startswith(TRACERS)]
    own = [f for f in others if not f.filename.startswith(INSTALLED)]
    return next((f"{f.filename}:{f.lineno}: {f.line}" for f in [*reversed(own), *reversed(others)]), "")
