"""The artifact `OUT.gnnc/`: a compiled program in a folder, to run where the model's source is not.

    manifest.json         format version, what made it, inputs and outputs, hashes of the other files and of itself
    module.mlir           the IR at the level of ConvBlocks, with source locations
    weights.safetensors   the weights by symbol
    reference.safetensors some rows that the model itself computed when it was compiled, if they were asked for

For the target fpga, module.mlir is at the level of tasks, and there are also

    stream.bin            the task stream, see docs/task-stream.md
    architecture.toml     the accelerator that it is for
    reference.mlir        the IR at the level of ConvBlocks, which simulations compare with

A folder is written beside its final place and moved there when it is complete. Nothing is ever unpickled.
"""

from __future__ import annotations

import hashlib
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from io import StringIO
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin, ModuleOp
from xdsl.dialects.func import Func
from xdsl.parser import Parser
from xdsl.printer import Printer
from xdsl.utils.exceptions import ParseError, VerifyException

from gnnc import __version__
from gnnc.dialects.gnn import GNN, WeightOp
from gnnc.dialects.kernel import KERNEL
from gnnc.dialects.task import TASK
from gnnc.errors import ArtifactError
from gnnc.frontend.inputs import ModelInput
from gnnc.frozen_features import Frozen
from gnnc.outputs import OutputStructure
from gnnc.targets.torch_functions import dtype_of
from gnnc.verification import Reference

FORMAT = 5
MANIFEST, MODULE, WEIGHTS, REFERENCE = "manifest.json", "module.mlir", "weights.safetensors", "reference.safetensors"
REFERENCE_MODULE, ARCHITECTURE, STREAM = "reference.mlir", "architecture.toml", "stream.bin"


@dataclass(frozen=True)
class Contents:
    """What an artifact holds: a program's module, its weights by symbol, its inputs, the structure of its outputs, and
    reference rows if there are any. For the target fpga also the module before it became kernels, to compare with, the
    architecture file, a hash of the edges of its graph, and what writes the task stream to a file. What is `frozen`
    lies among the weights."""

    module: ModuleOp
    weights: Mapping[str, torch.Tensor]
    inputs: tuple[ModelInput, ...]
    outputs: OutputStructure
    reference: Reference | None
    target: str = "gpu"
    reference_module: ModuleOp | None = None
    architecture: str | None = None
    edge_hash: str | None = None
    stream: Callable[[Path], None] | None = None
    frozen: Frozen | None = None


def write_artifact(contents: Contents, path: str | os.PathLike[str]) -> None:
    """Writes an artifact; one that lies there already is replaced, anything else is not.

    Raises ArtifactError if the place can't be written.
    """
    target = Path(path)
    check_target(target)
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        building = Path(tempfile.mkdtemp(prefix=f".{target.name}.", dir=target.parent))
    except OSError as error:
        raise ArtifactError(f"{target} can't be written ({error.strerror}): give a path in a writable folder") from None
    try:
        write_files(contents, building)
        replace_folder(building, target)
    except OSError as error:
        raise ArtifactError(f"{target} can't be written: {error.strerror}") from None
    finally:
        shutil.rmtree(building, ignore_errors=True)


def check_target(target: Path) -> None:
    """Before anything is computed: is this a place for an artifact? Raises ArtifactError if not."""
    if target.exists() and not (target / MANIFEST).is_file():
        raise ArtifactError(f"{target} exists and is no artifact: give another path")
    folder = next(parent for parent in target.absolute().parents if parent.exists())
    if not folder.is_dir() or not os.access(folder, os.W_OK):
        raise ArtifactError(f"{target} can't be written: {folder} is no folder that you can write to")


