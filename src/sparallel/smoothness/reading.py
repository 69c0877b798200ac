"""From a smoothness folder to its record; needs no torch, and works while a run is writing."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path

from pydantic import ValidationError

from sparallel.data import DATA_SETS
from sparallel.errors import DamagedStoreError
from sparallel.smoothness.plan import Plan
from sparallel.smoothness.records import PathRecord, PointRecord, SmoothnessRecord
from sparallel.store.opening import open_for_reading, told_plainly
from sparallel.store.schema import SMOOTHNESS
from sparallel.store.sessions import read_sessions


def load_smoothness(folder: Path) -> SmoothnessRecord:
    """Everything a smoothness folder knows."""
    with (
        contextlib.closing(open_for_reading(folder, SMOOTHNESS)) as connection,
        told_plainly(folder),
    ):
        # One read transaction: a run that commits meanwhile cannot show half of a step.
        connection.execute("BEGIN")
        plan = read_plan(connection, folder)
        if plan is None:
            raise DamagedStoreError(f"The store in {folder} holds no plan of what to measure.")
        paths = tuple(read_path(connection, plan, *key) for key in plan.paths)
        sessions = read_sessions(connection)
    experiment = plan.experiment
    return SmoothnessRecord(
        name=experiment.name,
        folder=str(folder),
        data=experiment.data,
        model=experiment.model,
        optimizer=experiment.optimizer,
        schedule=experiment.schedule,
        goal_errors=experiment.goal_errors,
        batch_size=plan.batch_size,
        metaparameters=dict(plan.metaparameters),
        steps=plan.steps,
        examples=plan.examples,
        train_examples=DATA_SETS.get(experiment.data).train_size,
        paths=paths,
        spec=plan.model_dump(mode="json"),
        sessions=sessions,
    )


def read_plan(connection: sqlite3.Connection, folder: Path) -> Plan | None:
    """What the folder measures; None in a store just made."""
    row = connection.execute("SELECT plan FROM plan").fetchone()
    if row is None:
        return None
    try:
        return Plan.model_validate(json.loads(row[0]))
    except (json.JSONDecodeError, ValidationError) as error:
        why = str(error).splitlines()[0]
        raise DamagedStoreError(f"The store in {folder} is damaged: {why}.") from error


def read_path(connection: sqlite3.Connection, plan: Plan, sparsity: float, seed: int) -> PathRecord:
    """What is known of one run; of one that has not started, that it is planned."""
    key = (sparsity, seed)
    row = connection.execute(
        "SELECT step, infeasible_at FROM paths WHERE sparsity = ? AND seed = ?", key
    ).fetchone()
    step, infeasible_at = row or (0, None)
    points = tuple(
        PointRecord(*values)
        for values in connection.execute(
            "SELECT step, learning_rate, train_loss, train_error, validation_loss, "
            "validation_error, lipschitz, lipschitz_error, gradient_squared, variance "
            "FROM points WHERE sparsity = ? AND seed = ? ORDER BY step",
            key,
        )
    )
    finished = infeasible_at is not None or step > plan.points[-1]
    return PathRecord(sparsity, seed, points, step, infeasible_at, finished)
