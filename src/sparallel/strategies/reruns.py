"""Reruns of a study's winner with other seeds: how much of its K was luck?"""

from __future__ import annotations

from collections.abc import Mapping

from sparallel.records import RepeatRecord, Status
from sparallel.spec import Experiment
from sparallel.strategies.facts import Run, TrialFacts, Winner

PATIENCE = 10
"""A rerun that has not arrived by this many times K* is given up; it counts as not arrived."""


def rerun_budget(experiment: Experiment, best: Winner) -> int:
    """The last check of a rerun."""
    return min(experiment.last_check, PATIENCE * best.steps)


def planned_reruns(experiment: Experiment, best: Winner) -> list[Run]:
    """The winner with the seeds that follow the experiment's own."""
    return [Run(best.trial, experiment.seed + more + 1) for more in range(experiment.repeats)]


def rerun_records(
    experiment: Experiment, known: Mapping[Run, TrialFacts], goal: int, best: Winner
) -> list[RepeatRecord]:
    """How the planned reruns of a goal's winner ended."""
    budget = rerun_budget(experiment, best)

    def record(run: Run) -> RepeatRecord:
        facts = known.get(run)
        at = facts.reached[goal] if facts else None
        if at is not None and at <= budget:
            return RepeatRecord(run.seed, Status.COMPLETE, at)
        if facts is None or (facts.infeasible_at is None and facts.step < budget):
            failed = facts is not None and facts.failed
            return RepeatRecord(run.seed, Status.FAILED if failed else Status.PENDING, None)
        infeasible = facts.infeasible_at is not None and facts.infeasible_at <= budget
        return RepeatRecord(run.seed, Status.INFEASIBLE if infeasible else Status.INCOMPLETE, None)

    return [record(run) for run in planned_reruns(experiment, best)]
