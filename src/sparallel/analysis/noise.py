"""The noise of log K: its spread over reruns, and draws of what K* might have been."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sparallel.analysis.interval import LEVEL, Interval
from sparallel.analysis.likelihood import Array, Spread
from sparallel.records import StudyRecord

DRAWS = 4000
_SEED = 20210503  # fixed: the same records give the same intervals


@dataclass(frozen=True)
class Noise:
    """Sigma of log K and how well it is known: by at least one degree of freedom."""

    sigma: float
    degrees_of_freedom: int


@dataclass(frozen=True)
class Observation:
    """What a study tells: K* lies after `crossed_after` and, if reached, at or before `steps`."""

    batch_size: int
    crossed_after: int
    steps: int | None


def observe(study: StudyRecord) -> Observation:
    """A finished study as an interval that holds K*."""
    if study.steps_to_result is None:
        last_check = study.max_steps // study.check_interval * study.check_interval
        return Observation(study.batch_size, last_check, None)
    after = max(study.steps_to_result - study.check_interval, 0)
    return Observation(study.batch_size, after, study.steps_to_result)


def rerun_spread(studies: Sequence[StudyRecord]) -> Spread:
    """Pool the spread of log K over the reruns of each study's winner that arrived."""
    return pooled_spread(
        [
            (study.check_interval, [r.steps for r in study.repeats if r.steps is not None])
            for study in studies
        ]
    )


def pooled_spread(groups: Sequence[tuple[int, Sequence[int]]]) -> Spread:
    """The pooled spread of log K about each group's mean; a group is (check interval, steps).

    A check interval h spreads K by h^2/12 more than the noise does (Sheppard), which is taken
    off; what is left never falls below the quarter of an interval that checks cannot resolve.
    """
    squares, degrees = 0.0, 0
    for check_interval, steps in groups:
        if len(steps) < 2:
            continue
        middle = np.log(np.maximum(np.asarray(steps) - 0.5 * check_interval, 0.5))
        relative = check_interval / float(np.mean(steps))
        found = float(((middle - middle.mean()) ** 2).sum())
        freedom = len(steps) - 1
        squares += max(found - freedom * relative**2 / 12, freedom * (relative / 4) ** 2 / 12)
        degrees += freedom
    return Spread(squares, degrees)


def draw_log_steps(observations: Sequence[Observation], noise: Noise, stream: int = 0) -> Array:
    """Draws of log K, one row a draw and one column an observation (inf where not reached).

    The crossing is uniform within its check interval. The noise is Gaussian with a sigma that
    is itself drawn as its degrees of freedom allow, once a draw, for a curve has one sigma.
    """
    random = np.random.default_rng([_SEED, stream])
    low = np.array([o.crossed_after for o in observations], dtype=np.float64)
    high = np.array([np.inf if o.steps is None else o.steps for o in observations])
    share = 1 - random.random((DRAWS, len(observations)))  # in (0, 1]: log stays finite
    inside = np.log(low + share * (np.where(np.isinf(high), low + 1, high) - low))
    logs = np.where(np.isinf(high), np.inf, inside)
    freedom = noise.degrees_of_freedom
    sigma = noise.sigma * np.sqrt(freedom / random.chisquare(freedom, (DRAWS, 1)))
    return np.asarray(logs + sigma * random.standard_normal(logs.shape), dtype=np.float64)


def percentile_interval(logs: Array, level: float = LEVEL) -> Interval:
    """The central interval of exp(draws); an end that falls among infinite draws is open."""
    ordered = np.sort(logs)
    tail = (1 - level) / 2
    low = ordered[int(np.floor(tail * (len(ordered) - 1)))]
    high = ordered[int(np.ceil((1 - tail) * (len(ordered) - 1)))]
    return Interval(_finite(low), _finite(high), level)


def _finite(log_value: float) -> float | None:
    return float(np.exp(log_value)) if np.isfinite(log_value) else None
