"""The entry point of `gnnc`, and what all commands share: errors in one sentence, exit codes, progress on terminals.

Exit codes: 0 done; 1 `verify` found a difference; 2 something that was given is wrong; 130 interrupted.
"""

from __future__ import annotations

import sys
import warnings
from importlib import import_module
from typing import Any

import click

from gnnc import __version__
from gnnc.errors import GnncError

COMMANDS = ("compile", "run", "verify", "inspect", "explain", "simulate", "calibrate")


class Commands(click.Group):
    """Finds a command in the module of its name, so that `--help` loads none of what the commands need."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        return import_module(f"gnnc.cli.{cmd_name}").command


@click.command(
    cls=Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 110},
    epilog="Exit codes: 0 done; 1 verify found a difference; 2 something that was given is wrong.",
)
@click.version_option(__version__, prog_name="gnnc", message="%(prog)s %(version)s")
def gnnc() -> None:
    """Compile graph neural networks for exact inference, layer by layer.

    \b
    gnnc compile model.py:build --weights weights.pt --graph graph.npz -o out.gnnc
    gnnc run out.gnnc --graph graph.npz -o embeddings.npy
    gnnc verify out.gnnc --graph graph.npz --model model.py:build --weights weights.pt
    gnnc simulate fpga.gnnc --graph graph.npz
    """


def main(arguments: list[str] | None = None) -> None:
    """The console script `gnnc`."""
    warnings.showwarning = show_warning
    try:
        gnnc.main(arguments, standalone_mode=True)
    except GnncError as error:
        fail(str(error))
    except BrokenPipeError:
        # the reader of a pipe, such as head, has seen enough
        sys.stderr.close()
        sys.exit(0)
    except Exception as error:
        from gnnc.targets.gpu.errors import is_out_of_memory

        if not is_out_of_memory(error):
            raise
        fail("memory ran out: free some, or run with --memory and --store, which need less")


def fail(message: str) -> None:
    """Says what is wrong, in one sentence, and ends with exit code 2."""
    click.secho("error: ", fg="red", bold=True, nl=False, err=True)
    click.echo(message, err=True)
    sys.exit(2)


def show_warning(message: Warning | str, category: type[Warning], *_: Any, **__: Any) -> None:
    """gnnc's own warnings as a line; those of libraries are not for the user of a command."""
    if category is UserWarning and "is in training mode" in str(message):
        click.secho("note: ", fg="yellow", nl=False, err=True)
        click.echo(str(message), err=True)


if __name__ == "__main__":
    main()
