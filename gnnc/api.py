"""The Python interface: compile a model, load a program."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Generator, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.utils.exceptions import PassFailedException

from gnnc.artifact import Contents, read_artifact
from gnnc.errors import ArtifactError, CaptureError, GnncError, GraphError
from gnnc.freezing import freeze
from gnnc.frontend.lower import lower_model
from gnnc.frontend.wrappers import check_initialised, unwrapped
from gnnc.graph import Graph, graph_of
from gnnc.materialize import as_declared, materialize_weights, without_unused
from gnnc.passes.analysis.cost_model import CostKind
from gnnc.passes.pipeline import block_pipeline, choosing_pipeline
from gnnc.program import Program
from gnnc.statistics import write_statistics
from gnnc.targets.gpu.calibration import known_prices

if TYPE_CHECKING:
    from gnnc.graph import AnyGraph, GraphLike
    from gnnc.passes.analysis.linear_forms import Order
    from gnnc.passes.gnn_narrow_storage import Precision
    from gnnc.passes.kernel_partition import PartitionMethod

__all__ = ["Program", "compile", "load"]


def compile(
    model: torch.nn.Module,
    graph: GraphLike | None = None,
    target: str = "gpu",
    *,
    cost: CostKind = "time",
    keep_reference: int = 0,
    node_weights: Mapping[str, str] | None = None,
    freeze_features: bool = False,
    precision: Precision = "fp32",
    arch: str | PathLike[str] = "u250",
    order: Order = "auto",
    partition: PartitionMethod = "alg9",
) -> Program:
    """Compiles a trained model for graphs like `graph`.

    `graph` is a gnnc.Graph or HeteroGraph, a PyG Data or HeteroData, or a pair (x, edge_index). It says which inputs
    there are and how wide; the program runs on any graph with the same ones. Where forward takes an adjacency matrix,
    `adj_t` has a row a target, and `adj` a row a source, as torch's sparse CSR tensors.

    `cost` decides where layers are cut: by `time` (default), `bytes` moved, or number of `tensors` (as the DGI paper
    does). `keep_reference` runs the model itself, too, and keeps the rows of so many nodes in the program, so that
    `verify` has something to compare with where the model is not.

    `node_weights` are the weights that have a row a node, such as positional encodings, by name, with the node type
    ("nodes" in a homogeneous graph); a program with such weights runs on graphs with that many nodes. If it isn't
    given, gnnc finds out, and asks where there are several ways.

    `freeze_features` computes once, now, what depends on the given features and edges alone, such as the A^K X of SGC
    or the mean of the features in a first GraphSAGE layer. The program then runs on this graph with these features
    only.

    `precision` `bf16` or `fp16` stores features, weights of linear layers and what layers hand on in 16 bits; sums are
    still in 32. Results then differ from the model's by what `verify` reports.

    Target `fpga` compiles a task stream for the accelerator of an architecture file and for this very graph, to be
    simulated. `arch` is that file or the name of one that comes with gnnc, `order` whether a layer aggregates first
    (`AH_W`), multiplies first (`A_HW`) or what is simulated to be faster (`auto`), `partition` how tiles are sized:
    `alg9` as in the Dynasparse paper, `alg9-exact`, or a `search`.

    Raises GraphError for a malformed graph, CaptureError where torch.export can't trace the model, and
    UnsupportedModelError where gnnc can't prove that the result would be exact.
    """
    if not isinstance(model, torch.nn.Module):  # pyright: ignore[reportUnnecessaryIsInstance]  # swapped arguments
        raise CaptureError(f"compile takes a torch.nn.Module, then a graph: it was given {type(model).__name__} first")
    if graph is None:
        raise GraphError("compile takes a model and a graph: give a gnnc.Graph, a PyG Data or a pair (x, edge_index)")
    if precision not in ("fp32", "bf16", "fp16"):
        raise GnncError(f"precision '{precision}' is none: use 'fp32', 'bf16' or 'fp16'")
    if target not in ("gpu", "fpga"):
        raise GnncError(f"target '{target}' is not available: use 'gpu' (a CPU or a CUDA device) or 'fpga'")
    graph, model = graph_of(graph), unwrapped(model)
    check_initialised(model)
    if target == "fpga":
        refuse_for_fpga(keep_reference=keep_reference, freeze_features=freeze_features, precision=precision)
        return compile_fpga(model, graph, arch=arch, order=order, partition=partition)
    refuse_for_gpu(arch=arch, order=order, partition=partition)
    with evaluation_mode(model):
        lowered = lower_model(model, graph, node_weights)
    mean_degree = -(-graph.num_edges // max(1, graph.num_nodes))
    loads = max(1, mean_degree)
    run_passes(lowered.module, block_pipeline(cost=cost, loads=loads, freeze=freeze_features))
    weights = materialize_weights(lowered.module, lowered.weights)
    frozen = freeze(lowered.module, weights, lowered.inputs, graph, loads)
    if frozen is not None:
        weights = {**without_unused(lowered.module, weights), **frozen[1]}
    write_statistics(lowered.module, graph, weights)
    run_passes(lowered.module, choosing_pipeline(known_prices(torch.get_num_threads()), precision))
    weights = as_declared(lowered.module, weights)
    known = None if frozen is None else frozen[0]
    program = Program(lowered.module, weights, lowered.inputs, lowered.outputs, graph=graph, model=model, frozen=known)
    if keep_reference:
        program.keep_reference(keep_reference)
    return program


def load(path: str | PathLike[str]) -> Program:
    """Reads a program that `Program.save` or `gnnc compile` wrote.

    Raises ArtifactError if it is damaged, incomplete, or of a newer format.
    """
    contents = read_artifact(path)
    if contents.target == "fpga":
        return load_fpga(contents, path)
    try:
        return Program(
            contents.module,
            contents.weights,
            contents.inputs,
            contents.outputs,
            reference=contents.reference,
            frozen=contents.frozen,
        )
    except PassFailedException as error:
        raise ArtifactError(f"{path} holds no program that can run ({error}): compile again") from None


def refuse_for_fpga(*, keep_reference: int, freeze_features: bool, precision: Precision) -> None:
    """Raises GnncError for options of the other target."""
    if keep_reference:
        raise GnncError("keep_reference is for the target gpu: each simulation compares with the reference itself")
    if freeze_features:
        raise GnncError("freeze_features is for the target gpu: leave it out")
    if precision != "fp32":
        raise GnncError(f"precision {precision} is for the target gpu: leave it out, the accelerator computes in fp32")


def refuse_for_gpu(*, arch: str | PathLike[str], order: Order, partition: PartitionMethod) -> None:
    """Raises GnncError for options of the other target."""
    for name, value, default in (("arch", arch, "u250"), ("order", order, "auto"), ("partition", partition, "alg9")):
        if value != default:
            raise GnncError(f"{name} {value} is for the target fpga: leave it out, or compile for that target")


def compile_fpga(model: torch.nn.Module, graph: AnyGraph, **options: Any) -> Program:
    from gnnc.fpga_compile import compile_for_fpga

    if not isinstance(graph, Graph):
        raise GraphError("the target fpga takes graphs with one type of nodes and edges: use the target gpu")
    with evaluation_mode(model):
        return compile_for_fpga(model, graph, **options)


def load_fpga(contents: Contents, path: str | PathLike[str]) -> Program:
    from gnnc.fpga_program import FpgaProgram
    from gnnc.targets.fpga.architecture import ArchitectureError, parse_architecture

    if contents.reference_module is None or contents.architecture is None or contents.edge_hash is None:
        raise ArtifactError(f"{path} is for the FPGA target and incomplete: compile again")
    try:
        architecture = parse_architecture(contents.architecture, Path(path) / "architecture.toml")
    except ArchitectureError as error:
        raise ArtifactError(str(error)) from None
    return FpgaProgram(
        contents.module,
        contents.weights,
        contents.inputs,
        contents.outputs,
        reference_module=contents.reference_module,
        architecture=architecture,
        edge_hash=contents.edge_hash,
    )


def run_passes(module: ModuleOp, passes: Sequence[ModulePass]) -> None:
    context = Context()
    for module_pass in passes:
        module_pass.apply(context, module)
    module.verify()


@contextlib.contextmanager
def evaluation_mode(model: torch.nn.Module) -> Generator[None]:
    """The model in evaluation mode; a model left in training mode is put back, and that is said."""
    training = [module for module in model.modules() if module.training]
    if training:
        warnings.warn(f"{type(model).__name__} is in training mode: it is compiled in evaluation mode", stacklevel=4)
    model.eval()
    try:
        yield
    finally:
        for module in training:
            module.training = True
