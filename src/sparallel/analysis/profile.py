"""The profile likelihood of the critical batch size c1/c2, and the region of c1 and c2.

The curve K = c1/B + c2 has a shape, set by theta = log(c1/c2), and a height. For each theta the
height and the noise are maximised out; theta = -inf (flat: c1 = 0) and theta = +inf (ideal
scaling for ever: c2 = 0) are ordinary members of the family, so an interval that reaches
them is open on that side.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import f as f_distribution

from sparallel.analysis.interval import LEVEL, Interval
from sparallel.analysis.likelihood import (
    LOWEST_SIGMA,
    NO_RERUNS,
    Array,
    Maximum,
    Spread,
    maximise,
)
from sparallel.analysis.noise import Observation

_REACH = 7.0  # e^7 beyond the measured batch sizes the shape is within 0.1% of its limit
_COARSE = 0.35
# Found by simulation of several designs and noises: docs/statistics.md has the coverage.
_HIDDEN_BY_CHECKS = 1.5


@dataclass(frozen=True)
class Data:
    """The observations as arrays: log batch size and the ends of log K."""

    log_batch: Array
    lower: Array
    upper: Array
    spread: Spread

    @property
    def reference(self) -> float:
        """The log batch size at which the curve's height is taken: the middle of the measured."""
        return float(0.5 * (self.log_batch.min() + self.log_batch.max()))

    @property
    def informative(self) -> int:
        """Observations with two ends; an open one says next to nothing about the noise."""
        return int((np.isfinite(self.lower) & np.isfinite(self.upper)).sum())

    @property
    def degrees_of_freedom(self) -> int:
        """What is left for the noise after c1 and c2, with the reruns' share."""
        return self.informative - 2 + self.spread.degrees_of_freedom

    def shape(self, theta: Array, at: Array | None = None) -> Array:
        """log K less the height, one row a theta."""
        log_batch = self.log_batch if at is None else at
        # Beyond e^50 the curve is flat to the last bit, and no inf - inf can arise.
        bend = np.minimum(-np.asarray(theta, dtype=np.float64)[:, None], 50.0)
        curve = np.logaddexp(-log_batch[None, :], bend) - np.logaddexp(-self.reference, bend)
        return np.asarray(curve, dtype=np.float64)

    def maximise(
        self,
        theta: Array,
        height: Array | None = None,
        start: tuple[Array, Array] | None = None,
    ) -> Maximum:
        """The best likelihood of each theta, over the noise and, if not given, the height."""
        shape = self.shape(theta)
        return maximise(self.lower - shape, self.upper - shape, self.spread, height, start)


def prepare(observations: Sequence[Observation], spread: Spread = NO_RERUNS) -> Data:
    """Take logs; a crossing before the first check has no lower end, one beyond the budget no
    upper end."""
    low = np.array([o.crossed_after for o in observations], dtype=np.float64)
    high = np.array([np.inf if o.steps is None else o.steps for o in observations])
    return Data(
        np.log([o.batch_size for o in observations]),
        np.where(low > 0, np.log(np.where(low > 0, low, 1.0)), -np.inf),
        np.log(high),
        spread,
    )


@dataclass(frozen=True)
class Profile:
    """The maximum over theta, and the interval of theta the likelihood allows."""

    data: Data
    theta: float
    height: float  # log K at the reference batch size
    sigma: float  # corrected for the parameters fitted
    log_likelihood: float
    threshold: float  # twice the log-likelihood that may be lost inside an interval
    low: float  # of theta; -inf where open
    high: float

    @property
    def critical(self) -> Interval:
        """The interval of c1/c2."""
        return Interval(
            None if np.isneginf(self.low) else float(np.exp(self.low)),
            None if np.isposinf(self.high) else float(np.exp(self.high)),
        )


def threshold(data: Data, level: float = LEVEL, spent: int = 0) -> float:
    """The likelihood-ratio threshold of one parameter in a small sample.

    For Gaussian noise of unknown sigma the ratio is N log(1 + t^2/dof) exactly, so that the
    t (here F) quantile takes the place of chi-square; it tends to it as points are added.
    """
    freedom = data.degrees_of_freedom - spent
    if freedom < 1:
        return float("inf")
    size = data.informative + data.spread.degrees_of_freedom
    return float(size * np.log1p(f_distribution.ppf(level, 1, freedom) / freedom))


