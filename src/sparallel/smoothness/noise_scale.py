"""The gradient noise scale tr(Sigma)/|G|^2: a cheap proxy of the critical batch size.

Sigma is the covariance of single examples' gradients, so its trace is beta at w_k, and G is the
gradient (McCandlish et al., 2018, call the ratio B_simple). Both are averaged before they are
divided: single points may have a |G|^2 near zero, or below it where a subset's noise is taken
off. It is a proxy: it sees the gradients of one training run, not the steps a search needs.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import dataclass

from sparallel.analysis import Interval
from sparallel.smoothness.records import PathRecord, PointRecord, SmoothnessRecord
from sparallel.smoothness.spread import Estimate, log_estimate
from sparallel.smoothness.summary import mean_along

PROXY = "gradient noise scale (a proxy of the critical batch size)"
WINDOW = 5  # neighbouring points averaged where the noise scale is shown along training


@dataclass(frozen=True)
class NoisePoint:
    """One window of neighbouring points, all seeds together."""

    step: int  # of the window's middle point
    noise_scale: float | None  # None where |G|^2 is not told from zero
    beta: float  # of the middle point: E|g_i - grad f|^2
    gradient_squared: float


def noise_scale(
    record: SmoothnessRecord, sparsity: float, until: int | None = None
) -> Estimate | None:
    """Over the whole path, or its first `until` steps; the interval is of the seeds' spread."""
    runs = [
        [point for point in path.points if until is None or point.step <= until]
        for path in _feasible(record, sparsity)
    ]
    runs = [points for points in runs if points]
    pooled = _ratio(runs)
    if pooled is None:
        return None
    single = [own for points in runs if (own := _ratio([points])) is not None]
    if len(single) < 2 or len(single) < len(runs):
        return Estimate(pooled, Interval(None, None))
    spread = log_estimate(single)
    return Estimate(pooled, spread.interval.scaled(pooled / spread.value))


def noise_along(
    record: SmoothnessRecord, sparsity: float, window: int = WINDOW
) -> tuple[NoisePoint, ...]:
    """Along training, in windows of neighbouring points that shrink at the two ends."""
    runs = [path.points for path in _feasible(record, sparsity)]
    steps = sorted({point.step for points in runs for point in points})
    found = []
    for at, step in enumerate(steps):
        reach = min(window // 2, at, len(steps) - 1 - at)
        inside = set(steps[at - reach : at + reach + 1])
        near = [own for points in runs if (own := [p for p in points if p.step in inside])]
        here = [point for points in runs for point in points if point.step == step]
        found.append(
            NoisePoint(
                step=step,
                noise_scale=_ratio(near),
                beta=statistics.fmean(point.variance for point in here),
                gradient_squared=statistics.fmean(point.gradient_squared for point in here),
            )
        )
    return tuple(found)


def _feasible(record: SmoothnessRecord, sparsity: float) -> list[PathRecord]:
    return [
        path
        for path in record.paths
        if path.sparsity == sparsity and path.infeasible_at is None and path.points
    ]


def _ratio(runs: Sequence[Sequence[PointRecord]]) -> float | None:
    """Mean variance over mean |G|^2, over steps and then over runs."""
    variances = [mean_along(points, lambda point: point.variance) for points in runs]
    squares = [mean_along(points, lambda point: point.gradient_squared) for points in runs]
    known = [(v, g) for v, g in zip(variances, squares, strict=True) if None not in (v, g)]
    variance = sum(v for v, _ in known if v is not None)
    square = sum(g for _, g in known if g is not None)
    return variance / square if square > 0 else None