def write_files(contents: Contents, folder: Path) -> None:
    write_module(contents.module, folder / MODULE)
    write_tensors(contents.weights, folder / WEIGHTS)
    files = [MODULE, WEIGHTS]
    if contents.reference_module is not None:
        write_module(contents.reference_module, folder / REFERENCE_MODULE)
        files.append(REFERENCE_MODULE)
    if contents.architecture is not None:
        (folder / ARCHITECTURE).write_text(contents.architecture, encoding="utf-8")
        files.append(ARCHITECTURE)
    if contents.stream is not None:
        contents.stream(folder / STREAM)
        files.append(STREAM)
    if contents.reference is not None:
        write_tensors(contents.reference.tensors(), folder / REFERENCE)
        files.append(REFERENCE)
    manifest: dict[str, Any] = {
        "format": FORMAT,
        "gnnc": __version__,
        "target": contents.target,
        "inputs": [input_record(i) for i in contents.inputs],
        "outputs": contents.outputs,
        **({} if contents.edge_hash is None else {"edge_hash": contents.edge_hash}),
        "frozen": None if contents.frozen is None else asdict(contents.frozen),
        "files": {name: file_hash(folder / name) for name in files},
    }
    (folder / MANIFEST).write_bytes(sealed(manifest))


def write_module(module: ModuleOp, file: Path) -> None:
    text = StringIO()
    Printer(text, print_debuginfo=True).print_op(module)
    file.write_text(text.getvalue(), encoding="utf-8")


def write_tensors(tensors: Mapping[str, torch.Tensor], file: Path) -> None:
    """safetensors wants every tensor to have memory of its own, which tied weights don't."""
    save_file({name: tensor.detach().cpu().clone().contiguous() for name, tensor in tensors.items()}, file)


def replace_folder(new: Path, target: Path) -> None:
    """Moves a folder to its place in one step; what was there is moved aside first and deleted last."""
    new.chmod(0o755)
    if not target.exists():
        new.rename(target)
        return
    old = Path(tempfile.mkdtemp(prefix=f".{target.name}.old.", dir=target.parent))
    target.rename(old / target.name)
    new.rename(target)
    shutil.rmtree(old, ignore_errors=True)


def read_artifact(path: str | os.PathLike[str]) -> Contents:
    """Reads an artifact. Raises ArtifactError if it is damaged, of a newer format, or none at all."""
    folder = Path(path)
    manifest = read_manifest(folder)
    for name, expected in manifest["files"].items():
        if file_hash(checked_file(folder, name)) != expected:
            raise ArtifactError(
                f"{folder / name} is damaged: its contents are not those of the manifest; compile again"
            )
    module = read_module(folder / MODULE)
    weights = read_tensors(folder / WEIGHTS)
    check_weights(module, weights, folder)
    try:
        inputs = tuple(input_from(record) for record in manifest["inputs"])
        reference = Reference.of(read_tensors(folder / REFERENCE)) if REFERENCE in manifest["files"] else None
        before = read_module(folder / REFERENCE_MODULE) if REFERENCE_MODULE in manifest["files"] else None
        known = ARCHITECTURE in manifest["files"]
        architecture = (folder / ARCHITECTURE).read_text(encoding="utf-8") if known else None
        target = str(manifest["target"])
        edges, outputs = manifest.get("edge_hash"), manifest["outputs"]
        frozen = frozen_from(manifest["frozen"], weights)
        return Contents(module, weights, inputs, outputs, reference, target, before, architecture, edges, frozen=frozen)
    except (KeyError, TypeError, AttributeError, ValueError) as error:
        raise ArtifactError(f"{folder} holds no program that gnnc wrote ({error}): compile again") from None


