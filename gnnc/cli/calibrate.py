"""gnnc calibrate."""

from __future__ import annotations

import json
from dataclasses import asdict

import click

from gnnc.cli import options


@click.command("calibrate")
@options.threads
@options.json
def command(threads: int | None, as_json: bool) -> None:
    """Measure on this machine when sparse features are worth reading as such.

    Programs that are compiled afterwards decide by these figures; without, they decide by those of another machine.
    They are kept in $GNNC_CACHE, for this processor and this number of threads.

    \b
    gnnc calibrate
    gnnc calibrate --threads 1
    """
    import torch

    from gnnc.errors import RunError
    from gnnc.targets.gpu.calibration import BusyMachineError, keep, measure

    if threads is not None and threads < 1:
        raise RunError(f"threads is {threads}: give the number of threads, 1 or more")
    used = threads or torch.get_num_threads()
    try:
        prices = measure(used)
    except BusyMachineError:
        raise RunError("other work on this machine has spoilt the times: calibrate again when it is idle") from None
    path = keep(prices, used)
    if as_json:
        click.echo(json.dumps({"threads": used, "file": None if path is None else str(path), **asdict(prices)}))
        return
    click.echo("Density below which sparse features are multiplied as such, by columns and by those of the result:")
    click.echo("".join(f"{text:>8}" for text in ("", *prices.widths)))
    for columns in prices.columns:
        row = [f"{prices.crossover(columns, width):.2f}" for width in prices.widths]
        click.echo("".join(f"{text:>8}" for text in (columns, *row)))
    click.echo(f"kept in {path}, for {used} threads" if path is not None else "not kept: the cache can't be written")
