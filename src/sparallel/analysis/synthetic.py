"""Studies with a known answer, to hold the analysis against; and the fit it improves on."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from sparallel.analysis.interval import LEVEL, Interval
from sparallel.analysis.noise import Observation


def observations_with_truth(
    batch_sizes: Sequence[int],
    random: np.random.Generator,
    *,
    c1: float,
    c2: float,
    sigma: float,
    check_interval: int = 16,
    max_steps: int = 40_000,
) -> list[Observation]:
    """K = c1/B + c2 with noise sigma on log K, seen at the checks and up to the budget only."""
    batch = np.asarray(batch_sizes, dtype=np.float64)
    crossing = (c1 / batch + c2) * np.exp(sigma * random.standard_normal(len(batch)))
    seen = (np.ceil(crossing / check_interval) * check_interval).astype(int)
    return [
        Observation(size, max_steps, None)
        if steps > max_steps
        else Observation(size, int(steps) - check_interval, int(steps))
        for size, steps in zip(batch_sizes, seen, strict=True)
    ]


def naive_critical_batch_size(
    observations: Sequence[Observation], level: float = LEVEL
) -> tuple[float, Interval]:
    """Least squares of K on 1/B with a delta-method interval: what ignores all this would say.

    Takes K as exact, drops the studies that ran out of budget, weighs every point alike.
    """
    points = [(o.batch_size, o.steps) for o in observations if o.steps is not None]
    batch, steps = np.array(points, dtype=np.float64).T
    design = np.stack([1 / batch, np.ones_like(batch)], axis=1)
    estimate, *_ = np.linalg.lstsq(design, steps, rcond=None)
    residual = steps - design @ estimate
    variance = residual @ residual / max(len(steps) - 2, 1)
    covariance = variance * np.linalg.inv(design.T @ design)
    c1, c2 = float(estimate[0]), float(estimate[1])
    slope = np.array([1 / c2, -c1 / c2**2])
    error = float(np.sqrt(slope @ covariance @ slope))
    quantile = NormalDist().inv_cdf(0.5 + level / 2)
    return c1 / c2, Interval(c1 / c2 - quantile * error, c1 / c2 + quantile * error, level)