def read_manifest(folder: Path) -> dict[str, Any]:
    """The manifest, if it is whole and of a format that this version reads."""
    if not folder.is_dir():
        raise ArtifactError(f"{folder} is no folder: give an artifact, as gnnc compile writes it")
    data = checked_file(folder, MANIFEST).read_bytes()
    try:
        manifest = json.loads(data)
    except ValueError:
        raise ArtifactError(f"{folder / MANIFEST} is damaged: it is no JSON; compile again") from None
    version = manifest.get("format") if isinstance(manifest, dict) else None
    if isinstance(version, int) and version > FORMAT:
        raise ArtifactError(
            f"{folder} has format {version}, made by gnnc {manifest.get('gnnc')}; gnnc {__version__} reads "
            f"{FORMAT}: install a newer gnnc or compile again"
        )
    if isinstance(version, int) and version < FORMAT:
        raise ArtifactError(f"{folder} has format {version}, gnnc {__version__} reads {FORMAT}: compile again")
    if not isinstance(manifest, dict) or sealed(manifest) != data:
        raise ArtifactError(f"{folder / MANIFEST} is damaged: it is not as gnnc wrote it; compile again")
    return manifest


def sealed(manifest: Mapping[str, Any]) -> bytes:
    """The manifest as bytes, with a hash of itself: one way of writing it, so that every change shows."""
    contents = {key: value for key, value in manifest.items() if key != "sha256"}
    digest = hashlib.sha256(json.dumps(contents, sort_keys=True).encode()).hexdigest()
    return (json.dumps({**contents, "sha256": digest}, indent=1, sort_keys=True) + "\n").encode()


def checked_file(folder: Path, name: str) -> Path:
    file = folder / name
    if not file.is_file():
        raise ArtifactError(f"{folder} has no {name}: it is no artifact, or an incomplete one; compile again")
    return file


def file_hash(file: Path) -> str:
    with file.open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def read_module(file: Path) -> ModuleOp:
    context = Context()
    for dialect in (Builtin, Func, GNN, KERNEL, TASK):
        context.load_dialect(dialect)
    try:
        module = Parser(context, file.read_text(encoding="utf-8"), str(file)).parse_module()
        module.verify()
    except (ParseError, VerifyException, UnicodeDecodeError) as error:
        reason = str(error).strip().splitlines()[-1].strip()
        raise ArtifactError(f"{file} holds no valid program ({reason}): compile again") from None
    return module


def read_tensors(file: Path) -> dict[str, torch.Tensor]:
    try:
        # in the file tensors lie at any place; in memory of their own, products round as they did before saving
        return {name: tensor.clone() for name, tensor in load_file(file).items()}
    except SafetensorError as error:
        raise ArtifactError(f"{file} holds no tensors ({error}): compile again") from None


def check_weights(module: ModuleOp, weights: Mapping[str, torch.Tensor], folder: Path) -> None:
    """Every weight that the module declares is there, in its shape and type."""
    for op in module.ops:
        if not isinstance(op, WeightOp):
            continue
        tensor = weights.get(op.sym_name.data)
        if tensor is None or tuple(tensor.shape) != op.type.get_shape() or tensor.dtype != dtype_of(op.type):
            raise ArtifactError(f"{folder / WEIGHTS} has no {op.sym_name.data} of type {op.type}: compile again")


def frozen_from(record: Mapping[str, Any] | None, weights: Mapping[str, torch.Tensor]) -> Frozen | None:
    """What is frozen, from JSON. Raises KeyError if its numbers are missing."""
    if record is None:
        return None
    missing = [key for key in record["keys"] if key not in weights]
    if missing:
        raise KeyError(missing[0])
    return Frozen(tuple(record["keys"]), record["graph_hash"])


def input_record(i: ModelInput) -> dict[str, Any]:
    """An input as JSON holds it."""
    return {**asdict(i), "dtype": str(i.dtype).removeprefix("torch.")}


def input_from(record: Mapping[str, Any]) -> ModelInput:
    index_into = record["index_into"]
    return ModelInput(
        record["key"],
        record["kind"],
        record["set_name"],
        record["axis"],
        tuple(record["row_shape"]),
        getattr(torch, record["dtype"]),
        None if index_into is None else (index_into[0], index_into[1]),
        record["is_weight"],
        record["limit"],
        record["is_matrix"],
    )
