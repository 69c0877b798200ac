"""The fit K = c1/B + c2 of one curve, with intervals and a word on its goodness."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparallel.analysis.goodness import goodness_of_fit
from sparallel.analysis.interval import Interval
from sparallel.analysis.likelihood import NO_RERUNS, Spread
from sparallel.analysis.noise import Observation
from sparallel.analysis.profile import Profile, prepare, profile
from sparallel.analysis.region import region
from sparallel.analysis.values import Fit

_BAND_POINTS = 49


def why_not_fitted(observations: Sequence[Observation], spread: Spread = NO_RERUNS) -> str | None:
    """The sentence that says why a curve cannot be fitted, or None where it can."""
    measured = [o for o in observations if o.steps is not None]
    if not measured:
        return "No study reached the goal within its budget, so there is no curve to fit."
    sizes = {o.batch_size for o in measured}
    if len(sizes) < 2:
        only = next(iter(sizes))
        return f"The goal was reached at one batch size only ({only}): a curve needs more."
    if prepare(observations, spread).degrees_of_freedom < 1:
        early = any(o.crossed_after == 0 for o in measured)
        first = "; a goal reached at the first check does not count, check more often" * early
        return (
            "A fit needs three measured batch sizes, or two with reruns of the winners "
            f"(--repeats), to know the noise: add batch sizes or reruns{first}."
        )
    return None


def fit_profile(observations: Sequence[Observation], spread: Spread = NO_RERUNS) -> Profile | None:
    """The profile likelihood of the critical batch size; None where there is no curve to fit."""
    if why_not_fitted(observations, spread) is not None:
        return None
    return profile(prepare(observations, spread))


def fit_from_profile(found: Profile) -> Fit:
    """Everything the fit says, from its profile."""
    data = found.data
    log_c1 = found.height - float(np.logaddexp(-data.reference, -max(found.theta, -50.0)))
    flat = np.isneginf(found.theta)
    limits = region(found)
    is_poor, goodness = goodness_of_fit(found)
    sizes = np.exp(np.linspace(data.log_batch.min(), data.log_batch.max(), _BAND_POINTS))
    sizes[[0, -1]] = np.round(sizes[[0, -1]], 6)
    open_interval = Interval(None, None)
    return Fit(
        c1=0.0 if flat else float(np.exp(log_c1)),
        c2=float(np.exp(found.height if flat else log_c1 - found.theta)),
        sigma=found.sigma,
        sigma_from_reruns=data.spread.degrees_of_freedom > 0,
        degrees_of_freedom=data.degrees_of_freedom,
        c1_interval=open_interval if limits is None else limits.c1(),
        c2_interval=open_interval if limits is None else limits.c2(),
        points=len(data.log_batch),
        censored_points=int(np.isinf(data.upper).sum()),
        log_likelihood=found.log_likelihood,
        is_poor=is_poor,
        goodness=goodness,
        band=() if limits is None else limits.band(sizes),
    )
