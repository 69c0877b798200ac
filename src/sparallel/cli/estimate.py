"""`sparallel estimate`: what an experiment would cost here, before it runs."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import typer
from rich.console import Console
from rich.table import Table

from sparallel.cli import options
from sparallel.spec import Experiment


def estimate(
    experiment: options.ExperimentArgument,
    batch_sizes: options.BatchSizes = None,
    sparsities: options.Sparsities = None,
    trials: options.Trials = None,
    max_steps: options.MaxSteps = None,
    strategy: options.Strategy = None,
    workers: options.Workers = None,
    data_dir: options.DataDir = None,
    settings: options.Set = None,
    json_: options.Json = False,
) -> None:
    """Estimate what an experiment would cost on this machine.

    The speed is measured here (a few seconds, kept for next time); the steps are those earlier
    runs of the preset needed. Where nothing is known of them, only the ceiling is given: every
    trial to its full budget.
    """
    asked = options.experiment_of(
        experiment,
        batch_sizes=batch_sizes,
        sparsities=sparsities,
        trials=trials,
        max_steps=max_steps,
        strategy=strategy,
        settings=settings,
    )
    document = _estimate(asked, options.worker_count(workers), data_dir)
    if json_:
        typer.echo(json.dumps(document, indent=2))
        return
    _print(document)


def _estimate(asked: Experiment, count: int, data_dir: Path | None) -> dict[str, object]:
    from sparallel.calibration import measured_speed, study_cost
    from sparallel.data import DATA_SETS
    from sparallel.data.source import data_folder
    from sparallel.forecast import expected_steps

    source = DATA_SETS.get(asked.data)
    folder = data_folder(data_dir).absolute()
    source.verify(folder)
    speeds = {
        sparsity: measured_speed(asked, sparsity, folder, count)
        for sparsity in {0.0, *asked.sparsities}
    }
    rows: list[dict[str, object]] = []
    total: float | None = 0.0
    ceiling = 0.0
    for study in asked.studies:
        speed = speeds[study.sparsity]
        most = study_cost(asked, study, asked.last_check, speed, source.validation_size)
        steps = expected_steps(asked, study, {})
        if asked.strategy == "exhaustive":
            steps = asked.last_check
        likely = None
        if steps is not None:
            likely = study_cost(asked, study, steps, speed, source.validation_size).seconds / count
        ceiling += most.seconds / count
        total = None if total is None or likely is None else total + likely
        rows.append(
            {
                "batch_size": study.batch_size,
                "sparsity": study.sparsity,
                "expected_steps_to_result": None if steps is None else round(steps),
                "seconds": None if likely is None else round(likely, 1),
                "seconds_at_most": round(most.seconds / count, 1),
            }
        )
    # One pass of the pruning method over the training set a trial, shared by all studies.
    pruned = any(study.sparsity > 0 for study in asked.studies)
    pruning = asked.trials * speeds[0.0].step(source.train_size) / count if pruned else 0.0
    return {
        "name": asked.name,
        "workers": count,
        "trials": asked.trials,
        "studies": rows,
        "seconds_pruning": round(pruning, 1),
        "seconds": None if total is None else round(total + pruning, 1),
        "seconds_at_most": round(ceiling + pruning, 1),
    }


def _time(seconds: object) -> str:
    return "?" if seconds is None else str(timedelta(seconds=round(float(str(seconds)))))


def _print(document: dict[str, object]) -> None:
    workers = "1 worker" if document["workers"] == 1 else f"{document['workers']} workers"
    table = Table(title=f"{document['name']} on {workers}", title_justify="left")
    for column in ("batch size", "sparsity", "expected K*", "time", "at most"):
        table.add_column(column, justify="right")
    rows = document["studies"]
    assert isinstance(rows, list)
    for row in rows:
        steps = row["expected_steps_to_result"]
        table.add_row(
            str(row["batch_size"]),
            f"{row['sparsity']:g}",
            "?" if steps is None else str(steps),
            _time(row["seconds"]),
            _time(row["seconds_at_most"]),
        )
    console = Console()
    console.print(table)
    console.print(
        f"In all about {_time(document['seconds'])} (of it {_time(document['seconds_pruning'])} "
        f"for pruning, once); at most {_time(document['seconds_at_most'])} if no trial ever "
        "reaches the goal.",
        highlight=False,
    )
