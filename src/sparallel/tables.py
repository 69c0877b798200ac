"""Records as rows: the same fields in JSON, CSV and on screen."""

from __future__ import annotations

from sparallel.records import Status, StudyRecord

COUNTED = (
    Status.COMPLETE,
    Status.INCOMPLETE,
    Status.INFEASIBLE,
    Status.BEATEN,
    Status.FAILED,
    Status.PENDING,
)


def study_row(study: StudyRecord) -> dict[str, object]:
    """One study and goal, as the results command prints it."""
    return {
        "workload": study.workload,
        "data": study.data,
        "model": study.model,
        "optimizer": study.optimizer,
        "schedule": study.schedule,
        "batch_size": study.batch_size,
        "sparsity": study.sparsity,
        "goal_error": study.goal_error,
        "check_interval": study.check_interval,
        "seed": study.seed,
        "strategy": study.strategy,
        "finished": study.finished,
        "trials": len(study.trials),
        **{status.value: study.count(status) for status in COUNTED},
        "steps_to_result": study.steps_to_result,
        "best_trial": study.best_trial,
        "ties": list(study.ties),
        "best_metaparameters": study.best_metaparameters,
        "test_error": study.test_error,
        "examples_trained": study.examples_trained,
        "examples_checked": study.examples_checked,
        "seconds": round(study.seconds, 3),
    }
