"""Intervals of ratios on the log scale, where a factor up and a factor down weigh the same."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from scipy.special import ndtri, stdtrit

from sparallel.analysis import LEVEL, Interval
from sparallel.analysis.interval import rounded

UNKNOWN = Interval(None, None)
_TAIL = (1 + LEVEL) / 2


@dataclass(frozen=True)
class Estimate:
    """A positive number and its interval; both ends open where nothing is known of it."""

    value: float
    interval: Interval

    def in_words(self) -> str:
        """For example: 1.67 [1.2, 2.31]."""
        return f"{rounded(self.value)} {self.interval.brackets()}"


def log_estimate(by_seed: Sequence[float], relative_error: float | None = None) -> Estimate:
    """The geometric mean over seeds; its interval from their spread and a known relative error.

    The spread has few degrees of freedom and the other error is taken as known, so the quantile
    is Student's with the degrees of freedom Welch and Satterthwaite give the sum of the two.
    """
    logs = [math.log(value) for value in by_seed]
    centre, count = statistics.fmean(logs), len(logs)
    from_seeds = statistics.variance(logs) / count if count > 1 else 0.0
    variance = from_seeds + (relative_error or 0.0) ** 2
    if count < 2 and relative_error is None:
        return Estimate(math.exp(centre), UNKNOWN)
    if from_seeds > 0:
        freedom = (count - 1) * (variance / from_seeds) ** 2
        quantile = float(stdtrit(freedom, _TAIL))
    else:
        quantile = float(ndtri(_TAIL))
    reach = quantile * math.sqrt(variance)
    return Estimate(math.exp(centre), Interval(math.exp(centre - reach), math.exp(centre + reach)))


def log_quotient(top: Estimate, bottom: Estimate) -> Estimate:
    """The ratio of two independent estimates whose intervals need not be symmetric.

    Each side's distance on the log scale adds in squares (Zou and Donner, 2008); an open end of
    either leaves the ratio open on the side it would move it to.
    """
    value = top.value / bottom.value
    low = _distance(_down(top), _up(bottom))
    high = _distance(_up(top), _down(bottom))
    return Estimate(
        value,
        Interval(
            None if low is None else value * math.exp(-low),
            None if high is None else value * math.exp(high),
        ),
    )


def _down(estimate: Estimate) -> float | None:
    low = estimate.interval.low
    return None if low is None or low <= 0 else math.log(estimate.value / low)


def _up(estimate: Estimate) -> float | None:
    high = estimate.interval.high
    return None if high is None else math.log(high / estimate.value)


def _distance(one: float | None, other: float | None) -> float | None:
    return None if one is None or other is None else math.hypot(one, other)
