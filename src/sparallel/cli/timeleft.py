"""How long a run will still take, from what its studies have shown so far."""

from __future__ import annotations

from sparallel.forecast import expected_steps
from sparallel.spec import Experiment, Study
from sparallel.strategies.slices import CHECK_WORK
from sparallel.study_run import StudyRun

OVERSHOOT = 1.1
"""A race whose goal is not reached yet is expected to go on for a tenth of its way at least."""


def seconds_left(experiment: Experiment, studies: list[StudyRun], workers: int) -> float | None:
    """Seconds until every study is decided; None while nothing is known to judge by."""
    work = sum(study.steps * _work(experiment, study) for study in studies)
    if not work:
        return None
    rate = sum(study.seconds for study in studies) / work
    hardest = experiment.goal_errors.index(min(experiment.goal_errors))
    known = {
        study.study: best.steps for study in studies if (best := study.winner(hardest)) is not None
    }
    left = 0.0
    for study in studies:
        target = _target(experiment, study, known)
        if target is None:
            return None
        steps = sum(max(0.0, target - facts.step) for facts in study.facts if not facts.ended)
        left += steps * _work(experiment, study) * rate
    return left / workers


def _work(experiment: Experiment, study: StudyRun) -> float:
    """The work of one step, in trained examples."""
    return study.study.batch_size + CHECK_WORK / experiment.check_interval


def _target(experiment: Experiment, study: StudyRun, known: dict[Study, int]) -> float | None:
    """The step at which the study's race will end."""
    if study.bound < experiment.last_check:
        return float(study.bound)
    if experiment.strategy == "exhaustive":
        return float(experiment.last_check)
    likely = expected_steps(experiment, study.study, known)
    if likely is None:
        return None
    reached = max(facts.step for facts in study.facts)
    return min(max(likely, reached * OVERSHOOT), experiment.last_check)
