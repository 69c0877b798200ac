"""What a worker is asked to do: train on to the next point of a run and measure there."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

from sparallel.smoothness.examples import MeasuredExamples, evaluate
from sparallel.smoothness.lipschitz import NonFiniteError, lipschitz
from sparallel.smoothness.records import PointRecord
from sparallel.training.state import TrialState
from sparallel.training.stepping import Stepping
from sparallel.training.tasks import Place
from sparallel.training.trial import Interrupted, Trial, start
from sparallel.training.workbench import Workbench, flushed_denormals

SLICE_SECONDS = 30.0
"""Training towards a far point comes back to be saved about this often."""


@dataclass(frozen=True)
class Measured:
    """A run, further on: at a state, and with the point that was measured on the way, if any."""

    state: TrialState
    point: PointRecord | None
    steps: int  # trained by this task
    seconds: float


@dataclass(frozen=True)
class Measure:
    """Train to step `point` and measure there; without a state, from the very start."""

    trial: Trial
    state: TrialState | None
    point: int
    examples: int
    place: Place

    def run(self, stop: Callable[[], bool]) -> Measured:
        """Train and measure; ends early at a state as good as any other."""
        began = time.perf_counter()
        bench = self.place.bench(self.trial)
        state = self.state or start(self.trial, bench, stop)
        steps, point = -state.step, None
        with flushed_denormals():
            state = train(self.trial, state, self.point, bench, _until(stop, SLICE_SECONDS))
            if state.step == self.point:
                # Interrupted, the run stays before the point, with what training it took kept.
                with contextlib.suppress(Interrupted):
                    state, point = measure(self.trial, state, self.examples, bench, stop)
        return Measured(state, point, steps + state.step, time.perf_counter() - began)


def _until(stop: Callable[[], bool], seconds: float) -> Callable[[], bool]:
    deadline = time.perf_counter() + seconds
    return lambda: stop() or time.perf_counter() >= deadline


def train(
    trial: Trial, state: TrialState, until_step: int, bench: Workbench, stop: Callable[[], bool]
) -> TrialState:
    """Take the steps of `advance`, the same to the bit, without its checks."""
    stepping = Stepping(trial, state, bench)
    while stepping.step < until_step and not stop():
        stepping.take()
    return stepping.state(state)


def measure(
    trial: Trial, state: TrialState, examples: int, bench: Workbench, stop: Callable[[], bool]
) -> tuple[TrialState, PointRecord | None]:
    """Take the next step d from w_k, and measure L(w_k) along it, the gradient and its variance.

    Gives the state after the step; or, where something on the way is not finite, the state before
    it, marked infeasible, and no point.
    """

    def keep_going() -> None:
        if stop():
            raise Interrupted

    stepping = Stepping(trial, state, bench)
    flat, rate = stepping.flat, stepping.learning_rate
    before = flat.values.clone()
    stepping.take()
    after, step = stepping.state(state), flat.values - before
    measured = MeasuredExamples(bench.train, examples, stepping.arranged, keep_going)
    try:
        at = measured.start(before)
        validation_loss, validation_error = evaluate(
            stepping.arranged, bench.validation, keep_going
        )
        found = lipschitz(measured.gradient, before, step, at.rows)
    except NonFiniteError:
        return replace(state, infeasible_at=state.step), None
    sampled = max(0.0, 1 - examples / len(bench.train)) ** 0.5  # of a finite training set
    error = None if found.error is None or sampled == 0 else found.error * sampled
    return after, PointRecord(
        step=state.step,
        learning_rate=rate,
        train_loss=at.loss,
        train_error=at.error,
        validation_loss=validation_loss,
        validation_error=validation_error,
        lipschitz=found.value,
        lipschitz_error=error,
        gradient_squared=at.gradient_squared,
        variance=at.variance,
    )
