"""How large a likelihood ratio chance alone makes, where points are few and checks are coarse.

The F threshold is exact where log K is seen exactly. Seen at checks only, no fit can be better
than a curve that passes through every check interval, so large ratios are rarer than F says and
an interval made with it is too wide. Here the ratio's law is found for the very design: log K is
drawn from the curve that fits best at a given c1/c2, is seen at the same checks and budgets, and
is fitted with c1/c2 free and with c1/c2 given. The free fit moves along the curve's tangent, which
keeps the likelihood concave and the search short.
"""

from __future__ import annotations

import numpy as np
from scipy.special import ndtri
from scipy.stats import qmc

from sparallel.analysis.likelihood import LOWEST_SIGMA, Array, log_probability_between
from sparallel.analysis.observed import Data

# The law depends on the noise, which so few points hardly tell: were the noise they show put in,
# intervals would be too narrow wherever that is too small by chance. Noise from 5% to 30% of K,
# even on a log scale, stands for it: coverage is right on average over that range.
_NOISE = (0.05, 0.3)
_DRAWS = 1024  # a power of two, as Sobol points like it
_ITERATIONS = 25
_TOLERANCE = 1e-3
_NUDGE = 1e-4
_HALF_LOG_TWO_PI = 0.5 * float(np.log(2 * np.pi))


def simulated_threshold(data: Data, theta: float, level: float) -> float:
    """The likelihood ratio that chance exceeds in 1 - `level` of experiments like this one."""
    best = data.maximise(np.array([theta]))
    shape, bend = data.shape(np.array([theta]))[0], _tangent(data, theta)
    # Half a step up, because the first point is 0; no seed, so the same data give the same number.
    uniform = qmc.Sobol(len(shape) + 1, scramble=False).random(_DRAWS) + 0.5 / _DRAWS
    sigma = np.exp(np.log(_NOISE[0]) + uniform[:, 0] * np.log(_NOISE[1] / _NOISE[0]))
    steps = np.exp(best.location[0] + shape + sigma[:, None] * ndtri(uniform[:, 1:]))
    lower, upper = _as_seen(data, steps)
    one = np.ones_like(bend)
    ends = lower - shape, upper - shape
    free = _maximum(*ends, np.stack([one, bend], axis=1))
    given = _maximum(*ends, one[:, None])
    return float(np.quantile(2 * (free - given), level))


def _tangent(data: Data, theta: float) -> Array:
    """The direction in which the curve moves with theta; its length is of no account."""
    near, far = data.shape(np.array([theta - _NUDGE, theta + _NUDGE]))
    return np.asarray((far - near) / np.abs(far - near).max(), dtype=np.float64)


def _as_seen(data: Data, steps: Array) -> tuple[Array, Array]:
    """The ends of log K for these crossings, at the checks and budgets of the data.

    The budget of a study that reached its goal is not known here, and matters little.
    """
    after, at = np.exp(data.lower), np.exp(data.upper)
    reached = np.isfinite(at)
    check = np.where(reached, at - after, np.median((at - after)[reached]))
    seen = np.maximum(np.ceil(steps / check), 1) * check
    beyond = ~reached & (seen > after)
    low = np.where(beyond, after, seen - check)
    started = low > 0.5 * check
    lower = np.where(started, np.log(np.where(started, low, 1.0)), -np.inf)
    return lower, np.where(beyond, np.inf, np.log(seen))


def _maximum(lower: Array, upper: Array, design: Array) -> Array:
    """The highest log-likelihood over noise and a linear predictor, one a row.

    In 1/sigma and coefficients/sigma the likelihood is concave; Newton's method, damped.
    """
    middle = np.where(np.isinf(lower), upper, np.where(np.isinf(upper), lower, (lower + upper) / 2))
    coefficients = np.linalg.lstsq(design, middle.T, rcond=None)[0].T
    sigma = np.maximum((middle - coefficients @ design.T).std(axis=1), 0.02)[:, None]
    at = np.concatenate([coefficients, np.ones_like(sigma)], axis=1) / sigma
    last = design.shape[1]
    damping = np.full(len(at), 1e-3)
    value, gradient, hessian = _derivatives(lower, upper, at, design)
    live = np.arange(len(at))
    for _ in range(_ITERATIONS):
        new = at[live] + _step(gradient[live], hessian[live], damping[live])
        new[:, last] = np.clip(new[:, last], 0.2 * at[live, last], 1 / LOWEST_SIGMA)
        found = _derivatives(lower[live], upper[live], new, design)
        gain = found[0] - value[live]
        better = gain >= 0
        rows = live[better]
        at[rows], value[rows] = new[better], found[0][better]
        gradient[rows], hessian[rows] = found[1][better], found[2][better]
        damping[live] = np.where(better, damping[live] / 10, damping[live] * 10)
        live = live[np.abs(gain) > _TOLERANCE]
        if not live.size:
            break
    return value


def _step(gradient: Array, hessian: Array, damping: Array) -> Array:
    diagonal = np.arange(gradient.shape[1])
    damped = hessian.copy()
    size = np.abs(hessian[:, diagonal, diagonal])
    damped[:, diagonal, diagonal] -= damping[:, None] * np.maximum(size, 1e-9) + 1e-12
    return np.asarray(-np.linalg.solve(damped, gradient[..., None])[..., 0], dtype=np.float64)


def _derivatives(
    lower: Array, upper: Array, at: Array, design: Array
) -> tuple[Array, Array, Array]:
    """Log-likelihood, gradient and Hessian in (coefficients/sigma, 1/sigma), one a row."""
    lam, predictor = at[:, -1:], at[:, :-1] @ design.T
    below, above = lam * lower - predictor, lam * upper - predictor
    log_probability = log_probability_between(below, above)
    density_above = np.exp(-0.5 * above**2 - _HALF_LOG_TWO_PI - log_probability)
    density_below = np.exp(-0.5 * below**2 - _HALF_LOG_TWO_PI - log_probability)
    up, low = np.where(np.isinf(upper), 0.0, upper), np.where(np.isinf(lower), 0.0, lower)
    above, below = np.where(np.isinf(above), 0.0, above), np.where(np.isinf(below), 0.0, below)
    curve_above = -above * density_above - density_above**2
    curve_below = below * density_below - density_below**2
    cross = density_above * density_below
    slope = (up * density_above - low * density_below).sum(axis=1)
    gradient = np.concatenate([(density_below - density_above) @ design, slope[:, None]], axis=1)
    hessian = np.empty((*gradient.shape, gradient.shape[1]))
    both = curve_above + curve_below + 2 * cross
    mixed = -(up * curve_above + low * curve_below + (up + low) * cross) @ design
    hessian[:, :-1, :-1] = np.einsum("mn,np,nq->mpq", both, design, design)
    hessian[:, :-1, -1] = hessian[:, -1, :-1] = mixed
    hessian[:, -1, -1] = (up**2 * curve_above + low**2 * curve_below + 2 * up * low * cross).sum(
        axis=1
    )
    return log_probability.sum(axis=1), gradient, hessian
