"""The `sparallel` command."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from sparallel import __version__
from sparallel.cli.data import app as data_app
from sparallel.cli.estimate import estimate
from sparallel.cli.export import export
from sparallel.cli.listing import list_parts
from sparallel.cli.report import report
from sparallel.cli.results import results
from sparallel.cli.run import run
from sparallel.cli.smoothness import smoothness
from sparallel.cli.status import status
from sparallel.errors import SparallelError

app = typer.Typer(
    name="sparallel",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help=(
        "Measures how far neural-network training parallelises, and what sparsity does to it.\n\n"
        "For every batch size and sparsity of a workload it finds the fewest training steps that "
        "reach the goal error, over a search of metaparameters.\n\n"
        "Start with:  [bold]sparallel run quickstart[/bold]  (minutes, nothing to download), then "
        "[bold]sparallel list[/bold]  for the paper's workloads."
    ),
    epilog="Exit status: 0 done; 1 a trial failed; 2 bad input; 130 stopped by Ctrl-C, all saved.",
)


def _version(asked: bool) -> None:
    if asked:
        print(f"sparallel {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    del version


app.command()(run)
app.command(name="list")(list_parts)
app.command()(estimate)
app.command()(status)
app.command()(results)
app.command()(report)
app.command()(export)
app.command()(smoothness)
app.add_typer(data_app, name="data")


def main() -> None:
    """Run the command line; an error a user can mend is one sentence and exit status 2."""
    try:
        app()
    except SparallelError as error:
        print(f"sparallel: {error}", file=sys.stderr)
        sys.exit(2)
    except BrokenPipeError:  # `sparallel results DIR | head`
        sys.stderr.close()
        sys.exit(0)
