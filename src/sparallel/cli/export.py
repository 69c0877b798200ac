"""`sparallel export`: an experiment's results in another tool's format."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from sparallel.export import ExportFormat, export_experiment
from sparallel.store.reading import load_experiment


def export(
    folder: Annotated[
        Path, typer.Argument(metavar="DIR", help="An experiment folder.", show_default=False)
    ],
    to: Annotated[ExportFormat, typer.Option("--to", help="The format.", show_default=False)],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder to write to.", show_default="DIR/export"),
    ] = None,
) -> None:
    """Write studies and trials as CSV, Parquet or an Optuna storage; never over an export."""
    for path in export_experiment(load_experiment(folder), to, out or folder / "export"):
        typer.echo(path)
