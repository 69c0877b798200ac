"""The paper's MNIST plan as three stores on disk, from generated records.

Rows go into the tables in one transaction a store: a run's own way, one a trial and each safe
on the disk, would take longer than the report.
"""

from __future__ import annotations

import json
from pathlib import Path

from sparallel.loading import load_spec
from sparallel.records import Status, StudyRecord
from sparallel.spec import Experiment
from sparallel.store.store import Store
from tests.generated import full_size_experiment

REPEATS = 3


def write_stores(folder: Path) -> list[Path]:
    """A folder an optimizer, 56 studies of 100 trials in each."""
    studies = full_size_experiment().studies
    made = []
    for optimizer in ("sgd", "momentum", "nesterov"):
        asked = {"strategy": "exhaustive", "repeats": REPEATS}
        experiment = load_spec(f"mnist-{optimizer}", asked)
        store = Store(folder / optimizer, experiment)
        try:
            with store._writer.transaction() as connection:
                for study in studies:
                    if study.optimizer == optimizer:
                        trials, arrivals, winners = _rows(study, experiment)
                        connection.executemany(_insert("trials", 14), trials)
                        connection.executemany(_insert("arrivals", 6), arrivals)
                        connection.executemany(_insert("winners", 10), winners)
            store.sessions.begin({"command": f"sparallel run {experiment.name}"})
            store.sessions.end("finished")
        finally:
            store.close()
        made.append(folder / optimizer)
    return made


def _insert(table: str, columns: int) -> str:
    return f"INSERT INTO {table} VALUES ({', '.join('?' * columns)})"


Row = tuple[object, ...]


def _rows(study: StudyRecord, experiment: Experiment) -> tuple[list[Row], list[Row], list[Row]]:
    key = (study.batch_size, study.sparsity)
    points = experiment.search_space.points(experiment.trials)
    trials: list[Row] = []
    arrivals: list[Row] = []

    def add(trial: int, seed: int, status: Status, steps: int) -> None:
        diverged = steps if status is Status.INFEASIBLE else None
        costs = (steps * study.batch_size, steps * 20, steps // 16, steps / 1000)
        settings = json.dumps(dict(points[trial]))
        trials.append((*key, trial, seed, settings, steps, diverged, None, None, None, *costs))
        if status is Status.COMPLETE:
            arrivals.append((*key, trial, seed, study.goal_error, steps))

    for trial in study.trials:
        add(trial.trial, experiment.seed, trial.status, trial.steps)
    best, steps = study.best_trial, study.steps_to_result
    if best is None or steps is None:
        return trials, arrivals, []
    for number, rerun in enumerate(study.repeats):
        add(best, experiment.seed + number + 1, rerun.status, rerun.steps or study.max_steps)
    winner = (*key, study.goal_error, best, steps, None, None, None, None, study.test_error)
    return trials, arrivals, [winner]
