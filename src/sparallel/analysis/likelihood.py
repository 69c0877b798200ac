"""The likelihood of censored steps-to-result, maximised over location and noise at once.

log K is Gaussian about log(c1/B + c2), and only an interval that holds it is known. For a fixed
shape of the curve the unknowns are a location (log c1) and the noise sigma; written in
1/sigma and location/sigma the log-likelihood is concave (Burridge 1981), so that a damped
Newton iteration finds its one maximum, for many shapes side by side.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr

Array = NDArray[np.float64]

LOWEST_SIGMA = 0.001  # noise below 0.1% of K cannot be told from none: keeps the maximum finite
_ITERATIONS = 60
_TOLERANCE = 1e-7
_HALF_LOG_TWO_PI = 0.5 * float(np.log(2 * np.pi))


@dataclass(frozen=True)
class Spread:
    """The noise seen in reruns: the pooled sum of squares of log K about its group means."""

    squares: float
    degrees_of_freedom: int


NO_RERUNS = Spread(0.0, 0)


@dataclass(frozen=True)
class Maximum:
    """The maximised log-likelihood of each shape, with the location and noise that give it."""

    log_likelihood: Array
    location: Array
    sigma: Array


def maximise(
    lower: Array,
    upper: Array,
    spread: Spread,
    location: Array | None = None,
    start: tuple[Array, Array] | None = None,
) -> Maximum:
    """Maximise over noise, and over location where it is not given.

    `lower` and `upper` hold the ends of log K less the shape, one row a shape; -inf and inf
    are allowed. A given `location` (one a row) is kept, and only the noise is free. A `start`
    (location, sigma) near the maximum saves most of the climb, and changes nothing else.
    """
    fixed = location is not None
    if location is not None:
        lower, upper = lower - location[:, None], upper - location[:, None]
    xi, lam = _start(lower, upper) if start is None else (start[0] / start[1], 1 / start[1])
    if fixed:
        xi = np.zeros_like(xi)
    damping = np.full(len(xi), 1e-3)
    value, gradient, hessian = _derivatives(lower, upper, xi, lam, spread)
    live = np.arange(len(xi))  # rows still climbing: most arrive in a few steps
    for _ in range(_ITERATIONS):
        step_xi, step_lam = _step(gradient[live], hessian[live], lam[live], damping[live], fixed)
        new_xi = xi[live] + step_xi
        new_lam = np.clip(lam[live] + step_lam, 0.2 * lam[live], 1 / LOWEST_SIGMA)
        new = _derivatives(lower[live], upper[live], new_xi, new_lam, spread)
        gain = new[0] - value[live]
        better = gain >= 0
        rows = live[better]
        xi[rows], lam[rows], value[rows] = new_xi[better], new_lam[better], new[0][better]
        gradient[rows], hessian[rows] = new[1][better], new[2][better]
        damping[live] = np.where(better, damping[live] / 10, damping[live] * 10)
        live = live[(~better & (damping[live] < 1e12)) | (gain > _TOLERANCE)]
        if not live.size:
            break
    sigma = 1 / lam
    return Maximum(value, xi * sigma if location is None else location, sigma)


def _start(lower: Array, upper: Array) -> tuple[Array, Array]:
    middle = np.where(
        np.isinf(lower), upper, np.where(np.isinf(upper), lower, 0.5 * (lower + upper))
    )
    centre = middle.mean(axis=1)
    sigma = np.maximum(middle.std(axis=1), 0.05)
    return centre / sigma, 1 / sigma


def _step(
    gradient: Array, hessian: Array, lam: Array, damping: Array, fixed: bool
) -> tuple[Array, Array]:
    """A damped Newton step, one a row; on the bound of the noise only the location moves."""
    scale = damping * np.maximum(np.abs(hessian[:, 2]) * lam**2, 1.0)
    h_xx = hessian[:, 0] - damping * np.maximum(np.abs(hessian[:, 0]), 1.0)
    h_ll = hessian[:, 2] - scale / lam**2
    if fixed:
        return np.zeros_like(lam), -gradient[:, 1] / h_ll
    h_xl = hessian[:, 1]
    at_bound = (lam >= 1 / LOWEST_SIGMA) & (gradient[:, 1] >= 0)
    determinant = h_xx * h_ll - h_xl**2
    step_xi = (-gradient[:, 0] * h_ll + gradient[:, 1] * h_xl) / determinant
    step_lam = (-gradient[:, 1] * h_xx + gradient[:, 0] * h_xl) / determinant
    return (
        np.where(at_bound, -gradient[:, 0] / h_xx, step_xi),
        np.where(at_bound, 0.0, step_lam),
    )


def _derivatives(
    lower: Array, upper: Array, xi: Array, lam: Array, spread: Spread
) -> tuple[Array, Array, Array]:
    """Log-likelihood, its gradient (xi, lambda) and Hessian (xx, xl, ll), one row a shape."""
    below, above = lam[:, None] * lower - xi[:, None], lam[:, None] * upper - xi[:, None]
    log_probability = log_probability_between(below, above)
    density_above = np.exp(-0.5 * above**2 - _HALF_LOG_TWO_PI - log_probability)
    density_below = np.exp(-0.5 * below**2 - _HALF_LOG_TWO_PI - log_probability)
    # An infinite end has density 0 and leaves every sum; a finite stand-in avoids inf * 0.
    up, low = np.where(np.isinf(upper), 0.0, upper), np.where(np.isinf(lower), 0.0, lower)
    above, below = np.where(np.isinf(above), 0.0, above), np.where(np.isinf(below), 0.0, below)
    curve_above = -above * density_above - density_above**2
    curve_below = below * density_below - density_below**2
    cross = density_above * density_below
    nu, squares = spread.degrees_of_freedom, spread.squares
    value = log_probability.sum(axis=1) + nu * np.log(lam) - 0.5 * squares * lam**2
    gradient = np.stack(
        [
            (density_below - density_above).sum(axis=1),
            (up * density_above - low * density_below).sum(axis=1) + nu / lam - squares * lam,
        ],
        axis=1,
    )
    hessian = np.stack(
        [
            (curve_above + curve_below + 2 * cross).sum(axis=1),
            -(up * curve_above + low * curve_below + (up + low) * cross).sum(axis=1),
            (up**2 * curve_above + low**2 * curve_below + 2 * up * low * cross).sum(axis=1)
            - nu / lam**2
            - squares,
        ],
        axis=1,
    )
    return value, gradient, hessian


def log_probability_between(below: Array, above: Array) -> Array:
    """log(Phi(above) - Phi(below)), accurate in both tails."""
    flip = below > 0
    low, high = np.where(flip, -above, below), np.where(flip, -below, above)
    log_high = log_ndtr(high)
    share = np.exp(np.minimum(log_ndtr(low) - log_high, -1e-15))
    return np.asarray(log_high + np.log1p(-share), dtype=np.float64)
