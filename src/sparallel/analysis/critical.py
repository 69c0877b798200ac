"""The critical batch size by two definitions, each named wherever its number is shown.

FROM_FIT     c1/c2: the batch size at which the fitted steps are twice their minimum c2.
FROM_POINTS  from the measured points alone, joined by straight lines on log axes: the batch
             size beyond which K* stays more than 20% above ideal scaling from the smallest
             measured batch size. The last crossing counts, so that one lucky or unlucky
             study at a small batch size does not decide it.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparallel.analysis.interval import Interval
from sparallel.analysis.likelihood import Array
from sparallel.analysis.noise import Noise, Observation, draw_log_steps, percentile_interval
from sparallel.analysis.profile import Profile
from sparallel.analysis.values import FROM_FIT, FROM_POINTS, CriticalBatchSize

ABOVE_IDEAL = 1.2
# So many times outside the measured batch sizes, and open on that side, an estimate is an
# accident of the noise: no number is given for it.
BEYOND = 10


def critical_from_fit(profile: Profile) -> CriticalBatchSize:
    """c1/c2 with its profile-likelihood interval."""
    known = np.isfinite(profile.data.upper)
    sizes = np.exp(profile.data.log_batch[known])
    smallest, largest = round(sizes.min()), round(sizes.max())
    side = None
    if profile.theta < np.log(smallest):
        side = "below"
    elif profile.theta > np.log(largest):
        side = "above"
    warning = _not_bracketed(side, "c1/c2", smallest, largest)
    interval = profile.critical
    far_above = profile.theta > np.log(BEYOND * largest) and interval.high is None
    far_below = profile.theta < np.log(smallest / BEYOND) and interval.low is None
    value = None if far_above or far_below else float(np.exp(profile.theta))
    return CriticalBatchSize(FROM_FIT, value, interval, side is None, warning, side)


def critical_from_points(
    observations: Sequence[Observation], noise: Noise | None
) -> CriticalBatchSize | None:
    """The 20% batch size with an interval from draws of K*; None with fewer than two points.

    Where the noise is not known there is no interval: the check interval alone would feign one.
    """
    measured = [o for o in observations if o.steps is not None]
    sizes = sorted({o.batch_size for o in measured})
    if len(sizes) < 2:
        return None
    log_sizes = np.log(sizes)
    # Reruns of the search with other seeds share a batch size: their mean log K stands for it.
    column = np.array([sizes.index(o.batch_size) for o in measured])
    share = np.stack([column == i for i in range(len(sizes))]).astype(np.float64)
    share /= share.sum(axis=1, keepdims=True)
    best = np.log([[o.steps or 1 for o in measured]]) @ share.T
    crossing = float(last_crossing(log_sizes, best)[0])
    value = float(np.exp(crossing)) if np.isfinite(crossing) else None
    interval = Interval(None, None)
    if noise is not None:
        draws = draw_log_steps(measured, noise) @ share.T
        interval = percentile_interval(last_crossing(log_sizes, draws))
    side = "above" if value is None else None
    warning = _not_bracketed(side, "20% above ideal", sizes[0], sizes[-1])
    if value is not None and noise is not None and interval.high is None:
        warning = (
            f"Within the noise K* may stay within 20% of ideal scaling up to {sizes[-1]}, the "
            "largest batch size measured: try larger ones."
        )
    return CriticalBatchSize(FROM_POINTS, value, interval, side is None, warning, side)


def last_crossing(log_sizes: Array, log_steps: Array) -> Array:
    """Where each row of log K rises for good above 1.2 times ideal scaling; inf if it does not."""
    excess = log_steps + log_sizes - (log_steps[:, :1] + log_sizes[:1]) - np.log(ABOVE_IDEAL)
    below = excess <= 0  # true at the first point, which defines ideal scaling
    last = below.shape[1] - 1 - below[:, ::-1].argmax(axis=1)
    ends = last == below.shape[1] - 1
    index = np.minimum(last, below.shape[1] - 2)
    rows = np.arange(len(excess))
    before, after = excess[rows, index], excess[rows, index + 1]
    rise = np.where(ends, 1.0, after - before)
    found = log_sizes[index] - before / rise * (log_sizes[index + 1] - log_sizes[index])
    return np.where(ends, np.inf, found)


def _not_bracketed(side: str | None, short: str, smallest: int, largest: int) -> str | None:
    if side is None:
        return None
    where, size, direction = (
        ("below the smallest", smallest, "smaller")
        if side == "below"
        else ("above the largest", largest, "larger")
    )
    return (
        f"The batch sizes tried do not bracket the critical one ({short}): it lies {where} "
        f"measured ({size}). Try {direction} batch sizes."
    )
