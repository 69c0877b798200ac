"""A trial is a value: `start` gives its first state, `advance` the state some steps later.

The state holds all that the rest of the run depends on. The same state and target step give the
same bits on the same machine, whichever process computes them and however the way is cut, so
pausing, resuming, moving and retrying a trial need no code of their own.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

import torch

from sparallel.optimizers import OPTIMIZERS
from sparallel.training.goal import error_limit, reached
from sparallel.training.state import Floats, TrialState
from sparallel.training.stepping import Stepping
from sparallel.training.workbench import Workbench, flushed_denormals


@dataclass(frozen=True)
class Trial:
    """One training run of a study with one set of metaparameters: everything that defines it."""

    data: str
    model: str
    optimizer: str
    schedule: str
    pruning: str
    goal_errors: tuple[float, ...]
    check_interval: int
    seed: int
    batch_size: int
    sparsity: float
    index: int
    metaparameters: Mapping[str, float]


@dataclass
class Progress:
    """What one `advance` did, beside the state it reached."""

    examples_trained: int = 0
    examples_checked: int = 0
    checks: int = 0
    seconds: float = 0.0
    arrivals: dict[int, Floats] = field(default_factory=dict)  # goal -> parameters that reached it


class Interrupted(Exception):  # noqa: N818 - not an error: the user asked to stop
    """Stopped before the first state was made; nothing to keep."""


def never() -> bool:
    """The default answer to "shall I stop?"."""
    return False


def start(trial: Trial, bench: Workbench, stop: Callable[[], bool] = never) -> TrialState:
    """The state before the first step: initialized, pruned, nothing checked."""

    def keep_going() -> None:
        if stop():
            raise Interrupted

    bench.initialize(trial.seed, trial.index)
    with flushed_denormals():
        mask = bench.mask(trial.pruning, trial.sparsity, keep_going)
    return TrialState.first(
        parameters=bench.flat.numpy(),
        mask=mask,
        slots=OPTIMIZERS.get(trial.optimizer).slots,
        margins=bench.guessed_margins,
        goals=len(trial.goal_errors),
    )


@flushed_denormals()
def advance(
    trial: Trial,
    state: TrialState,
    until_step: int,
    bench: Workbench,
    stop: Callable[[], bool] = never,
) -> tuple[TrialState, Progress]:
    """Train up to `until_step`, checking the goal on the way; ends early where the trial ends.

    `stop` is asked after every step: True ends the slice there, at a state as good as any other.
    """
    began = time.perf_counter()
    stepping, progress = Stepping(trial, state, bench), Progress()
    flat = stepping.flat
    margins = torch.from_numpy(state.margins).to(bench.device, copy=True)
    arrived, infeasible_at = list(state.reached), state.infeasible_at
    limits = [error_limit(goal, len(bench.validation)) for goal in trial.goal_errors]

    while stepping.step < until_step and infeasible_at is None and None in arrived:
        stepping.take()
        progress.examples_trained += trial.batch_size
        if stepping.step % trial.check_interval == 0:
            easiest = max(limits[goal] for goal, at in enumerate(arrived) if at is None)
            verdict = bench.check(flat.outputs, margins, easiest)
            progress.checks += 1
            progress.examples_checked += verdict.seen
            for goal, kept in enumerate(reached(verdict, limits, len(bench.validation))):
                if kept and arrived[goal] is None:
                    arrived[goal] = stepping.step
                    progress.arrivals[goal] = stepping.arranged.expand(flat.numpy())
            if None in arrived and not (verdict.finite and bool(flat.values.isfinite().all())):
                infeasible_at = stepping.step
        if stop():
            break

    progress.seconds = time.perf_counter() - began
    after = replace(
        stepping.state(state),
        margins=margins.cpu().numpy(),
        reached=tuple(arrived),
        infeasible_at=infeasible_at,
    )
    return after, progress
