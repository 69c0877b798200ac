"""How far to advance which trial next: the least advanced first, in slices that grow."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

from sparallel.strategies import Strategy
from sparallel.strategies.facts import TrialFacts

GROWTH = 10
"""A slice adds at most a tenth to a trial's steps: no more is wasted beyond the final bound."""

SMALLEST_WORK, LARGEST_WORK = 2_500, 60_000
"""In trained examples: about one second, and about half a minute, of a core's time.

Shorter slices would spend their time on moving states about; longer ones would lose more to a
kill and keep a beaten trial running.
"""

CHECK_WORK = 150
"""A goal check costs about as much as training on this many examples."""


@dataclass(frozen=True)
class Slice:
    """Advance this trial until this step."""

    trial: int
    until_step: int


def slice_end(step: int, bound: int, batch_size: int, check_interval: int) -> int:
    """Where the next slice of a trial at `step` ends; never beyond the bound."""
    work = batch_size + CHECK_WORK / check_interval
    shortest, longest = max(1, round(SMALLEST_WORK / work)), max(1, round(LARGEST_WORK / work))
    end = step + min(max(step // GROWTH, shortest), longest)
    if end - step >= check_interval:
        end = -(-end // check_interval) * check_interval  # up to a check: it decides something
    return min(end, bound)


def next_slice(
    strategy: Strategy,
    trials: list[TrialFacts],
    busy: Collection[int],
    *,
    batch_size: int,
    check_interval: int,
    last_check: int,
) -> Slice | None:
    """The next slice to run, or None where nothing more can be started now."""
    bound = strategy.bound(trials, last_check)
    waiting = [
        (facts.step, trial)
        for trial, facts in enumerate(trials)
        if trial not in busy and not facts.failed and not facts.settled(bound)
    ]
    if not waiting:
        return None
    step, trial = min(waiting)
    return Slice(trial, slice_end(step, bound, batch_size, check_interval))
