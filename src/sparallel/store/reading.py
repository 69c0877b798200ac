"""From an experiment folder to records: canonical, whatever order things happened in."""

from __future__ import annotations

import contextlib
import json
import sqlite3
from pathlib import Path

from sparallel.errors import DamagedStoreError
from sparallel.loading import validate
from sparallel.records import DimensionRecord, ExperimentRecord, Status, StudyRecord, TrialRecord
from sparallel.spec import Experiment, Study
from sparallel.store.opening import open_for_reading, told_plainly
from sparallel.store.sessions import read_sessions
from sparallel.strategies.choice import strategy_of
from sparallel.strategies.facts import Run, TrialFacts, judge, winner
from sparallel.strategies.reruns import rerun_records


def load_experiment(folder: Path) -> ExperimentRecord:
    """Everything an experiment folder knows; works while a run is writing to it."""
    with contextlib.closing(open_for_reading(folder)) as connection, told_plainly(folder):
        # One read transaction: a run that commits meanwhile cannot show half of a step.
        connection.execute("BEGIN")
        experiment = read_spec(connection, folder)
        if experiment is None:
            raise DamagedStoreError(f"The store in {folder} holds no experiment.")
        studies = [
            Study(batch_size=batch_size, sparsity=sparsity)
            for batch_size, sparsity in connection.execute(
                "SELECT batch_size, sparsity FROM studies ORDER BY batch_size, sparsity"
            )
        ]
        records = [
            record for study in studies for record in _study_records(connection, experiment, study)
        ]
        sessions = read_sessions(connection)
    return ExperimentRecord(
        name=experiment.name,
        folder=str(folder),
        studies=tuple(records),
        spec=experiment.model_dump(mode="json"),
        sessions=sessions,
    )


def read_spec(connection: sqlite3.Connection, folder: Path) -> Experiment | None:
    """The folder's resolved experiment; None in a store just made."""
    row = connection.execute("SELECT spec FROM experiment").fetchone()
    if row is None:
        return None
    try:
        return validate(json.loads(row[0]), str(folder))
    except json.JSONDecodeError as error:
        raise DamagedStoreError(f"The store in {folder} is damaged: {error}.") from error


def read_facts(
    connection: sqlite3.Connection, experiment: Experiment, study: Study
) -> dict[Run, TrialFacts]:
    """What is known of every planned trial of a study, and of every rerun there has been."""
    where = "WHERE batch_size = ? AND sparsity = ?"
    key = (study.batch_size, study.sparsity)
    arrivals = {
        (Run(trial, seed), goal): steps
        for trial, seed, goal, steps in connection.execute(
            f"SELECT trial, seed, goal_error, steps FROM arrivals {where}", key
        )
    }
    facts = {
        Run(trial, experiment.seed): nothing_known(experiment) for trial in range(experiment.trials)
    }
    for trial, seed, step, infeasible_at, failure in connection.execute(
        f"SELECT trial, seed, step, infeasible_at, failure FROM trials {where}", key
    ):
        run = Run(trial, seed)
        reached = tuple(arrivals.get((run, goal)) for goal in experiment.goal_errors)
        facts[run] = TrialFacts(step, reached, infeasible_at, failed=failure is not None)
    return facts


def nothing_known(experiment: Experiment) -> TrialFacts:
    """The facts of a trial that has not started."""
    return TrialFacts(step=0, reached=(None,) * len(experiment.goal_errors))


def _study_records(
    connection: sqlite3.Connection, experiment: Experiment, study: Study
) -> list[StudyRecord]:
    known = read_facts(connection, experiment, study)
    facts = [known[Run(trial, experiment.seed)] for trial in range(experiment.trials)]
    bound = strategy_of(experiment).bound(facts, experiment.last_check)
    key = (study.batch_size, study.sparsity)
    trained, checked, seconds = connection.execute(
        "SELECT coalesce(sum(examples_trained), 0), coalesce(sum(examples_checked), 0), "
        "coalesce(sum(seconds), 0.0) FROM trials WHERE batch_size = ? AND sparsity = ?",
        key,
    ).fetchone()
    tests = {
        (goal, trial): test_error
        for goal, trial, test_error in connection.execute(
            "SELECT goal_error, trial, test_error FROM winners "
            "WHERE batch_size = ? AND sparsity = ?",
            key,
        )
    }
    points = experiment.search_space.points(experiment.trials)
    records = []
    for goal, goal_error in enumerate(experiment.goal_errors):
        judgements = judge(facts, goal, bound, experiment.last_check)
        best = winner(judgements)
        unsettled = any(j.status in (Status.PENDING, Status.FAILED) for j in judgements)
        reruns = [] if best is None or unsettled else rerun_records(experiment, known, goal, best)
        records.append(
            StudyRecord(
                workload=experiment.name,
                data=experiment.data,
                model=experiment.model,
                optimizer=experiment.optimizer,
                schedule=experiment.schedule,
                batch_size=study.batch_size,
                sparsity=study.sparsity,
                goal_error=goal_error,
                check_interval=experiment.check_interval,
                max_steps=experiment.max_steps,
                seed=experiment.seed,
                strategy=experiment.strategy,
                finishers=experiment.race.finishers,
                finished=not unsettled,
                space=tuple(
                    DimensionRecord(name, dimension.low, dimension.high, dimension.scale)
                    for name, dimension in experiment.search_space.dimensions.items()
                ),
                trials=tuple(
                    TrialRecord(trial, points[trial], judgement.status, judgement.steps)
                    for trial, judgement in enumerate(judgements)
                ),
                steps_to_result=best.steps if best else None,
                best_trial=best.trial if best else None,
                ties=best.ties if best else (),
                test_error=tests.get((goal_error, best.trial)) if best else None,
                examples_trained=trained,
                examples_checked=checked,
                seconds=seconds,
                repeats=tuple(reruns),
            )
        )
    return records
