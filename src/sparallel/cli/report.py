"""`sparallel report`: the figures and the report of one or more experiment folders."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.progress import Progress, TextColumn

from sparallel.errors import StoreError
from sparallel.store.reading import load_experiment


def report(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...", help="Experiment folders; several are combined.", show_default=False
        ),
    ],
    out: Annotated[
        Path | None,
        typer.Option("--out", help="Folder to write to.", show_default="DIR/report of the first"),
    ] = None,
    figures: Annotated[
        bool, typer.Option(help="Write the figure files too, which takes most of the time.")
    ] = True,
) -> None:
    """Write the report, one HTML file that opens offline, and the figures of a paper."""
    # Here, so that other commands do not wait for matplotlib and Plotly.
    from sparallel.analysis import analyse
    from sparallel.figures import draw_all
    from sparallel.figures.draw import plan_figures
    from sparallel.report.html import write_report

    distinct = list({folder.resolve(): folder for folder in folders}.values())
    experiments = [load_experiment(folder) for folder in distinct]
    target = out or folders[0] / "report"
    analysis = analyse(experiments)
    try:
        drawn = []
        if figures:
            workers = min(3, os.cpu_count() or 1)  # each holds about 200 MB
            planned = sum(1 for _ in plan_figures(experiments, analysis))
            with _progress(planned) as say:
                drawn = draw_all(experiments, analysis, target / "figures", say, workers=workers)
        path = write_report(experiments, analysis, target, drawn)
    except OSError as error:
        raise StoreError(
            f"The report cannot be written to {target} ({error.strerror}): "
            "name another folder with --out."
        ) from error
    for sentence in analysis.answer:
        typer.echo(sentence)
    typer.echo(path)


@contextmanager
def _progress(figures: int) -> Iterator[Callable[[str], None]]:
    """A bar with the time left on a terminal, a line a figure elsewhere."""
    console = Console(stderr=True)
    if not console.is_terminal:
        yield lambda figure: typer.echo(f"drew {figure}", err=True)
        return
    columns = (*Progress.get_default_columns(), TextColumn("{task.fields[figure]}"))
    with Progress(*columns, console=console, transient=True) as progress:
        task = progress.add_task("drawing", total=figures, figure="")
        yield lambda figure: progress.update(task, advance=1, figure=figure)
