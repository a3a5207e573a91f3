"""How far a run is, on the terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import Any

from gnnc.dialects.gnn import ConvBlockOp


@contextmanager
def progress(operations: Sequence[Any]) -> Generator[Callable[[float], None]]:
    """A progress bar on stderr when that is a terminal; yields a function that takes the share of a block just done."""
    if not sys.stderr.isatty():
        yield lambda share: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("block {task.fields[block]}"), BarColumn(), TimeRemainingColumn()
    blocks = sum(isinstance(op, ConvBlockOp) for op in operations)
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("run", total=blocks, block=f"1/{blocks}")
        done = 0.0

        def advance(share: float) -> None:
            nonlocal done
            done += share
            bar.update(task, completed=done, block=f"{min(blocks, int(done) + 1)}/{blocks}")

        yield advance
