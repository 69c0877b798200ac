"""`sparallel report`: the figures and the report of experiment and smoothness folders."""

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
from sparallel.smoothness.finding import holds_smoothness, smoothness_beside
from sparallel.smoothness.reading import load_smoothness
from sparallel.store.reading import load_experiment


def report(
    folders: Annotated[
        list[Path],
        typer.Argument(
            metavar="DIR...",
            help="Experiment folders and smoothness folders; several are combined. "
            "The smoothness in DIR/smoothness is found by itself.",
            show_default=False,
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
    from sparallel.smoothness.why import explain
    from sparallel.smoothness.words import answer_sentences

    measured = [folder for folder in folders if not holds_smoothness(folder)]
    beside = [own for folder in measured if (own := smoothness_beside(folder)) is not None]
    explored = [folder for folder in folders if holds_smoothness(folder)]
    experiments = [load_experiment(folder) for folder in _distinct(measured)]
    target = out or folders[0] / "report"
    analysis = analyse(experiments)
    why = [explain(load_smoothness(own), analysis) for own in _distinct([*beside, *explored])]
    try:
        drawn = []
        if figures:
            workers = min(3, os.cpu_count() or 1)  # each holds about 200 MB
            planned = sum(1 for _ in plan_figures(experiments, analysis, why))
            with _progress(planned) as say:
                drawn = draw_all(
                    experiments, analysis, target / "figures", say, workers=workers, why=why
                )
        path = write_report(experiments, analysis, target, drawn, why)
    except OSError as error:
        raise StoreError(
            f"The report cannot be written to {target} ({error.strerror}): "
            "name another folder with --out."
        ) from error
    reasons = [sentence for own in why for sentence in answer_sentences(own)]
    for sentence in (*(analysis.answer if experiments else ()), *reasons):
        typer.echo(sentence)
    typer.echo(path)


def _distinct(folders: list[Path]) -> list[Path]:
    """Each folder once, however it is spelled."""
    return list({folder.resolve(): folder for folder in folders}.values())


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
