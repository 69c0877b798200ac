"""What is known of a trial, and what that makes of it once its study is decided."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from sparallel.records import Status


class Run(NamedTuple):
    """Names a training run of a study: a trial, and the seed it is run with."""

    trial: int
    seed: int


@dataclass(frozen=True)
class TrialFacts:
    """How far a trial has been trained and checked, and what was seen on the way."""

    step: int
    reached: tuple[int | None, ...]  # K of every goal, hardest goal included
    infeasible_at: int | None = None
    failed: bool = False

    @property
    def steps_to_result(self) -> int | None:
        """K of the hardest goal: known only when every goal is reached."""
        if any(at is None for at in self.reached):
            return None
        return max(at for at in self.reached if at is not None)

    @property
    def ended(self) -> bool:
        """Nothing more can happen to it."""
        return self.infeasible_at is not None or self.steps_to_result is not None

    def settled(self, bound: int) -> bool:
        """Known as far as the bound asks."""
        return self.ended or self.step >= bound


@dataclass(frozen=True)
class Judgement:
    """A trial's canonical status with respect to one goal, and the step that goes with it."""

    status: Status
    steps: int


def judge(trials: Sequence[TrialFacts], goal: int, bound: int, last_check: int) -> list[Judgement]:
    """Canonical statuses: whatever was seen beyond the bound is as if it had not been seen.

    How far a trial happened to run past the bound depends on the slicing and on the number of
    workers; what was seen up to the bound does not. So K*, winner, ties and statuses are the same
    for any number of workers, any slicing, and any kill and resume.
    """

    def one(facts: TrialFacts) -> Judgement:
        at = facts.reached[goal]
        if at is not None and at <= bound:
            return Judgement(Status.COMPLETE, at)
        if facts.infeasible_at is not None and facts.infeasible_at <= bound:
            return Judgement(Status.INFEASIBLE, facts.infeasible_at)
        if not facts.settled(bound):
            return Judgement(Status.FAILED if facts.failed else Status.PENDING, facts.step)
        return Judgement(Status.INCOMPLETE if bound == last_check else Status.BEATEN, bound)

    return [one(facts) for facts in trials]


@dataclass(frozen=True)
class Winner:
    """The complete trial with the lowest K; ties go to the lowest index, and all are named."""

    trial: int
    steps: int
    ties: tuple[int, ...]


def winner(judgements: Sequence[Judgement]) -> Winner | None:
    """The study's result, or None where no trial is complete."""
    complete = [
        (judgement.steps, trial)
        for trial, judgement in enumerate(judgements)
        if judgement.status is Status.COMPLETE
    ]
    if not complete:
        return None
    steps, best = min(complete)
    ties = tuple(trial for at, trial in complete if at == steps and trial != best)
    return Winner(best, steps, ties)
