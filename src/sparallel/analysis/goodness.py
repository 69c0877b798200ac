"""Does K = c1/B + c2 describe the points? A poor fit says so.

Three rules, any of which makes a fit poor:
  noise    the points scatter about the curve by more than 35% (sigma > 0.35);
  bend     K = c1/B^alpha + c2 with alpha free is better at the 1% level;
  reruns   the points scatter more than reruns of one setting do, at the 1% level.
"""

from __future__ import annotations

import numpy as np
from scipy.stats import f as f_distribution

from sparallel.analysis.likelihood import Array, maximise
from sparallel.analysis.profile import Data, Profile, threshold

HIGHEST_SIGMA = 0.35
SIGNIFICANCE = 0.01
_EXPONENTS = np.linspace(0.3, 2.5, 23)
_BENDS = 25


def goodness_of_fit(profile: Profile) -> tuple[bool, str]:
    """Whether the fit is poor, and the statement that says why or how good it is."""
    reasons = []
    if profile.sigma > HIGHEST_SIGMA:
        reasons.append(
            f"the points scatter by {100 * profile.sigma:.0f}% about the curve "
            f"(more than {100 * HIGHEST_SIGMA:.0f}%)"
        )
    exponent = better_exponent(profile)
    if exponent is not None:
        reasons.append(
            f"K = c1/B^{exponent:.2g} + c2 describes the points significantly better (1% level)"
        )
    excess = _scatter_over_reruns(profile)
    if excess is not None:
        reasons.append(
            f"the points scatter {excess:.1f} times as much as reruns of one setting (1% level)"
        )
    if reasons:
        return True, "Poor fit: " + "; ".join(reasons) + "."
    freedom = profile.data.degrees_of_freedom
    known = f"{freedom} degree{'s' if freedom != 1 else ''} of freedom"
    return False, (
        f"No sign of a poor fit: the points scatter by {100 * profile.sigma:.1f}% "
        f"about the curve ({known})."
    )


def better_exponent(profile: Profile) -> float | None:
    """The alpha of a significantly better K = c1/B^alpha + c2, or None."""
    data = profile.data
    limit = threshold(data, 1 - SIGNIFICANCE, spent=1)
    if not np.isfinite(limit):
        return None
    log_batch = data.log_batch - data.reference
    bends = np.linspace(log_batch.min() - 2, log_batch.max() + 4, _BENDS)
    alpha, bend = (grid.ravel() for grid in np.meshgrid(_EXPONENTS, bends))
    shape = np.logaddexp(-alpha[:, None] * log_batch[None, :], (-alpha * bend)[:, None])
    found = maximise(data.lower - shape, data.upper - shape, data.spread).log_likelihood
    best = int(found.argmax())
    gain = 2 * (found[best] - profile.log_likelihood)
    return float(alpha[best]) if gain > limit else None


def residuals(profile: Profile) -> Array:
    """log K (middle of its interval) less the curve, for the points with two ends."""
    data = profile.data
    known = np.isfinite(data.lower) & np.isfinite(data.upper)
    curve = profile.height + data.shape(np.array([profile.theta]))[0]
    return np.asarray(0.5 * (data.lower[known] + data.upper[known]) - curve[known])


def _scatter_over_reruns(profile: Profile) -> float | None:
    data: Data = profile.data
    freedom, spread = data.informative - 2, data.spread
    if freedom < 1 or spread.degrees_of_freedom < 1 or spread.squares == 0:
        return None
    known = np.isfinite(data.lower) & np.isfinite(data.upper)
    width = data.upper[known] - data.lower[known]
    # The check interval alone scatters the points by width^2/12: not the curve's fault.
    found = float((residuals(profile) ** 2).sum() - (width**2).sum() / 12) / freedom
    expected = spread.squares / spread.degrees_of_freedom
    ratio = found / expected
    limit = f_distribution.ppf(1 - SIGNIFICANCE, freedom, spread.degrees_of_freedom)
    return float(np.sqrt(ratio)) if ratio > limit else None
