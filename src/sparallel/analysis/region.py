"""The confidence region of the whole curve: from it the intervals of c1, c2 and the band."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparallel.analysis.interval import Interval
from sparallel.analysis.likelihood import Array
from sparallel.analysis.profile import Profile
from sparallel.analysis.values import BandPoint

_SHAPES = 41
_BISECTIONS = 18
_OPEN = 7.0  # how far beyond the measured batch sizes an open end is followed


@dataclass(frozen=True)
class Region:
    """For each allowed theta the lowest and highest allowed height of the curve.

    The range over the region of any quantity is that quantity's profile-likelihood interval.
    """

    profile: Profile
    theta: Array
    low: Array
    high: Array

    def c1(self) -> Interval:
        """The interval of c1; open below where a flat curve is allowed."""
        scale = self._log_c1_less_height()
        lowest = None if np.isneginf(self.profile.low) else float(np.exp((self.low + scale).min()))
        return Interval(lowest, float(np.exp((self.high + scale).max())))

    def c2(self) -> Interval:
        """The interval of c2; open below (c2 = 0) where ideal scaling for ever is allowed."""
        scale = self._log_c1_less_height() - self.theta
        lowest = None if np.isposinf(self.profile.high) else float(np.exp((self.low + scale).min()))
        return Interval(lowest, float(np.exp((self.high + scale).max())))

    def band(self, batch_sizes: Array) -> tuple[BandPoint, ...]:
        """The fitted curve with its interval, batch size by batch size."""
        data = self.profile.data
        shape = data.shape(self.theta, np.log(batch_sizes))
        best = data.shape(np.array([self.profile.theta]), np.log(batch_sizes))[0]
        low = np.exp((self.low[:, None] + shape).min(axis=0))
        high = np.exp((self.high[:, None] + shape).max(axis=0))
        steps = np.exp(self.profile.height + best)
        return tuple(
            BandPoint(float(b), float(k), float(x), float(y))
            for b, k, x, y in zip(batch_sizes, steps, low, high, strict=True)
        )

    def _log_c1_less_height(self) -> Array:
        return -np.logaddexp(-self.profile.data.reference, -self.theta)


def region(profile: Profile) -> Region | None:
    """Find the heights allowed for each allowed theta; None where nothing limits them."""
    if not np.isfinite(profile.threshold):
        return None
    data = profile.data
    first = max(profile.low, data.log_batch.min() - _OPEN)
    last = min(profile.high, data.log_batch.max() + _OPEN)
    inside = [profile.theta] if np.isfinite(profile.theta) else []
    theta = np.unique(np.concatenate([np.linspace(first, last, _SHAPES), inside]))
    best = data.maximise(theta)
    loss = 2 * (profile.log_likelihood - best.log_likelihood)
    allowed = loss <= profile.threshold + 1e-3  # the ends sit on the threshold itself
    theta, centre = theta[allowed], best.location[allowed]
    sigma = best.sigma[allowed]
    low = _reach(profile, theta, centre, sigma, -1)
    high = _reach(profile, theta, centre, sigma, +1)
    return Region(profile, theta, low, high)


def _reach(profile: Profile, theta: Array, centre: Array, sigma: Array, side: int) -> Array:
    """Walk from the best height until the threshold is passed, then bisect."""
    data = profile.data

    def allowed(height: Array) -> NDArray[np.bool_]:
        nonlocal sigma  # each look starts from the noise that the last one found
        found = data.maximise(theta, height, (height, sigma))
        sigma = found.sigma
        loss = 2 * (profile.log_likelihood - found.log_likelihood)
        return np.asarray(loss <= profile.threshold)

    near, far = centre.copy(), centre + side * max(profile.sigma, 0.01)
    for _ in range(40):
        inside = allowed(far)
        if not inside.any():
            break
        near = np.where(inside, far, near)
        far = np.where(inside, centre + 2 * (far - centre), far)
    for _ in range(_BISECTIONS):
        middle = 0.5 * (near + far)
        inside = allowed(middle)
        near, far = np.where(inside, middle, near), np.where(inside, far, middle)
    return np.asarray(0.5 * (near + far), dtype=np.float64)
