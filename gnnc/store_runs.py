"""Runs of a program with a store: which run a store holds, and running it."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from gnnc.errors import RunError
from gnnc.memory_sizes import memory_bytes
from gnnc.targets.gpu.errors import ResourceError, is_out_of_memory
from gnnc.targets.gpu.executor import BatchedExecutor
from gnnc.targets.gpu.out_of_core import OutOfCoreExecutor, StoredRun
from gnnc.targets.gpu.run_report import RunReport
from gnnc.verification import hash_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from gnnc.frontend.inputs import ModelInput

DEFAULT_MEMORY = "1GiB"
FORMAT = "4"
"""Of what lies in a store: a new one finds nothing of an old one."""


@dataclass(frozen=True)
class StoreOptions:
    """Where a store is, and what a run with it may use."""

    path: str | PathLike[str]
    memory: int | str | None
    batch_size: int | None
    threads: int | None


def run_in_store(
    executor: BatchedExecutor,
    inputs: Sequence[ModelInput],
    given: Mapping[str, Any],
    tensors: Mapping[str, torch.Tensor],
    counts: Mapping[str, int],
    wanted: Mapping[str, torch.Tensor] | None,
    options: StoreOptions,
    frozen: Sequence[str] = (),
) -> tuple[list[torch.Tensor], RunReport]:
    """The program's outputs, mapped from the store, and what the run took. `given` are the arrays behind `tensors`,
    `frozen` the names of weights that are arguments of @forward. Raises RunError."""
    with faults():
        keys = {i.key: array_key(given[i.key]) for i in inputs}
        edges = sorted((i.set_name, i.key, keys[i.key]) for i in inputs if not i.is_feature)
        graph_key = digest(FORMAT, str(edges), str(sorted(counts.items())))
        asked = "" if wanted is None else hash_of(wanted)
        run_key = digest(graph_key, str(executor.module), hash_of(executor.weights), str(sorted(keys.items())), asked)
        run = StoredRun(
            inputs={**{i.key: tensors[i.key] for i in inputs}, **{key: executor.weights[key] for key in frozen}},
            on_disk=frozenset(key for key in keys if isinstance(given[key], np.memmap)),
            counts=counts,
            wanted=wanted,
            graph_key=graph_key,
            run_key=run_key,
            memory=memory_bytes(DEFAULT_MEMORY if options.memory is None else options.memory),
            threads=options.threads or torch.get_num_threads(),
            batch_size=options.batch_size,
        )
        return OutOfCoreExecutor(executor).run(Path(options.path), run)


@contextmanager
def faults() -> Generator[None]:
    """What a machine lacks becomes a RunError, from the first moment on."""
    try:
        yield
    except ResourceError as error:
        raise RunError(str(error)) from error
    except Exception as error:
        if not is_out_of_memory(error):
            raise
        raise RunError(
            "memory ran out: free some, or give a smaller memory=; the same run goes on where this one stopped"
        ) from error


def array_key(array: Any) -> str:
    """What tells an array from another one: its contents, or the file that it is mapped from, as that was written."""
    if isinstance(array, np.memmap) and array.filename is not None:
        status = os.stat(array.filename)
        place = os.path.abspath(str(array.filename))
        return f"{place} {status.st_size} {status.st_mtime_ns} {array.shape} {array.dtype}"
    return hash_of({"": torch.as_tensor(array)})


def digest(*parts: str) -> str:
    found = hashlib.sha256()
    for part in parts:
        found.update(f"{len(part)}:{part}".encode())
    return found.hexdigest()[:16]
