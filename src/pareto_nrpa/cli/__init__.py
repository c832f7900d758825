"""The command line: parses arguments, calls the library, prints.

Each command, or group of commands, is a module here. Heavy imports happen inside the commands, so that `--help` is
fast.
"""

from __future__ import annotations

import io
import os
import shlex
import sys
from typing import Annotated, Any, NoReturn

import typer

from .. import __version__
from . import certify, compare, experiment, info, show, solve
from .common import fail, say_lines

_TRACEBACK = "PARETO_NRPA_TRACEBACK"
_INTERRUPTED = 130

app = typer.Typer(
    help="Find trade-offs in discrete multi-objective problems by Monte-Carlo search (Pareto-NRPA, ECAI 2025).",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)

# A new command is a module beside this one and a line here; a new group has a typer app of its own.
app.command(rich_help_panel="Search")(solve.solve)
app.command(rich_help_panel="Search")(show.show)
app.command(rich_help_panel="Search")(show.report)
app.command(rich_help_panel="Prove")(certify.certify)
app.command(rich_help_panel="Compare")(compare.compare)
app.command(rich_help_panel="Set up")(info.info)
app.add_typer(experiment.app, name="experiment", rich_help_panel="Compare")
app.add_typer(info.data, name="data", rich_help_panel="Set up")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"pareto-nrpa {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


# The errors of click for invalid arguments, wherever typer keeps its click.
_ClickException: Any = next(c for c in typer.BadParameter.__mro__ if c.__name__ == "ClickException")


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line; a mistake becomes one sentence and exit code 2."""
    for stream in (sys.stdout, sys.stderr):  # a name that the terminal cannot show must not end the output
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    try:
        words = sys.argv[1:] if arguments is None else arguments
        code = app(arguments, standalone_mode=False, obj=shlex.join(["pareto-nrpa", *words])) or 0
        if code == _INTERRUPTED:  # typer returns this for Ctrl-C instead of raising
            raise KeyboardInterrupt
        sys.exit(code)
    except _ClickException as error:
        if type(error).__name__ == "NoArgsIsHelpError":
            say_lines(error.format_message())
            sys.exit(0)
        fail(error.format_message())
    except (KeyboardInterrupt, typer.Abort):
        typer.echo("Interrupted.", err=True)
        sys.exit(_INTERRUPTED)
    except BrokenPipeError:  # the output was closed by its reader
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except Exception as error:
        if os.environ.get(_TRACEBACK):
            raise
        if isinstance(error, MemoryError):
            fail("out of memory; use fewer cities, policies or levels.")
        if isinstance(error, ValueError | ImportError | OSError):
            fail(str(error))
        fail(f"{type(error).__name__}: {error} (this should not happen; {_TRACEBACK}=1 shows where).")
