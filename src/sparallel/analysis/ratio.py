"""What sparsity costs: sparse K* over dense K*, batch size by batch size."""

from __future__ import annotations

import numpy as np

from sparallel.analysis.interval import Interval
from sparallel.analysis.likelihood import Array
from sparallel.analysis.noise import Noise, Observation, draw_log_steps, percentile_interval
from sparallel.analysis.values import Curve, CurvePoint, Ratio, RatioPoint


def ratio(sparse: Curve, dense: Curve) -> Ratio:
    """The ratios at the batch sizes both curves have, and their geometric mean."""
    shared = sorted({p.batch_size for p in sparse.points} & {p.batch_size for p in dense.points})
    above = [_at(sparse, size) for size in shared]
    below = [_at(dense, size) for size in shared]
    # Independent streams: one draw of the noise must not cancel between the curves.
    draws = _draws(sparse, above, 1) - _draws(dense, below, 2) if shared else np.empty((0, 0))
    points = tuple(
        _ratio_point(a, b, draws[:, i]) for i, (a, b) in enumerate(zip(above, below, strict=True))
    )
    known = [i for i, p in enumerate(points) if p.ratio is not None]
    logs = [np.log(p.ratio) for p in points if p.ratio is not None]
    warnings = []
    if any(a.trials != b.trials for a, b in zip(above, below, strict=True)):
        warnings.append(
            "Sparse and dense studies searched unequal numbers of trials: K* falls with the "
            "number of trials, so the ratio is biased."
        )
    if not _noise_known(sparse) or not _noise_known(dense):
        warnings.append(
            "The noise between seeds is not known for both curves: the intervals count the "
            "check interval only."
        )
    return Ratio(
        workload=sparse.workload,
        goal_error=sparse.goal_error,
        sparsity=sparse.sparsity,
        points=points,
        mean=float(np.exp(np.mean(logs))) if logs else None,
        mean_interval=percentile_interval(draws[:, known].mean(axis=1))
        if known
        else Interval(None, None),
        warnings=tuple(warnings),
    )


def _at(curve: Curve, batch_size: int) -> CurvePoint:
    """The curve's point at a batch size; of several seeds the first that reached the goal."""
    here = [p for p in curve.points if p.batch_size == batch_size]
    return next((p for p in here if p.steps is not None), here[0])


def _draws(curve: Curve, points: list[CurvePoint], stream: int) -> Array:
    # An unreached goal is drawn at its budget, the least it can be: it limits from one side.
    seen = [
        Observation(p.batch_size, p.crossed_after, p.steps)
        if p.steps is not None
        else Observation(p.batch_size, p.budget - 1, p.budget)
        for p in points
    ]
    return draw_log_steps(seen, _noise(curve), stream)


def _noise(curve: Curve) -> Noise | None:
    if curve.fit is None:
        return None
    return Noise(curve.fit.sigma, curve.fit.degrees_of_freedom)


def _noise_known(curve: Curve) -> bool:
    return curve.fit is not None and curve.fit.degrees_of_freedom > 0


def _ratio_point(above: CurvePoint, below: CurvePoint, draws: Array) -> RatioPoint:
    both = above.steps is not None and below.steps is not None
    interval = percentile_interval(draws)
    low = interval.low if below.steps is not None else None
    high = interval.high if above.steps is not None else None
    reruns = above.rerun_median, below.rerun_median
    return RatioPoint(
        batch_size=above.batch_size,
        ratio=above.steps / below.steps if above.steps and below.steps else None,
        interval=interval if both else Interval(low, high),
        rerun_ratio=reruns[0] / reruns[1] if reruns[0] and reruns[1] else None,
    )