def _hidden_by_checks(data: Data, sigma: float) -> float:
    """How much lower the threshold is where three points' best curve passes every check.

    With one degree of freedom the ratio is large mostly where the residual is next to 0. One that
    is smaller than the check intervals cannot be seen as such: the likelihood has a ceiling, and
    the exact threshold is out of reach more often than it should be.
    """
    passes = sigma <= 1.01 * LOWEST_SIGMA
    three_points = data.degrees_of_freedom == 1 and not data.spread.degrees_of_freedom
    return _HIDDEN_BY_CHECKS if passes and three_points else 0.0


@dataclass(frozen=True)
class _Grid:
    """The maximum at each theta looked at so far, in order of theta."""

    theta: Array
    found: Maximum

    @property
    def value(self) -> Array:
        return self.found.log_likelihood

    def extended(self, data: Data, more: Array) -> _Grid:
        """Look at more points, each from where its neighbours ended."""
        if not more.size:
            return self
        known = np.isfinite(self.theta)
        near = self.theta[known]
        start = (
            np.interp(more, near, self.found.location[known]),
            np.interp(more, near, self.found.sigma[known]),
        )
        new = data.maximise(more, start=start)
        theta, index = np.unique(np.concatenate([self.theta, more]), return_index=True)
        merged = (
            np.concatenate([getattr(self.found, name), getattr(new, name)])[index]
            for name in ("log_likelihood", "location", "sigma")
        )
        return _Grid(theta, Maximum(*merged))


def profile(data: Data, level: float = LEVEL) -> Profile:
    """Maximise over theta on a grid refined about its best point, then about the ends."""
    first, last = data.log_batch.min() - _REACH, data.log_batch.max() + _REACH
    theta = np.concatenate([[-np.inf], np.arange(first, last, _COARSE), [last, np.inf]])
    grid = _Grid(theta, data.maximise(theta))
    width = _COARSE
    for _ in range(4):
        best = grid.theta[grid.value.argmax()]
        if not np.isfinite(best):
            break
        grid = grid.extended(data, best + width * np.linspace(-1, 1, 9))
        width /= 4
    best_row = int(grid.value.argmax())
    limit = threshold(data, level) - _hidden_by_checks(data, float(grid.found.sigma[best_row]))
    for _ in range(2):
        grid = grid.extended(data, _about_ends(grid.theta, grid.value, limit))
    low, high = _ends(grid.theta, grid.value, limit)
    best_row = int(grid.value.argmax())
    size = data.informative + data.spread.degrees_of_freedom
    correction = np.sqrt(size / data.degrees_of_freedom) if data.degrees_of_freedom > 0 else 1.0
    return Profile(
        data=data,
        theta=float(grid.theta[best_row]),
        height=float(grid.found.location[best_row]),
        sigma=float(grid.found.sigma[best_row] * correction),
        log_likelihood=float(grid.value[best_row]),
        threshold=limit,
        low=low,
        high=high,
    )


def _outermost(theta: Array, value: Array, limit: float) -> list[tuple[int, int]]:
    """The (outside, inside) neighbours at either end, where that end is not open."""
    inside = np.flatnonzero(2 * (value.max() - value) <= limit)
    pairs = [(int(inside[0]) - 1, int(inside[0])), (int(inside[-1]) + 1, int(inside[-1]))]
    return [(out, within) for out, within in pairs if 0 <= out < len(theta)]


def _about_ends(theta: Array, value: Array, limit: float) -> Array:
    """Seven points between each pair of neighbours that an end of the interval separates."""
    pairs = [(theta[out], theta[within]) for out, within in _outermost(theta, value, limit)]
    fine = [np.linspace(a, b, 9)[1:-1] for a, b in pairs if np.isfinite(a) and np.isfinite(b)]
    return np.concatenate([np.empty(0), *fine])


def _ends(theta: Array, value: Array, limit: float) -> tuple[float, float]:
    """Where the likelihood ratio crosses its limit, by linear interpolation; or infinite."""
    low, high = -np.inf, np.inf
    loss = 2 * (value.max() - value)
    for out, within in _outermost(theta, value, limit):
        end = theta[within] if np.isfinite(theta[within]) else theta[out]
        if np.isfinite(theta[out]) and np.isfinite(theta[within]):
            share = (limit - loss[within]) / (loss[out] - loss[within])
            end = theta[within] + share * (theta[out] - theta[within])
        if out < within:
            low = end
        else:
            high = end
    return float(low), float(high)
