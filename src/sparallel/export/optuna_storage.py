"""Export as an Optuna storage: an SQLite file that optuna-dashboard and Optuna's plots open.

One Optuna study a study and goal, to be minimised; its value is steps-to-result. Optuna knows no
"stopped because it could not win" and no "diverged", so statuses map like this, and every trial
keeps its own in the user attribute `status`:

    complete               COMPLETE, value K
    beaten, incomplete     PRUNED, value (and one intermediate value) the step it was last checked
                           at, below its K: Optuna too gives a pruned trial its last value
    infeasible, failed     FAIL
    pending                left out: counted in the study's attribute `pending`
"""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparallel.errors import SpecError
from sparallel.records import (
    DimensionRecord,
    ExperimentRecord,
    Status,
    StudyRecord,
    TrialRecord,
)

if TYPE_CHECKING:
    from optuna.distributions import BaseDistribution
    from optuna.trial import FrozenTrial

FILES = ("optuna.db",)


def write(experiment: ExperimentRecord, folder: Path) -> None:
    """Write optuna.db into the folder."""
    try:
        import optuna
        from sqlalchemy import event
    except ImportError as error:
        raise SpecError(
            "Exporting to optuna needs Optuna, which is not installed: "
            "install it with `pip install 'sparallel[optuna]'`, or export with --to csv."
        ) from error
    loudness = optuna.logging.get_verbosity()
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    storage = optuna.storages.RDBStorage(f"sqlite:///{folder / FILES[0]}")
    # A file nobody else sees yet: a half-written one is thrown away, so no write need wait.
    event.listen(storage.engine, "connect", _hurry)
    storage.engine.dispose()
    try:
        for name, study in _named(experiment.studies):
            exported = optuna.create_study(
                storage=storage, study_name=name, direction=optuna.study.StudyDirection.MINIMIZE
            )
            with warnings.catch_warnings():  # "experimental" since Optuna 3.2, of 2023
                warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
                exported.set_metric_names(["steps_to_result"])
            for key, value in _attributes(experiment, study).items():
                exported.set_user_attr(key, value)
            distributions = {_name(d): _distribution(d, study.trials) for d in study.space}
            exported.add_trials(
                _trial(study, trial, distributions)
                for trial in study.trials
                if trial.status is not Status.PENDING
            )
    finally:
        storage.remove_session()
        storage.engine.dispose()
        optuna.logging.set_verbosity(loudness)


def _hurry(connection: Any, _record: object) -> None:
    connection.execute("PRAGMA synchronous = OFF")
    connection.execute("PRAGMA journal_mode = MEMORY")


def _named(studies: tuple[StudyRecord, ...]) -> list[tuple[str, StudyRecord]]:
    return [(_title(study), study) for study in studies]


def _title(study: StudyRecord) -> str:
    return (
        f"{study.workload} goal={study.goal_error:g} "
        f"B={study.batch_size} sparsity={study.sparsity:g} seed={study.seed}"
    )


def _attributes(experiment: ExperimentRecord, study: StudyRecord) -> dict[str, Any]:
    return {
        "experiment": experiment.name,
        "workload": study.workload,
        "batch_size": study.batch_size,
        "sparsity": study.sparsity,
        "goal_error": study.goal_error,
        "check_interval": study.check_interval,
        "max_steps": study.max_steps,
        "seed": study.seed,
        "strategy": study.strategy,
        "finished": study.finished,
        "pending": study.count(Status.PENDING),
        "steps_to_result": study.steps_to_result,
        "best_trial": study.best_trial,
    }


def _name(dimension: DimensionRecord) -> str:
    """Optuna has no reverse-log scale: such a metaparameter becomes 1 - itself, which is log."""
    reverse = dimension.scale == "reverse-log"
    return f"one_minus_{dimension.name}" if reverse else dimension.name


def _value(dimension: DimensionRecord, value: float) -> float:
    return 1 - value if dimension.scale == "reverse-log" else value


def _distribution(dimension: DimensionRecord, trials: tuple[TrialRecord, ...]) -> BaseDistribution:
    from optuna.distributions import FloatDistribution, IntDistribution

    # The trials' own values too: 1 - momentum may round to a hair outside its range.
    values = [_value(dimension, v) for v in (dimension.low, dimension.high)]
    values += [_value(dimension, t.metaparameters[dimension.name]) for t in trials]
    if dimension.scale == "linear" and all(float(v).is_integer() for v in values):
        return IntDistribution(int(min(values)), int(max(values)))  # decay steps
    return FloatDistribution(min(values), max(values), log=dimension.scale != "linear")


def _trial(
    study: StudyRecord, trial: TrialRecord, distributions: dict[str, BaseDistribution]
) -> FrozenTrial:
    from optuna.trial import TrialState, create_trial

    complete = trial.status is Status.COMPLETE
    pruned = trial.status in (Status.BEATEN, Status.INCOMPLETE)
    unsuccessful = TrialState.PRUNED if pruned else TrialState.FAIL
    return create_trial(
        state=TrialState.COMPLETE if complete else unsuccessful,
        value=float(trial.steps) if complete or pruned else None,
        params={_name(d): _value(d, trial.metaparameters[d.name]) for d in study.space},
        distributions=distributions,
        intermediate_values={trial.steps: float(trial.steps)} if pruned else None,
        # Few: Optuna's SQLite storage spends most of an export's time on attributes.
        user_attrs={"trial": trial.trial, "status": trial.status.value},
    )
