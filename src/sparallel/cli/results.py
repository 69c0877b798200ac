"""`sparallel results`: K* of every study."""

from __future__ import annotations

import csv
import json
import sys
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from sparallel.cli import options
from sparallel.errors import SpecError
from sparallel.records import ExperimentRecord, StudyRecord
from sparallel.store.reading import load_experiment
from sparallel.tables import study_row


def results(
    folder: options.FolderArgument,
    json_: options.Json = False,
    csv_: Annotated[bool, typer.Option("--csv", help="CSV on standard output.")] = False,
) -> None:
    """Print the steps-to-result of every study of an experiment folder."""
    if json_ and csv_:
        raise SpecError("--json and --csv exclude each other: choose one.")
    record = load_experiment(folder)
    rows = [study_row(study) for study in record.studies]
    if json_:
        typer.echo(json.dumps(rows, indent=2))
    elif csv_:
        _write_csv(rows)
    else:
        print_table(record, Console())


def _write_csv(rows: list[dict[str, object]]) -> None:
    writer = csv.DictWriter(sys.stdout, fieldnames=list(rows[0]) if rows else [])
    writer.writeheader()
    for row in rows:
        nested = {"ties", "best_metaparameters"}
        writer.writerow({k: json.dumps(v) if k in nested else v for k, v in row.items()})


def print_table(record: ExperimentRecord, console: Console) -> None:
    """The table of results, a row a study and goal."""
    table = Table(title=f"Steps-to-result: {record.name}", title_justify="left")
    for column in ("batch size", "sparsity", "goal error", "K*"):
        table.add_column(column, justify="right")
    table.add_column("best metaparameters")
    for column in ("test error", "trials", "examples to result"):
        table.add_column(column, justify="right")
    for study in record.studies:
        table.add_row(*_cells(study))
    console.print(table)


def _cells(study: StudyRecord) -> list[str]:
    best = study.best_metaparameters or {}
    steps = "none" if study.steps_to_result is None else str(study.steps_to_result)
    if not study.finished:
        steps = "open" if study.steps_to_result is None else f"<= {steps}"
    ties = f" (tied with {', '.join(map(str, study.ties))})" if study.ties else ""
    examples = (
        "" if study.steps_to_result is None else f"{study.steps_to_result * study.batch_size:,}"
    )
    return [
        str(study.batch_size),
        f"{study.sparsity:g}",
        f"{study.goal_error:g}",
        steps,
        ", ".join(f"{name} {value:.4g}" for name, value in best.items()) + ties,
        "" if study.test_error is None else f"{study.test_error:.4f}",
        str(len(study.trials)),
        examples,
    ]
