"""`sparallel status`: where an experiment folder stands."""

from __future__ import annotations

import json

import typer
from rich.console import Console

from sparallel.cli import options
from sparallel.records import ExperimentRecord, Status
from sparallel.store.opening import is_locked
from sparallel.store.reading import load_experiment


def status(folder: options.FolderArgument, json_: options.Json = False) -> None:
    """Show where an experiment folder stands: studies decided, open and failed; who is running."""
    record = load_experiment(folder)
    summary = {**_summary(record), "running": is_locked(folder)}
    if json_:
        typer.echo(json.dumps(summary, indent=2))
        return
    console = Console(highlight=False)
    console.print(
        f"{record.name}: {summary['studies_finished']} of {summary['studies']} studies decided, "
        f"{summary['trials_settled']} of {summary['trials']} trials; "
        + ("a run is going" if summary["running"] else "no run is going")
    )
    for study in record.studies:
        if study.finished:
            continue
        steps = [trial.steps for trial in study.trials if trial.status is Status.PENDING]
        best = (
            f"best K={study.steps_to_result}" if study.steps_to_result else "goal not reached yet"
        )
        failed = study.count(Status.FAILED)
        console.print(
            f"  open: B={study.batch_size} sparsity={study.sparsity:g} goal={study.goal_error:g}: "
            f"{len(steps)} trials to go"
            + (f" from step {min(steps)}" if steps else "")
            + f", {best}"
            + (f", {failed} failed" if failed else "")
        )


def _summary(record: ExperimentRecord) -> dict[str, object]:
    unsettled = (Status.PENDING, Status.FAILED)
    # A study with several goals has a record for each.
    studies: dict[tuple[int, float], bool] = {}
    for study in record.studies:
        key = (study.batch_size, study.sparsity)
        studies[key] = studies.get(key, True) and study.finished
    hardest = min(study.goal_error for study in record.studies)
    trials = [t for s in record.studies if s.goal_error == hardest for t in s.trials]
    return {
        "name": record.name,
        "folder": record.folder,
        "studies": len(studies),
        "studies_finished": sum(studies.values()),
        "trials": len(trials),
        "trials_settled": sum(trial.status not in unsettled for trial in trials),
        "trials_failed": sum(trial.status is Status.FAILED for trial in trials),
        "sessions": [dict(session) for session in record.sessions],
    }
