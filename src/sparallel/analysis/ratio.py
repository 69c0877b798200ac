"""What sparsity costs: sparse K* over dense K*, batch size by batch size."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sparallel.analysis.interval import Interval
from sparallel.analysis.likelihood import Array
from sparallel.analysis.noise import Noise, Observation, draw_log_steps, percentile_interval
from sparallel.analysis.values import Curve, CurvePoint, Ratio, RatioPoint

UNKNOWN = Interval(None, None)


def ratio(sparse: Curve, dense: Curve) -> Ratio:
    """The ratios at the batch sizes both curves have, and their geometric mean."""
    shared = sorted({p.batch_size for p in sparse.points} & {p.batch_size for p in dense.points})
    above = [_at(sparse, size) for size in shared]
    below = [_at(dense, size) for size in shared]
    draws = None
    if sparse.noise is not None and dense.noise is not None:
        # Independent streams: one draw of the noise must not cancel between the curves.
        draws = _draws(above, sparse.noise, 1) - _draws(below, dense.noise, 2)
    points = tuple(
        _ratio_point(a, b, UNKNOWN if draws is None else percentile_interval(draws[:, i]))
        for i, (a, b) in enumerate(zip(above, below, strict=True))
    )
    known = [i for i, p in enumerate(points) if p.ratio is not None]
    logs = [np.log(p.ratio) for p in points if p.ratio is not None]
    mean_interval = UNKNOWN
    if draws is not None and known:
        mean_interval = percentile_interval(draws[:, known].mean(axis=1))
    return Ratio(
        workload=sparse.workload,
        goal_error=sparse.goal_error,
        sparsity=sparse.sparsity,
        points=points,
        mean=float(np.exp(np.mean(logs))) if logs else None,
        mean_interval=mean_interval,
        warnings=tuple(_warnings(sparse, dense, [*zip(above, below, strict=True)])),
        pruning=sparse.pruning,
    )


def _at(curve: Curve, batch_size: int) -> list[CurvePoint]:
    """The curve's points at a batch size, one a seed; those beyond the budget if none is within."""
    here = [p for p in curve.points if p.batch_size == batch_size]
    return [p for p in here if p.steps is not None] or here


def _draws(groups: Sequence[list[CurvePoint]], noise: Noise, stream: int) -> Array:
    """Draws of log K* at each batch size, the mean over seeds where there are several."""
    # An unreached goal is drawn at its budget, the least it can be: it limits from one side.
    seen = [
        Observation(p.batch_size, p.crossed_after, p.steps)
        if p.steps is not None
        else Observation(p.batch_size, p.budget - 1, p.budget)
        for group in groups
        for p in group
    ]
    share = np.zeros((len(seen), len(groups)))
    start = 0
    for column, group in enumerate(groups):
        share[start : start + len(group), column] = 1 / len(group)
        start += len(group)
    return np.asarray(draw_log_steps(seen, noise, stream) @ share, dtype=np.float64)


def _log_mean(values: Sequence[float | None]) -> float | None:
    """The mean log; None where a value is missing."""
    known = [value for value in values if value is not None]
    return float(np.mean(np.log(known))) if known and len(known) == len(values) else None


def _ratio_point(
    above: list[CurvePoint], below: list[CurvePoint], interval: Interval
) -> RatioPoint:
    top, bottom = _log_mean([p.steps for p in above]), _log_mean([p.steps for p in below])
    return RatioPoint(
        batch_size=above[0].batch_size,
        ratio=_quotient(top, bottom),
        interval=Interval(
            interval.low if bottom is not None else None,
            interval.high if top is not None else None,
        ),
        rerun_ratio=_quotient(
            _log_mean([p.rerun_median for p in above]), _log_mean([p.rerun_median for p in below])
        ),
    )


def _quotient(top: float | None, bottom: float | None) -> float | None:
    return None if top is None or bottom is None else float(np.exp(top - bottom))


def _warnings(
    sparse: Curve, dense: Curve, pairs: Sequence[tuple[list[CurvePoint], list[CurvePoint]]]
) -> list[str]:
    warnings = []
    if any({p.trials for p in above} != {p.trials for p in below} for above, below in pairs):
        warnings.append(
            "Sparse and dense studies searched unequal numbers of trials: K* falls with the "
            "number of trials, so the ratio is biased."
        )
    if pairs and (sparse.noise is None or dense.noise is None):
        warnings.append(
            "The noise between seeds is not known for both curves, so the ratios have no "
            "interval: add batch sizes (three or more) or reruns (--repeats)."
        )
    return warnings
