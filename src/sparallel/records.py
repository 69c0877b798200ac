"""What is known after training: the values that pass from the store to analysis and reports.

Free of torch, so that results can be read, fitted and drawn anywhere.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class Status(StrEnum):
    """How a trial stands with respect to one goal."""

    COMPLETE = "complete"  # reached the goal
    INCOMPLETE = "incomplete"  # spent its step budget
    INFEASIBLE = "infeasible"  # diverged
    BEATEN = "beaten"  # stopped because it could no longer win
    FAILED = "failed"  # crashed: never a result, retried by the next run
    PENDING = "pending"  # not finished yet


@dataclass(frozen=True)
class DimensionRecord:
    """One searched metaparameter: its range and scale ("log", "reverse-log" or "linear")."""

    name: str
    low: float
    high: float
    scale: str


@dataclass(frozen=True)
class TrialRecord:
    """One trial against one goal.

    `steps` is K where the trial is complete; otherwise the step it was last checked at
    (the bound where beaten, the budget where incomplete, the diverged check where infeasible).
    """

    trial: int
    metaparameters: Mapping[str, float]
    status: Status
    steps: int


@dataclass(frozen=True)
class RepeatRecord:
    """A rerun of a study's winner with another seed: `steps` is None where it did not arrive."""

    seed: int
    status: Status
    steps: int | None


@dataclass(frozen=True)
class StudyRecord:
    """One study (batch size, sparsity) against one goal: K*, its winner and every trial."""

    workload: str
    data: str
    model: str
    optimizer: str
    schedule: str
    batch_size: int
    sparsity: float
    goal_error: float
    check_interval: int
    max_steps: int
    seed: int
    strategy: str
    finishers: int
    finished: bool
    space: tuple[DimensionRecord, ...]
    trials: tuple[TrialRecord, ...]
    steps_to_result: int | None
    best_trial: int | None
    ties: tuple[int, ...]
    test_error: float | None
    examples_trained: int
    examples_checked: int
    seconds: float
    repeats: tuple[RepeatRecord, ...] = ()

    def count(self, status: Status) -> int:
        """How many of the study's trials have this status."""
        return sum(trial.status is status for trial in self.trials)

    @property
    def best_metaparameters(self) -> Mapping[str, float] | None:
        """The winner's metaparameters, or None where no trial is complete."""
        return next((t.metaparameters for t in self.trials if t.trial == self.best_trial), None)


@dataclass(frozen=True)
class ExperimentRecord:
    """Everything one experiment folder knows."""

    name: str
    folder: str
    studies: tuple[StudyRecord, ...]  # one a study and goal; planned ones too
    spec: Mapping[str, object]  # the resolved specification
    sessions: tuple[Mapping[str, object], ...]  # provenance, one a run of the command
