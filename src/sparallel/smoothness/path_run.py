"""One run while it is measured: what is known, what to do next, and what each outcome means."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from sparallel.smoothness.lipschitz import GAMMAS
from sparallel.smoothness.plan import Plan
from sparallel.smoothness.store import SmoothnessStore
from sparallel.smoothness.tasks import Measure, Measured
from sparallel.training.state import TrialState
from sparallel.training.tasks import Place
from sparallel.training.trial import Trial


@dataclass
class PathRun:
    """A run under way. Outcomes change it at once; saving them is handed back to the caller."""

    sparsity: float
    seed: int
    plan: Plan
    store: SmoothnessStore
    place: Place
    step: int
    infeasible_at: int | None
    state: TrialState | None = None
    busy: bool = False
    failed: bool = False
    work: float = 0.0  # done in this session, in gradients of an example
    seconds: float = 0.0  # of this session

    @classmethod
    def resume(cls, sparsity: float, seed: int, store: SmoothnessStore, place: Place) -> PathRun:
        """The run as the store knows it."""
        known = store.path(sparsity, seed)
        return cls(sparsity, seed, store.plan, store, place, known.step, known.infeasible_at)

    @property
    def label(self) -> str:
        """How the run is named on screen."""
        return f"sparsity {self.sparsity:g} seed {self.seed}"

    @property
    def measured(self) -> int:
        """Points measured: a run goes beyond a point only with its measurement."""
        return sum(point < self.step for point in self.plan.points)

    @property
    def finished(self) -> bool:
        """Every point is measured, or the run has diverged."""
        return self.infeasible_at is not None or self.step > self.plan.points[-1]

    @property
    def work_left(self) -> float:
        """The work still to do, in gradients of an example."""
        if self.finished:
            return 0.0
        points = len(self.plan.points) - self.measured
        return self._work(self.plan.points[-1] + 1 - self.step, points)

    def _work(self, steps: int, points: int) -> float:
        passes = 1 + len(GAMMAS)
        return steps * self.plan.batch_size + points * passes * self.plan.examples

    def next_task(self) -> Measure:
        """Train on to the next point and measure it; the run is busy from here on."""
        state = self.state
        if state is None and self.step > 0:
            state = self.store.state(self.sparsity, self.seed)
        if state is None:  # its checkpoint is gone, or was never there: from the start
            self.step = 0
        self.state, self.busy = state, True
        at = 0 if state is None else state.step
        point = next(point for point in self.plan.points if point >= at)
        return Measure(self.trial, state, point, self.plan.examples, self.place)

    @property
    def trial(self) -> Trial:
        """The run as a trial: its seed is the trial's index, which moves its initialization."""
        experiment = self.plan.experiment
        return Trial(
            data=experiment.data,
            model=experiment.model,
            optimizer=experiment.optimizer,
            schedule=experiment.schedule,
            pruning=experiment.pruning,
            goal_errors=experiment.goal_errors,
            check_interval=experiment.check_interval,
            seed=experiment.seed,
            batch_size=self.plan.batch_size,
            sparsity=self.sparsity,
            index=self.seed,
            metaparameters=self.plan.metaparameters,
        )

    def take(self, done: Measured) -> Callable[[], None]:
        """Take in how far the run has come."""
        self.busy = False
        self.state, self.step = done.state, done.state.step
        self.infeasible_at = done.state.infeasible_at
        self.work += self._work(done.steps, done.point is not None)
        self.seconds += done.seconds
        ended = self.finished
        if ended:
            self.state = None

        def save() -> None:
            self.store.record(
                self.sparsity, self.seed, done.state, done.point, done.seconds, ended=ended
            )

        return save
