"""An experiment as two flat tables: every study against every goal, and every trial of them."""

from __future__ import annotations

from sparallel.records import ExperimentRecord, Status, StudyRecord
from sparallel.tabular import Cell, Table

_STUDY = (
    "experiment",
    "workload",
    "data",
    "model",
    "optimizer",
    "schedule",
    "batch_size",
    "sparsity",
    "goal_error",
    "seed",
)
_RESULT = (
    "check_interval",
    "max_steps",
    "strategy",
    "finishers",
    "finished",
    "trials",
    *(status.value for status in Status),
    "steps_to_result",
    "best_trial",
    "ties",
    "test_error",
    "repeats",
    "repeats_complete",
    "examples_trained",
    "examples_checked",
    "seconds",
)


def studies_table(experiment: ExperimentRecord) -> Table:
    """A row a study and goal: what was asked, K*, its winner and what it cost."""
    names = _metaparameter_names(experiment)
    rows: list[dict[str, Cell]] = []
    for study in experiment.studies:
        best = study.best_metaparameters or {}
        rows.append(
            {
                **_identity(experiment, study),
                **{name: getattr(study, name) for name in _RESULT if hasattr(study, name)},
                **{status.value: study.count(status) for status in Status},
                "trials": len(study.trials),
                "ties": " ".join(str(trial) for trial in study.ties),
                "repeats": len(study.repeats),
                "repeats_complete": sum(r.status is Status.COMPLETE for r in study.repeats),
                **{f"best_{name}": best.get(name) for name in names},
            }
        )
    return Table.of((*_STUDY, *_RESULT, *(f"best_{name}" for name in names)), rows)


def trials_table(experiment: ExperimentRecord) -> Table:
    """A row a trial and goal: its metaparameters, how it ended and at which step."""
    names = _metaparameter_names(experiment)
    rows: list[dict[str, Cell]] = [
        {
            **_identity(experiment, study),
            "trial": trial.trial,
            "status": trial.status.value,
            "steps": trial.steps,
            "best": trial.trial == study.best_trial,
            **trial.metaparameters,
        }
        for study in experiment.studies
        for trial in study.trials
    ]
    return Table.of((*_STUDY, "trial", "status", "steps", "best", *names), rows)


def _identity(experiment: ExperimentRecord, study: StudyRecord) -> dict[str, Cell]:
    own: dict[str, Cell] = {name: getattr(study, name) for name in _STUDY[1:]}
    return {"experiment": experiment.name, **own}


def _metaparameter_names(experiment: ExperimentRecord) -> list[str]:
    return list(dict.fromkeys(d.name for study in experiment.studies for d in study.space))
