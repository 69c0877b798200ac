"""`sparallel results`: K* of every study."""

from __future__ import annotations

import csv
import json
import sys
from typing import Annotated

import typer
from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.table import Table

from sparallel.analysis import analyse
from sparallel.cli import options
from sparallel.errors import SpecError
from sparallel.records import ExperimentRecord, StudyRecord
from sparallel.report.terminal import print_analysis
from sparallel.store.reading import load_experiment
from sparallel.tables import study_row


def results(
    folder: options.FolderArgument,
    json_: options.Json = False,
    csv_: Annotated[bool, typer.Option("--csv", help="CSV on standard output.")] = False,
) -> None:
    """Print the answer: steps-to-result of every study, the fit, the critical batch size.

    K* is the fewest steps that reached the goal over the trials; docs/statistics.md says what
    every number means.
    """
    if json_ and csv_:
        raise SpecError("--json and --csv exclude each other: choose one.")
    record = load_experiment(folder)
    rows = [study_row(study) for study in record.studies]
    if json_:
        typer.echo(json.dumps(rows, indent=2))
    elif csv_:
        _write_csv(rows)
    else:
        console = Console()
        print_winners(record, console)
        print_analysis(analyse([record]), console)


def _write_csv(rows: list[dict[str, object]]) -> None:
    writer = csv.DictWriter(sys.stdout, fieldnames=list(rows[0]) if rows else [])
    writer.writeheader()
    for row in rows:
        nested = {"ties", "best_metaparameters"}
        writer.writerow({k: json.dumps(v) if k in nested else v for k, v in row.items()})


def print_winners(record: ExperimentRecord, console: Console) -> None:
    """Every study's winner: a row a study and goal."""
    title = f"{record.name}: the best trial of every study"
    table = Table(title=title, title_justify="left", box=SIMPLE_HEAD, title_style="bold")
    for column in ("B", "sparsity", "goal", "K*", "trial"):
        table.add_column(column, justify="right")
    table.add_column("best metaparameters")
    table.add_column("test error", justify="right")
    for study in record.studies:
        table.add_row(*_cells(study))
    console.print(table)


def _cells(study: StudyRecord) -> list[str]:
    best = study.best_metaparameters or {}
    steps = "none" if study.steps_to_result is None else str(study.steps_to_result)
    if not study.finished:
        steps = "open" if study.steps_to_result is None else f"<= {steps}"
    ties = f" (ties: {', '.join(map(str, study.ties))})" if study.ties else ""
    return [
        str(study.batch_size),
        f"{study.sparsity:g}",
        f"{study.goal_error:g}",
        steps,
        "" if study.best_trial is None else str(study.best_trial),
        ", ".join(f"{name} {value:.4g}" for name, value in best.items()) + ties,
        "" if study.test_error is None else f"{study.test_error:.4f}",
    ]
