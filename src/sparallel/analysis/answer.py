"""The answer in words: the critical batch size of each curve and what sparsity costs."""

from __future__ import annotations

from collections.abc import Sequence

from sparallel.analysis.interval import rounded
from sparallel.analysis.values import (
    FROM_FIT,
    CriticalBatchSize,
    Curve,
    Ratio,
    sparsity_in_words,
)


def answer(curves: Sequence[Curve], ratios: Sequence[Ratio]) -> tuple[str, ...]:
    """One sentence a curve, then one a sparsity; several workloads are named, one is not."""
    if not any(curve.points for curve in curves):
        return ("No study has finished yet, so there is no answer.",)
    named = len({(c.workload, c.goal_error) for c in curves}) > 1
    sentences = [_curve(curve, named) for curve in curves if curve.points]
    sentences += [_cost(ratio, named) for ratio in ratios if ratio.points]
    return tuple(sentences)


def _curve(curve: Curve, named: bool) -> str:
    start = _name(curve, named) + sparsity_in_words(curve.sparsity, curve.pruning)
    if all(point.steps is None for point in curve.points):
        return f"{start}: no trial reached the goal within its budget."
    if not curve.critical:
        return f"{start}: too few batch sizes reached the goal to speak of a critical one."
    ordered = sorted(curve.critical, key=lambda c: c.definition != FROM_FIT)
    poor = " The fit is poor." if curve.fit is not None and curve.fit.is_poor else ""
    return f"{start}: critical batch size {'; '.join(_critical(c) for c in ordered)}.{poor}"


def _critical(critical: CriticalBatchSize) -> str:
    short = "c1/c2" if critical.definition == FROM_FIT else "20% above ideal scaling"
    beyond = "" if critical.is_bracketed else ", outside the batch sizes tried"
    return f"{critical.in_words()} ({short}{beyond})"


def _cost(ratio: Ratio, named: bool) -> str:
    start = _name(ratio, named) + sparsity_in_words(ratio.sparsity, ratio.pruning)
    known = [p.ratio for p in ratio.points if p.ratio is not None]
    if ratio.mean is None or not known:
        return f"{start}: what it costs is not known, no batch size has both results."
    sizes = [p.batch_size for p in ratio.points if p.ratio is not None]
    where = f"at batch size {sizes[0]}"
    if len(sizes) > 1:
        where = (
            f"on average over batch sizes {sizes[0]} to {sizes[-1]}, "
            f"{_times(min(known))} to {_times(max(known))}"
        )
    interval = ratio.mean_interval.brackets(_plain)
    return f"{start} costs {_times(ratio.mean)} the steps {interval} ({where})."


def _name(of: Curve | Ratio, named: bool) -> str:
    return f"{of.workload}, goal {of.goal_error:g}: " if named else ""


def _times(value: float) -> str:
    return f"{_plain(value)}x"


def _plain(value: float) -> str:
    return f"{value:.1f}" if 0.95 <= value < 100 else rounded(value)
