"""A measured folder in a few numbers a sparsity: L along training, Delta, beta, noise scale."""

from __future__ import annotations

import itertools
import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sparallel.smoothness.records import PathRecord, PointRecord, SmoothnessRecord


@dataclass(frozen=True)
class Quantity:
    """One number of a sparsity, measured once a seed."""

    by_seed: Mapping[int, float]

    @property
    def mean(self) -> float:
        """Over the seeds."""
        return statistics.fmean(self.by_seed.values())

    @property
    def deviation(self) -> float | None:
        """The standard deviation over the seeds; None where there is only one."""
        values = list(self.by_seed.values())
        return statistics.stdev(values) if len(values) > 1 else None

    def over(self, other: Quantity) -> Quantity | None:
        """The ratio to another sparsity's, seed by seed: both start from one initialization."""
        shared = [seed for seed in self.by_seed if other.by_seed.get(seed)]  # there, and not 0
        ratios = {seed: self.by_seed[seed] / other.by_seed[seed] for seed in shared}
        return Quantity(ratios) if ratios else None


@dataclass(frozen=True)
class Summary:
    """What the runs of one sparsity gave; None where nothing is measured yet.

    `lipschitz`, `lipschitz_error` and `noise_scale` are means along training: every point weighs
    as many steps as it stands for, so that log-spaced points give what a point every 100 steps
    would. Runs that diverged have no such mean; they are counted in `infeasible`.
    """

    sparsity: float
    until: int | None  # the means go from step 0 to here, the same for every sparsity
    lipschitz: Quantity | None
    lipschitz_error: float | None  # the points' standard errors, averaged: they share a subset
    delta: Quantity | None  # 2 (f(w_1) - f_inf) with f_inf = 0, as in the paper's numbers
    beta: Quantity | None  # at initialization, as the theory's bound has it
    noise_scale: float | None  # tr(Sigma) / |G|^2, both averaged over steps and seeds first
    infeasible: int  # runs that diverged


def summarise(record: SmoothnessRecord) -> tuple[Summary, ...]:
    """One summary a sparsity, the lowest first."""
    feasible = [path for path in record.paths if path.infeasible_at is None and path.points]
    until = min((path.points[-1].step for path in feasible), default=None)
    sparsities = sorted({path.sparsity for path in record.paths})
    return tuple(
        _summary([path for path in record.paths if path.sparsity == sparsity], until)
        for sparsity in sparsities
    )


def dense_of(summaries: Sequence[Summary]) -> Summary | None:
    """The unpruned network's summary, to which the others are compared."""
    return next((summary for summary in summaries if summary.sparsity == 0), None)


def _summary(paths: Sequence[PathRecord], until: int | None) -> Summary:
    known = {
        path.seed: [point for point in path.points if until is not None and point.step <= until]
        for path in paths
        if path.infeasible_at is None and path.points
    }
    first = {path.seed: path.points[0] for path in paths if path.points}
    errors = [mean_along(points, lambda point: point.lipschitz_error) for points in known.values()]
    return Summary(
        sparsity=paths[0].sparsity,
        until=until if known else None,
        lipschitz=_quantity(
            {seed: mean_along(points, lambda p: p.lipschitz) for seed, points in known.items()}
        ),
        lipschitz_error=_mean([error for error in errors if error is not None]),
        delta=_quantity({seed: 2 * point.train_loss for seed, point in first.items()}),
        beta=_quantity({seed: point.variance for seed, point in first.items()}),
        noise_scale=_noise_scale(list(known.values())),
        infeasible=sum(path.infeasible_at is not None for path in paths),
    )


def mean_along(
    points: Sequence[PointRecord], value: Callable[[PointRecord], float | None]
) -> float | None:
    """The mean over the steps from the first to the last point that has a value.

    Between two points the value is taken to go in a straight line (trapezoid rule over k).
    """
    found = [(point.step, given) for point in points if (given := value(point)) is not None]
    if len(found) < 2:
        return found[0][1] if found else None
    pairs = list(itertools.pairwise(found))
    area = math.fsum((k1 - k0) * (v0 + v1) / 2 for (k0, v0), (k1, v1) in pairs)
    return area / (found[-1][0] - found[0][0])


def _noise_scale(paths: Sequence[Sequence[PointRecord]]) -> float | None:
    """The ratio of the means, not the mean of ratios, whose denominators may be near 0."""
    variance = _mean([_known(mean_along(points, lambda p: p.variance)) for points in paths])
    squared = _mean([_known(mean_along(points, lambda p: p.gradient_squared)) for points in paths])
    if variance is None or squared is None or squared <= 0:
        return None
    return variance / squared


def _known(value: float | None) -> float:
    assert value is not None  # every point has one
    return value


def _quantity(by_seed: Mapping[int, float | None]) -> Quantity | None:
    found = {seed: value for seed, value in by_seed.items() if value is not None}
    return Quantity(found) if found else None


def _mean(values: Sequence[float]) -> float | None:
    return statistics.fmean(values) if values else None
